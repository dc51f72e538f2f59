"""Spans in plain forms: a curly quote, a long dash, a ligature, an article or a full stop makes no other answer.

DROP's own exact match (`spans`) tells these apart, as every published score does; this score stands beside it. It also
takes back what the writer takes back, reads a number with its unit, and a date in any order. A guess or a question is
no answer.
"""

import re
from collections.abc import Iterable

from rcwt.base.characters import compatible
from rcwt.packs.corrections import resolved
from rcwt.packs.items import Reference
from rcwt.packs.numerals import number, unwrapped
from rcwt.packs.spans import normalise, readings
from rcwt.packs.surface import surface

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´ʼʹ＇"), "'") | dict.fromkeys(map(ord, "“”„‟″«»‹›「」『』〝〞＂"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−⁃﹘﹣－"), "-")
_STOPS = dict.fromkeys(map(ord, "。．｡"), ".")
_FORMS = _QUOTES | _DASHES | _STOPS
_LEAD = re.compile(
    r"[\s#:→]*+(?:(?:so|thus|therefore),?\s{1,3})?(?:the\s{1,3}|my\s{1,3})?(?:final\s{1,3}|correct\s{1,3})?"
    r"(?:answers?|spans?)\s{0,3}(?::|(?:is|are|was|were)\b:?)\s{0,3}|it\s{1,3}(?:is|was)\s{1,3}|both\s{1,3}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s{1,3}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november")
_MONTH_NAMES = dict(zip((*_NAMES, "december", *_MONTHS, "sept"), (*range(1, 13), *range(1, 13), 9), strict=True))
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DATE_WORD = re.compile(r"(\d{1,4})(?:st|nd|rd|th)?")
_FILLERS = frozenset({"the", "of", "on", "in", "ad", "ce"})
#: Characters of an answer; what is longer is no span.
_LONGEST = 4000


def plain_score(answer: str, references: Iterable[Reference]) -> int:
    """1 where an answer equals one of `references` in plain forms, else 0."""
    return int(any(_meets(answer, reference) for reference in references))


def agrees(one: str, other: str) -> bool:
    """Whether two answers say the same in plain forms."""
    if one == other:
        return True
    values = number(one), number(other)
    return (values[0] is not None and values[0] == values[1]) or not _sets(one).isdisjoint(_sets(other))


def plain_form(text: str) -> str:
    """A text in compatible characters, with plain quotes, dashes and full stops, as exact match compares it."""
    plain = compatible(text.translate(_FORMS)).translate(_FORMS)
    return normalise(" ".join(plain.split()).replace("- ", "-").replace(" -", "-"))


def _meets(answer: str, reference: Reference) -> bool:
    if len(answer) > _LONGEST:
        return False
    wanted = tuple(sorted(map(plain_form, reference.values)))
    if _doubts(answer) and not any("?" in value for value in reference.values):
        return False
    if wanted in _sets(answer):
        return True
    if reference.kind == "number":
        value = number(answer)
        return value is not None and value == number(reference.values[0])
    if reference.kind == "date":
        date = _date(_said(answer)[-1])
        return date is not None and date == _date(reference.values[0])
    return False


def _doubts(answer: str) -> bool:
    return unwrapped(answer).endswith("?")


def _sets(answer: str) -> set[tuple[str, ...]]:
    """The spans that an answer may stand for, in each reading, sorted."""
    return {
        tuple(sorted(map(plain_form, reading))) for said in _said(answer) for reading in readings(said) if any(reading)
    }


def _said(answer: str) -> list[str]:
    """An answer as it stands, and without what is taken back or only leads to it."""
    text = answer[:_LONGEST]
    plain = unwrapped(surface(text))
    kept = unwrapped(resolved(plain))
    lead = _LEAD.match(kept)
    bare = unwrapped(kept[lead.end() :]) if lead else kept
    listed = "; ".join(part for part in _NUMBERED.split(bare) if part) if len(_NUMBERED.findall(bare)) > 1 else bare
    return [said for said in dict.fromkeys((plain, kept, bare, listed)) if said] or [""]


def _date(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date in words or of the form 1854-03-12; None for any other text."""
    if iso := _ISO.fullmatch(text.strip()):
        return int(iso[1]), int(iso[2]), int(iso[3])
    words = [word for word in re.split(r"[\s,.]+", text[:100].casefold()) if word and word not in _FILLERS]
    months = [_MONTH_NAMES[word] for word in words if word in _MONTH_NAMES]
    figures = [match[1] for word in words if (match := _DATE_WORD.fullmatch(word))]
    if len(words) != 3 or len(months) != 1 or len(figures) != 2:
        return None
    year, day = sorted(figures, key=len, reverse=True)
    return (int(year), months[0], int(day)) if len(year) > 2 >= len(day) else None
