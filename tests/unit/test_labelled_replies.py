"""The rule judge and the exact fields against replies that a person has labelled; debatable labels count nowhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.reasoning import parted
from rcwt.scoring.abstentions import abstained_items
from rcwt.scoring.fields import score_fields
from rcwt.scoring.rules import judge
from rcwt.scoring.understood import demands_of
from rcwt.study.tasks import load_task

FOLDER = Path(__file__).parents[2] / "resources/templates/spec_recall"
TASK = load_task(FOLDER)
DEMANDS = demands_of((FOLDER / "instruction.md").read_text(encoding="utf-8"))
#: Shares of the labels that may be missed: what was asked for.
FALSE_HITS, FALSE_MISSES_OPEN, FALSE_MISSES_FIELDS, ABSTENTIONS_FOUND = 0.02, 0.03, 0.02, 0.95


def replies(shared: Path, name: str) -> Iterator[tuple[str, dict[str, int], dict[str, Any]]]:
    """Each reply with the labels that count."""
    path = shared / "replies" / name
    if not path.is_file():
        pytest.skip(f"no labelled replies at {path}")
    for line in path.read_text(encoding="utf-8").splitlines():
        read = json.loads(line)
        debatable = read.get("debatable") or []
        if debatable is not True:
            labels = {name: label for name, label in read["labels"].items() if name not in debatable}
            yield parted(read["reply"]).answer, labels, read


def shares(pairs: list[tuple[int, int]]) -> tuple[float, float]:
    """False hits and false misses among pairs of label and score."""
    wrong = [score for label, score in pairs if label == 0]
    right = [score for label, score in pairs if label == 1]
    return sum(wrong) / len(wrong), 1 - sum(right) / len(right)


def test_free_texts(shared: Path) -> None:
    pairs = []
    for reply, labels, _ in replies(shared, "open.jsonl"):
        scores = judge(reply, TASK.items, DEMANDS)
        pairs += [(label, scores[item]) for item, label in labels.items()]
    hits, misses = shares(pairs)
    assert hits <= FALSE_HITS
    assert misses <= FALSE_MISSES_OPEN


def test_fields(shared: Path) -> None:
    pairs = []
    for reply, labels, _ in replies(shared, "fields.jsonl"):
        scores = score_fields(reply, TASK.fields) or {}
        pairs += [(label, scores.get(field, 0)) for field, label in labels.items()]
    hits, misses = shares(pairs)
    assert hits <= FALSE_HITS
    assert misses <= FALSE_MISSES_FIELDS


def test_abstentions(shared: Path) -> None:
    found = due = 0
    for reply, labels, read in replies(shared, "open.jsonl"):
        declined = set(abstained_items(reply, TASK.items, DEMANDS))
        wanted = set(read.get("abstained") or []) & set(labels)
        assert not [item for item in declined if labels.get(item) == 1]
        found, due = found + len(wanted & declined), due + len(wanted)
    assert found >= ABSTENTIONS_FOUND * due
