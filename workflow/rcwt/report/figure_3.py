"""Figure 3: what coordination content displaces, told apart from what it disturbs.

A row a model. Left, the mean accuracy of the open task at each amount of coordination content in its two arms: the
fixed budget, where the reference gives way, and the intact task, where it is whole; grey, the evidence ceiling of the
fixed budget. Right, the two losses: displacement (intact less fixed) and interference (intact without coordination
less intact with it), with intervals over calls.

The measured amounts crowd at the end of the range, so they stand at equal distances: places on the axis are no scale.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rcwt.analysis.intervals import Floats
from rcwt.reader.label import LABEL
from rcwt.report.figures import NORMAL, PALETTE, WIDTH, Series, legend_columns, message_figure, style
from rcwt.report.selection import SOURCES

FIXED = Series(PALETTE["vermilion"], "s")
INTACT = Series(PALETTE["blue"], "o")
CEILING_COLOUR = "#BDBDBD"
ZERO_COLOUR = "#9E9E9E"
Y_LIMITS = (-0.04, 1.06)
_ROW = 1.95  # inches a model
_ASIDE = 0.09  # steps between marks of one amount


def draw(table: pd.DataFrame, models: Sequence[str], embedded: Sequence[str]) -> Figure:
    """Draw the rows of a displacement table of one judge; where there are none, the figure says so."""
    shown = [model for model in models if (table["model"] == model).any()]
    if not shown:
        return message_figure("Figure 3: no amount of coordination content was measured in both arms, nothing to draw.")
    with style():
        figure = Figure(figsize=(WIDTH, _ROW * len(shown) + 1.0), layout="constrained")
        amounts = sorted({int(c) for c in table["c"]})
        grid = figure.subplots(len(shown), 2, sharex="col", squeeze=False, width_ratios=[1, 1])
        for (left, right), model in zip(grid, shown, strict=True):
            rows = table[table["model"] == model].sort_values("c", kind="stable")
            places = np.array([amounts.index(int(c)) for c in rows["c"]], dtype=float)
            _accuracies(left, rows, places)
            _losses(right, rows, places)
            label = f"{model} ({LABEL})" if model in embedded else model
            left.set_title(label, loc="left", fontsize=NORMAL)
            _amounts((left, right), amounts, last=model == shown[-1])
        figure.suptitle(_title(table), fontsize=NORMAL)
        handles = _legend(table)
        columns = legend_columns([str(handle.get_label()) for handle in handles])
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    return figure


def _accuracies(axes: Axes, rows: pd.DataFrame, places: Floats) -> None:
    """The two arms, and between them what is displaced."""
    known = rows["fixed_ceiling"].notna().to_numpy()
    axes.plot(places[known], rows["fixed_ceiling"][known], drawstyle="steps-mid", color=CEILING_COLOUR, lw=4, zorder=1)
    axes.fill_between(places, rows["fixed_mean"], rows["intact_mean"], color=FIXED.colour, alpha=0.12, lw=0, zorder=0)
    for look, column in ((FIXED, "fixed_mean"), (INTACT, "intact_mean")):
        axes.plot(places, rows[column], color=look.colour, marker=look.marker, ms=4, mew=0, zorder=3, label=column)
    axes.set_ylim(*Y_LIMITS)
    axes.set_ylabel("effective accuracy")


def _losses(axes: Axes, rows: pd.DataFrame, amounts: Floats) -> None:
    """Displacement and interference side by side, each with its interval."""
    axes.axhline(0, color=ZERO_COLOUR, lw=0.6, zorder=0)
    for name, look, aside in (("displacement", FIXED, -_ASIDE), ("interference", INTACT, _ASIDE)):
        places = amounts + aside
        axes.plot(places, rows[name], color=look.colour, marker=look.marker, ms=4, mew=0, zorder=3, label=name)
        sure = rows[f"{name}_low"] < rows[f"{name}_high"]
        ends = (rows[f"{name}_low"][sure], rows[f"{name}_high"][sure])
        axes.vlines(places[sure.to_numpy()], *ends, color=look.colour, lw=0.9, zorder=2)
        for end in ends:
            axes.plot(places[sure.to_numpy()], end, ls="", marker="_", ms=5, mew=0.9, color=look.colour, zorder=2)
    lowest = rows[["displacement", "interference", "displacement_low", "interference_low"]].min().min()
    axes.set_ylim(min(-0.1, float(lowest) - 0.05), 1.06)
    axes.set_ylabel("accuracy lost")


def _amounts(panels: Sequence[Axes], amounts: Sequence[int], last: bool) -> None:
    """The measured amounts of coordination content below both panels."""
    for axes in panels:
        axes.set_xticks(
            range(len(amounts)), [f"{c:,}".replace(",", "\u2009") for c in amounts], rotation=45, ha="right"
        )
        axes.set_xlim(-0.4, len(amounts) - 0.6)
        axes.tick_params(labelbottom=last)
        if last:
            axes.set_xlabel("coordination content c (tokens; not to scale)")


def _title(table: pd.DataFrame) -> str:
    source = ", ".join(SOURCES.get(name, name) for name in dict.fromkeys(table["source"]))
    window = ", ".join(str(int(size)) for size in dict.fromkeys(table["fixed_window"]))
    arms = f"fixed budget W = {window} tokens against the intact task"
    return f"Displacement and interference: {arms} ({source}, judge {table['judge'].iloc[0]})"


def _legend(table: pd.DataFrame) -> list[Line2D]:
    ceiling: dict[str, Any] = {"color": CEILING_COLOUR, "lw": 4, "label": "evidence ceiling of the fixed budget"}
    known = bool(table["fixed_ceiling"].notna().any())
    return [
        _mark(FIXED, "fixed budget (left); displacement: intact less fixed (right)"),
        _mark(INTACT, "intact task (left); interference: its own loss (right)"),
        *([Line2D([], [], **ceiling)] if known else []),
    ]


def _mark(look: Series, label: str) -> Line2D:
    return Line2D([], [], color=look.colour, marker=look.marker, ms=4, mew=0, label=label)
