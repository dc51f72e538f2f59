"""The passages of a reply: its sentences, list items and table rows, each with what it stands under.

A value counts only where it is said of its subject, and a reply often names the subject once, in a heading
or a parent bullet, and gives the value below. So each passage begins with its headings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from rcwt.scoring.assertions import standing
from rcwt.scoring.normalise import clean, normalise

#: Between a passage and what it stands under.
UNDER = " | "

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+")
_ITEM = re.compile(r"^(\s*)(?:([-*+•‣◦▪])|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)(.*)$")
# `2. …`, `**2.**`, `### 2`, `(2)`, `Answer 2 reads:`, `| 2 | …`, `"2": …`
_ANSWER_NUMBER = re.compile(
    r"[ \t]{0,3}(?:[-+•>|#{,][-+•>|#{, ]{0,8})?(?:\*\*|__|\*)?[(\[]?(?:"
    r"(?:answer|demand|point|item|question|section|no\.?|q)[ \t]{0,2}#?)?[ \t]{0,2}"
    r"(?:(\d{1,2})(?:[.):\]](?=\s|\*|_|$)|(?=[ \t]{0,3}(?:\||reads\b|[-–—] |\*\*|$)))"
    r"|\"(\d{1,2})[^\"\n]{0,40}\"[ \t]{0,3}:)",
    re.IGNORECASE,
)
# The next numbered member of a JSON object is a line of its own.
_MEMBER = re.compile(r"(?<=\"),[ \t]{0,3}(?=\"\d{1,2}\"[ \t]{0,3}:)")
_TABLE_RULE = re.compile(r"\s*+\|?+\s*+:?+-++:?+\s*+(?:\|\s*+:?+-++:?+\s*+)*+\|?+\s*+$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(r"^([^:.!?|]{2,60}?)(?::| - )\s*(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]”’]*\s+(?=[\"'(\[“‘]?[A-Z0-9~])")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|ca|approx|incl|resp|no|fig|eq|est)\.$", re.IGNORECASE)
# A sentence that begins so speaks of what the sentence before it names.
_REFERS_BACK = re.compile(
    r"(?:it|its|this|these|that|they|their|the (?:latter|former|limit|rate|figure|value))\b", re.IGNORECASE
)
#: Characters before the end of a sentence in which an abbreviation lies.
_LONGEST_ABBREVIATION = 20
#: A paragraph line shorter than this was ended on purpose; a longer one may have been wrapped.
_WRAP_COLUMN = 60
_TITLE_WORDS = 10
#: What a passage may stand under, from the innermost.
_DEEPEST = 24
#: A text of which titles and names of columns would repeat more than this many times its length, and a fixed number
#: of characters, is no outline: the rest of its passages stand by themselves.
_MOST_REPEATED, _REPEATED_ANYWAY = 10, 20_000
#: Characters of a part whose normalised spelling is kept: all trials of a cell say much the same.
_LONGEST_KEPT = 1000
_BOLD_LEVEL = 7


@dataclass(frozen=True)
class Passage:
    """A normalised passage as `heading | parent | sentence`, and the number of the answer that it stands in."""

    text: str
    number: int | None


def passages(text: str) -> list[str]:
    """Normalised passages of `text` in reading order, each as `heading | parent | sentence`."""
    return list(dict.fromkeys(passage.text for passage in numbered_passages(text)))


def numbered_passages(text: str) -> list[Passage]:
    """`passages`, each with the number of the answer that it stands in, where the text numbers its answers."""
    outline = _Outline(repeatable=_MOST_REPEATED * len(text) + _REPEATED_ANYWAY)
    lines = _MEMBER.sub(",\n", _BREAK.sub("\n", text)).replace("\r\n", "\n").split("\n")
    for place, line in enumerate(lines):
        mark = _ANSWER_NUMBER.match(line)
        if mark:
            outline.end_block()
        outline.number = int(mark[1] or mark[2]) if mark else outline.number
        outline.add(line, lines[place + 1] if place + 1 < len(lines) else "")
    outline.end_block()
    # A title comes again with each passage under it.
    parts = dict.fromkeys(part for _, found in outline.found for part in found)
    spelled = {part: _kept(part) if len(part) <= _LONGEST_KEPT else normalise(part).strip() for part in parts}
    joined = [(number, UNDER.join(filter(None, map(spelled.__getitem__, found)))) for number, found in outline.found]
    return list(dict.fromkeys(Passage(passage, number) for number, passage in joined if passage))


@lru_cache(maxsize=4096)
def _kept(part: str) -> str:
    return normalise(part).strip()


def _heading(line: str) -> tuple[int, str] | None:
    """Level and title of a heading or a line of bold text."""
    if marked := _HEADING.match(line):
        return len(marked[1]), line[marked.end() :].rstrip().rstrip("#").rstrip()
    text = line.strip()
    text = text[:-1].rstrip() if text.endswith(":") else text
    title = text[2:-2]
    if text[:2] in ("**", "__") and text[-2:] == text[:2] and title and not (title[0].isspace() or title[-1].isspace()):
        return _BOLD_LEVEL, title
    return None


@dataclass(frozen=True)
class _Title:
    """What passages stand under: its level, its text, and whether a paragraph without a mark may belong to it."""

    level: tuple[int, int]
    text: str
    holds_paragraphs: bool

    @classmethod
    def of(cls, level: tuple[int, int], text: str) -> "_Title":
        # A numbered title or a label keeps the paragraphs after it; any other list is over.
        return cls(level, text, level < (8, 0) or (level[1] == 0 and _is_title(text)))


@dataclass
class _Outline:
    """Walks the lines of a markdown text. Levels order what a passage can stand under: 1-6 headings, 7 a bold
    line, 8 a line that ends in a colon, then list items by indentation.
    """

    repeatable: int  # characters of titles and names of columns that may still stand before passages
    found: list[tuple[int | None, tuple[str, ...]]] = field(default_factory=list)
    number: int | None = None  # of the answer that is being read
    above: list[_Title] = field(default_factory=list)
    block: list[str] = field(default_factory=list)
    block_level: tuple[int, int] | None = None  # of a list item; None for a paragraph
    columns: list[str] | None = None

    def add(self, line: str, following: str) -> None:
        """Take in the next line; `following` tells a table's head from its rows."""
        if self._is_row(line, following):
            self.end_block()
            self._row(line, following)
            return
        self.columns = None
        if not line.strip() or _FENCE.match(line):
            self.end_block()
        elif heading := _heading(line):
            self.end_block()
            self._enter((heading[0], 0), clean(heading[1]))
        elif item := _ITEM.match(line):
            self.end_block()
            self.block_level = (9 + len(item[1].expandtabs(4)), 1 if item[2] else 0)
            self.block = [item[3]]
        else:
            if self.block and not self._continues(line):
                self.end_block()
            if not self.block and line[0].isspace():
                self.block_level = self._indented(line)
            self.block.append(line.strip())

    def _is_row(self, line: str, following: str) -> bool:
        begun = self.columns is not None or bool(_TABLE_RULE.match(following)) or line.lstrip().startswith("|")
        return "|" in line and begun

    def _indented(self, line: str) -> tuple[int, int] | None:
        """Level of an indented line that is no item: under the item it is indented below, if there is one."""
        level = (9 + len(line) - len(line.lstrip()), 2)
        return level if any((9, 0) <= title.level < level for title in self.above) else None

    def _continues(self, line: str) -> bool:
        """Whether `line` is the rest of a wrapped line rather than a line of its own."""
        before = self.block[-1]
        if self.block_level is not None and not line[0].isspace():
            return line.strip()[0].islower()
        return line.strip()[0].islower() or (len(before) >= _WRAP_COLUMN and before[-1] not in ".!?:;|")

    def _enter(self, level: tuple[int, int], title: str) -> None:
        self._leave(level)
        self.found.append((self.number, self._under(title)))
        self._stand_under(level, title)

    def _stand_under(self, level: tuple[int, int], text: str) -> None:
        self.above = [*self.above[1 - _DEEPEST :], _Title.of(level, text)]

    def _leave(self, level: tuple[int, int]) -> None:
        self.above = [title for title in self.above if title.level < level]

    def _under(self, *parts: str) -> tuple[str, ...]:
        titles = [title.text for title in self.above]
        return (*titles, *parts) if self._repeats(titles) else parts

    def _repeats(self, texts: Sequence[str]) -> bool:
        """Whether `texts` may stand before one more passage."""
        self.repeatable -= sum(map(len, texts))
        return self.repeatable >= 0

    def end_block(self) -> None:
        """Close the paragraph or list item that is being read."""
        text, level = clean(" ".join(self.block)).strip(), self.block_level
        self.block, self.block_level = [], None
        if not text:
            return
        leads = text.endswith(":")
        if level is None:
            self.above = [title for title in self.above if title.holds_paragraphs]
        else:
            self._leave(level)
        self.found += [(self.number, self._under(sentence)) for sentence in _sentences(text)]
        if level is not None:
            self._stand_under(level, text)
        elif leads:
            self._leave((8, 0))
            self._stand_under((8, 0), _sentences(text)[-1])

    def _row(self, line: str, following: str) -> None:
        cells = [clean(cell).strip() for cell in _BAR.split(line.strip().strip("|"))]
        if _TABLE_RULE.match(line):
            return
        if self.columns is None:
            self.columns = cells if _TABLE_RULE.match(following) else []
            if self.columns:
                return
        names = self.columns[1 : len(cells)]
        names = names if self._repeats(names) else []
        named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells[1:], strict=False)]
        rest = cells[1 + len(named) :]
        self.found.append((self.number, self._under(cells[0], *named, *rest)))


def _is_title(text: str) -> bool:
    return len(text.split()) <= _TITLE_WORDS and text[-1] not in ".!?;,"


def _sentences(text: str) -> list[str]:
    """Sentences of one block; a later one carries the block's label, and what it refers back to."""
    parts, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]):
            parts.append(text[start : end.end()].strip())
            start = end.end()
    parts.append(text[start:].strip())
    parts = standing([part for part in parts if part])
    label = _LABEL.match(parts[0]) if parts else None
    found = parts[:1]
    for before, part in pairwise(parts):
        labelled = label[1] + UNDER + part if label else part
        found.append(before + UNDER + part if before.endswith("?") else labelled)
        if _REFERS_BACK.match(part):
            found.append(f"{before} {part}")
    return found
