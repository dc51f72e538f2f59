"""Pooled cells in several windows for the tests of window scaling, on the paper's geometry (u = 337)."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
from test_tables import make_cells

INSTRUCTION = 337
#: Windows and shares of the default configuration, in percent (issue: all experiments).
DESIGN: dict[int, tuple[float, ...]] = {
    4096: (0, 25, 50, 75, 90, 92, 94, 96, 98),
    8192: (0, 25, 50, 75, 90, 92, 94, 96, 98),
    16384: (0, 50, 90, 97, 97.5, 98, 98.5, 99),
    32768: (0, 50, 90, 97.5, 98.5, 99, 99.25, 99.5),
}
#: Reference tokens at which each of the eight facts is whole (design: layout of the spec-recall task).
COMPLETE_AT = (235, 250, 290, 312, 370, 408, 467, 553)


def ceiling(r: int) -> float:
    """Share of the eight facts that r tokens of the reference hold whole."""
    return sum(r >= tokens for tokens in COMPLETE_AT) / len(COMPLETE_AT)


def window_cells(
    accuracy: Callable[[int, int, int], float],
    design: Mapping[int, Sequence[float]] = DESIGN,
    model: str = "m",
    **same: Any,
) -> pd.DataFrame:
    """A cells table in which `accuracy(window, c, r)` says what was found; None for a cell without a score."""
    rows = []
    for window, shares in design.items():
        for share in shares:
            c = int(Decimal(str(share)) * (window - INSTRUCTION) / 100)
            r = window - INSTRUCTION - c
            row = {"model": model, "window": window, "q": share / 100, "c": c, "r": r, "p": c / window}
            mean = accuracy(window, c, r)
            rows.append(row | {"ceiling": ceiling(r), "effective_mean": mean, "possible": 320 * (mean is not None)})
    table = make_cells([row | {"hits": 0} for row in rows], **same)
    table["effective_mean"] = pd.Series([row["effective_mean"] for row in rows], dtype=float)
    return table


def gpt_cells(shared: Path) -> pd.DataFrame:
    """GPT's published cells in the paper's three windows."""
    return paper_cells(shared, "gpt-4.1-mini", "w8192/gpt-4.1-mini_w8192.csv", "w16384/gpt/rcwt_controlled.csv")


def paper_cells(shared: Path, model: str, *larger: str) -> pd.DataFrame:
    """A model's published cells at W = 4096 and in the files `larger`, averaged without this project's code."""
    first = pd.read_csv(shared / "reference" / "fixed_budget_4096_cells.csv")
    first = first[first["model"] == model].rename(columns={"W": "window"})
    frames = [first[["window", "q", "c", "effective_mean"]]]
    for name in larger:
        calls = pd.read_csv(shared / "artifact" / "results" / name)
        keys = {"window": "total_context_tokens", "q": "proportion", "c": "coordination_tokens"}
        means = calls.groupby(list(keys.values()))["mean_score_effective"].mean().reset_index()
        means.columns = pd.Index([*keys, "effective_mean"])
        frames.append(means)
    table = pd.concat(frames, ignore_index=True)
    r = table["window"] - INSTRUCTION - table["c"]
    table = table.assign(model=model, r=r, p=table["c"] / table["window"], ceiling=r.map(ceiling), hits=0)
    means = table["effective_mean"]
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    return make_cells(rows, source="published", judge="original").assign(effective_mean=means)
