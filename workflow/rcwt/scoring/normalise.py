"""One spelling for equal values, so that a pattern needs to know only one of them.

`100K msgs/sec`, `100,000 messages per second` and `one hundred thousand messages a second` all become
`100000 messages/s`; `2–3 weeks`, `2 to 3 wks` and `two-to-three-week` become `2-3 week`. Nothing here
changes a value: a number stays whole, a unit stays itself, a range stays a range.
"""

import html
import re
import unicodedata
from collections.abc import Callable

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORD_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_UNIT_WORD = "(?:" + "|".join(_SMALL[1:10]) + ")"
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[ -]{_UNIT_WORD})?|{'|'.join(reversed(_SMALL))})"
_BELOW_1000 = rf"(?:(?:(?:{_UNIT_WORD}|a) )?hundred(?:(?: and)? {_BELOW_100})?|{_BELOW_100})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?:(?:{_BELOW_1000}|a) )?thousand(?:(?: and)? {_BELOW_1000})?|{_BELOW_1000})\b", re.IGNORECASE
)
_MULTIPLES = {"hundred": 100, "thousand": 1_000}

#: Spellings of a unit after a number; the first of each is the one kept.
_UNITS = {
    "kb": "kb|kilo-?bytes?|kbytes?",
    "kib": "kib|kibi-?bytes?",
    "mb": "mb|mega-?bytes?|mbytes?",
    "gb": "gb|giga-?bytes?|gbytes?",
    "byte": "bytes?|octets?",
    "us": "us|µs|μs|micro-?sec(?:ond)?s?",
    "ms": "ms|msecs?|milli-?sec(?:ond)?s?",
    "s": "s|secs?|seconds?",
    "min": "mins?|minutes?",
    "hour": "hours?|hrs?",
    "day": "days?",
    "week": "weeks?|wks?",
    "month": "months?",
    "year": "years?|yrs?",
}
_UNIT_NAMES = [(re.compile(f"(?:{spellings})"), unit) for unit, spellings in _UNITS.items()]
_UNIT = re.compile(rf"(?<=\d)[ -]?({'|'.join(_UNITS.values())})(?![^\W_])")
_LASTING = "day|week|month|year|hour|min"

_DASHES = re.compile("[‐‑‒–−﹣－]")
_LONG_DASH = re.compile("[ ]?[—―][ ]?")
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_SPACE_IN_NUMBER = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f'’](?=\\d{3}(?!\\d))")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_LATEX = (
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathit)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:approx|sim|simeq|,|;|:|!|quad)\s?"), " "),
    (re.compile(r"\\times\b"), "×"),
    (re.compile(r"\\(?:to|rightarrow)\b"), "to"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[()\[\]]|(?<![\w\\])\$(?=\S)|(?<=\S)\$(?!\w)"), ""),
    (re.compile(r"\\(?=[^\w\s])"), ""),
)
_MARKDOWN = (
    (re.compile(r"~~[^~\n]+~~"), " "),  # struck out: withdrawn by the writer
    (re.compile(r"\[([^\]\n]+)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+"), ""),
    (re.compile(r"(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)"), ""),
)

_BARE_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_THOUSANDS = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+)(?![\d,]*\d)")
_THOUSANDS_RANGE = re.compile(r"(?<=\d-)\d{1,3}(?:,\d{3})+(?![\d,]*\d)")
_POWER = re.compile(r"(?<![\w.,-])(?:(\d+(?:\.\d+)?) ?[x×·*] ?)?10\^\{?(\d{1,2})\}?(?!\d)")
_EXPONENT = re.compile(r"(?<![\w.,-])(\d+(?:\.\d+)?)e\+?(\d{1,2})(?!\w)", re.IGNORECASE)
_MULTIPLIER = re.compile(
    r"(?<![\w.,])(?:(?<=\d-))?(\d+(?:\.\d+)?)(?: ?[kK]|M|[ -](?i:thousand|million|billion|mn))"
    r"(?=(?i:ops|msgs?|messages?|bytes?)\b|(?!\w))"
)
_APPROXIMATELY = re.compile(
    r"[~≈∼≃≅≲≳]+\s*|\b(?:about|around|approximately|approx\.?|roughly|circa|ca\.|c\.)\s+(?=\d)"
)
_BETWEEN = re.compile(r"\b(?:between|from) (\d+(?:\.\d+)?) (?:and|to) (\d+(?:\.\d+)?)(?![\d.,]*\d)")
_RANGE = re.compile(rf"(?<![\w.,])(\d+(?:\.\d+)?)( (?:{_LASTING}))?( ?- ?| to |-to-| or )(\d+(?:\.\d+)?)(?![.,]?\d)")
_PER_SECOND = re.compile(r"(?: ?/ ?|[ -]per[ -])(?:seconds?|secs?|s)\b")
_EACH_SECOND = re.compile(r"(?<=\d)( [a-z]+)? (?:a|each|every) second\b")
_RATE_NOUNS = ((re.compile(r"\b(?:msgs?|message)(?=/s\b)"), "messages"), (re.compile(r"\b(?:ops?|operation)(?=/s\b)"), "operations"))
_SIZE_RATE = re.compile(r"(?<=\d )(kb|kib|mb|gb|byte)/s\b")


def clean(text: str) -> str:
    """`text` with one kind of dash and space, without markdown emphasis, LaTeX and HTML entities; lines stay."""
    text = _INVISIBLE.sub("", html.unescape(text))
    text = _SPACE_IN_NUMBER.sub("", text)
    text = re.sub("(?<=\\d)[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text)
    for sign, decimals in _FRACTIONS.items():
        text = re.sub(rf"(?<!\d) ?{sign}", f" 0{decimals}", text)
        text = re.sub(rf"(?<=\d) ?{sign}", decimals, text)
    text = unicodedata.normalize("NFKC", text)
    for pattern, plain in (*_LATEX, *_MARKDOWN):
        text = pattern.sub(plain, text)
    text = re.sub(r"(?<=\d)[ ]?[—―][ ]?(?=\d)", "-", text)
    text = _DASHES.sub("-", _LONG_DASH.sub(" - ", text))
    return re.sub(r"[^\S\n]+", " ", text)


def normalise(text: str) -> str:
    """`text` in lower case with numbers as digits and units in one spelling (see the module's docstring).

    Leading and trailing spaces stay as one space, so that a part of a longer text can be normalised by itself.
    """
    text = clean(text)
    text = _NUMBER_WORDS.sub(_from_words, text)
    text = _BARE_POINT.sub("0.", text)
    for pattern in (_THOUSANDS, _THOUSANDS_RANGE):
        text = pattern.sub(lambda match: re.sub("[ ,]", "", match[0]), text)
    text = _POWER.sub(lambda match: _expand(match[1] or "1", int(match[2])), text)
    text = _EXPONENT.sub(lambda match: _expand(match[1], int(match[2])), text)
    text = _MULTIPLIER.sub(_multiply, text).casefold()
    text = _APPROXIMATELY.sub("", text)
    text = _UNIT.sub(lambda match: " " + _unit(match[1]), text)
    text = _BETWEEN.sub(_join(1, 2), text)
    text = _RANGE.sub(_range, text)
    # A range of two lengths with one unit each has lost the first; the unit after the second stands for both.
    text = _PER_SECOND.sub("/s", text)
    text = _EACH_SECOND.sub(lambda match: (match[1] or "") + "/s", text)
    for noun, plural in _RATE_NOUNS:
        text = noun.sub(plural, text)
    text = _SIZE_RATE.sub(r"\1ps", text)
    return re.sub(r"\s+", " ", text)
