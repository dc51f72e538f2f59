"""Window scaling: does the theta of one window predict p0 of another (paper section 5, Table 1)?

Theta is the residual budget W (1 - p0) of a fitted logistic. If a task needs so many tokens whatever the window, theta
of the base window (4 096 tokens) gives p0 = 1 - theta / W in any other, and the fit to the cells measured there says
whether that came true. Both kinds of interval of theta are carried over by the same formula.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pandas as pd

from rcwt.analysis.cells import MAIN_WINDOW
from rcwt.base.files import write_text
from rcwt.report import declined
from rcwt.report.printing import PrintedTable, as_csv, as_latex, as_markdown
from rcwt.report.selection import Selection, TableError, fit_of, select_windows

NOT_IDENTIFIED = "not identified"
#: Windows of the paper's Table 1: p0 is predicted for the first and observed in both.
PAPER_WINDOWS = (8192, 16384)
_INTERVALS = ("ci", "facts")


@dataclass(frozen=True)
class Estimate:
    """A theta in tokens, or the p0 that it means, and its 95 % intervals; NaN where a number is not identified."""

    value: float
    ci: tuple[float, float]  # over calls
    facts: tuple[float, float]  # over facts

    def p0(self, window: int) -> "Estimate":
        """For a theta: the share 1 - theta / W of a window of W tokens, with the ends of its intervals."""
        (ci_low, ci_high), (facts_low, facts_high) = self.ci, self.facts
        return Estimate(
            1 - self.value / window,
            (1 - ci_high / window, 1 - ci_low / window),
            (1 - facts_high / window, 1 - facts_low / window),
        )


@dataclass(frozen=True)
class Scaling:
    """What Table 1 is made from: `thetas` by (model, window), only where cells were scored."""

    selection: Selection
    base: int  # the window whose theta predicts, tokens
    windows: tuple[int, ...]  # every measured one, the smallest first
    thetas: dict[tuple[str, int], Estimate]

    @property
    def shown(self) -> list[int]:
        """The measured windows and the paper's, the smallest first."""
        return sorted({*PAPER_WINDOWS, *self.windows, self.base})

    def at(self, window: int) -> Selection:
        """The cells of one window."""
        return replace(self.selection, rows=self.selection.rows[self.selection.rows["window"] == window], window=window)

    def predicted(self, model: str, window: int) -> Estimate | None:
        """P0 that the base window's theta predicts; None for the base itself and without cells there."""
        theta = self.thetas.get((model, self.base))
        return None if theta is None or window == self.base else theta.p0(window)

    def observed(self, model: str, window: int) -> Estimate | None:
        """P0 of the fit to the cells of that window; None where it was not measured."""
        theta = self.thetas.get((model, window))
        return None if theta is None else theta.p0(window)


def scaling(selection: Selection, curves: pd.DataFrame, base: int | None = None) -> Scaling:
    """Gather theta of every model and window of `selection` (of `select_windows`) from the logistic fits.

    `base` is 4 096 tokens if not given, or else the smallest window. Raises TableError for a base without cells.
    """
    rows = selection.rows[selection.rows["possible"] > 0]
    windows = tuple(sorted({int(window) for window in selection.rows["window"]}))
    if base is None:
        base = MAIN_WINDOW if MAIN_WINDOW in windows or not windows else windows[0]
    elif windows and base not in windows:
        raise TableError(f"--window: found {base}; accepted: {', '.join(map(str, windows))}, which the cells hold")
    measured = rows[["model", "window"]].drop_duplicates().itertuples(index=False)
    thetas = {(str(model), int(window)): _theta(selection, curves, model, int(window)) for model, window in measured}
    return Scaling(selection, base, windows, thetas)


def _theta(selection: Selection, curves: pd.DataFrame, model: str, window: int) -> Estimate:
    fit = fit_of(curves, str(selection.experiment), window, str(selection.judge), model)
    if fit is None or not fit["identified"]:
        return Estimate(math.nan, (math.nan, math.nan), (math.nan, math.nan))
    ci, facts = ((float(fit[f"theta_{kind}_low"]), float(fit[f"theta_{kind}_high"])) for kind in _INTERVALS)
    return Estimate(float(fit["theta"]), ci, facts)


def table_1(found: Scaling) -> PrintedTable:
    """Table 1 as the paper prints it: theta in whole tokens, p0 in percent with one decimal, halves rounded up.

    A window without a scored cell leaves its field empty; `not identified` stands where there are cells.
    """
    first, second = PAPER_WINDOWS
    rows = [
        (
            model,
            _printed(found.thetas.get((model, found.base)), "1"),
            _printed(_percent(found.predicted(model, first))),
            _printed(_percent(found.observed(model, first))),
            _printed(_percent(found.observed(model, second))),
        )
        for model in found.selection.models
    ]
    names = ("model", "theta_tokens", *(f"{kind}_p0_{first}_percent" for kind in ("predicted", "observed")))
    return PrintedTable((*names, f"observed_p0_{second}_percent"), tuple(rows))


def table_1_full(found: Scaling) -> PrintedTable:
    """Table 1 in full digits with both intervals, and p0 of every window, the paper's and the measured ones."""
    columns = ["model", "source", "experiment", "judge", "theta_window", *_names("theta", "_tokens")]
    for window in found.shown:
        kinds = ("observed",) if window == found.base else ("predicted", "observed")
        columns += [name for kind in kinds for name in _names(f"{kind}_p0_{window}", "_percent")]
    columns += ["possible", "n_abstained_items"]
    rows = []
    for model in found.selection.models:
        own = found.selection.of(model)
        source = "" if own.empty else str(own["source"].iloc[0])
        row = [model, source, found.selection.experiment or "", found.selection.judge or "", str(found.base)]
        row += _digits(found.thetas.get((model, found.base)))
        for window in found.shown:
            if window != found.base:
                row += _digits(_percent(found.predicted(model, window)))
            row += _digits(_percent(found.observed(model, window)))
        abstained = own["n_abstained_items"].sum(min_count=1)
        row += [str(int(own["possible"].sum())), "" if pd.isna(abstained) else str(int(abstained))]
        rows.append(tuple(row))
    return PrintedTable(tuple(columns), tuple(rows))


def _names(quantity: str, unit: str) -> list[str]:
    ends = [f"{quantity}_{kind}_{end}{unit}" for kind in _INTERVALS for end in ("low", "high")]
    return [f"{quantity}{unit}", *ends]


def table_1_for_people(found: Scaling) -> PrintedTable:
    """A row a model and window: its own theta, and p0 as predicted and as observed, with the intervals over calls."""
    columns = ("model", "W (tokens)", "theta (tokens)", "predicted p0 (%)", "observed p0 (%)")
    rows = [
        (
            model,
            str(window),
            _with_interval(found.thetas.get((model, window))),
            _with_interval(_percent(found.predicted(model, window)), "0.01"),
            _with_interval(_percent(found.observed(model, window)), "0.01"),
        )
        for model in found.selection.models
        for window in found.shown
    ]
    return PrintedTable(columns, tuple(rows))


def caption_1(found: Scaling) -> str:
    """What Table 1 shows, without a final full stop."""
    where = f": {found.selection.experiment}" if found.selection.experiment else ""
    who = "; ".join(f"{model} is an {label}" for model, label in found.selection.explained().items())
    return f"Midpoint p0 of the cliff by window, predicted and observed{where}" + (f" ({who})" if who else "")


def note_1(found: Scaling) -> str:
    """What a reader of Table 1 must know: source, judge, how p0 is predicted, and what the intervals are."""
    selection = found.selection
    if selection.rows.empty:
        return "No calls: there is nothing to show."
    parts = [
        f"Source: {selection.source}. Judge: {selection.judge}. Prompt orders pooled.",
        "Theta is W (1 - p0) of the logistic fitted to the window's own cells.",
        f"Predicted p0 is 1 - theta/W with theta of W = {found.base}.",
        "In parentheses the 95 % interval of refits over calls; table_1_full.csv has those over facts.",
    ]
    parts += declined.note((model, selection.of(model)) for model in selection.models)
    return " ".join([*parts, *(f"{model}: {label}." for model, label in selection.explained().items())])


def _percent(share: Estimate | None) -> Estimate | None:
    if share is None:
        return None
    ci, facts = ((100 * low, 100 * high) for low, high in (share.ci, share.facts))
    return Estimate(100 * share.value, ci, facts)


def _printed(estimate: Estimate | None, places: str = "0.1") -> str:
    """The value rounded half up; empty where it is missing."""
    if estimate is None:
        return ""
    return NOT_IDENTIFIED if math.isnan(estimate.value) else _rounded(estimate.value, places)


def _rounded(value: float, places: str) -> str:
    return format(Decimal(repr(value)).quantize(Decimal(places), ROUND_HALF_UP), "f")


def _with_interval(estimate: Estimate | None, places: str = "0.1") -> str:
    """The value and its interval over calls, where there is one that is not a point."""
    low, high = (math.nan, math.nan) if estimate is None else estimate.ci
    if math.isnan(low) or math.isnan(high) or math.isclose(low, high):
        return _printed(estimate, places)
    return f"{_printed(estimate, places)} ({_rounded(low, places)} to {_rounded(high, places)})"


def _digits(estimate: Estimate | None) -> list[str]:
    """Value and interval ends in the shortest exact digits; an end that is not known is empty."""
    if estimate is None:
        return [""] * 5
    ends = ["" if math.isnan(end) else repr(end) for end in (*estimate.ci, *estimate.facts)]
    return [NOT_IDENTIFIED if math.isnan(estimate.value) else repr(estimate.value), *ends]


def scaling_from(cells: pd.DataFrame, curves: pd.DataFrame, options: argparse.Namespace) -> Scaling:
    """Gather what the options of `rcwt.report.selection.add_selection_arguments` name; `--window` is the base."""
    names: Sequence[str] = options.models
    selection = select_windows(
        cells, judge=options.judge, experiment=options.experiment, models=names, embedded=options.embedded
    )
    return scaling(selection, curves, options.window)


def write_table_1(found: Scaling, prefix: str) -> None:
    """Write Table 1 as `prefix`.csv, `prefix`_full.csv, `prefix`.md and `prefix`.tex."""
    shown, caption, note = table_1_for_people(found), caption_1(found), note_1(found)
    write_text(as_csv(table_1(found)), Path(f"{prefix}.csv"))
    write_text(as_csv(table_1_full(found)), Path(f"{prefix}_full.csv"))
    write_text(as_markdown(shown, caption, note), Path(f"{prefix}.md"))
    write_text(as_latex(shown, caption, note, "tab:1"), Path(f"{prefix}.tex"))
