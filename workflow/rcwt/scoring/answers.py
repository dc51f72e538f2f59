"""Named yes/no answers: lines such as `sum_correct: YES` (paper, algorithmic task).

An answer stands beside its question's name, or, where a reply does not name the question, beside its number, since an
instruction asks in an order. Markdown, brackets, a table's bars and signs such as a tick around name and answer change
nothing; what the line says of the answer decides (`rcwt.scoring.yes_no`). The words are YES and NO: TRUE, 1 or a tick
alone is another form than the one that was asked for.

Two lines that contradict each other are a miss. A draft gives way to what is no draft, and whatever stands behind a
line that corrects ("Correction", "Wait", "Final answers") replaces what stands before it. What stands behind a mark
that ends the model's turn is no part of a reply; an example of the form is no answer. Reasoning between tags is off the
reply already (`rcwt.base.reasoning`).
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rcwt.base.declining import declines
from rcwt.scoring.normalise import clean
from rcwt.scoring.statements import Statement, statements

if TYPE_CHECKING:
    from rcwt.scoring.items import NamedAnswer

_LINE_END = re.compile(r"\r\n?|[\u2028\u2029\x85]")
_ROW = re.compile(r"</?(?:tr|li|ul|ol|p|br|div|table)\b[^<>\n]{0,80}>", re.IGNORECASE)
_CELL = re.compile(r"</?t[dh]\b[^<>\n]{0,80}>", re.IGNORECASE)
_END_OF_TURN = re.compile(r"<\|(?:im_end|eot_id|endoftext|end_of_text|return)\|>|</s>|<end_of_turn>", re.IGNORECASE)


def score_answers(reply: str, answers: Sequence["NamedAnswer"]) -> dict[str, int]:
    """1 for a right answer, 0 for a wrong one or two that differ; a name without an answer is not there."""
    given = read_answers(reply, [answer.id for answer in answers])
    return {answer.id: int(given[answer.id] == {answer.answer}) for answer in answers if answer.id in given}


def read_answers(reply: str, names: Sequence[str]) -> Mapping[str, set[str]]:
    """The answers (`YES`, `NO`) that a reply gives to each name; names without any are not there.

    `names` stand in the order in which the instruction asks for them.
    """
    found = {name: {one.answer for one in said if one.answer} for name, said in _standing(reply, names).items()}
    return {name: found[name] for name in names if found.get(name)}


def declined_answers(reply: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names to which a reply gives no answer and says so: "not stated", "cannot tell"."""
    standing = _standing(reply, names)
    return tuple(name for name in names if name in standing and _declined(standing[name]))


def _declined(said: Sequence[Statement]) -> bool:
    return not any(one.answer for one in said) and any(declines(one.text.strip("|>*_ ")) for one in said)


def _standing(reply: str, names: Sequence[str]) -> Mapping[str, list[Statement]]:
    """The statements on each name that nothing replaces; those beside a number count where none has the name."""
    standing: dict[str, list[Statement]] = {}
    for one in statements(_said(reply), names):
        standing.setdefault(one.name, []).append(one)
    for name, found in standing.items():
        for worse in (_by_number, _unanswered, _draft):
            found = [one for one in found if not worse(one)] or found
        last = max(one.version for one in found)
        standing[name] = [one for one in found if one.version == last]
    return standing


def _said(reply: str) -> str:
    """What a reply says to its reader, as plain lines."""
    turns = _END_OF_TURN.split(reply)
    text = next((turn for turn in turns if turn.strip()), "")
    return clean(_CELL.sub("|", _ROW.sub("\n", _LINE_END.sub("\n", text.replace("\\_", "_")))))


def _by_number(one: Statement) -> bool:
    return one.by_number


def _unanswered(one: Statement) -> bool:
    return one.answer is None


def _draft(one: Statement) -> bool:
    return one.draft
