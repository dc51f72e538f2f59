"""Items that replies decline to answer, in cells, tables and summary: misses, counted apart, and never a bare zero."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from main_task import CEILING, main_rows, make_cells, make_trials
from paper_rows import SHARES, tables

from rcwt.analysis.cells import cells
from rcwt.analysis.refits import curve_fits
from rcwt.report.declined import declines_all, items_declined, note
from rcwt.report.identified import why_not_identified
from rcwt.report.selection import select
from rcwt.report.summary import summary
from rcwt.report.table_2 import NOT_IDENTIFIED, for_people, table_2, table_2_full
from rcwt.report.table_2 import note as note_2
from rcwt.report.table_a1 import note_a1

DECLINES = "the replies decline all that is asked"


def declining_calls(trials: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Calls of the main task by a model that declines everything, and by one that hits what is visible."""
    calls: list[dict[str, Any]] = []
    for q, ceiling in zip(SHARES, CEILING, strict=True):
        for model, hits in (("declines", 0), ("reads", round(8 * ceiling))):
            for trial in range(trials):
                scores = {f"fact_{place}": int(place < hits) for place in range(8)}
                calls.append({"q": q, "trial": trial, "model": model, "scores": scores})
    found, scores = tables(calls, source="run")
    scores.loc[scores["model"] == "declines", "score_status"] = "abstained"
    found["task"] = "spec_recall"
    return found, scores


def test_declined_items_are_misses_that_are_counted_apart() -> None:
    calls = [{"q": 0.5, "trial": trial, "scores": {"a": 1, "b": 0, "c": 0}, "floor": {"d": 0}} for trial in range(2)]
    trials, scores = tables(calls, source="run")
    scores.loc[scores["item"].isin(["c", "d"]), "score_status"] = "abstained"
    row = cells(trials, scores, B=10).query("order == 'pooled'").iloc[0]
    # c in both calls; d is not effective.
    assert (row["hits"], row["possible"], row["n_abstained_items"], row["n_unparsed"]) == (2, 6, 2, 0)
    assert (row["bound_low"], row["bound_high"]) == (1 / 3, 1 / 3)


def test_what_no_run_has_made_says_nothing_of_declined_items_and_reasoning() -> None:
    trials, scores = tables([{"q": 0.5, "trial": 0, "scores": {"a": 1}}], source="published")
    assert cells(trials, scores, B=10)[["n_abstained_items", "n_reasoning"]].isna().all(axis=None)
    trials, scores = tables([{"q": 0.5, "trial": 0, "scores": {"a": 1}}], source="run")
    trials["reasoning_text"] = ["because"]
    assert cells(trials, scores, B=10)[["n_abstained_items", "n_reasoning"]].eq([0, 1]).all(axis=None)


def test_a_model_that_declines_all_is_said_to_with_the_ceilings_theta(tmp_path: Path) -> None:
    trials, scores = declining_calls()
    table = cells(trials, scores, B=100)
    fits = curve_fits(table, trials, scores, B=20)
    called = pd.concat([make_trials(tmp_path, model) for model in ("declines", "reads")])
    text = summary(called, [table], fits, embedded=())
    own = text.split("  reads")[0]
    # 679.5: the logistic fitted to the ceiling of the paper's geometry (docs/decisions.md).
    assert "    abstains            from all 16 items at q = 0 %; theta of ceiling 679.5 tokens\n" in own
    assert "items declined (misses): 144 of 144" in own
    assert "0.000" not in own
    assert "whole down to" not in own
    assert "baseline accuracy   1.000" in text.split("  reads")[1]


def test_table_2_shows_the_ceiling_beside_a_probe_that_is_declined() -> None:
    trials, scores = declining_calls()
    table = cells(trials, scores, B=100)
    fits = curve_fits(table, trials, scores, B=20)
    full = table_2_full(select(table, models=["declines"]), table.iloc[:0], fits, trials)
    assert full[["possible", "n_abstained_items"]].to_numpy().tolist() == [[144, 144]]
    assert full["why_not"].tolist() == [DECLINES]
    assert full["ceiling_p0"].tolist() == [pytest.approx(1 - 679.45 / 4096, abs=1e-4)]
    [row] = for_people(full).rows
    assert row == ("Task 1 spec recall", NOT_IDENTIFIED, NOT_IDENTIFIED, "0.834", "680", "target q=90%")
    assert "Task 1 spec recall, W = 4096, declines 144 of 144." in note_2(full, [])
    # The paper's columns alone.
    assert [len(row) for row in table_2(full).rows] == [6]


def test_notes_name_the_models_that_decline() -> None:
    rows = make_cells(main_rows("a", [320] * 9) + main_rows("b", [0] * 9), n_abstained_items=0)
    assert "decline" not in note_a1(select(rows))
    rows.loc[rows["model"] == "b", "n_abstained_items"] = 7
    assert "Items that replies decline to answer (misses): b 63 of 2880." in note_a1(select(rows))


@pytest.mark.parametrize(
    ("abstained", "possible", "all_of_them", "said"),
    [
        ([8, 8], [8, 8], True, "16 of 16"),
        # At the second share a question was gone.
        ([8, 7], [8, 8], True, "15 of 16"),
        ([7, 8], [8, 8], False, "15 of 16"),
        ([0, 0], [8, 8], False, None),
        ([0, 0], [0, 0], False, None),
        ([np.nan, np.nan], [8, 8], False, None),
    ],
)
def test_when_all_is_declined(abstained: list[float], possible: list[int], all_of_them: bool, said: str | None) -> None:
    rows = pd.DataFrame({"n_abstained_items": abstained, "possible": possible, "effective_mean": 0.0, "p": [0.1, 0.2]})
    rows["hits"] = 0
    assert declines_all(rows) == all_of_them
    assert not declines_all(rows.assign(hits=[0, 1]))
    assert items_declined(rows) == said
    assert (why_not_identified(None, rows, "effective_mean") == DECLINES) == all_of_them
    assert why_not_identified(None, rows.assign(ceiling=1.0), "ceiling") != DECLINES
    assert note([("m", rows)]) == ([f"Items that replies decline to answer (misses): m {said}."] if said else [])
