"""The paper-shaped tables, and which cells they, the figures and the summary show (paper, Table A1).

Printed values are rounded half up from exact counts, by whole-number and decimal arithmetic: 15 of 16 is 0.938,
where the binary fraction 0.9375 would be rounded to even or down. A value that is missing stays missing.
"""

import argparse
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.digests import write_text
from rcwt.errors import RcwtError
from rcwt.reader import LABEL as READER_LABEL
from rcwt.reader import NAME as READER_NAME
from rcwt.sealed import read_csv
from rcwt.statistics import POOLED

#: What a ceiling beside the paper's own calls is made from.
OWN_TEXTS = (
    "It is that of this project's task texts, which have the paper's token geometry; the texts of the published calls "
    "are not part of the data."
)
#: The paper's models, in the paper's order; all others follow in the order of the cells.
PAPER_MODELS = ("gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini")
MAIN_EXPERIMENT = "fixed_budget"
MAIN_WINDOW = 4096
ORIGINAL_JUDGE = "original"
SOURCES = {"run": "new calls", "published": "published data", "simulated": "simulated"}
#: What stands for a missing value where people read; in CSV the field is empty.
MISSING = "—"
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "—": "---",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
#: Columns of `curve_fits.csv` that are shown.
_FIT_FLAGS = ("converged", "at_bound", "identified")
_FIT_NUMBERS = (
    *("window", "p0", "p0_search_end", "theta", "theta_ci_low", "theta_ci_high", "theta_ci_identified"),
    *("theta_facts_low", "theta_facts_high", "theta_facts_identified"),
)
_MARKDOWN = frozenset("\\`*_|<>[]")


class TableError(RcwtError):
    """A table that was asked for and cannot be made from the cells there are."""


@dataclass(frozen=True)
class Selection:
    """The pooled cells of one experiment, window and judge, as a table or figure shows them.

    `rows` has the columns of a cells table; `embedded` names the models that are the extractive reader.
    Experiment, window (tokens) and judge are None where the cells table has no rows; so is the window where all
    windows are shown.
    """

    rows: pd.DataFrame
    models: tuple[str, ...]
    experiment: str | None
    window: int | None
    judge: str | None
    embedded: tuple[str, ...] = (READER_NAME,)

    @property
    def source(self) -> str:
        """Where the numbers come from: `new calls`, `published data` or `simulated`; empty without rows."""
        return ", ".join(SOURCES.get(source, source) for source in dict.fromkeys(self.rows["source"]))

    @property
    def published(self) -> bool:
        """Whether the paper's own calls are shown."""
        return bool((self.rows["source"] == "published").any())

    def of(self, model: str) -> pd.DataFrame:
        """The rows of one model, by rising share."""
        return self.rows[self.rows["model"] == model].sort_values("q", kind="stable")

    def explained(self) -> dict[str, str]:
        """What must be said of a model that is shown, by model."""
        return {model: READER_LABEL for model in self.models if model in self.embedded}


def select(
    cells: pd.DataFrame,
    *,
    judge: str | None = None,
    experiment: str | None = None,
    window: int | None = None,
    models: Sequence[str] = (),
    embedded: Sequence[str] = (READER_NAME,),
) -> Selection:
    """Pick the pooled cells to show.

    What is not asked for is chosen: the main experiment or else the first; 4 096 tokens or else the smallest window;
    the paper's own judge or else the only one; the paper's models in its order, then the others as they come. A model
    that is asked for and has no cells is kept, its values missing. Raises TableError for a judge, experiment or
    window that the cells do not hold, where several judges leave the choice open, and for mixed sources.
    """
    rows = cells[cells["order"] == POOLED]
    if rows.empty:
        return Selection(rows, tuple(models), experiment, window, judge, tuple(embedded))
    experiment = _experiment(rows, experiment)
    rows = rows[rows["experiment"] == experiment]
    windows = sorted({int(size) for size in rows["window"]})
    window = _chosen("window", window, windows, MAIN_WINDOW if MAIN_WINDOW in windows else windows[0])
    return _judged(rows[rows["window"] == window], experiment, window, judge, models, embedded)


def select_windows(
    cells: pd.DataFrame,
    *,
    judge: str | None = None,
    experiment: str | None = None,
    models: Sequence[str] = (),
    embedded: Sequence[str] = (READER_NAME,),
) -> Selection:
    """Pick the pooled cells of all windows of one experiment, under one judge; else as `select`."""
    rows = cells[cells["order"] == POOLED]
    if rows.empty:
        return Selection(rows, tuple(models), experiment, None, judge, tuple(embedded))
    experiment = _experiment(rows, experiment)
    return _judged(rows[rows["experiment"] == experiment], experiment, None, judge, models, embedded)


def _experiment(rows: pd.DataFrame, asked: str | None) -> str:
    found = list(dict.fromkeys(rows["experiment"]))
    return str(_chosen("experiment", asked, found, MAIN_EXPERIMENT if MAIN_EXPERIMENT in found else found[0]))


def _judged(
    rows: pd.DataFrame,
    experiment: str,
    window: int | None,
    judge: str | None,
    models: Sequence[str],
    embedded: Sequence[str],
) -> Selection:
    """The rows of one judge and of the models to show, from one source."""
    judges = list(dict.fromkeys(rows["judge"]))
    only = judges[0] if len(judges) == 1 else None
    judge = _chosen("judge", judge, judges, ORIGINAL_JUDGE if ORIGINAL_JUDGE in judges else only)
    rows = rows[rows["judge"] == judge]
    if rows["source"].nunique() > 1:
        raise TableError(
            f"cells of {experiment}: sources {', '.join(sorted(set(rows['source'])))} in one table; accepted: one "
            "source a run. Give each its own results_dir"
        )
    shown = tuple(models) or paper_order(rows["model"])
    return Selection(rows[rows["model"].isin(shown)], shown, experiment, window, judge, tuple(embedded))


def _chosen(what: str, asked: Any, found: Sequence[Any], default: Any) -> Any:
    value = default if asked is None else asked
    if value is None or value not in found:
        which = "none is named" if value is None else f"found {value}"
        raise TableError(f"--{what}: {which}; accepted: {', '.join(map(str, found))}, which the cells hold")
    return value


def paper_order(models: "Sequence[str] | pd.Series[Any]") -> tuple[str, ...]:
    """Each model once: those of the paper in its order, then the others in the order given."""
    given = list(dict.fromkeys(models))
    known = [model for model in PAPER_MODELS if model in given]
    return (*known, *(model for model in given if model not in known))


def add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options by which a script says which cells it shows."""
    parser.add_argument("--experiment", help=f"default: {MAIN_EXPERIMENT}, or else the first of the cells")
    parser.add_argument("--window", type=int, help=f"tokens; default: {MAIN_WINDOW}, or else the smallest")
    parser.add_argument("--judge", help=f"default: {ORIGINAL_JUDGE}, or else the only one")
    parser.add_argument("--models", nargs="*", default=[], help="which, in this order; default: all, the paper's first")
    parser.add_argument(
        "--embedded", nargs="*", default=[READER_NAME], help=f"models that are the {READER_LABEL} (default: reader)"
    )


def select_from(cells: pd.DataFrame, options: argparse.Namespace) -> Selection:
    """Pick the cells that the options of `add_selection_arguments` name."""
    return select(
        cells,
        judge=options.judge,
        experiment=options.experiment,
        window=options.window,
        models=options.models,
        embedded=options.embedded,
    )


def fit_of(
    curves: pd.DataFrame, experiment: str, window: int, judge: str, model: str, fitted_to: str = "accuracy"
) -> "pd.Series[Any] | None":
    """The row of `curve_fits.csv` with a model's logistic fit to its `accuracy` or `ceiling`; None without one."""
    if curves.empty:
        return None
    wanted = {
        "experiment": experiment,
        "window": window,
        "judge": judge,
        "model": model,
        "fitted_to": fitted_to,
        "family": "logistic",
    }
    rows = curves[(curves[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return None if rows.empty else rows.iloc[0]


def read_curves(path: str | Path) -> pd.DataFrame:
    """Read `curve_fits.csv`; `identified`, `converged` and `at_bound` become booleans.

    Raises StaleResultError for any other file.
    """
    texts = ("source", "experiment", "model", "judge", "fitted_to", "family")
    return read_csv(path, (*texts, *_FIT_NUMBERS, *_FIT_FLAGS), texts, _FIT_FLAGS)


def round_half_up(part: int, whole: int, places: int) -> Decimal:
    """The quotient of two counts with `places` decimals, halves up; exact, since only whole numbers are divided."""
    scale = 10**places
    return Decimal((2 * part * scale + whole) // (2 * whole)).scaleb(-places)


def printed_accuracy(hits: Any, possible: Any) -> str:
    """Hits of possible hits with three decimals; empty where there is no score."""
    if pd.isna(hits) or pd.isna(possible) or int(possible) == 0:
        return ""
    return format(round_half_up(int(hits), int(possible), 3), "f")


def printed_percent(share: float) -> str:
    """A share as percent without trailing zeros: 97.5, 90, 0."""
    return format((Decimal(repr(float(share))) * 100).normalize(), "f")


@dataclass(frozen=True)
class PrintedTable:
    """A table as it is printed: columns and rows of text, an empty text where a value is missing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_a1(selection: Selection) -> PrintedTable:
    """Table A1: shares q and p in percent, reference tokens r, and the accuracy of each model."""
    accuracies = {
        (_place(row), row.model): printed_accuracy(row.hits, row.possible)
        for row in selection.rows.itertuples(index=False)
    }
    printed = tuple(
        (
            printed_percent(q),
            "" if c < 0 else format(round_half_up(100 * c, selection.window or 1, 1), "f"),
            "" if r < 0 else str(r),
            *(accuracies.get(((q, c, r), model), "") for model in selection.models),
        )
        for q, c, r in sorted({place for place, _ in accuracies})
    )
    return PrintedTable(("target_q_percent", "realized_p_percent", "reference_tokens", *selection.models), printed)


def _place(row: Any) -> tuple[float, int, int]:
    """Where a cell stands: its q and its c and r in tokens, -1 where its prompts differ in them."""
    c, r = (-1 if pd.isna(tokens) else int(tokens) for tokens in (row.c, row.r))
    return float(row.q), c, r


def table_a1_for_people(selection: Selection) -> PrintedTable:
    """Table A1 with readable headings and, where it is known, the evidence ceiling beside the accuracies."""
    table = table_a1(selection)
    columns = ("q (%)", "p (%)", "r (tokens)", *selection.models)
    ceilings = selection.rows.groupby("q")["ceiling"].first()
    if not ceilings.notna().any():
        return PrintedTable(columns, table.rows)
    known = {printed_percent(float(str(q))): _printed_ceiling(value) for q, value in ceilings.items()}
    return PrintedTable((*columns, "ceiling"), tuple((*row, known[row[0]]) for row in table.rows))


def _printed_ceiling(ceiling: Any) -> str:
    if pd.isna(ceiling):
        return ""
    return format(Decimal(repr(float(ceiling))).quantize(Decimal("0.001"), ROUND_HALF_UP), "f")


def caption_a1(selection: Selection) -> str:
    """What Table A1 shows, without a final full stop."""
    where = f": {selection.experiment}, W = {selection.window} tokens" if selection.window else ""
    who = "; ".join(f"{model} is an {label}" for model, label in selection.explained().items())
    return "Effective accuracy by share of coordination content" + where + (f" ({who})" if who else "")


def note_a1(selection: Selection) -> str:
    """What a reader of Table A1 must know: source, judge, calls, and what was not an answer."""
    if selection.rows.empty:
        return "No calls: there is nothing to show."
    parts = [f"Source: {selection.source}. Judge: {selection.judge}. {_calls_a_cell(selection)}"]
    parts.append("Accuracies are hits of possible hits, rounded half up from exact counts.")
    if selection.rows["ceiling"].notna().any():
        parts.append("Ceiling: share of the facts whose evidence is still in the prompt.")
        if selection.published:
            parts.append(OWN_TEXTS)
    parts += [f"{model}: {label}." for model, label in selection.explained().items()]
    without = "; ".join(f"{model} {_not_plain(selection.of(model))}" for model in selection.models)
    parts.append(
        f"Replies seen cut at the output cap / without an answer (misses) / with a score missing (left out): {without}."
    )
    return " ".join(parts)


def _calls_a_cell(selection: Selection) -> str:
    counts = selection.rows["n_planned"].astype(int)
    low, high = counts.min(), counts.max()
    number = f"{low}" if low == high else f"{low} to {high}"
    return f"{number} {'call' if high == 1 else 'calls'} a cell, prompt orders pooled."


def _not_plain(rows: pd.DataFrame) -> str:
    """Counts of calls that are not a plain, scored answer, of all calls."""
    silent = rows[["n_empty", "n_refused", "n_filtered"]].to_numpy().sum()
    cut, unscored, planned = (int(rows[name].sum()) for name in ("n_truncated", "n_unparsed", "n_planned"))
    return f"{cut} / {int(silent)} / {unscored} of {planned}"


def as_csv(table: PrintedTable) -> str:
    """Comma-separated text; missing values are empty fields."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def as_markdown(table: PrintedTable, caption: str, note: str) -> str:
    """A Markdown table under its caption, with its note below."""

    def line(fields: Sequence[str]) -> str:
        return "| " + " | ".join(escape_markdown(field or MISSING) for field in fields) + " |"

    rule = "| " + " | ".join("---:" for _ in table.columns) + " |"
    lines = [f"**{escape_markdown(caption)}.**", "", line(table.columns), rule, *map(line, table.rows), ""]
    return "\n".join([*lines, f"Note. {escape_markdown(note)}", ""])


def as_latex(table: PrintedTable, caption: str, note: str, label: str) -> str:
    """A LaTeX table environment that needs the package booktabs, with its note below the rows."""

    def line(fields: Sequence[str]) -> str:
        return "    " + " & ".join(escape_latex(field or MISSING) for field in fields) + r" \\"

    return "\n".join(
        [
            r"% Needs \usepackage{booktabs}.",
            r"\begin{table}[t]",
            r"  \centering",
            rf"  \caption{{{escape_latex(caption)}.}}",
            rf"  \label{{{label}}}",
            rf"  \begin{{tabular}}{{{'r' * len(table.columns)}}}",
            r"    \toprule",
            line(table.columns),
            r"    \midrule",
            *map(line, table.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \par\smallskip",
            rf"  \parbox{{\linewidth}}{{\footnotesize Note. {escape_latex(note)}}}",
            r"\end{table}",
            "",
        ]
    )


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{character}" if character in _MARKDOWN else character for character in text)


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_TEX.get(character, character) for character in text)


def write_table_a1(selection: Selection, prefix: str) -> None:
    """Write Table A1 as `prefix`.csv, .md and .tex."""
    shown, caption, note = table_a1_for_people(selection), caption_a1(selection), note_a1(selection)
    write_text(as_csv(table_a1(selection)), Path(f"{prefix}.csv"))
    write_text(as_markdown(shown, caption, note), Path(f"{prefix}.md"))
    write_text(as_latex(shown, caption, note, "tab:a1"), Path(f"{prefix}.tex"))
