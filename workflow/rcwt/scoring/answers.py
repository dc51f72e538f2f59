"""Named yes/no answers: lines such as `sum_correct: YES` (paper, algorithmic task).

An answer counts only beside its exact name; a remark in brackets may stand between name and colon. Markdown, brackets
and signs such as a tick around name and answer change nothing. Two lines that contradict each other are a miss.

A line that gives both answers gives none: "YES or NO", "yes-no", "YES (NO)", "NO, it is YES". The opposite takes an
answer back where only signs, spaces and words that join or correct ("and", "it is", "actually") stand between the two.
In a running text a small "no" is a mere word: "YES, no rounding needed" is YES, and so is "YES, not 70".
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcwt.scoring.items import NamedAnswer

# Emphasis, quotes, a table's bar or a closing bracket may stand behind a name.
_BEHIND_NAME = r"[*_`\"'“”‘’\]\[|)>\s]*+"
_BEFORE_BAR = r"[*_`\"'“”‘’\]\[)>\s]*+"
# Before an answer also an opening bracket, the head of an arrow and a tick or another picture.
_BEFORE_ANSWER = r"[*_`\"'“”‘’\]\[|()<>{}\s\u2600-\u27bf\U0001f300-\U0001faff\u2b1b-\u2b55\ufe0f]*+"
_REMARK = r"\([^()\n]{0,80}\)"
_SEPARATOR = r"(?:[:：=]|->|→|⇒|(?<=\s)[-–—]\s)"
# A bar is a separator too. It may itself stand among the signs before one, so the first bar of a run is tried.
_SEPARATED = (
    rf"(?:{_BEHIND_NAME}(?:{_REMARK}{_BEHIND_NAME})?{_SEPARATOR}"
    rf"|{_BEHIND_NAME}{_REMARK}{_BEFORE_BAR}\||{_BEFORE_BAR}\|)"
)
_SIGNS = r"(?:[^\w\n]|_){1,8}"
_CORRECTING = (
    "and|but|it|is|it's|its|the|answer|should|be|i|mean|actually|rather|wait|sorry|instead|now|also|both|maybe"
)
_CORRECTS = rf"(?:(?:{_CORRECTING}){_SIGNS}){{0,5}}"


def score_answers(reply: str, answers: Sequence["NamedAnswer"]) -> dict[str, int]:
    """1 for a right answer, 0 for a wrong one or two that differ; a name without an answer is not there."""
    given = read_answers(reply, [answer.id for answer in answers])
    return {answer.id: int(given[answer.id] == {answer.answer}) for answer in answers if answer.id in given}


def read_answers(reply: str, names: Sequence[str]) -> Mapping[str, set[str]]:
    """The answers (`YES`, `NO`) that a reply gives beside each name; names without any are not there."""
    text = reply.replace("\\_", "_")
    found = {name: {match[1].upper() for match in _beside(name).finditer(text)} for name in names}
    return {name: answers for name, answers in found.items() if answers}


@lru_cache(maxsize=256)
def _beside(name: str) -> re.Pattern[str]:
    answer = "|".join(rf"(?:{word}(?!\w)(?!{_takes_back(other)}))" for word, other in (("yes", "no"), ("no", "yes")))
    return re.compile(
        rf"(?<![\w-]){re.escape(name)}(?!\w){_SEPARATED}{_BEFORE_ANSWER}({answer})",
        re.IGNORECASE,
    )


def _takes_back(opposite: str) -> str:
    """The opposite answer behind an answer: joined by "or", in capitals, or with no further word behind it."""
    last = rf"{opposite}\b(?![ \t]+(?!(?:yes|no)\b)\w)"
    return rf"{_SIGNS}(?:or{_SIGNS}{opposite}\b|{_CORRECTS}(?:(?-i:{opposite.upper()})\b|{last}))"
