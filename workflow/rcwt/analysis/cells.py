"""The cells table: what was found at each share, and how sure it is (paper sections 3 and 4, Table A1).

Every number is counted from trials and scores. Missing scores leave a cell's mean, and two bounds say what
they could change; see `rcwt.trials.judged`. Intervals take the call as the unit; see `rcwt.analysis.intervals`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rcwt.analysis.intervals import Ints, Names, draw_packs, percentile_interval, wilson_interval
from rcwt.base.files import write_text
from rcwt.base.sealed import read_csv
from rcwt.base.statuses import NON_ANSWERS, ORDERS, PROMPT_CUT, STATUSES
from rcwt.trials.judged import BUDGET, StatisticsError, judged_calls

POOLED = "pooled"
#: Window of the paper's main experiment, in tokens: the one to show or compare where several are measured.
MAIN_WINDOW = 4096
CELL_KEY = ["source", "experiment", "window", "model", "judge", "order", "q"]
CELL_COLUMNS = [
    *CELL_KEY,
    *("p", "c", "r", "u"),
    *("n_planned", "n_answered", "n_truncated", "n_empty", "n_refused", "n_filtered", "n_unparsed"),
    *("hits", "possible", "effective_mean", "raw_mean", "answered_mean", "bound_low", "bound_high"),
    *("ci_low", "ci_high", "ci_method", "wilson_low", "wilson_high", "ceiling"),
    # Additions: calls with at least one effective score; calls with every effective item right.
    *("n_scored", "n_complete", "raw_hits", "raw_possible"),
    # Effective items that are misses because the output cap cut the reply off before them (named answers).
    "n_cut_items",
    # Mean F1 of the effective items that have one (DROP).
    "f1_mean",
    # Calls that ended with a word nobody knows; calls that another model answered, missing where no reply names one;
    # calls whose prompt the server cut: missing, not scored.
    *("n_unknown_finish", "n_other_model", "n_prompt_cut"),
    # Effective items that the replies decline to answer, misses all of them; replies that held reasoning, which was
    # taken off. Missing for calls that no run has made.
    *("n_abstained_items", "n_reasoning"),
    # Accuracy of the same items as `f1_mean`, with answers and references in plain forms.
    "plain_mean",
]
#: A cell whose orders are added.
POOL_KEY = ["source", "experiment", "window", "model", "judge", "q"]


def cells(trials: pd.DataFrame, scores: pd.DataFrame, B: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """Count and average every cell, by order and pooled over orders, with 95 % intervals.

    `trials` and `scores` have the columns of `rcwt.trials.schema`; `B` is the number of bootstrap draws and `seed`
    the configuration's bootstrap seed. The result has the columns CELL_COLUMNS and one row a source,
    experiment, window, model, judge, order (`coord_first`, `reason_first`, `pooled`) and share q; packs are
    pooled into their q. `c`, `r` and `u` are tokens, missing where the packs of a cell differ in them.

    `ci_low` and `ci_high` resample calls inside each order; of benchmark packs, the packs and then the calls of
    each. Where the calls of each order agree, resampling varies nothing and `ci_method` says `no_variation`,
    unless hits are none or all: there it stays `bootstrap`, and `wilson_*` hold the interval of complete-call
    success. Raises StatisticsError for doubled rows, for two budgets in one cell and for a `B` below 1.
    """
    if B < 1:
        raise StatisticsError(f"bootstrap.B is {B}; accepted: a whole number of draws from 1 on")
    calls = judged_calls(trials, scores)
    if calls.empty:
        return pd.DataFrame(columns=CELL_COLUMNS)
    table = pd.concat([_counted(calls), _counted(calls.assign(order=POOLED))], ignore_index=True)
    table = table.merge(_intervals(calls, B, seed), on=CELL_KEY, validate="one_to_one")
    table = pd.concat([table, _means(table), _wilson(table)], axis=1)
    table["order"] = pd.Categorical(table["order"], [*ORDERS, POOLED], ordered=True)
    table = table.sort_values(CELL_KEY, kind="stable", ignore_index=True)
    return table.astype({"order": "str"}).reindex(columns=CELL_COLUMNS)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a result table: shortest exact floats, empty for missing, true/false; whole or not at all."""
    shown = table.copy()
    for name in shown.columns:
        if pd.api.types.is_bool_dtype(shown[name].dtype):
            shown[name] = shown[name].astype(object).map({True: "true", False: "false"})
    write_text(shown.to_csv(None, index=False, lineterminator="\n"), Path(path))


def read_cells(path: str | Path, *, sealed: bool = True) -> pd.DataFrame:
    """Read a cells table that `write_csv` wrote. Raises StaleResultError for any other file; see `read_csv`."""
    texts = ("source", "experiment", "model", "judge", "order", "ci_method")
    return read_csv(path, CELL_COLUMNS, texts, sealed=sealed)


def _counted(calls: pd.DataFrame) -> pd.DataFrame:
    """Sum the calls of each cell, and keep the budget and ceiling that its calls share."""
    answered = ~calls["status"].isin([*NON_ANSWERS, PROMPT_CUT])
    scored = calls["possible"] > 0
    whole = calls["missing"] == 0
    marked = calls.assign(
        n_planned=1,
        n_answered=answered,
        **{f"n_{status}": calls["status"] == status for status in STATUSES if status != "ok"},
        n_unparsed=answered & (~whole | (calls["unparsed"] > 0)),
        n_scored=scored,
        n_complete=scored & whole & (calls["hits"] == calls["possible"]),
        # With a score missing, a call is known not to be complete once a scored item is wrong.
        n_settled=scored & (whole | (calls["hits"] < calls["possible"])),
        n_cut_items=calls["cut"],
        answered_hits=calls["hits"].where(answered, 0),
        answered_possible=calls["possible"].where(answered, 0),
    )
    summed = [name for name in marked.columns if name.startswith("n_")]
    summed += [
        "hits",
        "possible",
        "missing",
        "raw_hits",
        "raw_possible",
        "answered_hits",
        "answered_possible",
    ]
    groups = marked.groupby(CELL_KEY)
    table = groups[summed].sum().astype("int64")
    table["ceiling"] = groups["ceiling"].mean().where(groups["ceiling"].count() == groups["ceiling"].size())
    for name, column in (("n_other_model", "other_model"), ("n_reasoning", "reasoned")):
        table[name] = groups[column].sum(min_count=1).astype("Int64")
    made_here = table.index.get_level_values("source") == "run"
    table["n_abstained_items"] = groups["abstained"].sum().where(made_here).astype("Int64")
    for name, of in (("f1_mean", "f1"), ("plain_mean", "plain_score")):
        table[name] = _ratio(groups[f"{of}_sum"].sum(), groups[f"{of}_count"].sum())
    for name in BUDGET:
        single = groups[name].nunique(dropna=False) == 1
        if name in ("p", "c") and not single.all():
            cell = ", ".join(str(part) for part in single.index[~single.to_numpy()][0])
            raise StatisticsError(
                f"trials: more than one {name} in the cell {cell}; accepted: one budget a cell. "
                "Its trials come from different prompts: delete them and run again"
            )
        table[name] = groups[name].first().where(single)
    return table.reset_index()


def _means(table: pd.DataFrame) -> pd.DataFrame:
    whole = table["possible"] + table["missing"]
    return pd.DataFrame(
        {
            "effective_mean": _ratio(table["hits"], table["possible"]),
            "raw_mean": _ratio(table["raw_hits"], table["raw_possible"]),
            "answered_mean": _ratio(table["answered_hits"], table["answered_possible"]),
            "bound_low": _ratio(table["hits"], whole),
            "bound_high": _ratio(table["hits"] + table["missing"], whole),
        }
    )


def _ratio(part: "pd.Series[Any]", whole: "pd.Series[Any]") -> "pd.Series[Any]":
    return part / whole.where(whole > 0)


def _wilson(table: pd.DataFrame) -> pd.DataFrame:
    """Complete-call success, only where resampling says nothing: no hit at all, or nothing but hits."""
    columns = ["hits", "possible", "n_complete", "n_settled"]
    ends = [
        wilson_interval(int(complete), int(settled)) if possible and hits in (0, possible) else (np.nan, np.nan)
        for hits, possible, complete, settled in table[columns].itertuples(index=False)
    ]
    return pd.DataFrame(ends, columns=["wilson_low", "wilson_high"], index=table.index)


def _intervals(calls: pd.DataFrame, B: int, seed: int) -> pd.DataFrame:
    """Ends of the bootstrap for each order and for the orders added, one row a cell."""
    rows = []
    for pool, both in calls.groupby(POOL_KEY):
        *before, q = pool
        strata = {str(order): hits_of(stratum) for order, stratum in both.groupby("order")}
        draws = {order: draw_packs(tuple(before), q, order, stratum, B, seed) for order, stratum in strata.items()}
        for order in strata:
            rows.append((*before, order, q, *_ends([draws[order]], [strata[order]])))
        rows.append((*before, POOLED, q, *_ends(list(draws.values()), list(strata.values()))))
    return pd.DataFrame(rows, columns=[*CELL_KEY, "ci_low", "ci_high", "ci_method"])


def hits_of(calls: pd.DataFrame) -> tuple[Ints, Ints, Names]:
    """Hits, possible hits and packs of the rows of `rcwt.trials.judged.judged_calls`, as `draw_packs` takes them."""
    hits, possible = (calls[name].to_numpy(dtype=np.int64) for name in ("hits", "possible"))
    return hits, possible, calls["pack"].to_numpy(dtype=np.str_)


def _ends(
    draws: Sequence[tuple[Ints, Ints]], strata: Sequence[tuple[Ints, Ints, Names]]
) -> tuple[float, float, str | None]:
    hits = sum(int(stratum[0].sum()) for stratum in strata)
    possible = sum(int(stratum[1].sum()) for stratum in strata)
    if possible == 0:
        return float("nan"), float("nan"), None
    varies = any(len({*zip(h[n > 0].tolist(), n[n > 0].tolist(), strict=True)}) > 1 for h, n, _ in strata)
    if not varies and 0 < hits < possible:
        return hits / possible, hits / possible, "no_variation"
    drawn = np.sum([draw[0] for draw in draws], axis=0) / np.sum([draw[1] for draw in draws], axis=0)
    return *percentile_interval(drawn), "bootstrap"
