"""Replies cut before any text: what to raise and to how much, and no baseline that measures nothing."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from capped_trials import CAP, CAPS, CUT, GOOD, trials

from rcwt.config.schema import Config
from rcwt.study.study import Study
from rcwt.trials.caps import Cap, read_caps, remedy, silent_baselines, without_text
from rcwt.trials.completeness import MissingScoresError, completeness
from rcwt.trials.schema import SCORE_SCHEMA


@pytest.mark.parametrize(
    ("call", "counts"),
    [
        (CUT, True),
        (CUT | {"text": ""}, True),
        (CUT | {"text": " \n"}, True),
        (CUT | {"text": "A pa"}, False),
        (CUT | {"status": "empty"}, True),  # the whole cap, and no word of a cut
        (CUT | {"status": "empty", "completion_tokens": 900}, False),
        (CUT | {"status": "ok"}, False),
    ],
)
def test_what_counts_is_blank_and_cut_or_at_its_cap(call: dict[str, Any], counts: bool) -> None:
    assert len(without_text(trials(call), CAP)) == counts


def test_twice_what_was_used() -> None:
    said = remedy(trials(CUT, CUT | {"reasoning_tokens": 900}), CAP)
    assert "Raise `max_tokens` to 2048 (key designs.main.params.max_tokens)" in said
    assert "twice the 1024 tokens that one of them used, 1020 for reasoning" in said
    # A vendor whose reasoning goes beyond the cap; one that says nothing.
    assert "to 6000" in remedy(trials(CUT | {"completion_tokens": 3000, "reasoning_tokens": None}), CAP)
    unknown = remedy(trials(CUT | {"completion_tokens": None, "reasoning_tokens": None}), CAP)
    assert "to 2048" in unknown
    assert "reasoning" not in unknown


def test_another_limit_than_the_cap_is_not_mended_by_the_cap() -> None:
    said = remedy(trials(CUT | {"completion_tokens": 40, "reasoning_tokens": None}), CAP)
    assert "Raise" not in said
    for word in ("40 tokens", "1024", "num_ctx"):
        assert word in said


@pytest.mark.parametrize(("cut", "good", "fails"), [(1, 0, True), (3, 2, True), (2, 2, False), (1, 9, False)])
def test_most_of_the_baseline_and_not_less(cut: int, good: int, fails: bool) -> None:
    table = trials(*[CUT] * cut, *[GOOD] * good)
    assert len(list(silent_baselines(table, CAPS))) == fails
    # Calls at other shares are no baseline; those of other experiments and models have their own.
    other = trials(*[GOOD | {"q": 0.9}] * 50, *[GOOD | {"experiment": "else"}] * 50, *[GOOD | {"model": "n"}] * 50)
    assert len(list(silent_baselines(pd.concat([table, other]), CAPS))) == fails


def test_silence_at_other_shares_alone_is_a_result() -> None:
    table = trials(GOOD, *[CUT | {"q": 0.9}] * 20)
    assert not list(silent_baselines(table, CAPS))


def test_each_window_has_its_baseline_and_an_intact_task_one() -> None:
    windows = trials(*[GOOD] * 5, *[CUT | {"window": 32768}] * 5)
    [said] = silent_baselines(windows, CAPS)
    assert "W=32768, q = 0 %" in said
    intact = [GOOD | {"window": 700}, CUT | {"window": 1400, "q": 0.5}, CUT | {"window": 7000, "q": 0.9}]
    assert not list(silent_baselines(trials(*intact, kind="intact"), CAPS))


def test_calls_that_no_run_made_are_not_judged_by_a_cap() -> None:
    # The paper's data have no texts, and a call is truncated where it used exactly the cap.
    assert not list(silent_baselines(trials(CUT, source="published"), {}))
    assert not list(silent_baselines(trials(), CAPS))


def test_the_check_fails_and_says_what_to_do() -> None:
    table = trials(CUT, CUT)
    items = [
        {**row, "judge": "rules", "item": "a", "score": 0, "score_status": "non_answer"}
        for row in table.to_dict("records")
    ]
    scores = pd.DataFrame(items, columns=SCORE_SCHEMA.names)
    assert completeness(table, scores, 0)["missing"].tolist() == [0]
    with pytest.raises(MissingScoresError) as error:
        completeness(table, scores, 0, CAPS)
    for part in ("designs.main.params.max_tokens: found 1024", "2 of 2 calls of main by m", "to 2048", "run again"):
        assert part in str(error.value)


def test_the_key_is_the_one_that_the_user_wrote(root: Path) -> None:
    window = [{"window": 4096, "shares": [0], "trials": 1}]
    price = {"input": 1, "output": 1, "as_of": "2026-11-01"}
    config = {
        "models": ["plain", "renamed", "own", "direct"],
        "judges": ["rules"],
        "experiments": ["main"],
        "designs": {"main": {"task": "spec_recall", "windows": window, "params": {"max_tokens": 100}}},
        "registry": {
            "plain": {"litellm": "openai/a"},
            "renamed": {"litellm": "openai/b", "param_names": {"max_tokens": "max_completion_tokens"}},
            "own": {"litellm": "openai/c", "params": {"max_tokens": 300}},
            "direct": {
                "litellm": "openai/d",
                "params": {"max_completion_tokens": 400},
                "param_names": {"max_tokens": None},
            },
        },
        "prices": dict.fromkeys(("plain", "renamed", "own", "direct"), price),
    }
    study = Study(Config.model_validate(config), root / "resources/templates")
    assert read_caps(study.output_caps) == {
        ("main", "plain"): Cap("designs.main.params.max_tokens", 100),
        ("main", "renamed"): Cap("designs.main.params.max_tokens", 100),
        ("main", "own"): Cap("registry.own.params.max_tokens", 300),
        ("main", "direct"): Cap("registry.direct.params.max_completion_tokens", 400),
    }
