"""The `ANSWER n: …` lines of a reply."""

import re
from collections.abc import Mapping

_BEGIN = re.compile(r"[\s>*_#`•|-]*+(?:\d+[.)]\s+)?[*_`\[(]*+ANSWER\s*+#?\s*+(\d{1,4})\b", re.IGNORECASE)
_ANSWER = re.compile(
    r"ANSWER\s*+#?\s*+(?P<number>\d{1,4})\s*+[*_`]*+(?P<closed>[\])])?[*_`]*+\s*+[:：]\s*+[*_`]*+",
    re.IGNORECASE,
)


def answer_lines(reply: str) -> Mapping[int, tuple[str, ...]]:
    """What each numbered answer says, in the order of the reply; more than one where a number stands twice.

    A line counts that begins with `ANSWER n:`, list marks, emphasis, brackets and the bars of a table
    aside; several may share it. An answer
    that is empty is none. A number in running text is not looked at.
    """
    found: dict[int, list[str]] = {}
    for line in re.split(r"\r\n|[\n\r]", reply):
        if not _BEGIN.match(line):
            continue
        marks = list(_ANSWER.finditer(line))
        in_row = line.lstrip().startswith("|")
        behind = [0, *(mark.end() for mark in marks)]
        starts = [_before(line, mark.start(), since) for mark, since in zip(marks, behind, strict=False)]
        for mark, start, end in zip(marks, starts, [*starts[1:], len(line)], strict=False):
            said = line[mark.end() : end].strip()
            said = said.rstrip(",;| ") if end < len(line) else said
            said = said.rstrip("| ") if in_row else said
            # `[ANSWER 1: 12]`: a bracket opened before the answer ends behind it, unless it ended before the colon.
            said = said.rstrip("])") if line[start] in "[(" and not mark["closed"] else said
            # `**ANSWER 1:** 12` and `**ANSWER 1: 12**`: marks opened before the answer end behind it.
            said = said.strip("*_`").strip() if said.strip("*_`").strip() else ""
            if said:
                found.setdefault(int(mark["number"]), []).append(said)
    return {number: tuple(answers) for number, answers in found.items()}


def _before(line: str, at: int, since: int) -> int:
    """Where the mark of the word at `at` begins, behind `since`: with the emphasis and the bracket before it."""
    start = since + len(line[since:at].rstrip("*_`"))
    return start - 1 if start > since and line[start - 1] in "[(" else start
