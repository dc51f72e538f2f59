"""Table A1: accuracy by share of coordination content and model (paper, Table A1).

Printed values are rounded half up from exact counts, by whole-number and decimal arithmetic: 15 of 16 is 0.938,
where the binary fraction 0.9375 would be rounded to even or down. A value that is missing stays missing.
"""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.base.files import write_text
from rcwt.report import declined
from rcwt.report.printing import (
    PrintedTable,
    as_csv,
    as_latex,
    as_markdown,
    printed_accuracy,
    printed_percent,
    round_half_up,
)
from rcwt.report.selection import Selection

#: What a ceiling beside the paper's own calls is made from.
OWN_TEXTS = (
    "It is that of this project's task texts, which have the paper's token geometry; the texts of the published calls "
    "are not part of the data."
)


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
    parts += declined.note((model, selection.of(model)) for model in selection.models)
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


def write_table_a1(selection: Selection, prefix: str) -> None:
    """Write Table A1 as `prefix`.csv, .md and .tex."""
    shown, caption, note = table_a1_for_people(selection), caption_a1(selection), note_a1(selection)
    write_text(as_csv(table_a1(selection)), Path(f"{prefix}.csv"))
    write_text(as_markdown(shown, caption, note), Path(f"{prefix}.md"))
    write_text(as_latex(shown, caption, note, "tab:a1"), Path(f"{prefix}.tex"))
