"""Replies to packs that a person has labelled: how many the grading reads otherwise. Debatable labels count nowhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from rcwt.packs.grading import grade
from rcwt.packs.items import Question, Reference

LABELLED = Path(__file__).parents[3] / "shared/replies/packs.jsonl"
#: The share of labels that may be read otherwise.
MOST_WRONG = 0.03

pytestmark = pytest.mark.skipif(not LABELLED.exists(), reason=f"{LABELLED} is not here: labelled replies stay outside")


def _question(line: dict[str, Any]) -> Question:
    kind = line.get("kind") or ("letter" if line["benchmark"] == "mmlu_pro" else "number")
    values = line["reference"] if isinstance(line["reference"], list) else [line["reference"]]
    return Question(
        id=line["id"],
        text="?",
        passage="…" if line["benchmark"] == "drop" else None,
        options=tuple(line.get("options", ())),
        references=(Reference(kind=kind, values=tuple(values)),),
    )


def test_few_labels_are_read_otherwise() -> None:
    lines = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    counted = [line for line in lines if not line.get("debatable")]
    wrong = [
        f"{line['id']}: {line['reply']!r} is {line['label']}"
        for line in counted
        if grade(line["reply"], [_question(line)], cut=False)[0].plain != line["label"]
    ]
    assert len(wrong) <= MOST_WRONG * len(counted), "\n".join(wrong)
