"""A cell of a user's own task whose pattern runs away: no score, and an error that says which pattern it is."""

import shutil
from pathlib import Path

import pytest
from judge_helpers import record

from rcwt.base.errors import TaskError
from rcwt.base.records import write_records
from rcwt.config.schema import Config
from rcwt.run.score_cell import score_cell
from rcwt.scoring import patterns
from rcwt.study.study import Study

CONFIG = {
    "models": ["reader"],
    "judges": ["rules"],
    "experiments": ["main"],
    "designs": {
        "main": {
            "task": "spec_recall",
            "windows": [{"window": 4096, "shares": [0], "trials": 1}],
            "params": {"max_tokens": 100},
        }
    },
    "registry": {"reader": {"litellm": "embedded/reader", "token_factor": 1.0}},
    "prices": {"reader": {"input": 0, "output": 0, "as_of": "2026-11-03"}},
}


def test_a_pattern_that_runs_away_on_a_reply_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "resources/templates/spec_recall", tmp_path / "spec_recall")
    file = tmp_path / "spec_recall" / "task.yaml"
    spec = file.read_text(encoding="utf-8")
    file.write_text(spec.replace("- 'option d'\n", "- '(?:a|aa)+b'\n", 1), encoding="utf-8")
    study = Study(Config.model_validate(CONFIG), tmp_path)
    condition = next(iter(study.conditions))
    known = {"condition": condition, "prompt_sha256": study.prompts[condition].sha256, "model": "reader"}
    known |= {"requested_model": "embedded/reader", "requested_params": {"max_tokens": 100}}
    calls = tmp_path / "reader/calls.jsonl"
    calls.parent.mkdir()

    write_records([record(0, "PostgreSQL LISTEN/NOTIFY payloads are limited to 8KB.", **known)], calls)
    assert score_cell(study, condition, "rules", calls, []).scores[0].items["pg_limit"] == 1

    monkeypatch.setattr(patterns, "LONGEST_SEARCH_S", 0.2)
    write_records([record(0, "a" * 3000, **known)], calls)
    with pytest.raises(TaskError) as caught:
        score_cell(study, condition, "rules", calls, [])
    message = str(caught.value)
    for part in (f"{file}:", "key 'items[2].reject' (three_encryption_options)", f"a reply of reader to {condition}"):
        assert part in message
    for part in ("'(?:a|aa)+b'", "more than 0.2 s of CPU", "Bound what repeats"):
        assert part in message
