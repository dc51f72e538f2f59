"""Trials whose prompt the server cut: no judge is asked, no item has a score, and no table takes them for misses."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from judge_helpers import record, response

from rcwt.analysis.cells import POOLED, cells
from rcwt.base.reasoning import USUAL
from rcwt.base.records import PromptSize, TrialRecord, write_records
from rcwt.calls import requests as calls
from rcwt.calls.responses import Request
from rcwt.config.schema import Config
from rcwt.run.score_cell import score_cell
from rcwt.study.study import Study
from rcwt.trials.completeness import MissingScoresError, completeness

#: One design of each way of scoring.
EXPERIMENTS = ("fixed_budget", "intact", "algorithmic", "gsm8k")


@pytest.fixture(scope="module")
def study(root: Path) -> Study:
    merged: dict[str, Any] = {}
    for name in ("models", "prices", "config"):
        merged |= yaml.safe_load((root / f"config/{name}.yaml").read_text())
    return Study(Config.model_validate({**merged, "experiments": list(EXPERIMENTS)}), root / "resources/templates")


def write_cell(study: Study, condition: str, path: Path, *answers: tuple[str, Any]) -> Path:
    """The calls file of the reader's cell; the condition's other trials have no text."""
    planned = study.conditions[condition].trials
    given = [*answers, *[("", "empty")] * (planned - len(answers))]
    asked = study.call_identity(condition, "reader")
    known = {"condition": condition, "prompt_sha256": study.prompts[condition].sha256, "model": "reader"}
    known |= {"requested_model": asked["model"], "requested_params": asked["params"]}
    file = path / "reader/cell.jsonl"
    file.parent.mkdir()
    write_records([record(trial, text, status, **known) for trial, (text, status) in enumerate(given)], file)
    return file


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_all_items_of_a_cut_prompt_are_missing(study: Study, experiment: str, tmp_path: Path) -> None:
    condition = next(name for name in study.conditions if name.startswith(f"{experiment}-"))
    path = write_cell(
        study, condition, tmp_path, ("No.", "prompt_cut"), ("No.", "ok"), ("", "prompt_cut"), ("", "empty")
    )
    scored = score_cell(study, condition, "rules", path, []).scores[:4]
    assert [one.trial for one in scored] == [0, 1, 2, 3]
    # Every item that a whole reply is scored by, and none that it is not.
    assert all(list(one.items) == list(scored[1].items) for one in scored)
    assert {value for one in scored[::2] for value in one.items.values()} == {None}
    assert {value for one in scored[1::2] for value in one.items.values()} == {0}
    assert [one.status for one in scored[::2]] == ["not_scored", "not_scored"]


def test_no_model_is_asked_about_a_cut_prompt(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server, a key or a network, since there is nothing to ask."""
    judged = Study(study.config.model_copy(update={"judges": ["gpt-4.1-mini"]}), study.templates)
    condition = next(iter(judged.conditions))
    path = write_cell(judged, condition, tmp_path, ("The limit is 8KB.", "prompt_cut"))
    one, *_ = score_cell(judged, condition, "gpt-4.1-mini", path, []).scores
    assert (one.status, one.judge_keys) == ("not_scored", None)


def test_the_record_says_cut_and_the_kept_response_what_was_read() -> None:
    prompt = {"messages": [{"role": "user", "content": "Q"}], "order": "coord_first", "condition": "c"}
    asked = [Request("e", "m", (("user", "Q"),), {"max_tokens": 9}, "coord_first", sample) for sample in range(2)]
    size = PromptSize(tokens=4097, ratio=1.0, overhead=70)
    kept = [response("No.", prompt=count, prompt_size=size) for count in (1000, 4160)]
    cut, whole = calls.records({**prompt, "prompt_sha256": "x"}, "t", asked, kept, USUAL)
    assert (cut.response.status, whole.response.status, kept[0].status) == ("prompt_cut", "ok", "ok")
    assert TrialRecord.model_validate_json(cut.model_dump_json()) == cut


def trial(number: int, status: str, score: int | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A trial and the scores of its two items under the rules."""
    key = {"source": "run", "experiment": "main", "window": 4096, "model": "t", "order": "coord_first", "pack": None}
    key |= {"q": 0.5, "trial": number}
    budget = {"p": 0.5, "c": 2048, "r": 1700, "u": 348, "ceiling": 1.0}
    scores = [{**key, "judge": "rules", "item": item, "effective": True, "score": score} for item in ("a", "b")]
    said = "not_scored" if score is None else "scored"
    return {**key, **budget, "status": status, "headline_judge": "rules"}, [{**s, "score_status": said} for s in scores]


def table(*rows: tuple[dict[str, Any], list[dict[str, Any]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.DataFrame([row for row, _ in rows]), pd.DataFrame([score for _, scores in rows for score in scores])


def test_a_cell_counts_them_apart() -> None:
    found = cells(*table(trial(0, "ok", 1), trial(1, "prompt_cut", None), trial(2, "ok", 0)), B=100)
    row = found[found["order"] == POOLED].iloc[0]
    assert (row.n_planned, row.n_answered, row.n_prompt_cut, row.n_unparsed, row.n_scored) == (3, 2, 1, 0, 2)
    assert (row.hits, row.possible, row.effective_mean, row.answered_mean) == (2, 4, 0.5, 0.5)
    # The two items that are missing may have been misses or hits.
    assert (row.bound_low, row.bound_high) == (pytest.approx(2 / 6), pytest.approx(4 / 6))


def test_a_score_that_stands_beside_a_cut_prompt_does_not_count() -> None:
    """As in a table that was edited, or made by an older version."""
    found = cells(*table(trial(0, "ok", 1), trial(1, "prompt_cut", 0)), B=100)
    row = found[found["order"] == POOLED].iloc[0]
    assert (row.hits, row.possible, row.effective_mean) == (2, 2, 1.0)


def test_too_many_stop_a_run_with_the_remedy() -> None:
    with pytest.raises(MissingScoresError) as caught:
        completeness(*table(trial(0, "ok", 1), trial(1, "prompt_cut", None)), max_missing=0.02)
    for part in ("2 of 4 scores of t", "In 1 of 2 calls its server cut the prompt", "num_ctx", "max_model_len"):
        assert part in str(caught.value)
    with pytest.raises(MissingScoresError) as caught:
        completeness(*table(trial(0, "ok", 1), trial(1, "ok", None)), max_missing=0.02)
    assert "num_ctx" not in str(caught.value)
