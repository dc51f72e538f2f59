"""The labelled replies to the algorithmic task: a careful person said which answers each clearly gives."""

import json
import os
from pathlib import Path

import pytest

from rcwt.base.reasoning import parted
from rcwt.scoring.answers import score_answers
from rcwt.study.tasks import load_task

REPLIES = Path(os.environ.get("RCWT_SHARED", Path(__file__).parents[3] / "shared")) / "replies/algorithmic.jsonl"


@pytest.mark.skipif(not REPLIES.is_file(), reason=f"the labelled replies are not at {REPLIES} (set RCWT_SHARED)")
def test_no_label_is_missed(root: Path) -> None:
    """The issue: none wrong, the debatable labels aside."""
    task = load_task(root / "resources/templates/algorithmic")
    records = [json.loads(line) for line in REPLIES.read_text(encoding="utf-8").splitlines()]
    wrong, counted = [], 0
    for record in records:
        if record.get("debatable"):
            continue
        given = score_answers(parted(record["reply"]).answer, task.answers)
        counted += len(record["labels"])
        wrong += [(record["id"], name) for name, label in record["labels"].items() if given.get(name, 0) != label]
    assert counted == 190
    assert wrong == []
