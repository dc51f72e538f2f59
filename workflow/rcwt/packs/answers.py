"""The `ANSWER n: …` lines of a reply, with the values that stand below a label or in the cells of a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rcwt.packs.corrections import amends, corrects
from rcwt.packs.surface import surface

_MARKS = r"[\s>*_#`•|\"'“‘{(\[$✅✓✔☑👉➡–—-]*+"
_BEGIN = re.compile(
    rf"{_MARKS}(?:\d{{1,3}}[.)]\s{{1,3}})?(?P<anew>(?:(?:wait|actually|correction|corrected|final|revised|updated|edit|new"
    r"|sorry|no|oops|and|so)[\s,:!.*_–—-]{1,4}){0,3})[*_`\[(\"]*+ANSWER[\s_]{0,3}(?:\#|№|no\.?|number)?[\s(\[{<]{0,3}\d{1,4}"
    r"(?!\w)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"ANSWER[\s_]{0,3}(?:\#|№|no\.?|number)?\s{0,3}(?P<opened>[(\[{<])?\s?(?P<number>\d{1,4})(?!\w)\s{0,3}[*_`\"'”]{0,4}"
    r"(?P<closed>[\])}>])?[*_`\"'”]{0,4}\s{0,3}(?:\((?P<note>[^()\n]{1,30})\)\s{0,3}[*_`]{0,4}\s{0,3})?"
    r"(?:(?P<sign>[:：﹕=|])|(?P<word>is\b:?|[–—-](?=\s)|\.(?=\s)|\Z))\s*+[*_`]*+",
    re.IGNORECASE,
)
_ANEW = re.compile(r"wait|actually|correct|final|revis|updat|edit|new|sorry|no|oops|amend", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*•+–—▪◦‣▸]|\d{1,2}[.)]|\(\d{1,2}\))\s{1,4}")
#: Lines that open or close a block and say nothing.
_FRAME = re.compile(r"[`~$]{2,3}\w{0,12}|\\[\[\]()]|[|:\s-]+|[*_=-]{3,}")
#: A struck-out label is none, nor is a value.
_CROSSED = re.compile(r"~~([^~\n]++)~~")
#: Lines below a label that may hold its value.
_BELOW = 40
_ENDS = re.compile(r"(?:[\s,;|/✅✓✔☑]|\band\b)+\Z")


@dataclass
class _Found:
    """What was said for each number, since the last correction that it has been said behind."""

    correction: int = 0
    said: dict[int, list[str]] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)

    def add(self, number: int, text: str) -> None:
        """Keep an answer; one behind a correction stands for all before it."""
        if not text:
            return
        if self.since.get(number, self.correction) < self.correction:
            self.said[number] = []
        self.since[number] = self.correction
        self.said.setdefault(number, []).append(text)


def answer_lines(reply: str) -> Mapping[int, tuple[str, ...]]:
    """What each numbered answer says, in the order of the reply; more than one where a number stands twice.

    A line counts that begins with `ANSWER n:`, list marks, emphasis, brackets and the bars of a table aside; several
    may share it. A value may stand on the next line, and spans as a list below. An answer that is empty is none, and
    an earlier one does not count where a later one stands behind a correction. A label without a colon (`ANSWER 1 is
    …`, a heading) counts where no other has its number. A number in running text is not looked at.
    """
    text = _CROSSED.sub(lambda match: "" if "answer" in match[1].lower() else match[0], surface(reply))
    lines = re.split(r"\r\n|[\n\r]", text)
    strong, weak = _Found(), _Found()
    for at, line in enumerate(lines):
        begin = _BEGIN.match(line)
        if (begin and _ANEW.search(begin["anew"])) or (not begin and corrects(line[:300])):
            strong.correction = weak.correction = strong.correction + 1
        if not begin:
            continue
        marks = list(_LABEL.finditer(line))
        texts = _texts(line, marks)
        if len(marks) > 1 and not any(texts) and line.lstrip().startswith("|"):
            texts = _cells_below(lines, at, len(marks))
        for mark, said in zip(marks, texts, strict=False):
            if mark["note"] and _ANEW.match(mark["note"].strip()):
                strong.correction = weak.correction = strong.correction + 1
            said = "" if len(said) < 20 and _FRAME.fullmatch(said) else said
            value = said
            if (not said or said.endswith((":", "："))) and mark is marks[-1] and not line.lstrip().startswith("|"):
                value = _below(lines, at) or said.rstrip(":：")
            value = _CROSSED.sub(" ", value).strip()
            if value and mark is marks[-1]:
                value += _amended(lines, at)
            (strong if mark["sign"] else weak).add(int(mark["number"]), value)
    found = {**weak.said, **strong.said}
    return {number: tuple(found[number]) for number in sorted(found)}


def _texts(line: str, marks: Sequence[re.Match[str]]) -> list[str]:
    """What stands behind each label of a line."""
    in_row = line.lstrip().startswith("|")
    behind = [0, *(mark.end() for mark in marks)]
    starts = [_before(line, mark.start(), since) for mark, since in zip(marks, behind, strict=False)]
    texts = []
    for mark, start, end in zip(marks, starts, [*starts[1:], len(line)], strict=False):
        said = line[mark.end() : end].strip()
        said = _ENDS.sub("", said) if end < len(line) and len(said) < 2000 else said
        said = next((cell for cell in map(str.strip, said.split("|")) if cell), "") if in_row else said
        # `[ANSWER 1: 12]`: a bracket opened before the answer ends behind it, unless it ended before the colon.
        closed = mark["closed"] and not mark["opened"]
        said = said.rstrip("])") if line[start] in "[(" and not closed else said
        said = said.rstrip("}, ") if line.lstrip().startswith("{") else said
        said = said.rstrip("$") if line.startswith("$") and said.count("$") == 1 else said
        # `**ANSWER 1:** 12` and `**ANSWER 1: 12**`: marks opened before the answer end behind it.
        texts.append(said.rstrip("\\| ").strip("*_`✅✓✔☑👉➡").strip())
    return texts


def _before(line: str, at: int, since: int) -> int:
    """Where the mark of the word at `at` begins, behind `since`: with the emphasis and the bracket before it."""
    start = since + len(line[since:at].rstrip('*_`"'))
    return start - 1 if start > since and line[start - 1] in "[(" else start


def _cells_below(lines: Sequence[str], at: int, count: int) -> list[str]:
    """The cells under a row of labels, as many as there are labels; empty ones where they do not fit."""
    for line in lines[at + 1 : at + 4]:
        if line.lstrip().startswith("|") and not _FRAME.fullmatch(line[:1000]):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            return cells if len(cells) == count else [""] * count
    return [""] * count


def _amended(lines: Sequence[str], at: int) -> str:
    """What the next line that says something adds to an answer: another value in its place, or nothing."""
    line = next((line for line in lines[at + 1 : at + 4] if line.strip()), "")
    return f"; {line.strip()}" if amends(line.strip()) and not _BEGIN.match(line) else ""


def _below(lines: Sequence[str], at: int) -> str:
    """The value on the lines below a label: the first that says something, or all items of a list."""
    items: list[str] = []
    for line in lines[at + 1 : at + 1 + _BELOW]:
        said = line.strip().lstrip(">| ").rstrip("| ")
        if _BEGIN.match(line) or (items and corrects(said[:300])):
            break
        if not said or (len(said) < 1000 and _FRAME.fullmatch(said)):
            continue
        bullet = _BULLET.match(said)
        if bullet:
            items.append(said[bullet.end() :].strip())
        elif items:
            break
        else:
            return said.strip("*_`✅✓✔☑👉➡").strip()
    return "; ".join(items)
