"""Named yes/no answers: lines such as `sum_correct: YES` (paper, algorithmic task).

An answer counts only beside its exact name; a remark in brackets may stand between name and colon. Markdown, brackets
and signs such as a tick around name and answer change nothing. Two lines that contradict each other are a miss.

A line that gives both answers gives none: "YES or NO", "yes-no", "YES (NO)", "NO, it is YES". The opposite takes an
answer back where only signs, spaces and words that join ("and", "it is") stand between the two. Behind a word that
corrects ("wait", "actually") it replaces it: "NO... wait, YES" is YES, as "not NO but YES" is. In a running text a
small "no" is a mere word: "YES, no rounding needed" is YES, and so is "YES, not 70".
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import regex

from rcwt.base.corrections import TAKES_BACK, parts
from rcwt.base.declining import declines
from rcwt.base.phrases import last_match

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
_FILLERS = rf"(?:(?:no|it|is|it's|that|that's|the|answer|should|be|i|mean|wait){_SIGNS}){{0,4}}?"
# A line may take its answer back and give another: "NO... wait, YES", "YES, no, correction: NO".
_CORRECTS_TO = (
    rf"{_SIGNS}(?:(?!or\b)[\w']+{_SIGNS}){{0,4}}?{TAKES_BACK}{_SIGNS}"
    rf"{_FILLERS}(?:yes|no)\b(?!{_SIGNS}(?:or|no matter)\b)"
)
_CORRECTED = re.compile(
    rf"\b{TAKES_BACK}{_SIGNS}{_FILLERS}(yes|no)\b"
    rf"(?!(?:[^\w\n]|_){{1,4}}(?:wait|actually|correction|rather)\b)(?![ \t]+\w)(?!{_SIGNS}(?:yes|no)\b)",
    re.IGNORECASE,
)
#: Characters of a line in which its answer is corrected.
_LONGEST_REMARK = 200
_STRUCK_OUT = re.compile(r"~~[^~\n]+~~")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")
# No word has more marks on one letter, and bringing them into order takes quadratic time.
_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")
_CORRECTING = (
    "and|but|it|is|it's|its|the|answer|should|be|i|mean|actually|rather|wait|sorry|instead|now|also|both|maybe"
)
_CORRECTS = rf"(?:(?:{_CORRECTING}){_SIGNS}){{0,5}}"


def score_answers(reply: str, answers: Sequence["NamedAnswer"]) -> dict[str, int]:
    """1 for a right answer, 0 for a wrong one or two that differ; a name without an answer is not there."""
    given = read_answers(reply, [answer.id for answer in answers])
    return {answer.id: int(given[answer.id] == {answer.answer}) for answer in answers if answer.id in given}


def read_answers(reply: str, names: Sequence[str]) -> Mapping[str, set[str]]:
    """The answers (`YES`, `NO`) that a reply gives beside each name; names without any are not there.

    What a part of the reply corrects (`rcwt.base.corrections`) is not given any more.
    """
    found: dict[str, set[str]] = {}
    for part in parts(_plain(reply)):
        for name in names:
            if given := {_final(match) for match in _beside(name).finditer(part)}:
                found[name] = given
    return found


def declined_answers(reply: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names behind which a reply declines to answer, as by `not stated`."""
    given, text = read_answers(reply, names), _plain(reply)
    return tuple(
        name
        for name in names
        if name not in given and any(declines(said[1]) for said in _said_beside(name).finditer(text))
    )


def _plain(reply: str) -> str:
    """A reply without signs that nobody sees, `ＹＥＳ` as YES and `sum\\_correct` as sum_correct."""
    text = _STRUCK_OUT.sub(" ", _INVISIBLE.sub("", reply).replace("\\_", "_"))
    return text if text.isascii() else unicodedata.normalize("NFKC", _MARKS.sub(r"\1", text))


def _final(match: re.Match[str]) -> str:
    """The answer that a line ends up with: behind the last word that corrects, or the one it begins with."""
    rest = match.string[match.end() : match.end() + _LONGEST_REMARK].split("\n")[0]
    corrected = last_match(_CORRECTED, rest)
    answer = corrected[1] if corrected else next(group for group in match.groups() if group)
    return str(answer).upper()


@lru_cache(maxsize=256)
def _beside(name: str) -> re.Pattern[str]:
    pairs = (("yes", "no"), ("no", "yes"))
    answer = "|".join(rf"(?:{word}(?!\w| ?\?)(?:(?={_CORRECTS_TO})|(?!{_takes_back(other)})))" for word, other in pairs)
    not_but = "|".join(rf"{word}\W{{1,4}}but\W{{1,4}}(?:rather )?({other})(?!\w)" for word, other in pairs)
    return re.compile(
        rf"{_named(name)}{_SEPARATED}{_BEFORE_ANSWER}(?:({answer})|not\W{{1,4}}(?:{not_but}))",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _said_beside(name: str) -> re.Pattern[str]:
    return re.compile(rf"{_named(name)}{_SEPARATED}([^\n|]{{1,200}})", re.IGNORECASE)


def _named(name: str) -> str:
    return rf"(?<![\w-]){re.escape(name)}(?!\w)"


def _takes_back(opposite: str) -> str:
    """The opposite answer behind an answer: joined by "or", in capitals, or with no further word behind it."""
    last = rf"{opposite}\b(?![ \t]+(?!(?:yes|no)\b)\w)"
    return rf"{_SIGNS}(?:or{_SIGNS}{opposite}\b|{_CORRECTS}(?:(?-i:{opposite.upper()})\b|{last}))"
