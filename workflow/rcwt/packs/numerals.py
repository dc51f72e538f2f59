"""A number that is the whole answer, read exactly; anything that leaves a choice is no number.

Read are digits with thousands commas, decimals, fractions (`3/4`), mixed numbers (`2 1/2`) and scientific notation
(`1e3`), with a sign, a currency, a percent sign, a scale word (`2 million`) and a unit of words (`12 apples`,
`60 miles/hour`). `the answer is 12`, `x = 12` and `3 + 9 = 12` are read too. Two numbers (`12 or 13`, `10-12`,
`3 hours 20 minutes`), an approximation (`about 12`), a comma that parts no thousands (`12,5`) and number words are not.
A percent sign is a unit like any other: 50% equals 50.
"""

import re
from fractions import Fraction

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
    ("'", "'"),
    ("*", "*"),
)
_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+|correct\s+|total\s+)?answer\s*(?:is|:|=)\s*:?\s*",
    re.IGNORECASE,
)
_WHOLE = r"(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+|\d+)"
_DECIMAL = rf"(?:{_WHOLE}(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?"
_CURRENCY = r"\\?(?:(?:US|A|C|CA|NZ|AU)?\$|[€£¥₹₩₽]|(?:USD|EUR|GBP)\b)"
_NUMBER = re.compile(
    rf"(?P<before>[-+−–]?)\s?{_CURRENCY}?\s?(?P<sign>[-+−–]?)"
    rf"(?:(?P<mixed>\d+)(?:\s+|\s*[-&]\s*|\s+and\s+)(?P<over>\d+)\s*[/⁄]\s*(?P<under>\d+)"
    rf"|(?P<above>{_WHOLE})\s*[/⁄]\s*(?P<below>{_WHOLE})"
    rf"|(?P<plain>{_DECIMAL}))"
    r"(?P<rest>(?![\d.,/]|[eE][+-]?(?:\b|\d)).*)",
    re.DOTALL,
)
_MINUS = frozenset("-−–")
_SCALES = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALE = re.compile(rf"\s*(?P<scale>{'|'.join(_SCALES)})\b", re.IGNORECASE)
#: Words, slashes and powers of a unit; no digit but a power, so that no second number can hide in it.
_AFTER_LETTER = r"(?<=[^\W\d_])"
_UNIT = re.compile(rf"\s*-?(?:[%°€£¥$]|[^\W\d_]|[ .'’·/()]|{_AFTER_LETTER}(?:[²³]|\^[23]|-(?=[^\W\d_])))*")
_LONGEST_UNIT = 60
#: Words that make of one number a choice, a range, a denial or a part of a sum.
_OTHER = re.compile(
    r"\b(?:or|and|to|not|but|minus|plus|times|between|versus|vs|remainder|half|quarter|third"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|dozens|hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)


def number(text: str) -> Fraction | None:
    """The value of an answer that is one number, exactly; None for any other text."""
    plain = unwrapped(text)
    plain = _LEAD.sub("", plain, count=1) if _LEAD.match(plain) else plain
    if "=" in plain:
        plain = plain.rpartition("=")[2]
    match = _NUMBER.fullmatch(unwrapped(plain))
    if match is None or (match["before"] and match["sign"]):
        return None
    value = _value(match)
    if value is None:
        return None
    rest = match["rest"]
    if scale := _SCALE.match(rest):
        value, rest = value * _SCALES[scale["scale"].lower()], rest[scale.end() :]
    if len(rest) > _LONGEST_UNIT or not _UNIT.fullmatch(rest) or _OTHER.search(rest):
        return None
    return -value if _MINUS & set(match["before"] + match["sign"]) else value


def unwrapped(text: str) -> str:
    """An answer without the emphasis, brackets or quotes around all of it, and without a full stop at its end."""
    before, plain = None, text.strip()
    while plain != before:
        before = plain
        if plain.endswith(".") and not plain.endswith(".."):
            plain = plain[:-1].rstrip()
        for left, right in _WRAPPINGS:
            inside = plain[len(left) : len(plain) - len(right)]
            around = len(plain) > len(left) + len(right) and plain.startswith(left) and plain.endswith(right)
            # "(1) and (2)" is not in brackets as a whole.
            if around and (right not in inside or left.endswith("{")):
                plain = inside.strip()
    return plain


def _value(match: re.Match[str]) -> Fraction | None:
    if match["plain"] is not None:
        return Fraction(_digits(match["plain"]))
    if match["mixed"] is not None:
        over, under = int(match["over"]), int(match["under"])
        return int(match["mixed"]) + Fraction(over, under) if over < under else None
    below = Fraction(_digits(match["below"]))
    return Fraction(_digits(match["above"])) / below if below else None


def _digits(text: str) -> str:
    return re.sub("[,\u00a0\u202f]", "", text)
