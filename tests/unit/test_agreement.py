"""Agreement of judges: counts and kappa by hand, the interval's unit, and the paper's own pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rcwt.analysis.agreement import COLUMNS, judge_agreement, kappa
from rcwt.published.artifact import import_artifact
from rcwt.trials.judged import StatisticsError
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA

CELL = {"source": "run", "experiment": "fixed_budget", "window": 4096, "model": "t", "pack": None}


def score(judge: str, item: str, value: int | None, **more: Any) -> dict[str, Any]:
    status = "scored" if value is not None else "judge_unparsed"
    given = {"order": "coord_first", "q": 0.5, "trial": 0, "effective": True, "score_status": status}
    return {**CELL, **given, "judge": judge, "item": item, "score": value, **more}


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=SCORE_SCHEMA.names)
    return frame.astype({"score": "Int64", "effective": "boolean"})


def trials(headline: str = "a") -> pd.DataFrame:
    return pd.DataFrame([{**CELL, "headline_judge": headline}], columns=TRIAL_SCHEMA.names)


def compared(*rows: dict[str, Any], judges: tuple[str, ...] = ("a", "b"), B: int = 200) -> pd.DataFrame:
    return judge_agreement(trials(), table(*rows), judges, B=B)


def one(found: pd.DataFrame, item: str = "all", q: object = "all") -> "pd.Series[Any]":
    ((_, row),) = found[(found["item"] == item) & (found["q"] == q)].iterrows()
    return row


def test_counts_and_kappa_by_hand() -> None:
    # 20 items of 10 calls: both 1 in 11, only a in 2, only b in 3, both 0 in 4.
    cells = [(1, 1)] * 11 + [(1, 0)] * 2 + [(0, 1)] * 3 + [(0, 0)] * 4
    rows = [
        score(judge, item, pair[side], trial=number // 2)
        for number, pair in enumerate(cells)
        for side, judge in enumerate("ab")
        for item in ["xy"[number % 2]]
    ]
    row = one(compared(*rows))
    assert (row["calls"], row["both1"], row["o1n0"], row["o0n1"], row["both0"]) == (10, 11, 2, 3, 4)
    assert (row["orig"], row["new"], row["agree"]) == (13 / 20, 14 / 20, 15 / 20)
    assert row["delta"] == pytest.approx(1 / 20)
    # By chance: 13/20 · 14/20 + 7/20 · 6/20 = 224/400; kappa = (300 − 224) / (400 − 224).
    assert row["kappa"] == 76 / 176
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"]
    assert (row["target"], row["judge"], row["orig_judge"]) == ("t", "b", "a")


@pytest.mark.parametrize(
    ("counts", "right"),
    [
        ((320, 0, 0, 0), None),  # both gave nothing but 1
        ((0, 0, 0, 9), None),
        ((307, 0, 13, 0), 0.0),  # the reference has 0 there, exactly
        ((0, 5, 5, 0), -1.0),
        ((5, 0, 0, 5), 1.0),
        ((0, 0, 0, 0), None),
    ],
)
def test_kappa_at_its_edges(counts: tuple[int, ...], right: float | None) -> None:
    found = float(kappa(np.array(counts)))
    assert np.isnan(found) if right is None else found == right


def test_only_items_that_both_judges_scored() -> None:
    found = compared(
        score("a", "x", 1), score("b", "x", 1),
        score("a", "y", 1), score("b", "y", None),
        score("a", "x", 0, trial=1, score_status="non_answer"), score("b", "x", 0, trial=1, score_status="non_answer"),
        score("a", "x", 1, trial=2),
    )  # fmt: skip
    assert (one(found)["calls"], one(found)["both1"], one(found)["both0"]) == (1, 1, 0)
    assert "y" not in set(found["item"])


def test_raw_items_have_rows_of_their_own_and_no_part_in_all() -> None:
    found = compared(
        score("a", "x", 1), score("b", "x", 1),
        score("a", "raw", 0, effective=False), score("b", "raw", 1, effective=False),
    )  # fmt: skip
    assert one(found, "raw")["o0n1"] == 1
    assert (one(found)["both1"], one(found)["o0n1"]) == (1, 0)


def test_shares_stand_alone_and_pooled() -> None:
    rows = [score(judge, "x", 1, q=q, trial=trial) for judge in "ab" for q in (0.0, 0.25) for trial in range(3)]
    found = compared(*rows)
    assert list(found["q"]) == [0.0, 0.25, "all"] * 2
    assert [one(found, q=q)["calls"] for q in (0.0, 0.25, "all")] == [3, 3, 6]


def test_pairs_follow_the_order_of_the_judges() -> None:
    rows = [score(judge, "x", 1) for judge in "abc"]
    found = compared(*rows, judges=("c", "a", "b"))
    pairs = list(zip(found["orig_judge"], found["judge"], strict=True))
    assert list(dict.fromkeys(pairs)) == [("c", "a"), ("c", "b"), ("a", "b")]
    # Without an order the headline judge is the original.
    found = judge_agreement(trials("b"), table(*rows), B=200)
    assert (found["orig_judge"][0], found["judge"][0]) == ("b", "a")


def test_one_judge_leaves_the_header() -> None:
    found = compared(score("a", "x", 1), judges=("a",))
    assert found.empty
    assert list(found.columns) == COLUMNS
    assert compared(score("a", "x", 1), score("b", "x", 1, trial=1)).empty


def test_a_call_is_resampled_whole() -> None:
    # Two calls, one all agreement on both values, one all disagreement: whole calls give kappa −1, 0 or 1.
    rows = [
        score(judge, item, value if judge == "a" or trial == 0 else 1 - value, trial=trial)
        for judge in "ab"
        for trial in range(2)
        for item, value in (("w", 1), ("x", 1), ("y", 0), ("z", 0))
    ]
    row = one(compared(*rows, B=2000))
    assert (row["kappa"], row["kappa_low"], row["kappa_high"]) == (0, -1, 1)


def test_neither_row_order_nor_numbering_changes_an_interval() -> None:
    random = np.random.default_rng(1)
    rows = [
        score(judge, item, int(random.integers(2)), trial=trial)
        for trial in range(12)
        for item in "xy"
        for judge in "ab"
    ]
    other = [{**row, "trial": 11 - row["trial"]} for row in reversed(rows)]
    pd.testing.assert_frame_equal(compared(*rows), compared(*other))


def test_an_item_scored_twice_is_an_error() -> None:
    with pytest.raises(StatisticsError, match="1 rows score an item of a call a second time"):
        compared(score("a", "x", 1), score("a", "x", 0), score("b", "x", 1))


@pytest.fixture(scope="module")
def published(shared: Path) -> pd.DataFrame:
    found = import_artifact(shared / "artifact", {})
    return judge_agreement(found.trials, found.scores, B=500).astype({"q": str})


def test_the_pairs_of_the_reference(published: pd.DataFrame, shared: Path) -> None:
    right = pd.read_csv(shared / "reference/judge_agreement.csv", dtype={"q": str})
    ours = published[(published["item"] == "all") & (published["orig_judge"] == "original")]
    joined = right.merge(ours, on=["target", "judge", "q"], suffixes=("_right", ""), how="left")
    assert len(joined) == len(right) == 12
    for column in ("calls", "both1", "o1n0", "o0n1", "both0", "orig", "new", "delta", "agree", "kappa"):
        expected = joined[f"{column}_right"].to_numpy(dtype=float)
        np.testing.assert_allclose(joined[column].to_numpy(dtype=float), expected, atol=1e-12, err_msg=column)


GEMINI, HAIKU, GPT = "gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"
#: Folders of the artifact's rescoring files and whose responses they hold.
RESCORED = {
    "gemini_judged_by_gpt": GEMINI,
    "gemini_judged_by_haiku": GEMINI,
    "gpt_judged_by_gemini25": GPT,
    "gpt_judged_by_haiku": GPT,
    "haiku_judged_by_gemini25": HAIKU,
    "haiku_judged_by_gpt": HAIKU,
}


@pytest.mark.parametrize("folder", RESCORED)
def test_each_pair_is_the_files_own_count(published: pd.DataFrame, shared: Path, folder: str) -> None:
    (file,) = (shared / "artifact/results/l2_rescore" / folder).glob("*.csv")
    rows, judge = pd.read_csv(file), file.stem.removeprefix("rescore_comparison_")
    items = [name.removeprefix("orig_") for name in rows if name.startswith("orig_")]
    effective = [name for name in items if name not in ("crdt_throughput", "mls_rfc")]
    first, second = (rows[[f"{side}_{name}" for name in effective]].to_numpy().ravel() for side in ("orig", "new"))
    counts = [int(((first == a) & (second == b)).sum()) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    ours = published[(published["target"] == RESCORED[folder]) & (published["judge"] == judge)]
    row = one(ours[ours["orig_judge"] == "original"])
    assert [row[name] for name in ("both1", "o1n0", "o0n1", "both0")] == counts
    if folder == "haiku_judged_by_gpt":
        assert counts == [1368, 12, 64, 156]  # stated in the issue
    agree, chance = (first == second).mean(), first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    assert row["kappa"] == pytest.approx((agree - chance) / (1 - chance), abs=1e-12)


def test_all_judges_of_a_target_are_compared_and_no_others(published: pd.DataFrame) -> None:
    pairs = published[["target", "orig_judge", "judge"]].drop_duplicates().itertuples(index=False, name=None)
    newer = "gemini-2.5-flash"
    assert set(pairs) == {
        *((GEMINI, "original", HAIKU), (GEMINI, "original", GPT), (GEMINI, HAIKU, GPT)),
        *((HAIKU, "original", newer), (HAIKU, "original", GPT), (HAIKU, newer, GPT)),
        *((GPT, "original", HAIKU), (GPT, "original", newer), (GPT, HAIKU, newer)),
    }
