"""What a reply says of each of the questions that it was asked by name, place by place.

A statement begins at a question's name, or at its number where the line has no name, and goes to the next one. Its
answer may also stand on a line below, before the names ("YES: sum_correct, below_count"), or behind several of them.
Headings tell a draft, an example of the form, and what corrects the lines above.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rcwt.scoring.yes_no import CORRECTS, doubtful, said

# Emphasis, quotes, a table's bar or a closing bracket may stand behind a name.
_BEHIND_NAME = r"[*_`\"'“”‘’\]\[|)>】\s]*+"
_REMARK = r"(?:\((?:[^()\n]|\([^()\n]{0,60}\)){0,200}+\)|\[[^\[\]\n]{0,200}\])"
_SEPARATOR = r"(?:[:：=]|->|→|⇒|(?<=\s)[-–—]\s)"
_IS = "(?:(?:both|all) )?(?:is|are|was|were|would be|should be|must be)"
_BAR = r"[*_`\"'“”‘’\]\[)>\s]*+\|"
#: What leads from a name to what is said of it: a colon, a bar, a member of a JSON object, a verb, a tag's end.
_SAID_OF_NAME = re.compile(
    rf"{_BEHIND_NAME}(?:{_REMARK}{_BEHIND_NAME})?{_SEPARATOR}"
    rf"|{_BEHIND_NAME}{_REMARK}{_BAR}|{_BAR}"
    rf"|[\"'] ?, ?[\"'](?:final_)?(?:answer|value|result|verdict|response|reply)[\"'] ?:"
    r"|[>\]】](?=[\w*_`\"' ])"
    rf"|[*_`\"')\]]{{0,4}},? (?:(?:the|my|its) )?(?:answer|verdict|result)(?: {_IS}\b| ?[:=])"
    r"|[*_`\"')\]]{0,4},? (?:i|we) (?:would )?(?:say|answer|get|find|have|reply|give|choose|put)\b"
    r"|[*_`\"')\]]{0,4} ?[?,;.…~>»⟶➜➔⇨-]{1,5} ?(?=[*_`\"'(]{0,4}(?:yes|no)\b)"
    r"|[*_`\"')\]]{0,4} (?=[*_`\"'(]{0,4}(?:(?-i:YES|NO)\b|(?:yes|no)[.!)*_`\"' ]*+$))"
    rf"|[*_`\"')\]]{{0,4}} (?:{_IS}|holds|gets|gives|has|comes out|evaluates to|as)\b",
    re.IGNORECASE,
)
#: A line that says more of a name than its answer ends with it: "name, what it says - YES".
_ENDS = re.compile(r"(?:[:=|?]|->|→|⇒| -) ?[*_`\"'(]{0,4}(?:yes|no)[*_`\"').!]{0,4} ?$", re.IGNORECASE)
_NUMBER = r"(?:(?:question|answer|item|q|a|no\.?|#) ?#?)?(?P<number>[1-9]\d?)(?!\d)\ufe0f?\u20e3?"
_NUMBERED = re.compile(
    rf"[^\w\n]{{0,12}}{_NUMBER}[*_`\"'\])}}]{{0,4}} ?(?:(?:[.):：=|]|->|→|⇒){{1,2}}"
    rf"|[,-]? ?(?=[*_`\"'(]{{0,4}}(?:yes|no)\b))",
    re.IGNORECASE,
)
_NUMBER_INSIDE = re.compile(
    r"(?<![\w.(+*/=<>-])(?:q|#)?(?P<number>[1-9]\d?)[*_`\"')\]]{0,4} ?[.:=)-] ?[*_`\"'(]{0,4}(?=(?:yes|no)\b)",
    re.IGNORECASE,
)
_ANSWER_BELOW = re.compile(
    r"[^\w\n]{0,12}(?P<label>(?:my |the |final )?(?:answer|verdict|result|conclusion|so|therefore|thus|hence"
    r"|a(?=[.:)]))\b[^\w\n]{0,8}(?:is\b[^\w\n]{0,4})?)?(?=(?:yes|no)\b[*_`\"'”’)\]]{0,4}\s{0,4}(?:[^\w\s]|$))",
    re.IGNORECASE,
)
_ANSWER_FIRST = re.compile(
    r"(?:^[^\w\n]{0,12}(?:\d{1,2}[.):][^\w\n]{1,4})?"
    r"(?:(?:(?:the )?(?:answers?|verdict) ?(?:to|for|is|are|(?=[\"':=]))"
    r"|(?:i|we) (?:would )?(?:answer|say|reply))[^\w\n]{0,6})?"
    r"|\b(?:following|these)(?: \w{1,12}){0,3} )(?P<answer>yes|no)\b"
    r"(?:[^\w\n]{1,8}|(?:for|to|on|are|the|questions?|statements?|answers?|name|id)\b){1,6}$",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_COLON = re.compile(r"[*_`\"' ]{0,4}[:=]")
_JOINED = re.compile(r"[*_`\"') ]{0,4}(?:,|&|/|and\b|, and\b|\+)[*_`\"'( ]{0,4}")
_ONLY_SIGNS = re.compile(r"[^\w\n]*+")
_LIST_OF_NAMES = re.compile(r"[^\w\n]{0,12}(?:and[^\w\n]{1,4})?(?:\([^()\n]{0,80}\)[^\w\n]{0,8})?")
_GROUP = re.compile(
    r"(?:(?:the |all )?(?:answers?|statements?|questions?|true|false)[^\w\n]{1,4}(?:\w{1,12} ){0,4})?"
    r"(?P<answer>yes|no)\b(?: (?:answers?|statements?|questions?))?[^\w\n]{0,8}",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"^[^\w\n]++")
_LINE_BEGINS = re.compile(r"[^\w\n]{0,20}(?:(?:question|q)? ?\d{1,2}[^\w\n]{1,8})?", re.IGNORECASE)
#: A line this far below a name may still say "Answer: YES" of it.
_MOST_LINES_BELOW = 8
#: A line without a name that is shorter than this can be a heading without a mark of one.
_SHORT = 30
#: As much of the text before a name as is looked at.
_NEAR = 80

_DRAFT = re.compile(
    r"(?:(?:my|a|the|here is|first|initial|rough|quick) ){0,3}(?:draft|scratch|workings?|"
    r"first (?:pass|attempt|try|guess|thoughts?|impression|reading)|initial|notes?\b"
    r"|trace\b|thinking|reasoning|before checking|attempt 1)",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:draft|at first|first i|initially|originally|previously|earlier|before|said|claims?|claimed|wrongly|had)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:for example|for instance|e\.g|examples?|in the (?:form|format)|the (?:form|format)|format is|such as"
    r"|like this|instead of|rather than|would look|template)\b",
    re.IGNORECASE,
)
_EXAMPLE_ABOVE = re.compile(r"\b(?:for example|for instance|e\.g|examples?|template|placeholder)\b", re.IGNORECASE)
_FINAL = re.compile(
    r"\b(?:final|corrected|revised|updated|amended) (?:\w{1,12} )?(?:answers?|list|version|results?|reply|response|"
    r"lines|verdicts?|form)\b|\b(?:corrections?|second (?:pass|attempt|try)|attempt 2|final(?:ly)?|revision|"
    r"(?:made|found|see|spotted|noticed) (?:an?|my|the|one) (?:mistake|error|slip)"
    r"|(?:take|taking) (?:that|it|this) back|"
    r"(?:ignore|disregard) (?:the|that|those|all)|(?:re|double)-?check(?:ed|ing)?"
    r"|check(?:ed|ing)? again|updated?:?$|updated after"
    r"|(?:got|had|put) (?:\w{1,10} )?(?:reversed|backwards|swapped|mixed up|the wrong way|wrong)"
    r"|the (?:right|correct) ones|actually)\b|^answers?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """What one place of a reply says of one name; a higher `version` stands behind a word that corrects."""

    name: str
    text: str
    answer: str | None
    version: int
    draft: bool
    by_number: bool


@dataclass(frozen=True)
class _Place:
    """A name or a number in a line, and the text behind it up to the next."""

    name: str
    lead: str
    text: str
    said_of: bool
    by_number: bool = False


def statements(text: str, names: Sequence[str]) -> list[Statement]:
    """The statements of a clean text on the questions `names`, which are asked in this order."""
    walk = _Walk(tuple(names))
    for line in text.split("\n"):
        walk.read(line)
    return walk.found


@dataclass
class _Walk:
    """A walk down the lines of a reply: under what heading it is, and which name waits for its answer."""

    names: tuple[str, ...]
    found: list[Statement] = field(default_factory=list)
    version: int = 0
    heading: str = ""
    answered: bool = False
    waiting: _Place | None = None
    lines_below: int = 0
    group: str | None = None
    columns: tuple[str | None, ...] = ()

    def read(self, line: str) -> None:
        """Take one line into account."""
        if not line.strip():
            if self.answered:
                self.heading, self.answered = "", False
            return
        front, places = _places(line, self.names)
        if places:
            self._take(line, front, places)
        elif self.columns:
            self._in_columns(line)
        elif self.waiting is None or not self._answered_below(line):
            self._under(line)

    def _take(self, line: str, front: str, places: list[_Place]) -> None:
        """Read the statements of one line."""
        self.waiting = None
        if _FINAL.search(front) or CORRECTS.search(front):
            self.version += 1
            self.heading = ""
        if self.heading == "example" or _EXAMPLE.search(front):
            self.answered = True
            return
        draft = self.heading == "draft" or bool(_EARLIER.search(front))
        before = _ANSWER_FIRST.search(front)
        if before and not any(_COLON.match(place.text) for place in places):
            answers = _in_groups(places, before["answer"].upper())
        else:
            answers = _answers(places, self.group)
        self.columns = _columns(line, self.names) if not any(answers) else ()
        for place, answer in zip(places, answers, strict=True):
            self.version += bool(CORRECTS.search(place.lead + place.text))
            self._say(place, place.text, None if doubtful(front) else answer, draft)
        if self.found[-1].answer is None:
            self.waiting, self.lines_below = places[-1], 0

    def _say(self, place: _Place, text: str, answer: str | None, draft: bool) -> None:
        self.answered = self.answered or answer is not None
        self.found.append(Statement(place.name, text, answer, self.version, draft, place.by_number))

    def _in_columns(self, line: str) -> None:
        """Read a row below a table's head of names; a row of signs lies between."""
        cells = _cells(line)
        if not _ONLY_SIGNS.fullmatch(line):
            answers = [said(cell) for cell in cells] if len(cells) == len(self.columns) else []
            for name, answer in zip(self.columns, answers, strict=False):
                if name is not None and answer is not None:
                    self._say(_Place(name, "", "", said_of=True), answer, answer, self.heading == "draft")
            self.columns = ()

    def _answered_below(self, line: str) -> bool:
        """Whether a line answers the name above it: the next line, or one of the next that says that it does."""
        place, below = self.waiting, _ANSWER_BELOW.match(line)
        if place is None:
            return False
        if below and (below["label"] or self.lines_below == 0):
            self._say(place, line, said(line[below.end() :]), self.heading == "draft")
            self.waiting = None
            return True
        self.lines_below += 1
        if self.lines_below > _MOST_LINES_BELOW or line.lstrip().startswith("#"):
            self.waiting = None
        return False

    def _under(self, line: str) -> None:
        """Read a line without a name as a heading, if it is one."""
        words = _SIGNS.sub("", line, count=1)
        of_group = _GROUP.fullmatch(words)
        if self.waiting is None:
            self.group = of_group["answer"].upper() if of_group else None
        is_heading = line.lstrip().startswith("#") or words.rstrip(" *_").endswith(":") or len(words) < _SHORT
        if _FINAL.search(words) or CORRECTS.search(words):
            self.version += 1
            self.heading = ""
        elif is_heading and _DRAFT.match(words):
            self.heading, self.answered = "draft", False
        elif words.endswith(":") and _EXAMPLE_ABOVE.search(words) and "answers" not in words:
            self.heading, self.answered = "example", False
        elif is_heading:
            self.heading = ""


def _in_groups(places: Sequence[_Place], group: str) -> list[str | None]:
    """The answers in a line such as "YES: a, b; NO: c", which begins with the answer `group`."""
    found: list[str | None] = []
    for place in places:
        found.append(group)
        if turned := _ANSWER.search(place.lead + place.text):
            group = turned[0].upper()
    return found


def _columns(line: str, names: Sequence[str]) -> tuple[str | None, ...]:
    """The names that the columns of a table's head have, where it has at least two."""
    known = {name.casefold(): name for name in names}
    columns = tuple(known.get(cell.strip("*`\"' ").casefold()) for cell in _cells(line))
    return columns if len(columns) - columns.count(None) >= 2 else ()


def _cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|" if "|" in line else ",")


def _answers(places: Sequence[_Place], group: str | None) -> list[str | None]:
    """The answer at each place of a line; names that are joined ("a, b and c: YES") share the last one's."""
    found: list[str | None] = []
    behind: str | None = None
    for place in reversed(places):
        if place.said_of:
            behind = said(place.text)
        elif group and _LIST_OF_NAMES.fullmatch(place.text):
            behind = group
        elif not (found and _JOINED.fullmatch(place.text)):
            behind = None
        found.append(behind)
    return found[::-1]


def _places(line: str, names: tuple[str, ...]) -> tuple[str, list[_Place]]:
    """What stands before the first name or number of a line, and the places themselves."""
    marks = [(mark, _known(line, mark, names)) for mark in _names(names).finditer(line)]
    # Words that only look like a name stand in a sentence; a name that nobody asked for ends what is said of another.
    marks = [(mark, name) for mark, name in marks if name is not None or not mark["known"]]
    ends = [*(mark.start() for mark, _ in marks), len(line)][1:]
    found = [
        (mark, _place(name, line[mark.end() : end])) for (mark, name), end in zip(marks, ends, strict=True) if name
    ]
    if found:
        return line[: found[0][0].start()][-_NEAR:], [place for _, place in found]
    numbers = list(_NUMBER_INSIDE.finditer(line))
    if len(numbers) < 2:
        first_number = _NUMBERED.match(line)
        numbers = [first_number] if first_number and not marks else []
    ends = [*(number.start() for number in numbers), len(line)][1:]
    return "", [
        _Place(names[int(number["number"]) - 1], "", line[number.end() : end], said_of=True, by_number=True)
        for number, end in zip(numbers, ends, strict=True)
        if int(number["number"]) <= len(names)
    ]


def _place(name: str, text: str) -> _Place:
    lead = _SAID_OF_NAME.match(text)
    end = lead.end() if lead else 0
    return _Place(name, text[:end], text[end:], said_of=lead is not None or bool(_ENDS.search(text[-_NEAR:])))


def _known(line: str, mark: re.Match[str], names: Sequence[str]) -> str | None:
    """The name that some words are; with spaces for its underscores they are one only where a line begins."""
    written = (mark["known"] or "").casefold()
    by_spelling = {name.casefold(): name for name in names}
    if written in by_spelling or not _LINE_BEGINS.fullmatch(line, max(0, mark.start() - _NEAR), mark.start()):
        return by_spelling.get(written)
    return by_spelling.get(re.sub("[ -]", "_", written))


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    """Every known name, and the beginning of what is said of any other: it ends a statement."""
    known = "|".join(re.escape(name).replace("_", "[_ -]") for name in sorted(names, key=len, reverse=True)) or "(?!)"
    other = r"[a-z][a-z0-9]{0,40}_\w{1,60}(?!\w)(?=[*`\"']{0,4} ?[:|])"
    return re.compile(rf"(?<![\w-])(?:(?P<known>{known})(?!\w)|{other})", re.IGNORECASE)
