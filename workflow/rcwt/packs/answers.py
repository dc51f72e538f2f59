"""The `ANSWER n: …` lines of a reply."""

import re
from collections.abc import Mapping, Sequence

from rcwt.base.corrections import announced, parts
from rcwt.packs.spelling import visible

_LABEL = r"ANSWER\s*+#?\s*+\d{1,4}\b"
_BEGIN = re.compile(rf"[\s>*_#`•|–-]*+(?:\d+[.)]\s+)?[*_`\[(#]*+{_LABEL}", re.IGNORECASE)
_ANSWER = re.compile(
    r"ANSWER\s*+#?\s*+(?P<number>\d{1,4})\s*+[*_`]*+(?P<closed>[\])])?[*_`]*+\s*+"
    r"(?:[:：=|]|->|→|⇒|(?<=\s)[–—-](?=\s)|(?:is|should be)(?=\s))\s*+[*_`]*+",
    re.IGNORECASE,
)
#: A label that stands alone on its line, the answer below it.
_ALONE = re.compile(
    r"[\s>*_#`•|–-]*+(?:\d+[.)]\s+)?[*_`\[(#]*+ANSWER\s*+#?\s*+(\d{1,4})[\s*_`\])]*+[:：]?[\s*_`|]*+", re.IGNORECASE
)
_ITEM = re.compile(r"\s*(?:[-*•+–]|\d{1,2}[.)]|[a-z]\))\s+(?=\S)")
_RULE = re.compile(r"[\s|:*_=-]*+")


def answer_lines(reply: str) -> Mapping[int, tuple[str, ...]]:
    """What each numbered answer says, in the order of the reply; more than one where a number stands twice.

    A line counts that begins with `ANSWER n:`, list marks, emphasis, brackets and the bars of a table aside; several
    may share it. Of a label without an answer the next line counts, or the list that follows. A part of the reply that
    corrects (`rcwt.base.corrections`) replaces what was said before. A number in running text is not looked at.
    """
    found: dict[int, tuple[str, ...]] = {}
    for part in parts(visible(reply)):
        found |= {number: tuple(said) for number, said in _said(part.split("\n")).items()}
    return found


def _said(lines: Sequence[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for place, line in enumerate(lines):
        told = line[announced(line) :]
        if not _BEGIN.match(told):
            continue
        answers = list(_of_line(told))
        alone = _ALONE.fullmatch(told)
        if alone and not answers and (below := _below(lines, place + 1)):
            answers = [(int(alone[1]), below)]
        for number, said in answers:
            found.setdefault(number, []).append(said)
    return found


def _of_line(line: str) -> Sequence[tuple[int, str]]:
    """The numbers of a line with what is said behind each; an answer that is empty is none."""
    marks = list(_ANSWER.finditer(line))
    in_row = line.lstrip().startswith("|")
    behind = [0, *(mark.end() for mark in marks)]
    starts = [_before(line, mark.start(), since) for mark, since in zip(marks, behind, strict=False)]
    found = []
    for mark, start, end in zip(marks, starts, [*starts[1:], len(line)], strict=False):
        said = line[mark.end() : end].strip()
        said = said.rstrip(",;| ") if end < len(line) else said
        said = said.rstrip("| ") if in_row else said
        # `[ANSWER 1: 12]`: a bracket opened before the answer ends behind it, unless it ended before the colon.
        said = said.rstrip("])") if line[start] in "[(" and not mark["closed"] else said
        # `**ANSWER 1:** 12` and `**ANSWER 1: 12**`: marks opened before the answer end behind it.
        said = said.strip("*_`").strip() if said.strip("*_`").strip() else ""
        if said:
            found.append((int(mark["number"]), said))
    return found


def _below(lines: Sequence[str], start: int) -> str:
    """What stands below a label: the first line with a text, or the list that begins there, its items after `;`."""
    items: list[str] = []
    for line in lines[start : start + _MOST_BELOW]:
        text = line.strip(" \t>|`")
        if _BEGIN.match(line) or (items and not _ITEM.match(line) and text):
            break
        if not text or _RULE.fullmatch(text):
            continue
        item = _ITEM.match(line)
        if item is None:
            return text
        items.append(line[item.end() :].strip())
    return "; ".join(items)


#: Lines below a label in which its answer may stand.
_MOST_BELOW = 40


def _before(line: str, at: int, since: int) -> int:
    """Where the mark of the word at `at` begins, behind `since`: with the emphasis and the bracket before it."""
    start = since + len(line[since:at].rstrip("*_`"))
    return start - 1 if start > since and line[start - 1] in "[(" else start
