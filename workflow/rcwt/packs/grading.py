"""From a reply to an outcome for each question of a pack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rcwt.base.declining import declines
from rcwt.packs.answers import answer_lines
from rcwt.packs.items import Question, item_name
from rcwt.packs.letters import letter
from rcwt.packs.numerals import number
from rcwt.packs.plain_spans import agrees, plain_score
from rcwt.packs.spans import score

#: `answered`: one line that could be read; `abstained`: a line that declines to answer; `unreadable`: a line that is no
#: answer of the wanted form; `contradicted`: lines of one number that differ; `missing`: no line; `truncated`: no line
#: in a reply that the output cap cut.
Outcome = Literal["answered", "abstained", "unreadable", "contradicted", "missing", "truncated"]


@dataclass(frozen=True)
class Grade:
    """One question's score: right (1) or not (0), how it came about, and for spans the F1 (0 to 1).

    `plain` is the score of an answer in plain forms. It differs from `score`, the benchmark's own, for spans alone:
    there it does not tell a curly quote or a long dash from a plain one.
    """

    item: str
    score: int
    outcome: Outcome
    f1: float | None = None
    plain: int = 0


def grade(reply: str, questions: Sequence[Question], *, cut: bool) -> list[Grade]:
    """Grade a reply; `cut` says that it ended at the output cap. Only a question's own line counts for it."""
    lines = answer_lines(reply)
    return [
        _grade(item_name(place), question, lines.get(place, ()), cut=cut)
        for place, question in enumerate(questions, start=1)
    ]


def _grade(item: str, question: Question, said: Sequence[str], *, cut: bool) -> Grade:
    kind = question.references[0].kind
    spoken = None if kind == "letter" or question.passage is None else 0.0
    if not said:
        return Grade(item, 0, "truncated" if cut else "missing", spoken)
    if spoken is not None:
        return _spans(item, question, said)
    read = [letter(line, question.options) if kind == "letter" else number(line) for line in said]
    if any(value is None for value in read):
        return Grade(item, 0, "abstained" if all(map(declines, said)) else "unreadable")
    if len(set(read)) > 1:
        return Grade(item, 0, "contradicted")
    accepted = {
        reference.values[0] if kind == "letter" else number(reference.values[0]) for reference in question.references
    }
    right = int(read[0] in accepted)
    return Grade(item, right, "answered", plain=right)


def _spans(item: str, question: Question, said: Sequence[str]) -> Grade:
    if not all(agrees(line, said[0]) for line in said[1:]):
        return Grade(item, 0, "contradicted", 0.0)
    one = score(said[0], [reference.values for reference in question.references])
    plain = plain_score(said[0], question.references)
    abstained = not (one.exact or plain) and all(map(declines, said))
    return Grade(item, one.exact, "abstained" if abstained else "answered", one.f1, plain)
