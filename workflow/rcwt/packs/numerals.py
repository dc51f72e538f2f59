"""A number that is the whole answer, read exactly; anything that leaves a choice is no number.

Read are digits with thousands separators (`1,234`, `1'234`, a hard or thin space), decimals, fractions (`3/4`, `¾`),
mixed numbers (`2 1/2`, `2½`) and scientific notation (`1e3`), with a sign, a currency, a percent sign, a scale word
(`2 million`) and a unit of words (`12 apples`, `60 miles/hour`). `the answer is 12`, `x = 12` and `3 + 9 = 12` are read
too. Two numbers (`12 or 13`, `10-12`, `3 hours 20 minutes`), an approximation (`about 12`), an inequality (`x >= 12`),
a power (`10²`), other signs of numbers (`5①`), a comma that parts no thousands (`12,5`) and number words are not.
A percent sign is a unit like any other: 50% equals 50.
"""

import re
import unicodedata
from fractions import Fraction

from rcwt.base.number_words import alternatives
from rcwt.packs.spelling import plain

_WRAPPINGS: tuple[tuple[str, str], ...] = (
    ("**", "**"),
    ("__", "__"),
    ("`", "`"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\boxed{", "}"),
    ("(", ")"),
    ("[", "]"),
    ("<", ">"),
    ("{", "}"),
    ('"', '"'),
    ("“", "”"),
    ("【", "】"),
    ("「", "」"),
    ("«", "»"),
    ("'", "'"),
    ("*", "*"),
)
_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+|correct\s+|total\s+)?(?:answer|result|total|sum)\s*(?:is|:|=)\s*:?\s*",
    re.IGNORECASE,
)
#: What may part thousands: commas, apostrophes, and spaces that break no line.
_SEPARATORS = "[,'’ \u00a0\u2007\u2009\u202f]"
# One separator throughout: 1,234'567 is no number.
_WHOLE = r"(?:\d{1,3}(?:(?:,\d{3})+|(?:['’]\d{3})+|(?:[ \u00a0\u2007\u2009\u202f]\d{3})+)|\d+)"
_VULGAR = "[¼½¾⅐-⅞]"
_DECIMAL = rf"(?:{_WHOLE}(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?"
_CURRENCY = r"\\?(?:(?:US|A|C|CA|NZ|AU)?\$|[€£¥₹₩₽]|(?:USD|EUR|GBP)\b)"
_NUMBER = re.compile(
    rf"(?P<before>[-+−–]?)\s?{_CURRENCY}?\s?(?P<sign>[-+−–]?)"
    rf"(?:(?P<mixed>{_WHOLE})(?:\s+|\s*[-&]\s*|\s+and\s+)(?P<over>\d+)\s*[/⁄]\s*(?P<under>\d+)"
    rf"|(?P<beside>{_WHOLE}(?:\s*&\s*|\s+and\s+|-|\s*))?(?P<vulgar>{_VULGAR})"
    rf"|(?P<above>{_WHOLE})\s*[/⁄]\s*(?P<below>{_WHOLE})"
    rf"|(?P<plain>{_DECIMAL}))"
    rf"(?P<rest>(?![\d.,/]|{_VULGAR}|[eE][+-]?(?:\b|\d)).*)",
    re.DOTALL,
)
_MINUS = frozenset("-−–")
_SCALES = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALE = re.compile(rf"\s*(?P<scale>{'|'.join(_SCALES)})\b", re.IGNORECASE)
#: Words, slashes and powers of a unit; no digit but a power, so that no second number can hide in it.
_AFTER_LETTER = r"(?<=[^\W\d_])"
_UNIT = re.compile(
    rf"\s*-?(?:[%°€£¥$]|[^\W\d_]|[ \u00a0\u2009\u202f.'’·/()]|{_AFTER_LETTER}(?:[²³]|\^[23]|-(?=[^\W\d_])))*"
)
_BRACKET = re.compile(r"(?P<outer>[^()\[\]\n]*\S)\s*[(\[](?P<inner>[^()\[\]\n]*)[)\]]")
# Another number, or a word that leaves a choice.
_ANOTHER = re.compile(
    r"\W*(?:or|and|maybe|perhaps|possibly|approx|about|roughly|not sure|alternatively|[-+]?[\d.,]+\W*\Z)", re.IGNORECASE
)
_MOST_SIDES = 10
#: Signs that compare and do not equate, with or without an equals sign in them.
_INEQUALITY = re.compile(r"[<>!~]\s*=|[≠≤≥≈≲≳≪≫]")
_LONGEST_UNIT = 60
#: Characters; Python reads no whole number of more than some thousand digits.
_LONGEST_NUMBER = 200
#: Words that make of one number a choice, a range, a denial or a part of a sum.
_OTHER = re.compile(
    r"\b(?:or|and|to|not|but|minus|plus|times|between|versus|vs|remainder|half|quarter|third"
    rf"|{alternatives(1)}|dozen|dozens|hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)


def number(text: str) -> Fraction | None:
    """The value of an answer that is one number, exactly; None for any other text."""
    said = _unbracketed(unwrapped(plain(text)))
    said = _LEAD.sub("", said, count=1) if _LEAD.match(said) else said
    if _INEQUALITY.search(said):
        return None
    # `60 - 12 = 48` and `48 = 4 * 12`: the last side that is a number.
    sides = said.split("=")[-_MOST_SIDES:]
    if "?" in sides[-1]:
        return None
    return next((value for side in reversed(sides) if (value := _number(side)) is not None), None)


def _number(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(unwrapped(text))
    if match is None or (match["before"] and match["sign"]) or match.start("rest") > _LONGEST_NUMBER:
        return None
    value = _value(match)
    if value is None:
        return None
    rest = match["rest"]
    if scale := _SCALE.match(rest):
        value, rest = value * _SCALES[scale["scale"].lower()], rest[scale.end() :]
    if len(rest) > _LONGEST_UNIT or not _UNIT.fullmatch(rest) or _OTHER.search(rest) or not _lettered(rest):
        return None
    return -value if _MINUS & set(match["before"] + match["sign"]) else value


def _unbracketed(text: str) -> str:
    """An answer without a bracket behind it that only explains: `48 (12 boxes of 4)`, `48 (forty-eight)`."""
    found = _BRACKET.fullmatch(text)
    if found is None or _ANOTHER.match(found["inner"]):
        return text
    return found["outer"].rstrip()


def _lettered(unit: str) -> bool:
    """Whether nothing in a unit has a value of its own, as `①`, `Ⅻ` and `²` do, which count as word characters.

    The power of a letter is part of the unit.
    """
    return all(
        unicodedata.numeric(sign, None) is None or (sign in "²³" and before.isalpha())
        for before, sign in zip(f" {unit}", unit, strict=False)
    )


def unwrapped(text: str) -> str:
    """An answer without the emphasis, brackets or quotes around all of it, and without a full stop at its end."""
    start, end = _stripped(text, 0, len(text))
    before = None
    while before != (start, end):
        before = start, end
        if text.endswith(".", start, end) and not text.endswith("..", start, end):
            start, end = _stripped(text, start, end - 1)
        for left, right in _WRAPPINGS:
            inner, outer = start + len(left), end - len(right)
            around = inner < outer and text.startswith(left, start, end) and text.endswith(right, start, end)
            # "(1) and (2)" is not in brackets as a whole.
            if around and (left.endswith("{") or text.find(right, inner, outer) < 0):
                start, end = _stripped(text, inner, outer)
    return text[start:end]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The part of `text` from `start` to `end` without the white space around it, as places."""
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _value(match: re.Match[str]) -> Fraction | None:
    if match["plain"] is not None:
        return Fraction(_digits(match["plain"]))
    if match["mixed"] is not None:
        over, under = int(match["over"]), int(match["under"])
        return int(_digits(match["mixed"])) + Fraction(over, under) if over < under else None
    if match["vulgar"] is not None:
        part = Fraction(unicodedata.numeric(match["vulgar"])).limit_denominator(10)
        return int(re.sub(r"\D", "", match["beside"] or "") or 0) + part
    below = Fraction(_digits(match["below"]))
    return Fraction(_digits(match["above"])) / below if below else None


def _digits(text: str) -> str:
    return re.sub(_SEPARATORS, "", text)
