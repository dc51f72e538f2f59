"""Missing scores against `max_missing`: a miss is not missing, and the cells are named."""

import pandas as pd
import pytest

from rcwt.trials.completeness import MissingScoresError, completeness
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA


def tables(unparsed: int, calls: int = 50) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`calls` calls of two effective items and one other; the first `unparsed` could not be read by judge `a`."""
    key = {"source": "run", "experiment": "main", "window": 4096, "model": "m", "order": "coord_first", "pack": None}
    key["q"] = 0.5
    trials = [
        {**key, "trial": trial, "status": "ok", "headline_judge": "a", "p": 0.4, "c": 1, "r": 1, "u": 1}
        for trial in range(calls)
    ]
    scores = [
        {
            **{**key, "trial": trial, "judge": judge, "item": item, "effective": item != "z"},
            **(
                {"score": None, "score_status": "judge_unparsed"} if missing else {"score": 0, "score_status": "scored"}
            ),
        }
        for trial in range(calls)
        for judge in ("a", "b")
        for item in ("x", "y", "z")
        for missing in [trial < unparsed and judge == "a"]
    ]
    return pd.DataFrame(trials, columns=TRIAL_SCHEMA.names), pd.DataFrame(scores, columns=SCORE_SCHEMA.names)


def test_as_many_as_are_accepted() -> None:
    [row] = completeness(*tables(1), max_missing=0.02).to_dict("records")
    assert (row["calls"], row["scores"], row["missing"], row["judge"]) == (50, 100, 2, "a")
    assert row["share_missing"] == 0.02


def test_more_are_an_error_that_names_the_cells() -> None:
    with pytest.raises(MissingScoresError) as error:
        completeness(*tables(2), max_missing=0.02)
    for part in ("max_missing: 4 of 100 scores of m", "4.0%", "main W=4096 coord_first q=0.5 m: 4 of 100 by a"):
        assert part in str(error.value)


def test_a_second_judge_and_calls_without_an_answer_do_not_count() -> None:
    trials, scores = tables(0)
    scores.loc[scores["judge"] == "b", ["score", "score_status"]] = [None, "judge_unparsed"]
    trials.loc[:9, "status"] = "empty"
    assert completeness(trials, scores, max_missing=0)["missing"].tolist() == [0]
