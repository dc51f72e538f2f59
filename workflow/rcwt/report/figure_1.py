"""Figure 1: accuracy against the realized share of coordination, beside the evidence ceiling.

A mark a cell (orders pooled) with its bootstrap interval over calls, one line a model, and its fitted logistic where
p0 is identified. Crowded shares stand in a second panel with a wider scale; marks of one share stand side by side.

The evidence ceiling is known at the measured shares only. Between two of them it falls wherever a fact is cut off,
so the step is drawn half-way: no other place is at most half a gap wrong. The paper's printed values are hollow
marks, at the p that their printed reference tokens give, unless the paper's own calls are what is plotted.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rcwt.analysis.cells import MAIN_WINDOW
from rcwt.analysis.curves import logistic
from rcwt.analysis.intervals import Floats
from rcwt.report.figures import (
    NORMAL,
    SMALL,
    WIDTH,
    Series,
    beside,
    close_panels,
    legend_columns,
    legend_height,
    looks,
    message_figure,
    readable_ticks,
    split,
    style,
)
from rcwt.report.selection import MAIN_EXPERIMENT, Selection, fit_of

CEILING_COLOUR = "#BDBDBD"
BAND_COLOUR = "#F4F4F4"
FIT_DASHES = (0, (1, 1.5))
#: A printed share this near to a measured one is the same; the instruction may be some tokens longer.
SAME_SHARE = 0.0005
Y_LIMITS = (-0.04, 1.05)
_PLOT_POINTS = (WIDTH - 0.65) * 72  # both panels together
#: No printed values to compare with.
NOT_PRINTED = pd.DataFrame({"model": [], "p": [], "accuracy": []})


@dataclass(frozen=True)
class Panel:
    """One stretch of the share axis: limits in p, and its width on paper in points."""

    low: float
    high: float
    points: float

    @property
    def scale(self) -> float:
        """Points on paper for a whole unit of p."""
        return self.points / (self.high - self.low)

    def inside(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows whose p lies in this panel."""
        return rows[rows["p"].between(self.low, self.high)]


@dataclass(frozen=True)
class Slot:
    """A column of marks beside those of the other columns: a model's cells, or what the paper printed for it."""

    model: str
    printed: bool
    look: Series
    shift: float  # points to the right of the share
    size: float  # of the marks, points


def draw(selection: Selection, curves: pd.DataFrame, paper: pd.DataFrame = NOT_PRINTED) -> Figure:
    """Draw the cells of `selection`, the logistic fits of `curves` and the `printed_values` of the paper.

    Values are taken as they are: accuracies and intervals as fractions, p as a fraction, r in tokens. Where the cells
    hold no accuracy the figure says so.
    """
    if not selection.rows["effective_mean"].notna().any():
        where = f" of {selection.experiment}" if selection.experiment else ""
        return message_figure(f"Figure 1: no scored call{where}, nothing to draw.")
    shares = sorted(set(selection.rows["p"]))
    paper = _to_compare(paper, selection, shares)
    slots = _slots(selection.models, list(dict.fromkeys(paper["model"])), _spacing(shares, _panels(shares, 0)))
    breadth = 2 * max(abs(slot.shift) for slot in slots) + 10
    panels = _panels(shares, breadth / 2)
    with style():
        handles = _legend(selection, curves, slots)
        labels = [str(handle.get_label()) for handle in handles]
        columns = legend_columns(labels)
        figure = Figure(figsize=(WIDTH, 3.1 + legend_height(labels, columns)), layout=close_panels())
        ratios = [panel.points for panel in panels]
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=ratios)[0]
        for axes, panel in zip(grid, panels, strict=True):
            _prepare(axes, panel, selection.rows, breadth)
            _draw_ceiling(axes, panel, selection)
            for slot in slots:
                if slot.printed:
                    _draw_printed(axes, panel.inside(paper[paper["model"] == slot.model]), slot)
                else:
                    _draw_fit(axes, panel, _fit(selection, curves, slot.model), slot, moved=panel is panels[-1])
                    _draw_cells(axes, panel, selection.of(slot.model), slot)
        _label(figure, grid, panels, selection)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    return figure


def _to_compare(paper: pd.DataFrame, selection: Selection, shares: Sequence[float]) -> pd.DataFrame:
    """The printed values at the shares that are shown; none beside another window or the paper's own calls."""
    if selection.published or (selection.experiment, selection.window) != (MAIN_EXPERIMENT, MAIN_WINDOW):
        return paper.iloc[:0]
    near = [min(abs(p - share) for share in shares) < SAME_SHARE for p in paper["p"]]
    return paper[pd.Series(near, index=paper.index, dtype=bool)]


def printed_values(path: str | Path) -> pd.DataFrame:
    """Read the paper's printed Table A1: model, accuracy and p, which is exact because c = r(q = 0) - r."""
    printed = pd.read_csv(path)
    places = ["target_q_percent", "realized_p_percent", "reference_tokens"]
    whole = printed.loc[printed["target_q_percent"] == 0, "reference_tokens"].iloc[0]
    printed["p"] = (whole - printed["reference_tokens"]) / MAIN_WINDOW
    models = [name for name in printed.columns if name not in (*places, "p")]
    return printed.melt(["p"], models, var_name="model", value_name="accuracy")


def _panels(shares: Sequence[float], edge: float) -> list[Panel]:
    """One panel, or two that meet where the crowd begins, each as wide as its number of shares asks.

    `edge` is how many points the marks of a share reach out on either side of it.
    """
    first = split(shares)
    if len(shares) == 1:
        return [Panel(shares[0] - 0.1, shares[0] + 0.1, _PLOT_POINTS)]
    if first == 0:
        pad = _padding(shares[-1] - shares[0], _PLOT_POINTS - edge, edge)
        return [Panel(shares[0] - pad, shares[-1] + pad, _PLOT_POINTS)]
    left, right = shares[:first], shares[first:]
    part = min(max(first / len(shares), 0.3), 0.6)
    gap = (right[-1] - right[0]) / (len(right) - 1)
    border = right[0] - min(0.6 * gap, (right[0] - left[-1]) / 2)
    narrow, wide = _PLOT_POINTS * part, _PLOT_POINTS * (1 - part)
    end = right[-1] + max(0.6 * gap, _padding(right[-1] - border, wide, edge))
    return [Panel(left[0] - _padding(border - left[0], narrow, edge), border, narrow), Panel(border, end, wide)]


def _padding(length: float, points: float, edge: float) -> float:
    """What to add to a stretch of p, drawn with it in `points`, so that it takes `edge` points (at least 4 %)."""
    part = max(edge / points, 0.04)
    return length * part / (1 - part)


def _spacing(shares: Sequence[float], panels: Sequence[Panel]) -> float:
    """Points between the two closest shares of one panel; a share at the border keeps half of it on each side."""
    gaps = []
    for panel in panels:
        inside = [share for share in shares if panel.low <= share <= panel.high]
        gaps += [(right - left) * panel.scale for left, right in pairwise(inside)]
    if len(panels) > 1:
        border = panels[0].high
        gaps.append(2 * (border - max(share for share in shares if share < border)) * panels[0].scale)
        gaps.append(2 * (min(share for share in shares if share > border) - border) * panels[1].scale)
    return min(gaps, default=_PLOT_POINTS)


def _slots(models: Sequence[str], printed: Sequence[str], spacing: float) -> list[Slot]:
    """A column for each model and, right beside it, for what the paper printed for it.

    The measured models stand around the share itself, a single one exactly on it; models that are only printed
    stand on either side of them.
    """
    look_of = looks(models, printed)
    columns = [(model, paper) for model in models for paper in (False, True) if not paper or model in printed]
    for place, model in enumerate(model for model in printed if model not in models):
        columns.insert(0 if place % 2 == 0 else len(columns), (model, True))
    measured = [place for place, (_, paper) in enumerate(columns) if not paper]
    middle = sum(measured) / len(measured)
    reach = max(middle, len(columns) - 1 - middle)
    step = min(6.5, 0.8 * spacing / (2 * reach + 1))
    size = max(2.2, min(4.2, 0.8 * step))
    return [
        Slot(model, paper, look_of[model], (place - middle) * step, size)
        for place, (model, paper) in enumerate(columns)
    ]


def _fit(selection: Selection, curves: pd.DataFrame, model: str, to: str = "accuracy") -> "pd.Series[Any] | None":
    """A model's logistic fit, where its p0 is identified."""
    if selection.experiment is None or selection.window is None or selection.judge is None:
        return None
    row = fit_of(curves, selection.experiment, selection.window, selection.judge, model, to)
    return row if row is not None and row["identified"] else None


def _draw_ceiling(axes: Axes, panel: Panel, selection: Selection) -> None:
    """The ceiling as a broad grey step under everything; nothing where the task has none."""
    known = selection.rows.dropna(subset=["ceiling"]).drop_duplicates("p").sort_values("p")
    places = list(known["p"])
    # The next share outside belongs to it: the step to there may fall inside.
    first, last = bisect_left(places, panel.low), bisect_right(places, panel.high)
    known = known.iloc[max(first - 1, 0) : last + 1]
    if not known.empty:
        look: dict[str, Any] = {"color": CEILING_COLOUR, "lw": 4}
        axes.plot(known["p"], known["ceiling"], drawstyle="steps-mid", label="ceiling", zorder=1, **look)


def _draw_cells(axes: Axes, panel: Panel, cells: pd.DataFrame, slot: Slot) -> None:
    """One model: its line and marks, and an interval where there is one and it is not a point."""
    look: dict[str, Any] = {"color": slot.look.colour, "transform": beside(axes, slot.shift)}
    scored = cells.dropna(subset=["effective_mean"])
    axes.plot(*_line(scored, panel, slot.shift), zorder=3, **look)
    own = panel.inside(scored)
    marks: dict[str, Any] = {"ls": "", "marker": slot.look.marker, "ms": slot.size, "mew": 0}
    axes.plot(own["p"], own["effective_mean"], label=slot.model, zorder=5, **marks, **look)
    sure = panel.inside(cells).dropna(subset=["ci_low", "ci_high"])
    sure = sure[sure["ci_low"] < sure["ci_high"]]
    bars = axes.vlines(sure["p"], sure["ci_low"], sure["ci_high"], lw=0.9, zorder=4, **look)
    bars.set_label(f"interval {slot.model}")
    for end in ("ci_low", "ci_high"):
        axes.plot(sure["p"], sure[end], ls="", marker="_", ms=slot.size + 1, mew=0.9, zorder=4, **look)


def _line(scored: pd.DataFrame, panel: Panel, shift: float) -> tuple[Floats, Floats]:
    """The points of a panel and, where the line goes on, its value at the edge: both panels meet there."""
    p, accuracy = (scored[name].to_numpy(dtype=float) for name in ("p", "effective_mean"))
    edges = [edge for edge in (panel.low, panel.high) if p.size and p[0] < edge < p[-1]]
    inside = (p >= panel.low) & (p <= panel.high)
    x = np.concatenate([p[inside], np.array(edges) - shift / panel.scale])
    y = np.concatenate([accuracy[inside], np.interp(edges, p, accuracy)])
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _draw_fit(axes: Axes, panel: Panel, fit: "pd.Series[Any] | None", slot: Slot, moved: bool) -> None:
    """The fitted curve, thin.

    It is moved as its model's marks are, so that their distances are true; not in a panel before a stretched one,
    where the cliff is so narrow that the same points would be a false place.
    """
    if fit is None:
        return
    beyond = (panel.high - panel.low) / 4
    p = np.linspace(max(panel.low - beyond, 0), min(panel.high + beyond, 1), 600)
    accuracy, _ = logistic(p, fit[["R0", "k", "p0"]].to_numpy(dtype=float))
    look: dict[str, Any] = {"color": slot.look.colour, "transform": beside(axes, slot.shift if moved else 0)}
    axes.plot(p, accuracy, ls=FIT_DASHES, lw=0.8, zorder=2, label=f"fit {slot.model}", **look)


def _draw_printed(axes: Axes, values: pd.DataFrame, slot: Slot) -> None:
    """What the paper printed for one model, hollow."""
    hollow: dict[str, Any] = {
        "mfc": "white",
        "mec": slot.look.colour,
        "marker": slot.look.marker,
        "ms": slot.size - 0.4,
    }
    place = beside(axes, slot.shift)
    axes.plot(
        values["p"], values["accuracy"], ls="", label=f"printed {slot.model}", zorder=5, transform=place, **hollow
    )


def _prepare(axes: Axes, panel: Panel, rows: pd.DataFrame, breadth: float) -> None:
    """Limits, ticks, a pale band behind the marks of each share, and its reference tokens along the top."""
    axes.set_xlim(panel.low, panel.high)
    axes.set_ylim(*Y_LIMITS)
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda p, _: f"{100 * p:.6g} %")
    axes.grid(axis="y", color="#DDDDDD", lw=0.5)
    axes.set_axisbelow(True)
    measured = panel.inside(rows.drop_duplicates("p").sort_values("p"))
    place = axes.get_xaxis_transform()
    axes.vlines(measured["p"], 0, 1, transform=place, color=BAND_COLOUR, lw=breadth, capstyle="butt", zorder=0)
    known = measured.dropna(subset=["r"])
    kept = readable_ticks(list(known["p"]), panel.scale, room=24)
    labels = [f"{int(r)}" if index in kept else "" for index, r in enumerate(known["r"])]
    axes.secondary_xaxis("top").set_xticks(list(known["p"]), labels)


def _label(figure: Figure, grid: Sequence[Axes], panels: Sequence[Panel], selection: Selection) -> None:
    """Title, axis titles, and how the two panels meet."""
    title = "Accuracy against the share of the context window that coordination takes"
    where = f"{selection.experiment}, W = {selection.window} tokens; {selection.source}; judge: {selection.judge}"
    figure.suptitle(f"{title}\n{where}", fontsize=NORMAL)
    grid[0].set_ylabel("Effective accuracy")
    grid[0].set_xlabel("Realized coordination share, p = c/W")
    if selection.rows["r"].notna().any():
        grid[0].child_axes[0].set_xlabel("Reference tokens left, r", loc="left", fontsize=SMALL)
    if len(panels) > 1:
        times = panels[1].scale / panels[0].scale
        grid[1].set_xlabel(f"p on a scale {times:.2g} times wider")
        grid[1].spines["left"].set(linestyle=(0, (2, 2)), color="#808080")
        grid[1].tick_params(left=False)


def _legend(selection: Selection, curves: pd.DataFrame, slots: Sequence[Slot]) -> list[Line2D]:
    """An entry for each model with its theta, then for everything else that is drawn."""
    explained = selection.explained()
    handles = []
    for slot in sorted(slots, key=lambda slot: slot.printed):
        look: dict[str, Any] = {"color": slot.look.colour, "marker": slot.look.marker, "ms": 4.2}
        if slot.printed:
            handles.append(Line2D([], [], ls="", mfc="white", label=f"{slot.model}\npaper (printed)", **look))
            continue
        lines = [slot.model, *([explained[slot.model]] if slot.model in explained else [])]
        lines.append(_theta(_fit(selection, curves, slot.model)))
        handles.append(Line2D([], [], label="\n".join(lines), mew=0, **look))
    if selection.rows["ceiling"].notna().any():
        fits = (_fit(selection, curves, model, "ceiling") for model in selection.models)
        theta = _theta(next((fit for fit in fits if fit is not None), None))
        whose = " of this project's texts" if selection.published else ""
        label = f"evidence ceiling{whose},\n{theta}\n(steps half-way between shares)"
        handles.append(Line2D([], [], color=CEILING_COLOUR, lw=4, label=label))
    if any(_fit(selection, curves, model) is not None for model in selection.models):
        handles.append(Line2D([], [], color="#404040", ls=FIT_DASHES, lw=0.8, label="logistic fit"))
    if len(slots) > 1:
        label = "one share p at the middle of a band,\nits marks side by side"
        handles.append(Line2D([], [], color=BAND_COLOUR, lw=10, label=label))
    if (selection.rows["ci_low"] < selection.rows["ci_high"]).any():
        bar = Line2D([], [], ls="", color="#404040", marker="|", ms=7, mew=0.9, label="95 % interval over calls")
        handles.append(bar)
    return handles


def _theta(fit: "pd.Series[Any] | None") -> str:
    if fit is None:
        return "θ not identified"
    if pd.isna(fit["theta_ci_low"]) or pd.isna(fit["theta_ci_high"]):
        return f"θ = {fit['theta']:.1f} tokens"
    if math.isclose(fit["theta_ci_low"], fit["theta_ci_high"]):
        return f"θ = {fit['theta']:.1f} tokens (calls do not vary)"
    return f"θ = {fit['theta']:.1f} tokens ({fit['theta_ci_low']:.1f} to {fit['theta_ci_high']:.1f})"
