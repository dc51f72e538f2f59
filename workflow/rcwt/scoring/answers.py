"""Named yes/no answers: lines such as `sum_correct: YES` (paper, algorithmic task).

An answer counts only beside its exact name. Markdown around name and answer changes nothing; two lines that
contradict each other are no answer.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcwt.task_items import NamedAnswer

# Emphasis, quotes, a table's bar or a closing bracket may stand around a name and before an answer.
_AROUND = r"[*_`\"'“”\]\[|\s]*"


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
    # "YES or NO" and "YES/NO" repeat the form of the answer and give none.
    return re.compile(
        rf"(?<![\w-]){re.escape(name)}(?!\w){_AROUND}(?:[:=|]|->|→|\s[-–—]\s){_AROUND}(yes|no)(?!\w|\W{{0,4}}(?:/|\||or\b)\W{{0,4}}(?:yes|no)\b)",
        re.IGNORECASE,
    )
