"""Numbers that a text gives as values: no mere bounds, and not one of two candidates. All on normalised text."""

import re
from functools import lru_cache
from typing import Literal

from rcwt.base.phrases import one_of, word_set
from rcwt.scoring.normalise import normalise

#: Which bound a fact may be stated with: a limit holds with "at most", a least with "at least".
Bound = Literal["upper", "lower"] | None
#: What stands where text was taken out: no word, no number, no space.
TAKEN = "·"

NUMBER = r"(?<![\w.,-])\d[\d.,]*(?<![.,])(?:-\d[\d.]*(?<!\.))?"
_UNIT = r"(?: (?:[a-z]+/s|/s|kbps|mbps|gbps|kbit|kb|kib|mb|gb|byte|us|ms|s|min|hour|day|week|month|year)\b|/s\b|%)?"
#: A number or range with its unit.
QUANTITY = re.compile(rf"({NUMBER})({_UNIT})")

_LARGER = "(?:larger|greater|more|bigger|longer|higher)"
_NOT = r"(?:\b(?:not|never|cannot|no)|n't)"
_UPPER = re.compile(
    rf"(?:{_NOT} (?:be |exceed |get |grow |become )?(?:any )?{_LARGER}(?: than)?"
    rf"|{_NOT}(?: [a-z/-]+){{1,6}}? {_LARGER} than"
    rf"|{_NOT} exceeds?|{_NOT}(?: [a-z/-]+){{1,4}}? (?:above|over|beyond)|\b"
    + one_of("""
    at most, no more than, not more than, no larger than, max(?:imum)?(?: of)?, less than, fewer than, under, below
    smaller than, lower than, shorter than, as much as, as many as, no longer than
    """)
    + r"|[<≤]=?) ?"
)
_LOWER = re.compile(
    rf"(?:{_NOT}(?: [a-z/-]+){{1,4}}? (?:below|under)|\b"
    + one_of("""
    at least, no (?:less|fewer) than, not (?:less|fewer) than, more than, over, above, exceed(?:s|ed|ing)?, greater than
    larger than, higher than, longer than, beyond, min(?:imum)?(?: of)?, upwards? of, in excess of
    """)
    + r"|[>≥]=?) ?"
)
# What lies above a limit is refused: that states the limit.
_REFUSED_ABOVE = re.compile(
    r"\b(?:above|over|exceeding|beyond|in excess of|(?:larger|greater|more|bigger|longer"
    r"|higher) than) (\d[^.;,]{0,60}?)"
    r" (?:(?:is|are|will be|gets?) (?:not [a-z]+|rejected|refused|forbidden|prohibited|dropped|truncated|too [a-z]+)"
    r"|fails?|(?:cannot|does not|do not|will not)(?: [a-z]+){1,3})\b"
)
# A limit that is less than a number is another one.
_BOUNDED_LIMIT = re.compile(
    r"\b(?:limit|max(?:imum)?|cap|ceiling)\b[^.;,|]{0,40}? (?:is|was|lies)(?: at)? (?:(?:less|lower|smaller"
    r"|fewer) than|under|below) \d[\d.]*"
)
_UNIT_WORDS = r"(?: [a-z/]+){0,3}?"
_UPPER_BEHIND = re.compile(
    rf"{_UNIT_WORDS} ?\(?,? ?(?:or (?:less|fewer|lower|shorter|below)|at (?:the )?most|max(?:imum)?|tops)\b"
)
_LOWER_BEHIND = re.compile(
    rf"{_UNIT_WORDS} ?\(?,? ?(?:\+|(?:or|and) (?:more|above|higher|longer|up)\b|at (?:the )?least\b|min(?:imum)?\b)"
)
_FAR = 60  # characters in which a bound stands before its number, or behind it
_LIMIT = re.compile(
    rf"\b{one_of('limit[a-z]*, max[a-z]*, cap[a-z]*, at most, up to, no more than, ceiling, longest, largest')}\b"
)
_LEAST = re.compile(rf"\b{one_of('min(?:imum)?, at least, no (?:less|fewer) than, floor, smallest, shortest')}\b")

_OTHER = one_of("or, and/or, /, perhaps, maybe, possibly, alternatively, otherwise")
_PERHAPS = one_of("maybe, perhaps, even, possibly, alternatively, rather, else")
_OTHER_NUMBER = re.compile(
    rf"{_UNIT_WORDS}(?P<join> ?\(?,? ?{_OTHER}(?: {_PERHAPS})? ?)(?P<other>{NUMBER})(?P<unit>{_UNIT})"
)
_OTHER_NAME = re.compile(
    r"(?<![\w.-])(?P<one>[\w.-]{0,60}\w) ?(?: or | / | ?and/or )(?:the |an? |option |perhaps |maybe "
    r"|else )?(?P<other>\w[\w.-]*+)"
)
#: Words beside "or" that are no candidate for anything.
_NO_NAME = word_set("""
    so more less fewer later not other others another similar its their his her rather better worse both all any
    some even whatever again earlier equal equivalent higher lower longer shorter two otherwise simply maybe perhaps
""")
_PAIRED = re.compile(rf"{NUMBER}{_UNIT} / {NUMBER}")
_TWO_SUBJECTS = re.compile(r" / | vs\.? |\band\b")
#: Bytes, and seconds, of a unit; of a kilobyte either kind, of a week its working days.
_SIZES = {"byte": 1.0, "kb": 1e3, "kib": 1024.0, "mb": 1e6, "gb": 1e9}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hour": 3.6e3, "day": 8.64e4, "week": 6.048e5, "month": 2.63e6}
_SAME = (0.7, 1.45)


@lru_cache(maxsize=1024)
def bound_of(statement: str) -> Bound:
    """The bound that a fact is, by the sentence that states it: a limit is an upper one."""
    plain = normalise(statement)
    return "upper" if _LIMIT.search(plain) else "lower" if _LEAST.search(plain) else None


def within_bound(text: str, bound: Bound) -> str:
    """`text` without numbers that it only bounds, but for the bound that the fact is: that bound is taken off."""
    if bound == "upper":
        text = _REFUSED_ABOVE.sub(r"\1", _BOUNDED_LIMIT.sub(TAKEN, text))
    for kind, before, behind in (("upper", _UPPER, _UPPER_BEHIND), ("lower", _LOWER, _LOWER_BEHIND)):
        if kind == bound:
            text = _before_number(before).sub(" ", text)  # "up to" is no bound of its own: it may be how a rate is told
            continue
        pieces, at = [], 0
        for quantity in QUANTITY.finditer(text):
            start, end = quantity.span()
            bounds = before.finditer(text, max(0, start - _FAR), start)
            if any(one.end() == start for one in bounds) or behind.match(text[end : end + _FAR]):
                pieces += [text[at:start], TAKEN]
                at = quantity.end(1)
        text = "".join([*pieces, text[at:]])
    return text


@lru_cache(maxsize=2)
def _before_number(pattern: re.Pattern[str]) -> re.Pattern[str]:
    # "may be no larger than 8 kb", "no payloads above its limit of 8 kb"
    modal = r"(?:\b(?:may|can|must|could|should) (?:only )?(?:be )?)?"
    return re.compile(rf"{modal}{pattern.pattern}(?:(?:its|the|an?) (?:limit|maximum|cap) of )?(?=-?\d)")


def one_candidate(text: str) -> str:
    """`text` without values that stand beside another candidate, be they numbers or names."""
    return _one_name(_one_number(text))


def _one_number(text: str) -> str:
    pieces, at = [], 0
    for quantity in QUANTITY.finditer(text):
        start, end = quantity.span()
        other = _OTHER_NUMBER.match(text, end) if start >= at else None
        if (
            other is None
            or _same(quantity, other)
            or _of_two_subjects(text[max(0, start - 120) : start], other["join"])
        ):
            continue
        pieces += [text[at:start], TAKEN, text[quantity.end(1) : other.start("other")], TAKEN]
        at = other.end("other")
    return "".join([*pieces, text[at:]])


def _of_two_subjects(before: str, join: str) -> bool:
    """Whether a slash parts values of as many subjects: `Streams / Pub/Sub: 5 ms / 1 ms`."""
    return "/" in join and "or" not in join and bool(_TWO_SUBJECTS.search(before))


def _same(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two quantities are the same value, in one unit or two; where that cannot be told, they are."""
    units = [found.strip().split(" ")[0] for found in (one[2], other["unit"])]
    if units[0] == units[1] or not all(units):
        return one[1] == other["other"]
    for scale in (_SIZES, _TIMES):
        if units[0] in scale and units[1] in scale:
            values = [_value(number) for number in (one[1], other["other"])]
            if None in values or not values[1]:
                return True
            ratio = (values[0] or 0) * scale[units[0]] / (values[1] * scale[units[1]])
            return _SAME[0] <= ratio <= _SAME[1]
    return True


def _value(number: str) -> float | None:
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return None


def _one_name(text: str) -> str:
    paired, last_label = bool(_PAIRED.search(text)), text.rfind(":")
    pieces, at = [], 0
    for pair in _OTHER_NAME.finditer(text):
        one, other = pair["one"], pair["other"]
        if one in _NO_NAME or other in _NO_NAME or one.isdigit() or other[0].isdigit():
            continue
        # In a label a slash joins what it names.
        if "/" in pair[0] and "or" not in pair[0] and (paired or last_label >= pair.end()):
            continue
        pieces += [text[at : pair.start("one")], TAKEN, text[pair.end("one") : pair.start("other")], TAKEN]
        at = pair.end("other")
    return "".join([*pieces, text[at:]])
