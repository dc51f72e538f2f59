"""A number that is the whole answer, read exactly; anything that leaves a choice is no number.

Read are digits with thousands separators (`1,234`, `1'234`, a hard or thin space), decimals, fractions (`3/4`, `¾`),
mixed numbers (`2 1/2`, `2½`) and scientific notation (`1e3`), with a sign, a currency, a percent sign, a scale word
(`2 million`) and a unit of words (`12 apples`, `60 miles/hour`). `the answer is 12`, `x = 12`, `3 + 9 = 12` and
`12 = 3 + 9` are read too, as are the same in LaTeX, with a bracket, a reason or a sentence that explains them
(`12 (3 boxes of 4)`), and behind what is taken back (`50, no wait, 12`). Two numbers (`12 or 13`, `10-12`, `3 hours 20
minutes`), an approximation (`about 12`), a guess (`12?`), an inequality (`x >= 12`), a power (`10²`), other signs of
numbers (`5①`), a comma that parts no thousands (`12,5`) and number words are not.
A percent sign is a unit like any other: 50% equals 50.
"""

import re
import unicodedata
from fractions import Fraction

from rcwt.base.number_words import alternatives, value_of
from rcwt.packs.corrections import concluded, hedged, resolved
from rcwt.packs.surface import narrow, surface

_WRAPPINGS: tuple[tuple[str, str], ...] = (
    ("**", "**"),
    ("__", "__"),
    ("`", "`"),
    ("$$", "$$"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("\\boxed{", "}"),
    ("(", ")"),
    ("[", "]"),
    ("<", ">"),
    ("{", "}"),
    ('"', '"'),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("‹", "›"),
    ("‘", "’"),
    ("【", "】"),
    ("（", "）"),
    ("［", "］"),
    ("｛", "｝"),
    ("＜", "＞"),
    ("「", "」"),
    ("『", "』"),
    ("〈", "〉"),
    ("《", "》"),
    ("〔", "〕"),
    ("⟨", "⟩"),
    ("'", "'"),
    ("*", "*"),
)
_LEAD = re.compile(
    r"[\s#:→⇒]*+(?:=\s{0,3})?(?:(?:so|thus|therefore|hence),?\s{1,3})?"
    r"(?:(?:(?:the|my)\s{1,3})?(?:final\s{1,3}|correct\s{1,3}|total\s{1,3})?"
    r"(?:answer|result|total|sum|value|amount|it)(?:\s{0,3}(?:is|was|:|=)|['’]s\b)\s{0,3}:?\s{0,3})?",
    re.IGNORECASE,
)
#: A sentence that ends in the number: `Tom has 12 apples`.
_SENTENCE = re.compile(
    r"(?:[a-z][a-z'’]{0,20}\s{1,3}){1,8}(?<!\w)(?:is|was|are|were|has|have|had|equals|costs?|needs?|makes?|earns?|earned|pays"
    r"|paid|made|gets?|got|left|total|spent|spends?|sold|bought|to)\s{1,3}(?=[\d$£€.+−-])",
    re.IGNORECASE,
)
#: Words in a sentence with which its number is no answer.
_NO_SENTENCE = re.compile(
    r"\b(?:not|never|than|least|most|about|around|over|under|between|from|up|close|near|nearer|closer|or|if|by|some"
    r"|cannot|rounds?|within|below|above)\b|n['’]t\b",
    re.IGNORECASE,
)
#: What explains a number: a reason, or a sentence of its own.
_REASON = re.compile(
    r"(?<=[\w%)$.,;:])(?:[.,;:]?\s{1,3}(?:[–—-]\s)?(?:because|since|as\s|given|due\s|i\.e\.|that\s{1,3}is\b)"
    r"|(?P<beside>[.;]\s{1,3}(?=[A-Z])|\s[–—-]\s(?=[a-z]{2})))"
)
_SECOND = re.compile(r"\s{0,3}(?:or|no|but|alternatively|and|otherwise)\b", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<!\d)\*\*|\*\*(?!\s?\d)|(?<=\d)\*(?=\s[a-zA-Z])|__|`")
_TEN_TO_THE = re.compile(r"(?<=\d)\s?[×x*]\s?10\^\{?([+-]?\d{1,2})\}?(?!\d)")
#: A formula that is an amount in dollars.
_MONEY = re.compile(r"\A\$(\$[^$]*+)\$\Z")
_ENDINGS = frozenset(",;:!。，、；：！．")
_SUM = re.compile(r"\d[^?\d]{0,40}[-+*/x×·÷−–^(][^?\d]{0,20}\d")
_BARE = re.compile(r"[-+−–]?\s?[$£€¥]?\s?[\d.,]{1,30}\s?(?P<percent>%)?")
#: What may part thousands: commas, apostrophes, and spaces that break no line.
_SEPARATORS = "[,'’ \u00a0\u2007\u2009\u202f]"
# One separator throughout: 1,234'567 is no number.
_WHOLE = r"(?:\d{1,3}(?:(?:,\d{3})+|(?:['’]\d{3})+|(?:[ \u00a0\u2007\u2009\u202f]\d{3}(?!\d))+)|\d+)"
_VULGAR = "[¼½¾⅐-⅞]"
_DECIMAL = rf"(?:{_WHOLE}(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?"
_CURRENCY = r"\\?(?:(?:US\s?|A|C|CA|NZ|AU)?\$|[€£¥₹₩₽]|(?:USD|EUR|GBP|INR|CAD|AUD|JPY|CHF)\b|Rs\b\.?)"
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
    rf"\s*-?(?:[%°€£¥$¢]|[^\W\d_]|[ \u00a0\u2009\u202f.'’·/()]|{_AFTER_LETTER}(?:[²³]|\^[23]|-(?=[^\W\d_])))*"
)
#: Signs that compare and do not equate, with or without an equals sign in them.
_INEQUALITY = re.compile(r"[<>!~]\s*=|[≠≤≥≈≲≳≪≫]")
_LONGEST_UNIT = 60
#: Brackets of one kind around one another; each of them is looked through.
_MOST_NESTED = 5
#: Characters of an answer; what is longer is no number with what explains it.
_LONGEST_ANSWER = 1000
#: Words with which a bracket gives another value.
_NO_VALUE = re.compile(r"\b(?:or|not|instead|alternatively|otherwise)\b", re.IGNORECASE)
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
    if len(text) > _LONGEST_ANSWER:
        return None
    # `\\$` is a currency; a bare `$` may open a formula.
    plain = _MONEY.sub(r"\1", unwrapped(narrow(surface(text)).replace("\\$", "€")))
    plain = _TEN_TO_THE.sub(r"e\1", _EMPHASIS.sub("", plain))
    plain = unwrapped(_LEAD.sub("", unwrapped(resolved(plain)), count=1))
    if _INEQUALITY.search(plain):
        return None
    value = _explained(plain)
    return value if value is not None else _explained(unwrapped(_LEAD.sub("", concluded(plain), count=1)))


def _explained(text: str) -> Fraction | None:
    """A number with or without what explains it: a reason, a sentence, the sum that it is, a bracket."""
    if reason := _REASON.search(text):
        if _SECOND.match(text, reason.end()) or (reason["beside"] and hedged(text[reason.end() :])):
            return None
        text = unwrapped(text[: reason.start()])
    if "=" in text:
        first, _, others = text.partition("=")
        last = _bracketed(unwrapped(text.rpartition("=")[2]))
        explains = "?" not in others and _SUM.search(others)
        return _bracketed(unwrapped(first)) if last is None and explains else last
    return _bracketed(text)


def _bracketed(text: str) -> Fraction | None:
    """A number, perhaps with a bracket behind it that says no other one."""
    value = _single(text)
    if value is not None or not text.endswith((")", "]")):
        return value
    start = text.rfind("(" if text.endswith(")") else "[")
    value = _single(unwrapped(text[:start])) if start > 0 else None
    inside = text[start + 1 : -1].strip()
    if value is None or hedged(inside) or _NO_VALUE.search(inside):
        return None
    other: Fraction | int | None = value_of(inside)
    bare = _BARE.fullmatch(inside)
    if bare and (other := _single(inside)) is not None and bool(bare["percent"]) != ("%" in text[:start]):
        # A share beside its percentage: 0.25 (25%).
        return value if other in (value, value * 100, value / 100) else None
    return value if other is None or other == value else None


def _single(text: str) -> Fraction | None:
    """The value of a text that is one number with its sign, currency, scale and unit."""
    if (lead := _SENTENCE.match(text)) and not _NO_SENTENCE.search(lead[0]) and not hedged(lead[0]):
        text = text[lead.end() :]
    match = _NUMBER.fullmatch(text)
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
    if hedged(rest):
        return None
    return -value if _MINUS & set(match["before"] + match["sign"]) else value


def _lettered(unit: str) -> bool:
    """Whether nothing in a unit has a value of its own, as `①`, `Ⅻ` and `²` do, which count as word characters.

    The power of a letter is part of the unit.
    """
    return all(
        unicodedata.numeric(sign, None) is None
        or (sign in "²³" and before.isalpha())
        or (sign in "23" and before == "^")
        for before, sign in zip(f" {unit}", unit, strict=False)
    )


def unwrapped(text: str) -> str:
    """An answer without the emphasis, brackets or quotes around all of it, and without a stop at its end."""
    start, end = _stripped(text, 0, len(text))
    before, nested = None, _MOST_NESTED
    while before != (start, end):
        before = start, end
        while start < end and text[end - 1] in _ENDINGS:
            start, end = _stripped(text, start, end - 1)
        ended = text[end - 1 : end] if start < end else ""
        if ended == "." and not text.endswith("..", start, end):
            start, end = _stripped(text, start, end - 1)
        for left, right in _WRAPPINGS:
            inner, outer = start + len(left), end - len(right)
            around = inner < outer and text.startswith(left, start, end) and text.endswith(right, start, end)
            closed = text.find(right, inner, outer) if around and not left.endswith("{") else -1
            # "(1) and (2)" is not in brackets as a whole; "((1))" is.
            nested = nested - 1 if closed >= 0 and left != right else nested
            if around and (closed < 0 or (left != right and nested > 0 and text.find(left, inner, closed) >= 0)):
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
