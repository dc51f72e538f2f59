"""The `ANSWER n: …` lines of a reply."""

import re
from collections.abc import Mapping

_BEGIN = re.compile(r"^[\s>*_#`•-]*(?:\d+[.)]\s+)?[*_`]*ANSWER\s*#?\s*(\d{1,4})\b", re.IGNORECASE)
_ANSWER = re.compile(r"ANSWER\s*#?\s*(?P<number>\d{1,4})\s*(?P<mark>[*_`]*)\s*[:：]\s*(?P<after>[*_`]*)", re.IGNORECASE)


def answer_lines(reply: str) -> Mapping[int, tuple[str, ...]]:
    """What each numbered answer says, in the order of the reply; more than one where a number stands twice.

    A line counts that begins with `ANSWER n:`, list marks and emphasis aside; several may share it. An answer
    that is empty is none. A number in running text is not looked at.
    """
    found: dict[int, list[str]] = {}
    for line in re.split(r"\r\n|[\n\r]", reply):
        if not _BEGIN.match(line):
            continue
        marks = list(_ANSWER.finditer(line))
        ends = [mark.start() for mark in marks[1:]] + [len(line)]
        for mark, end in zip(marks, ends, strict=False):
            said = line[mark.end() : end].strip()
            said = said.rstrip(",;| ") if end < len(line) else said
            # `**ANSWER 1:** 12` and `**ANSWER 1: 12**`: marks opened before the answer end behind it.
            said = said.strip("*_`").strip() if said.strip("*_`").strip() else ""
            if said:
                found.setdefault(int(mark["number"]), []).append(said)
    return {number: tuple(answers) for number, answers in found.items()}
