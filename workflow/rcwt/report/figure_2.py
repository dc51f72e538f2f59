"""Figure 2: does the cliff stand at one share of the window, or at one number of residual tokens?

A row a model. On the left accuracy against p = c/W, on the right the same cells against the residual W - c that is
left to the task. Both axes are logarithmic in the residual and have the same scale, so that a cliff of the same tokens
is as wide in both: if one theta holds for all windows, the lines lie on each other on the right and stand apart by
equal steps on the left; if one p0 holds, the other way round. The ceiling is known at the measured shares only; its
step between two of them is drawn half-way on that scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from rcwt.report.figures import (
    NORMAL,
    WIDTH,
    Series,
    legend_columns,
    legend_height,
    looks,
    message_figure,
    readable_ticks,
    style,
)
from rcwt.report.selection import Selection

CEILING_COLOUR = "#D5D5D5"
#: Windows from the smallest to the largest: dashes that print tells apart, and from a pale to the full colour.
DASHES = ("-", (0, (4, 1.2)), (0, (4, 1.2, 1, 1.2)), (0, (1.2, 1)))
PALEST = 0.45
Y_LIMITS = (-0.05, 1.08)
#: Inches: a row of panels where there is room, its least height, and what all rows together may take.
ROW, LEAST_ROW, ROWS = 2.4, 1.0, 5.4
#: Places of ticks, where they fall inside: shares p, and residuals in tokens.
P_TICKS = (0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
TOKEN_TICKS = tuple(step * 10**power for power in range(2, 7) for step in (1, 2, 5))


@dataclass(frozen=True)
class Axis:
    """A horizontal axis in the residual, largest first: `column` of the cells, its limits, and named ticks."""

    column: str
    limits: tuple[float, float]
    ticks: tuple[tuple[float, str], ...]
    title: str

    @property
    def decades(self) -> float:
        """Its length in factors of ten."""
        return float(np.log10(self.limits[0] / self.limits[1]))


def draw(selection: Selection) -> Figure:
    """Draw the cells of all windows of `selection` (of `rcwt.report.table_a1.select_windows`), as they are.

    Where the cells hold no accuracy the figure says so.
    """
    if not selection.rows["effective_mean"].notna().any():
        where = f" of {selection.experiment}" if selection.experiment else ""
        return message_figure(f"Figure 2: no scored call{where}, nothing to draw.")
    rows = selection.rows.assign(left=1 - selection.rows["p"])
    rows["tokens"] = rows["left"] * rows["window"]
    models = [model for model in selection.models if model in set(rows["model"])]
    windows = sorted({int(window) for window in rows["window"]})
    axis = [_share_axis(rows), _token_axis(rows)]
    with style():
        handles = _legend(windows, rows)
        labels = [str(handle.get_label()) for handle in handles]
        height = min(ROW, max(LEAST_ROW, ROWS / len(models)))
        size = (WIDTH, 0.95 + height * len(models) + legend_height(labels, legend_columns(labels)))
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(wspace=0.0, hspace=0.0, w_pad=0.03, h_pad=0.02))
        ratios = [one.decades for one in axis]
        grid = figure.subplots(len(models), 2, sharey=True, sharex="col", squeeze=False, width_ratios=ratios)
        for model, pair in zip(models, grid, strict=True):
            for axes, one in zip(pair, axis, strict=True):
                _prepare(axes, one)
                own = rows[rows["model"] == model]
                # Left of the window as tokens, the ceiling is one step for all windows; as a share, one for each.
                for _, known in own.groupby("window" if one.column == "left" else "model"):
                    _draw_ceiling(axes, one, known)
                _draw_model(axes, one, own, windows, looks(models)[model])
            _name(pair[1], model, selection, looks(models)[model])
        _title(figure, grid, axis, selection)
        figure.legend(handles=handles, loc="outside lower center", ncols=legend_columns(labels))
    return figure


def _share_axis(rows: pd.DataFrame) -> Axis:
    limits = _limits(rows["left"])
    ticks = [(1 - p, f"{100 * p:.6g} %") for p in P_TICKS if limits[0] >= 1 - p >= limits[1]]
    return Axis("left", limits, tuple(ticks), "Coordination share, p = c/W")


def _token_axis(rows: pd.DataFrame) -> Axis:
    limits = _limits(rows["tokens"])
    ticks = [(float(tokens), f"{tokens:,}".replace(",", " ")) for tokens in reversed(TOKEN_TICKS)]
    inside = tuple((place, name) for place, name in ticks if limits[0] >= place >= limits[1])
    return Axis("tokens", limits, inside, "Residual tokens, W − c")


def _limits(places: "pd.Series[Any]") -> tuple[float, float]:
    """The largest and the smallest place, and some room around them (5 % of the axis, or a tenth of a decade)."""
    low, high = np.log10(places.min()), np.log10(places.max())
    room = max(0.05 * (high - low), 0.05)
    return float(10 ** (high + room)), float(10 ** (low - room))


def _prepare(axes: Axes, axis: Axis) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*axis.limits)
    axes.set_ylim(*Y_LIMITS)
    axes.set_yticks(np.linspace(0, 1, 6))
    points = WIDTH * 72 / 2.3
    places = [float(np.log10(axis.limits[0] / place)) for place, _ in axis.ticks]
    kept = readable_ticks(places, points / axis.decades, room=28)
    axes.xaxis.set_major_locator(FixedLocator([axis.ticks[index][0] for index in kept]))
    names = dict(axis.ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: names[min(names, key=lambda at: abs(at - place))]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.spines["top"].set_visible(False)
    axes.grid(axis="y", color="#E6E6E6", lw=0.5)
    axes.set_axisbelow(True)


def _draw_model(axes: Axes, axis: Axis, rows: pd.DataFrame, windows: Sequence[int], look: Series) -> None:
    """Line, marks and intervals of each window of one model."""
    for window, dashes, colour in zip(
        windows, islice(cycle(DASHES), len(windows)), _shades(look, windows), strict=True
    ):
        cells = rows[rows["window"] == window].sort_values("q")
        scored = cells.dropna(subset=["effective_mean"])
        line: dict[str, Any] = {"color": colour, "ls": dashes, "marker": look.marker, "ms": 3.2, "mew": 0}
        label = f"{rows['model'].iloc[0]} {window}"
        axes.plot(scored[axis.column], scored["effective_mean"], zorder=4, label=label, **line)
        sure = scored[scored["ci_low"] < scored["ci_high"]]
        bars = axes.vlines(sure[axis.column], sure["ci_low"], sure["ci_high"], color=colour, lw=0.9, zorder=3)
        bars.set_label(f"interval {label}")


def _draw_ceiling(axes: Axes, axis: Axis, rows: pd.DataFrame) -> None:
    """A broad grey step under everything, half-way between two measured places on the axis' own scale."""
    known = rows.dropna(subset=["ceiling"]).sort_values([axis.column, "ceiling"], ascending=False)
    if known.empty:
        return
    places = known[axis.column].to_numpy(dtype=float)
    borders = np.sqrt(places[:-1] * places[1:])
    edges = np.concatenate([places[:1], np.repeat(borders, 2), places[-1:]])
    look: dict[str, Any] = {"color": CEILING_COLOUR, "lw": 4, "zorder": 1, "label": "ceiling"}
    axes.plot(edges, np.repeat(known["ceiling"].to_numpy(dtype=float), 2), **look)


def _shades(look: Series, windows: Sequence[int]) -> list[str]:
    """The model's colour for each window, paler for smaller ones."""
    full = np.array(to_rgb(look.colour))
    strengths = np.linspace(PALEST, 1, len(windows)) if len(windows) > 1 else [1.0]
    paler: list[Any] = [1 - strength * (1 - full) for strength in strengths]
    return [to_hex(colour) for colour in paler]


def _name(axes: Axes, model: str, selection: Selection, look: Series) -> None:
    """The model and what must be said of it, in the corner that is empty where there is a cliff."""
    said = selection.explained()
    text = model + (f"\n{said[model].replace(', ', ',' + chr(10))}" if model in said else "")
    axes.annotate(
        text,
        (0, 0),
        xytext=(8, 8),
        xycoords="axes fraction",
        textcoords="offset points",
        color=look.colour,
        va="bottom",
    )


def _title(figure: Figure, grid: Any, axis: Sequence[Axis], selection: Selection) -> None:
    title = (
        "Accuracy in all windows against the coordination share (left) and against what is left of the window (right)"
    )
    where = (
        f"{selection.experiment}; {selection.source}; judge: {selection.judge}; one logarithmic scale of W − c in both"
    )
    figure.suptitle(f"{title}\n{where}", fontsize=NORMAL)
    figure.supylabel("Effective accuracy", fontsize=NORMAL)
    for axes, one in zip(grid[-1], axis, strict=True):
        axes.set_xlabel(one.title)


def _legend(windows: Sequence[int], rows: pd.DataFrame) -> list[Line2D]:
    """An entry a window, in grey for any model, then for the ceiling and the intervals."""
    grey = Series("#000000", "")
    handles = [
        Line2D([], [], color=colour, ls=dashes, label=f"W = {window:,}".replace(",", " ") + " tokens")
        for window, dashes, colour in zip(
            windows, islice(cycle(DASHES), len(windows)), _shades(grey, windows), strict=True
        )
    ]
    if rows["ceiling"].notna().any():
        whose = " of this project's texts" if (rows["source"] == "published").any() else ""
        label = f"evidence ceiling{whose}\n(steps half-way between cells)"
        handles.append(Line2D([], [], color=CEILING_COLOUR, lw=4, label=label))
    if (rows["ci_low"] < rows["ci_high"]).any():
        bar: dict[str, Any] = {"color": "#404040", "marker": "|", "ms": 7, "mew": 0.9}
        handles.append(Line2D([], [], ls="", label="95 % interval over calls", **bar))
    return handles
