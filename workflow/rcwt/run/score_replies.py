"""Replies from a file scored as those of a run are, without a call: to try a task's patterns, or a pack's answers.

A reply is made a trial's record, its reasoning taken off, and scored by the functions that score a cell.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rcwt.base.errors import RcwtError, TaskError
from rcwt.base.files import write_text
from rcwt.base.reasoning import answered
from rcwt.base.records import Response, TrialRecord, Usage
from rcwt.packs.items import LETTERS, Benchmark, Question, Reference
from rcwt.packs.numerals import number
from rcwt.scoring.by_form import by_answers, by_fields
from rcwt.scoring.by_packs import by_packs
from rcwt.scoring.by_rules import by_rules, with_abstentions
from rcwt.scoring.outcomes import TrialScores
from rcwt.scoring.patterns import RunawayPatternError
from rcwt.study.tasks import Task, runaway

#: What becomes of an item, by the word in `outcomes`.
OUTCOMES = {
    "hit": "the reply gives the right value",
    "miss": "it gives none, or another",
    "abstained": "it declines to give one, as by 'not stated'",
    "unparsed": "it has not the form that was asked for: no JSON object, no named answer, no answer line",
    "non_answer": "it is empty, or null, or holds nothing but reasoning",
}
Row = Mapping[str, Any]
Score = Callable[[TrialRecord, Row], TrialScores]


class ReplyError(RcwtError):
    """A line of a file of replies that cannot be scored."""


def score_file(source: Path, target: Path, score: Score) -> None:
    """Score each line of `source`, JSON objects with `id` and `reply`, and write its scores and outcomes to `target`.

    Raises ReplyError for a line that cannot be scored, and TaskError for a pattern that runs away; then nothing is
    written.
    """
    if source.resolve() == target.resolve():
        raise ReplyError(f"{target}: found the file of the replies itself; accepted: another file for the scores")
    lines = [json.dumps(_scored(place, row, score)) + "\n" for place, row in _rows(source)]
    write_text("".join(lines), target)


def of_task(task: Task, question: str | None) -> Score:
    """The scores of replies to a task's instruction, or to one of its exact questions.

    Raises TaskError for a question that the task has not, and for a task whose items are those of a benchmark.
    """
    if question is not None and question not in task.questions:
        found = ", ".join(task.questions) or "none"
        raise TaskError(f"--question: found '{question}'; accepted: a question of {task.folder}: {found}")
    if task.kind == "pack":
        raise TaskError(f"--task: found {task.folder}, whose items are benchmark questions; accepted: --benchmark NAME")

    def score(record: TrialRecord, row: Row) -> TrialScores:
        try:
            return _of_task(record, task, question)
        except RunawayPatternError as error:
            raise runaway(task, error, f"the reply {row['id']!r}") from None

    return score


def _of_task(record: TrialRecord, task: Task, question: str | None) -> TrialScores:
    if question is not None:
        return by_fields([record], task.fields)[0]
    if task.kind == "algorithmic":
        return by_answers([record], task.answers)[0]
    [scores] = by_rules([record], task.items, task.demands)
    return with_abstentions(scores, record, task.items, task.demands)


def of_benchmark(benchmark: Benchmark) -> Score:
    """The scores of replies to one question of a benchmark, whose answer is on each line."""

    def score(record: TrialRecord, row: Row) -> TrialScores:
        [scores] = by_packs([record], [_question(row, benchmark)])
        return scores.model_copy(update={"items": {**scores.items, **(scores.plain or {})}})

    return score


def _question(row: Row, benchmark: Benchmark) -> Question:
    """The question of a line. Raises ValueError, saying what is accepted."""
    values = row.get("reference")
    values = [values] if isinstance(values, str) else values
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one.strip() for one in values):
        raise ValueError(f"'reference' is {_shown(values)}; accepted: the right answer as a text, or a list of spans")
    more: dict[str, Any] = {}
    if benchmark == "gsm8k":
        kind = "number"
        if number(values[0]) is None:
            raise ValueError(f"'reference' is {_shown(values[0])}; accepted: a number")
    elif benchmark == "mmlu_pro":
        kind, more["options"] = "letter", _options(row, values[0])
    else:
        kind, more["passage"] = row.get("kind", "spans"), ""
        if kind not in ("number", "date", "spans"):
            raise ValueError(f"'kind' is {_shown(kind)}; accepted: 'number', 'date' or 'spans'")
    if len(values) > 1 and kind != "spans":
        raise ValueError(f"'reference' lists {len(values)} answers; accepted: one, or several spans of DROP")
    reference = Reference.model_validate({"kind": kind, "values": tuple(values)})
    return Question(id="", text="", references=(reference,), **more)


def _options(row: Row, right: str) -> tuple[str, ...]:
    options = row.get("options")
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        raise ValueError(f"'options' is {_shown(options)}; accepted: a list of 2 to {len(LETTERS)} texts")
    if not all(isinstance(option, str) for option in options):
        raise ValueError("'options' holds something else than texts; accepted: a list of texts")
    if right not in list(LETTERS[: len(options)]):
        raise ValueError(f"'reference' is {_shown(right)}; accepted: a letter from A to {LETTERS[len(options) - 1]}")
    return tuple(options)


def _scored(place: str, row: Row, score: Score) -> dict[str, Any]:
    try:
        scores = score(_record(row["reply"]), row)
    except ValueError as error:
        raise ReplyError(f"{place}: {error}") from None
    return {
        "id": row["id"],
        "scores": dict(scores.items),
        "outcomes": {item: _outcome(item, scores) for item in scores.items},
    }


def _outcome(item: str, scores: TrialScores) -> str:
    if scores.items[item]:
        return "hit"
    if item in scores.abstained_items:
        return "abstained"
    return scores.status if scores.status in OUTCOMES else "miss"


def _record(reply: str | None) -> TrialRecord:
    """A reply as the record of a call that ended as it should."""
    response = Response(
        status="ok" if reply and reply.strip() else "empty",
        text=reply,
        finish_reason=None,
        returned_model=None,
        response_id=None,
        system_fingerprint=None,
        usage=Usage(),
        sent_params={},
        time_utc="",
        latency_s=0,
        attempts=0,
        cost_usd=None,
        price_as_of=None,
    )
    return TrialRecord(
        condition="",
        model="",
        trial=0,
        prompt_sha256="",
        request_key="",
        requested_model="",
        requested_params={},
        response=answered(response),
    )


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    """The lines of a file with their places. Raises ReplyError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ReplyError(f"{path}: {error.strerror}; accepted: a file of JSON lines with 'id' and 'reply'") from None
    except UnicodeDecodeError as error:
        raise ReplyError(f"{path}: found bytes that are not UTF-8 ({error}); accepted: JSON lines as UTF-8") from None
    places: dict[str, str] = {}
    # Not splitlines(): a reply may hold characters such as U+2028 that it would take for line ends.
    for at, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path}, line {at}"
            row = _row(place, line)
            name = json.dumps(row["id"])
            if name in places:
                raise ReplyError(f"{place}: 'id' is {_shown(row['id'])}, as on {places[name]}; accepted: each id once")
            places[name] = f"line {at}"
            yield place, row


def _row(place: str, line: str) -> Row:
    try:
        row = json.loads(line, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"{place}: not a JSON object ({error}); accepted: one object a line") from None
    if not isinstance(row, dict) or "id" not in row or "reply" not in row:
        found = f"the keys {', '.join(row) or 'none'}" if isinstance(row, dict) else _shown(row)
        raise ReplyError(f"{place}: found {found}; accepted: an object with the keys 'id' and 'reply'")
    if isinstance(row["id"], bool) or not isinstance(row["id"], str | int):
        raise ReplyError(f"{place}: 'id' is {_shown(row['id'])}; accepted: a text or a whole number")
    if row["reply"] is not None and not isinstance(row["reply"], str):
        raise ReplyError(
            f"{place}: 'reply' is {_shown(row['reply'])}; accepted: a text, or null for a call without one"
        )
    return row


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError(f"a key stands twice among {', '.join(name for name, _ in pairs)}")
    return members


def _shown(value: object) -> str:
    text = "missing" if value is None else ascii(value)
    return text if len(text) <= 60 else text[:59] + "…"
