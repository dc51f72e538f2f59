"""The intact task's tables: what a task that is never cut keeps of its answers beside growing coordination content.

The unit is the complete call, whose fields are all right (paper, ablation). N = 5 a cell at temperature 0 is nearly one
sample, so the number of distinct replies stands beside every count.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.analysis.cells import POOLED, write_csv
from rcwt.analysis.intervals import wilson_interval
from rcwt.base.files import write_text
from rcwt.reader.label import LABEL as READER_LABEL
from rcwt.report import declined
from rcwt.report.printing import PrintedTable, as_csv, as_latex, as_markdown, printed_percent, round_half_up
from rcwt.report.selection import SOURCES, TableError, paper_order
from rcwt.study.prompts import MESSAGE_OVERHEAD

#: `calls_all_correct` is the smallest of the models': that many of each one's calls are complete.
PAPER_COLUMNS = (
    *("ratio_percent", "coordination_tokens", "estimated_prompt_tokens", "task_tokens"),
    *("calls_per_model", "calls_all_correct"),
)
FULL_COLUMNS = [
    *("source", "experiment", "window", "model", "judge", "order", "q", "c", "task_tokens"),
    *("calls", "calls_all_correct", "success", "success_low", "success_high", "fields_right", "fields_asked"),
    *("n_unparsed", "n_truncated", "n_without_answer", "prompt_tokens_estimated"),
    *("prompt_tokens_sent", "prompt_tokens_reported", "distinct_replies"),
    # Addition: fields that the replies decline to give.
    "n_abstained_items",
]
#: Tokens of the separator between two blocks (paper: 1 401 tokens for 698 + 698 and the overhead of two messages).
_SEPARATOR = 1


def intact_full(
    cells: pd.DataFrame,
    trials: pd.DataFrame,
    sent: Mapping[tuple[int, str], int],
    experiment: str,
) -> pd.DataFrame:
    """One row a model, judge, ratio and order (or both pooled) of `experiment`, with the columns FULL_COLUMNS.

    `cells` is the cells table and `trials` the trials. `success` is the share of complete calls with its Wilson
    interval (95 %), whatever its value. Tokens of a prompt: estimated as the paper does (its parts, a separator, the
    overhead of two messages); sent, by window and order in `sent`, as the manifest counts them, where two parts may
    share a token; reported, the mean of what the model counted. Of two orders the longer prompt is given. Missing where
    not known: tokens sent (published data), tokens reported, distinct replies.
    """
    own = cells[cells["experiment"] == experiment].sort_values(["model", "judge", "q", "order"], kind="stable")
    called = trials[trials["experiment"] == experiment]
    rows = [_full_row({**cell}, called, sent) for _, cell in own.iterrows()]
    whole = dict.fromkeys(("prompt_tokens_sent", "distinct_replies", "n_abstained_items"), "Int64")
    return pd.DataFrame(rows, columns=FULL_COLUMNS).astype(whole)


def _full_row(cell: Mapping[str, Any], called: pd.DataFrame, sent: Mapping[tuple[int, str], int]) -> dict[str, Any]:
    c, r = int(cell["c"]), int(cell["r"])
    task = r if pd.isna(cell["u"]) else r + int(cell["u"])
    calls = called[(called["window"] == cell["window"]) & (called["model"] == cell["model"])]
    if cell["order"] != POOLED:
        calls = calls[calls["order"] == cell["order"]]
    complete, scored = int(cell["n_complete"]), int(cell["n_scored"])
    low, high = wilson_interval(complete, scored)
    estimated = task + 2 * MESSAGE_OVERHEAD + (c + _SEPARATOR if c else 0)
    prompts = [sent[place] for order in calls["order"] if (place := (int(cell["window"]), str(order))) in sent]
    texts = calls["text"].dropna()
    return {
        **{name: cell[name] for name in ("source", "experiment", "window", "model", "judge", "order", "q")},
        "c": c,
        "task_tokens": task,
        "calls": int(cell["n_planned"]),
        "calls_all_correct": complete,
        "success": complete / scored if scored else None,
        "success_low": low,
        "success_high": high,
        "fields_right": int(cell["hits"]),
        "fields_asked": int(cell["possible"]),
        "n_unparsed": int(cell["n_unparsed"]),
        "n_truncated": int(cell["n_truncated"]),
        "n_without_answer": int(cell["n_empty"] + cell["n_refused"] + cell["n_filtered"]),
        "prompt_tokens_estimated": estimated,
        "prompt_tokens_sent": max(prompts, default=None),
        "prompt_tokens_reported": calls["prompt_tokens"].astype("Float64").mean(),
        "distinct_replies": texts.nunique() if len(texts) else None,
        "n_abstained_items": None if pd.isna(cell["n_abstained_items"]) else int(cell["n_abstained_items"]),
    }


def intact_table(full: pd.DataFrame) -> PrintedTable:
    """The table in the paper's columns: one row a ratio, all models together."""
    pooled = full[full["order"] == POOLED]
    rows = []
    for q, at in pooled.groupby("q"):
        for name in ("c", "task_tokens"):
            if at[name].nunique() > 1:
                raise TableError(
                    f"intact: {name} is {', '.join(map(str, sorted(set(at[name]))))} at the ratio "
                    f"{printed_percent(float(str(q)))} %; accepted: one prompt a ratio. Give each its own experiment"
                )
        one = at.iloc[0]
        rows.append(
            (
                *(
                    printed_percent(one["q"]),
                    str(one["c"]),
                    str(one["prompt_tokens_estimated"]),
                    str(one["task_tokens"]),
                ),
                *(str(at["calls"].min()), str(at["calls_all_correct"].min())),
            )
        )
    return PrintedTable(PAPER_COLUMNS, tuple(rows))


def intact_for_people(full: pd.DataFrame) -> PrintedTable:
    """The same for people: one row a model and ratio, with intervals, tokens and distinct replies."""
    pooled = full[full["order"] == POOLED]
    columns = (
        *("model", "ratio (%)", "c (tokens)", "tokens sent", "reported", "calls all right", "95 % interval"),
        *("fields right", "distinct replies"),
    )
    rows = [_row_for_people(row) for model in paper_order(pooled["model"]) for row in _of(pooled, model)]
    return PrintedTable(columns, tuple(rows))


def _of(pooled: pd.DataFrame, model: str) -> Sequence[Mapping[str, Any]]:
    return [{**row} for _, row in pooled[pooled["model"] == model].sort_values("q").iterrows()]


def _row_for_people(row: Mapping[str, Any]) -> tuple[str, ...]:
    low, high = row["success_low"], row["success_high"]
    sent, reported, replies = (
        row[name] for name in ("prompt_tokens_sent", "prompt_tokens_reported", "distinct_replies")
    )
    return (
        *(str(row["model"]), printed_percent(row["q"]), str(row["c"]), "" if pd.isna(sent) else str(int(sent))),
        "" if pd.isna(reported) else format(round_half_up(round(float(reported) * 1000), 1000, 0), "f"),
        f"{row['calls_all_correct']} of {row['calls']}",
        "" if pd.isna(low) else f"{low:.3f} to {high:.3f}",
        f"{row['fields_right']} of {row['fields_asked']}",
        "" if pd.isna(replies) else str(int(replies)),
    )


def caption(full: pd.DataFrame) -> str:
    """What the table shows, without a final full stop."""
    where = f": {full['experiment'].iloc[0]}, t = {full['task_tokens'].iloc[0]} tokens" if len(full) else ""
    return "Intact task beside growing coordination content" + where


def note(full: pd.DataFrame, embedded: Sequence[str]) -> str:
    """What a reader of the table must know."""
    if full.empty:
        return "No calls of an intact task with an exact question: there is nothing to show."
    pooled = full[full["order"] == POOLED]
    source = ", ".join(SOURCES.get(name, name) for name in dict.fromkeys(pooled["source"]))
    parts = [
        f"Source: {source}. Judge: {', '.join(dict.fromkeys(pooled['judge']))}. Prompt orders pooled.",
        "A call is all right when each of its fields is; the interval is Wilson's. Tokens sent are counted in "
        "cl100k_base, reported ones by the model (mean of the calls).",
        "Calls at temperature 0 are nearly one sample: where all replies of a row are alike, its interval says little.",
    ]
    parts += [f"{model}: {READER_LABEL}." for model in paper_order(pooled["model"]) if model in embedded]
    unparsed, cut, silent, calls = (
        int(pooled[name].sum()) for name in ("n_unparsed", "n_truncated", "n_without_answer", "calls")
    )
    if (pooled["source"] == "published").any():
        parts.append(
            f"Replies seen cut at the output cap: {cut} of {calls}; which held no JSON object is not in the data."
        )
    else:
        parts.append(
            f"Replies without a JSON object / without an answer (both misses) / cut at the output cap: {unparsed} / "
            f"{silent} / {cut} of {calls}."
        )
    asked = pooled.rename(columns={"fields_asked": "possible"})
    parts += declined.note((model, asked[asked["model"] == model]) for model in paper_order(asked["model"]))
    return " ".join(parts)


def write_intact(full: pd.DataFrame, embedded: Sequence[str], prefix: str) -> None:
    """Write the paper's table as `prefix`.csv, .md and .tex, and all values as `prefix`_full.csv."""
    shown, title, remark = intact_for_people(full), caption(full), note(full, embedded)
    write_text(as_csv(intact_table(full)), Path(f"{prefix}.csv"))
    write_text(as_markdown(shown, title, remark), Path(f"{prefix}.md"))
    write_text(as_latex(shown, title, remark, "tab:intact"), Path(f"{prefix}.tex"))
    write_csv(full, f"{prefix}_full.csv")
