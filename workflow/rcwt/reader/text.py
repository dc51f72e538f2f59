"""Plain text in, pieces out, for the extractive reader: sentences under their headings, quantities, phrases.

Nothing here knows what any text is about. The text may repeat itself and may be cut anywhere, since that is
what a fixed context budget does to it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rcwt.base.number_words import alternatives

#: Levels below those of markdown headings: a line of bold text, and a line that announces a list.
_BOLD_LEVEL, _LEAD_LEVEL = 7, 8
#: A text of fewer words means something only under its heading.
_SELF_CONTAINED_WORDS = 6
#: Characters of a title or of a column's name that stand before what is under it.
_LONGEST_TITLE = 500
#: Characters before the end of a sentence in which an abbreviation lies.
_LONGEST_ABBREVIATION = 20

_FENCE = re.compile(r"^\s*(?:```|~~~)\s*(\w*)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(?=\S)")
_BOLD_HEADING = re.compile(r"^\s*\*\*([^*]+?):?\*\*:?\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_TABLE_RULE = re.compile(r"[\s|:]*+-[\s|:-]*+$")
_TABLE_BAR = re.compile(r"(?<!\\)\|")
_JSON_START = re.compile(r"\{|\[\s*(?:[\[{\"]|$)")
# A block that is repeated meets its own start without a line break between.
_GLUED_HEADING = re.compile(r"(?<=[^\s#])(?=#{1,6} [A-Z])")
_GLUED_SENTENCE = re.compile(r"(?<=[a-z0-9)][.!?])(?=[A-Z][a-z]+ )")
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*\s+(?=\S)")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|ca|approx|incl|resp|Dr|Mr|Mrs|Ms|No|Fig|Sec|Eq|al|St)\.$")
_CLOSED = re.compile(r"[.!?][\"')\]”’]*$")

_NUMBER_WORD = f"(?i:{alternatives(1)}|hundred|thousand)"
_NUMBER = rf"(?:[$€£]?\d+(?:[.,]\d+)*(?:[KMGk]\b)?|\b{_NUMBER_WORD}\b)"
#: A number or range with what stands before it ("RFC", "~") and its unit ("ms", "pages/s", "loaves a day").
_QUANTITY = re.compile(
    rf"(?:\b[A-Z]{{2,}}\s)?[~≈<>≤≥±]?\s?(?<![\w.]){_NUMBER}(?:\s?(?:[-–—]|to)\s?{_NUMBER})?"
    r"(?:[ -]?(?:%|[^\W\d_]+)(?:/[^\W\d_]+|\s(?:per|a|an)\s[^\W\d_]+)?)?"
)
#: A word after a number that is no unit.
_NO_UNIT = re.compile(
    r"[ -](?:and|or|of|to|in|on|at|by|for|with|from|is|are|was|were|the|if|when|as|than|but|per|against)$"
)
_WORD = re.compile(r"[^\W_]+")
_COMPOUND = re.compile(r"\b[^\W\d_]+(?:[/-][^\W\d_]+)+\b")
_CLAUSE = re.compile(r"(?:[;:—]|,(?!\d)|\s[–-])\s+")


@dataclass(frozen=True)
class Sentence:
    """One sentence, list item, table row or piece of code, with the headings it stands under."""

    heading: str
    text: str


def words(text: str) -> list[str]:
    """Words and numbers of `text` in lower case.

    ``snake_case`` counts as several words; ``cold-brew`` as two and, for those who write it so, as one.
    """
    text = text.lower()
    return _WORD.findall(text) + [re.sub("[/-]", "", match) for match in _COMPOUND.findall(text)]


def sentences(text: str) -> list[Sentence]:
    """Sentences of a possibly repeated and cut text, each once, in their first order.

    A piece cut at the end of a block counts as a sentence, unless another sentence begins with it.
    """
    found: dict[tuple[str, str], Sentence] = {}
    for sentence in _Outline(text).read():
        if words(sentence.text):
            # A short item such as "Limit: 5" may stand under several headings and mean different things.
            alone = len(sentence.text.split()) >= _SELF_CONTAINED_WORDS
            found.setdefault(("" if alone else sentence.heading, sentence.text), sentence)
    return _without_cut_copies(list(found.values()))


def _without_cut_copies(found: list[Sentence]) -> list[Sentence]:
    texts = sorted({sentence.text for sentence in found})
    # In sorted order whatever begins with a text follows it directly.
    cut = {text for text, following in pairwise(texts) if following.startswith(text) and not _CLOSED.search(text)}
    return [sentence for sentence in found if sentence.text not in cut]


class _Outline:
    """Walks the lines of a markdown text and yields its sentences under their headings.

    A paragraph that ends in a colon is a heading to the list items below it.
    """

    def __init__(self, text: str) -> None:
        self.lines = _GLUED_HEADING.sub("\n", text).splitlines()
        self.headings: list[tuple[int, str]] = []
        self.heading_is_bare = False
        self.paragraph: list[str] = []
        self.is_item = False

    def read(self) -> Iterator[Sentence]:
        """Yield every sentence, repeats included."""
        code = _code_lines(self.lines)
        for number, line in enumerate(self.lines):
            heading = _heading(line)
            if number in code:
                self.paragraph.append(line.strip())
            elif not line.strip() or _FENCE.match(line):
                yield from self._flush()
            elif heading:
                yield from self._flush()
                yield from self._enter(*heading)
            elif _BULLET.match(line):
                yield from self._flush()
                self.is_item = True
                self.paragraph.append(_BULLET.sub("", line).strip())
            else:
                self.paragraph.append(line.strip())
        yield from self._flush()
        yield from self._leave(0)

    def _enter(self, level: int, title: str) -> Iterator[Sentence]:
        yield from self._leave(level)
        self.headings.append((level, title))
        self.heading_is_bare = True

    def _leave(self, level: int) -> Iterator[Sentence]:
        """Close the headings of `level` and below; one with nothing under it counts as a sentence."""
        if self.heading_is_bare and self.headings[-1][0] >= level:
            yield Sentence(_path(self.headings[:-1]), self.headings[-1][1])
            self.heading_is_bare = False
        self.headings = [above for above in self.headings if above[0] < level]

    def _flush(self) -> Iterator[Sentence]:
        lines, self.paragraph = [line for line in self.paragraph if line], []
        item, self.is_item = self.is_item, False
        if not lines:
            return
        if not item:
            yield from self._leave(_LEAD_LEVEL)
        self.heading_is_bare = False
        pieces = _pieces(lines)
        lead = pieces.pop().rstrip(":") if not item and pieces and pieces[-1].endswith(":") else None
        for text in pieces:
            yield Sentence(_path(self.headings), text)
        if lead:
            yield from self._enter(_LEAD_LEVEL, lead)


def _heading(line: str) -> tuple[int, str] | None:
    """Level and title of a heading or a line of bold text."""
    if marked := _HEADING.match(line):
        title = line[marked.end() :]
        return len(marked[1]), _plain(title.rstrip().rstrip("#") or title[0])
    bold = _BOLD_HEADING.match(line)
    return (_BOLD_LEVEL, _plain(bold[1])) if bold else None


def _code_lines(lines: Sequence[str]) -> set[int]:
    """Numbers of the lines inside closed code fences, where ``# text`` is no heading.

    A block cut inside its fence leaves the fence open; it must not swallow the block that follows. So a
    fence counts only where the next one is a bare closing one.
    """
    fences = [(number, match[1]) for number, line in enumerate(lines) if (match := _FENCE.match(line))]
    inside: set[int] = set()
    position = 0
    while position + 1 < len(fences):
        (start, _), (end, language) = fences[position], fences[position + 1]
        if not language:
            inside.update(range(start + 1, end))
            position += 1
        position += 1
    return inside


def _pieces(lines: list[str]) -> list[str]:
    if all(line.startswith("|") for line in lines):
        return _rows(lines)
    if _is_structure(lines):
        return [" ".join(" ".join(lines).split())]
    return _split(_plain(" ".join(lines)))


def _is_structure(lines: list[str]) -> bool:
    """Whether a paragraph is JSON or the like, whose full stops end no sentence."""
    return bool(_JSON_START.match(lines[0]))


def _rows(lines: list[str]) -> list[str]:
    """Rows of a markdown table, each cell after the name of its column."""
    cells = [[_plain(cell) for cell in _TABLE_BAR.split(line.strip("|"))] for line in lines]
    if len(lines) < 3 or not _TABLE_RULE.match(lines[1]):
        return ["; ".join(filter(None, row)) for row in cells if any(words(cell) for cell in row)]
    head, rows = [cell[:_LONGEST_TITLE] for cell in cells[0]], cells[2:]
    named = [zip(head, row, strict=False) for row in rows]
    return ["; ".join(f"{name}: {cell}" if name else cell for name, cell in row if cell) for row in named]


def _split(text: str) -> list[str]:
    found, start = [], 0
    text = _GLUED_SENTENCE.sub(" ", text)
    for end in _SENTENCE_END.finditer(text):
        before = text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start() + 1]
        if text[end.start()] == "." and _ABBREVIATION.search(before):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    return [*found, text[start:].strip()] if text[start:].strip() else found


def _plain(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def _path(headings: Sequence[tuple[int, str]]) -> str:
    """Headings from the outermost to the innermost, without the title of the document, which all share."""
    names = [name[:_LONGEST_TITLE] for _, name in headings if name]
    return " › ".join(names[1:] if len(names) > 1 and headings[0][0] == 1 else names)


def quantity(text: str, asked: set[str]) -> str | None:
    """The number with its unit of which `text` says most of the words `asked`; None without a number.

    What is said of a number mostly stands between the number before it and its own unit.
    """
    best, most, start = None, -1, 0
    for match in _QUANTITY.finditer(text):
        told = len(asked & set(words(text[start : match.end()])))
        start = match.end()
        if told > most:
            best, most = _NO_UNIT.sub("", match[0].strip()), told
    return best


def phrase(text: str, asked: set[str]) -> str:
    """The clause of `text` that holds most of the words `asked`, without its closing full stop."""
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()] or [text]
    best = max(clauses, key=lambda clause: len(asked & set(words(clause))))
    return best.strip().rstrip(".")
