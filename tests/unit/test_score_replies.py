"""Replies of a file scored without a call: as a run scores them, and bad lines refused with their place."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_helpers import record

from rcwt.base.errors import TaskError
from rcwt.packs.items import BENCHMARKS
from rcwt.run.score_replies import OUTCOMES, ReplyError, of_benchmark, of_task, score_file
from rcwt.scoring import patterns
from rcwt.scoring.by_rules import by_rules
from rcwt.study.tasks import load_task

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "resources/templates"
TASK, ALGORITHMIC = load_task(TEMPLATES / "spec_recall"), load_task(TEMPLATES / "algorithmic")
SCRIPT = ROOT / "workflow/scripts/score_replies.py"
OPTIONS = ["a dog", "two dogs", "12"]
LINES = {
    "gsm8k": {"id": 1, "reply": "ANSWER 1: 12", "reference": "12"},
    "mmlu_pro": {"id": 1, "reply": "ANSWER 1: B", "reference": "B", "options": OPTIONS},
    "drop": {"id": 1, "reply": "ANSWER 1: The “Bears”", "reference": ["Bears"], "kind": "spans"},
}


def scored(folder: Path, lines: list[Any], score: Any) -> list[dict[str, Any]]:
    source, target = folder / "replies.jsonl", folder / "scores.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    source.write_bytes(text.encode())
    target.unlink(missing_ok=True)
    score_file(source, target, score)
    return [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n")[:-1]]


def test_the_scores_are_those_of_a_run(tmp_path: Path) -> None:
    reply = "2. PostgreSQL LISTEN/NOTIFY has a payload limit of 8KB.\n4. not stated"
    [one] = scored(
        tmp_path, [{"id": "a", "reply": reply, "label": "other keys are not looked at"}], of_task(TASK, None)
    )
    [run] = by_rules([record(0, reply)], TASK.items, TASK.demands)
    assert (one["id"], one["scores"]) == ("a", run.items)
    assert one["outcomes"]["pg_limit"] == "hit"
    assert one["outcomes"]["prosemirror_richtext"] == "abstained"
    assert one["outcomes"]["redis_pubsub_rate"] == "miss"


@pytest.mark.parametrize(
    ("task", "question", "reply", "outcomes"),
    [
        (TASK, None, "<think>The payload limit of PostgreSQL is 8KB.", {"non_answer"}),
        (TASK, None, None, {"non_answer"}),
        (TASK, None, " \n", {"non_answer"}),
        (TASK, "exact_question", "none", {"unparsed"}),
        (TASK, "exact_question", '{"pg_limit": "8 KB", "infra_migration": "not stated"}', {"hit", "abstained", "miss"}),
        (ALGORITHMIC, None, "sum_correct: YES\nabove_count: YES", {"hit", "miss"}),
        (ALGORITHMIC, None, "I will not.", {"unparsed"}),
    ],
)
def test_every_form_has_its_words(
    tmp_path: Path, task: Any, question: str | None, reply: str | None, outcomes: set[str]
) -> None:
    [one] = scored(tmp_path, [{"id": "a", "reply": reply}], of_task(task, question))
    assert set(one["outcomes"].values()) == outcomes
    assert set(one["scores"].values()) <= {0, 1}
    assert [score == 1 for score in one["scores"].values()] == [word == "hit" for word in one["outcomes"].values()]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_benchmarks_line_brings_its_answer(tmp_path: Path, benchmark: Any) -> None:
    lines = [LINES[benchmark], LINES[benchmark] | {"id": 2, "reply": "ANSWER 1: not stated"}]
    lines += [LINES[benchmark] | {"id": 3, "reply": "It is the 12th."}]
    found = scored(tmp_path, lines, of_benchmark(benchmark))
    # DROP's plain form leaves out the article and the quotes.
    assert [one["scores"] for one in found] == [{"item_1": 1}, {"item_1": 0}, {"item_1": 0}]
    assert [one["outcomes"]["item_1"] for one in found] == ["hit", "abstained", "unparsed"]


def test_lines_are_told_apart_by_line_feeds_alone(tmp_path: Path) -> None:
    lines = ["\ufeff" + json.dumps({"id": 1, "reply": "a"}), "", {"id": "1", "reply": "a\u2028b\x85c"}, "\r", ""]
    assert [one["id"] for one in scored(tmp_path, lines, of_task(TASK, None))] == [1, "1"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not a JSON object"),
        ("[1]", "line 2: found [1]"),
        ('{"id": 1}', "line 2: found the keys id"),
        ('{"id": null, "reply": ""}', "'id' is missing"),
        ('{"id": true, "reply": ""}', "'id' is True"),
        ('{"id": 2, "reply": ["a"]}', "'reply' is ['a']"),
        ('{"id": 2, "reply": "a", "reply": "b"}', "a key stands twice"),
        ('{"id": 1, "reply": ""}', "'id' is 1, as on line 1"),
        ("[" * 100_000, "line 2: not a JSON object"),
    ],
)
def test_a_line_that_cannot_be_scored_is_named_and_nothing_is_written(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ReplyError) as caught:
        scored(tmp_path, [{"id": 1, "reply": "a"}, line], of_task(TASK, None))
    assert said in str(caught.value)
    assert "accepted: " in str(caught.value)
    assert not (tmp_path / "scores.jsonl").exists()


@pytest.mark.parametrize(
    ("benchmark", "change", "said"),
    [
        ("gsm8k", {"reference": None}, "'reference' is missing"),
        ("gsm8k", {"reference": ["12", "13"]}, "lists 2 answers"),
        ("gsm8k", {"reference": "a dozen"}, "'reference' is 'a dozen'; accepted: a number"),
        ("mmlu_pro", {"options": "B"}, "'options' is 'B'"),
        ("mmlu_pro", {"reference": "K"}, "accepted: a letter from A to C"),
        ("drop", {"kind": "letter"}, "'kind' is 'letter'"),
    ],
)
def test_a_benchmarks_line_without_its_answer_is_refused(
    tmp_path: Path, benchmark: Any, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ReplyError, match="line 1") as caught:
        scored(tmp_path, [LINES[benchmark] | change], of_benchmark(benchmark))
    assert said in str(caught.value)


def test_the_replies_are_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": 1, "reply": "a"}\n')
    (tmp_path / "b.jsonl").symlink_to(source)
    for target in (source, tmp_path / "b.jsonl"):
        with pytest.raises(ReplyError, match="another file"):
            score_file(source, target, of_task(TASK, None))
    assert source.read_text() == '{"id": 1, "reply": "a"}\n'


def test_questions_and_tasks_that_cannot_be_scored_are_named() -> None:
    with pytest.raises(TaskError, match=r"accepted: a question of .*exact_question"):
        of_task(TASK, "other")
    with pytest.raises(TaskError, match="--benchmark"):
        of_task(load_task(TEMPLATES / "gsm8k"), None)


def test_a_pattern_that_runs_away_is_named_with_the_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LONGEST_SEARCH_S", 0.2)
    item = TASK.items[0].model_copy(update={"accept": ("(?:a|aa)+b",)})
    with pytest.raises(TaskError, match="the reply 'r7'"):
        scored(tmp_path, [{"id": "r7", "reply": "a" * 3000}], of_task(TASK.model_copy(update={"items": (item,)}), None))


@given(st.text(max_size=300))
def test_any_reply_gets_a_score_and_a_word(tmp_path_factory: pytest.TempPathFactory, reply: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    for score, line in (
        (of_task(TASK, None), {}),
        (of_task(TASK, "exact_question"), {}),
        (of_task(ALGORITHMIC, None), {}),
        *((of_benchmark(name), LINES[name]) for name in BENCHMARKS),
    ):
        try:
            [one] = scored(folder, [line | {"id": "a", "reply": reply}], score)
        except UnicodeEncodeError:  # half a pair of code points
            return
        assert set(one["outcomes"].values()) <= set(OUTCOMES)
        assert set(one["scores"].values()) <= {0, 1}


def test_the_command_says_its_words_and_its_errors(tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"  {word} " in said for word in OUTCOMES)
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(LINES["gsm8k"]) + "\n")
    options = ["--benchmark", "gsm8k", "--replies", source, "--out", target]
    subprocess.run([sys.executable, SCRIPT, *options], check=True)
    assert json.loads(target.read_text()) == {"id": 1, "scores": {"item_1": 1}, "outcomes": {"item_1": "hit"}}
    source.write_text("{")
    failed = subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
    assert failed.stderr.startswith(f"error: {source}, line 1: not a JSON object")


def test_half_a_character_stops_nothing(tmp_path: Path) -> None:
    line = '{"id": "\\ud83d", "reply": "2. PostgreSQL LISTEN/NOTIFY has a payload limit of 8KB. \\ud83d"}'
    [one] = scored(tmp_path, [line], of_task(TASK, None))
    assert (one["id"], one["scores"]["pg_limit"]) == ("\ud83d", 1)
