"""Displacement told apart from interference, on one task and at equal amounts of coordination content.

Two arms hold the same c tokens of coordination. In the fixed budget they take the place of the reference; in the open
intact task the reference is whole beside them. What only the first loses is displacement:

    displacement(c) = intact(c) − fixed(c)         interference(c) = intact(0) − intact(c)

Both are differences of mean effective accuracy, orders pooled. Their intervals (95 %) resample the calls of each arm
inside each order, with the draws that the cells' own intervals use.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rcwt.analysis.cells import MAIN_WINDOW, POOL_KEY
from rcwt.analysis.intervals import Floats, draw_calls, percentile_interval
from rcwt.base.sealed import read_csv
from rcwt.trials.judged import judged_calls

COLUMNS = [
    *("source", "model", "judge", "c", "fixed_experiment", "fixed_window", "fixed_q", "fixed_calls", "fixed_mean"),
    *("fixed_ceiling", "intact_experiment", "intact_q", "intact_calls", "intact_mean", "intact_ceiling"),
    *("displacement", "displacement_low", "displacement_high", "displacement_ci_method"),
    *("interference", "interference_low", "interference_high", "interference_ci_method"),
]


def displacement(
    trials: pd.DataFrame,
    scores: pd.DataFrame,
    fixed: str | None,
    intact: str | None,
    B: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """One row a model, judge and c that both arms measured, with the columns COLUMNS.

    `fixed` and `intact` name the two experiments; of the fixed budget's windows the paper's 4 096 tokens are taken, or
    else the smallest. No rows where an arm is not there. Interference is missing where the intact arm has no c = 0.
    `ci_method` says `no_variation` where the calls of each order and arm are alike: there is nothing to resample.
    """
    calls = judged_calls(trials, scores)
    arms = [_arm(calls[calls["experiment"] == name], B, seed) for name in (fixed, intact)]
    windows = sorted({key[0] for key in arms[0]})
    window = MAIN_WINDOW if MAIN_WINDOW in windows else next(iter(windows), None)
    rows = []
    for key, whole in arms[1].items():
        _, source, model, judge, c = key
        cut = arms[0].get((window, source, model, judge, c))
        base = next((arms[1][other] for other in arms[1] if other[1:] == (source, model, judge, 0)), None)
        if cut is not None:
            rows.append(_row(key, window, (fixed, cut), (intact, whole), base))
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(["source", "model", "judge", "c"], kind="stable", ignore_index=True)


def read_displacement(path: str | Path) -> pd.DataFrame:
    """Read `displacement.csv`. Raises StaleResultError for any other file."""
    methods = ("displacement_ci_method", "interference_ci_method")
    return read_csv(path, COLUMNS, ("source", "model", "judge", "fixed_experiment", "intact_experiment", *methods))


class _Cell:
    """One cell of an arm, its orders pooled: mean accuracy, and the same for each resample of its calls."""

    def __init__(self, pool: tuple[object, ...], calls: pd.DataFrame, B: int, seed: int) -> None:
        strata = {
            str(order): (of["hits"].to_numpy(dtype=np.int64), of["possible"].to_numpy(dtype=np.int64))
            for order, of in calls.groupby("order")
        }
        drawn = [draw_calls((*pool, order), *stratum, B, seed) for order, stratum in strata.items()]
        self.q = float(calls["q"].iloc[0])
        self.calls = len(calls)
        self.mean = int(calls["hits"].sum()) / int(calls["possible"].sum())
        self.means: Floats = np.sum([hits for hits, _ in drawn], axis=0) / np.sum([of for _, of in drawn], axis=0)
        scored = [zip(hits[of > 0].tolist(), of[of > 0].tolist(), strict=True) for hits, of in strata.values()]
        self.varies = any(len(set(outcomes)) > 1 for outcomes in scored)
        self.ceiling = None if calls["ceiling"].isna().any() else float(calls["ceiling"].mean())


def _arm(calls: pd.DataFrame, B: int, seed: int) -> dict[tuple[Any, ...], _Cell]:
    """The scored cells of one experiment by window, source, model, judge and c."""
    cells: dict[tuple[Any, ...], _Cell] = {}
    for pool, of in calls.groupby(POOL_KEY):
        source, _, window, model, judge, _ = pool
        if of["possible"].sum() > 0:
            cells[(window, source, model, judge, int(of["c"].iloc[0]))] = _Cell(pool, of, B, seed)
    return cells


def _row(
    key: tuple[Any, ...],
    window: int | None,
    fixed: tuple[str | None, _Cell],
    intact: tuple[str | None, _Cell],
    base: _Cell | None,
) -> dict[str, Any]:
    _, source, model, judge, c = key
    (fixed_name, cut), (intact_name, whole) = fixed, intact
    return {
        **{"source": source, "model": model, "judge": judge, "c": c},
        **{"fixed_experiment": fixed_name, "fixed_window": window, "fixed_q": cut.q, "fixed_calls": cut.calls},
        **{"fixed_mean": cut.mean, "fixed_ceiling": cut.ceiling, "intact_experiment": intact_name, "intact_q": whole.q},
        **{"intact_calls": whole.calls, "intact_mean": whole.mean, "intact_ceiling": whole.ceiling},
        **dict(_difference("displacement", whole, cut)),
        **(dict(_difference("interference", base, whole)) if base is not None else {}),
    }


def _difference(name: str, larger: _Cell, smaller: _Cell) -> Iterator[tuple[str, Any]]:
    yield name, larger.mean - smaller.mean
    if larger is smaller:  # the cell held against itself: 0 by definition
        ends, method = (0.0, 0.0), None
    else:
        ends = percentile_interval(larger.means - smaller.means)
        method = "bootstrap" if larger.varies or smaller.varies else "no_variation"
    yield f"{name}_low", ends[0]
    yield f"{name}_high", ends[1]
    yield f"{name}_ci_method", method
