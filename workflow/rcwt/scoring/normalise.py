"""One spelling for equal values, so that a pattern needs to know only one of them.

`100K msgs/sec`, `100,000 messages per second` and `one hundred thousand messages a second` all become
`100000 messages/s`; `2–3 weeks`, `2 to 3 wks` and `two-to-three-week` become `2-3 week`. Nothing here
changes a value: a number stays whole, a unit stays itself, a range stays a range.
"""

import html
import re
import unicodedata
from decimal import Decimal

from rcwt.base.characters import compatible
from rcwt.base.number_words import VALUES, alternatives

_DIGIT_WORD = f"(?:{alternatives(1, 9)})"
_BELOW_100 = rf"(?:(?:{alternatives(20)})(?:[ -]{_DIGIT_WORD}\b)?|(?:{alternatives(0, 19)}))"
# A bare "hundred" is no number: "several hundred thousand" must not read as 100000.
_BELOW_1000 = rf"(?:(?:{_DIGIT_WORD}|a) hundred(?:(?: and)? {_BELOW_100}\b)?|{_BELOW_100})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?:{_BELOW_1000}|a) thousand(?:(?: and)? {_BELOW_1000})?|{_BELOW_1000})\b", re.IGNORECASE
)
_MULTIPLES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "billion": 1_000_000_000}

#: Digits of a number that is multiplied out; a longer one is no value, and decimal arithmetic would refuse it.
_MOST_DIGITS = 1000

#: Spellings of a unit after a number, by the one that is kept.
_UNITS = {
    "kb": "kb|kilo-?bytes?|kbytes?",
    "kib": "kib|kibi-?bytes?",
    "mb": "mb|mega-?bytes?|mbytes?",
    "gb": "gb|giga-?bytes?|gbytes?",
    "byte": "bytes?|octets?",
    "us": "us|μs|micro-?sec(?:ond)?s?",
    "ms": "ms|msecs?|milli-?sec(?:ond)?s?",
    "s": "s|secs?|seconds?",
    "min": "mins?|minutes?",
    "hour": "hours?|hrs?",
    "day": "days?",
    "week": "weeks?|wks?",
    "month": "months?",
    "year": "years?|yrs?",
}
UNIT = re.compile(rf"(?<=\d)[ -]?(?:{'|'.join(f'(?P<{u}>{s})' for u, s in _UNITS.items())})(?![^\W_])")

# Of all spellings that differ in case alone this one is another unit: a kilobit, not a kilobyte.
_BITS = re.compile(r"(?<=\d)[ -]?Kb(?:it)?s?(?!\w)")

# Python reads no number of so many digits; HTML shows the replacement sign for it.
_LONG_REFERENCE = re.compile("&#[0-9]{100,};?")
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_SPACE_IN_NUMBER = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f'’](?=\\d{3}(?!\\d))")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_LATEX = (
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathit)\s*\{([^{}\n]*)\}"), r"\1"),
    (re.compile(r"\\(?:approx|sim|simeq|quad)\b ?|\\[,;:!]"), " "),
    (re.compile(r"\\times\b"), "×"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\(?=[^\w\s])|(?<!\w)\$(?=\S)|(?<=\S)\$(?!\w)"), ""),
    (re.compile(r"<sup>(\d+)</sup>", re.IGNORECASE), r"^\1"),
)
_TAG = re.compile(r"</?(?:b|strong|i|em|u|code|mark|span)(?: [^>\n]*)?>", re.IGNORECASE)
_STRUCK_OUT = re.compile(r"~~[^~\n]+~~")  # the writer takes it back
_LINK_TEXT = re.compile(r"\[([^\]\n]++)(\]\()?")
_LINK_END = re.compile(r"[)\s]")
_STARS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|\*{2,}|`+")
_UNDERSCORES = re.compile("_+")
_DASHES = re.compile("[‐‑‒–−]")
_DASH_IN_RANGE = re.compile("(?<=\\d) ?[—―] ?(?=\\d)")

_BARE_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_THOUSANDS = re.compile(r"(?<![\w.,])(?<!\d )\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d+)?(?![.,]?\d)")
_POWER = re.compile(r"(?<![\w.,])(?:(\d+(?:\.\d+)?) ?[x×*] ?)?10\^\{?(\d{1,2})\}?(?!\d)", re.IGNORECASE)
_EXPONENT = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)e\+?(\d{1,2})(?!\w)", re.IGNORECASE)
# A lower-case m is metres or minutes; a million only when written out or as a capital.
_MULTIPLIER = re.compile(
    r"(?<![\w.,])(?!0\d)(\d+(?:\.\d+)?)(?: ?([kK])|(M)|[ -]((?i:thousand|million|billion)))"
    r"(?:(?!\w)|(?=(?i:ops|msgs?|messages?)\b))"
)
_APPROXIMATELY = re.compile(
    r"[~≈∼≃≅]+ ?|\b(?:about|around|approximately|approx\.?|roughly|circa|ca\.) ?(?=[~≈∼≃≅]* ?\d)"
)
_NUMBER = r"(\d+(?:\.\d+)?)"
_BETWEEN = re.compile(
    rf"\b(?:between|from) {_NUMBER}(?: (min|hour|day|week|month|year))? (?:and|to) {_NUMBER}(?![.,]?\d)"
)
# "at least 2 weeks, at most 3" is as much a range.
_LEAST_AND_MOST = re.compile(
    rf"\b(?:at (?:the )?least|(?:an? )?min(?:imum)?(?: of)?|no less than|not less than|no fewer than) {_NUMBER}"
    r"(?: (min|hour|day|week|month|year))?,?(?: and| but| to| or)?"
    rf" (?:at (?:the )?most|(?:an? )?max(?:imum)?(?: of)?|up to|no more than|not more than) {_NUMBER}(?![.,]?\d)"
)
_LASTING_RANGE = re.compile(rf"(?<![\w.,]){_NUMBER} (min|hour|day|week|month|year)(?: ?- ?| to | or ){_NUMBER} \2")
_RANGE = re.compile(rf"(?<![\w.,]){_NUMBER}(?: ?- ?| to |-to-| or ){_NUMBER}(?![.,]?\d)")
_PER_SECOND = re.compile(r"(?: ?/ ?|[ -]per[ -])(?:seconds?|secs?|s)\b")
_EACH_SECOND = re.compile(r"(?<=\d)( [a-z]+)? (?:a|each|every) second\b")
_RATES = (
    (re.compile(r"\b(?:msgs?|message)(?=/s\b)"), "messages"),
    (re.compile(r"\b(?:ops?|operation)(?=/s\b)"), "operations"),
    (re.compile(r"(?<=\d) (kb|kib|mb|gb|byte)/s\b"), r" \1ps"),  # a size a second is not a size
)


def clean(text: str) -> str:
    """`text` without emphasis, LaTeX and HTML entities, with one kind of dash and of space; lines stay lines."""
    text = _INVISIBLE.sub("", html.unescape(_LONG_REFERENCE.sub("\ufffd", text)))
    text = _SUPERSCRIPT.sub(_superscript, _SPACE_IN_NUMBER.sub("", text))
    for sign, decimals in _FRACTIONS.items():
        text = re.sub(rf"(?<=\d) ?{sign}", decimals, text).replace(sign, "0" + decimals)
    text = compatible(text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = _unlinked(_STRUCK_OUT.sub(" ", _untagged(text)))
    text = _UNDERSCORES.sub(_unemphasised, _STARS.sub("", text))
    text = _DASHES.sub("-", _DASH_IN_RANGE.sub("-", text))
    text = re.sub("[—―]", " - ", text.replace("’", "'"))
    return re.sub(r"[^\S\n]+", " ", text)


def _untagged(text: str) -> str:
    """`text` without HTML tags of emphasis; behind the last `>` of a line no tag is looked for, since none ends."""
    if "<" not in text:
        return text
    lines = text.split("\n")
    ends = [line.rfind(">") + 1 for line in lines]
    return "\n".join(_TAG.sub("", line[:end]) + line[end:] for line, end in zip(lines, ends, strict=True))


def _unlinked(text: str) -> str:
    """`text` with `[label](address)` as `label`. Every opening bracket before one closing bracket shares its fate."""
    parts, written, at, stop = [], 0, 0, -1
    while label := _LINK_TEXT.search(text, at):
        at = label.end()
        if label[2] is None:
            continue
        if stop < at:
            end = _LINK_END.search(text, at)
            stop = end.start() if end else len(text)
        if text[stop : stop + 1] == ")":
            parts += [text[written : label.start()], label[1]]
            written = at = stop + 1
    return "".join([*parts, text[written:]])


def _unemphasised(match: re.Match[str]) -> str:
    """Nothing for underscores at the edge of a word; those inside a word, and one between spaces, stay."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    opens = not before.isalnum() and after.strip() != ""
    closes = before.strip() != "" and not after.isalnum()
    return "" if opens or closes or (end - start > 1 and not before.isalnum()) else match[0]


def normalise(text: str) -> str:
    """`text` in lower case, numbers as digits, units in one spelling (see the module's docstring).

    All white space becomes single spaces; one at either end stays, so that a part of a longer text can be
    normalised by itself.
    """
    text = re.sub(r"\s+", " ", clean(text))
    text = _NUMBER_WORDS.sub(_from_words, text)
    text = _BARE_POINT.sub("0.", text)
    text = _THOUSANDS.sub(lambda match: re.sub("[ ,]", "", match[0]), text)
    text = _POWER.sub(lambda match: _product(match[1] or "1", 10 ** int(match[2])), text)
    text = _EXPONENT.sub(lambda match: _product(match[1], 10 ** int(match[2])), text)
    text = _BITS.sub(" kbit", _MULTIPLIER.sub(_multiplied, text)).casefold()
    text = _APPROXIMATELY.sub("", text)
    text = UNIT.sub(lambda match: f" {match.lastgroup}", text)
    text = _LEAST_AND_MOST.sub(_ends, _BETWEEN.sub(_ends, text))
    text = _LASTING_RANGE.sub(r"\1-\3 \2", text)
    text = _RANGE.sub(_range, text)
    text = _EACH_SECOND.sub(r"\1/s", _PER_SECOND.sub("/s", text))
    for pattern, plain in _RATES:
        text = pattern.sub(plain, text)
    return text


def _superscript(match: re.Match[str]) -> str:
    """A power after a digit; elsewhere the mark of a footnote, which says nothing."""
    after_digit = match.start() > 0 and match.string[match.start() - 1].isdigit()
    return "^" + unicodedata.normalize("NFKC", match[0]) if after_digit else ""


def _from_words(match: re.Match[str]) -> str:
    total, below_thousand = 0, 0
    for word in re.split("[ -]", match[0].lower()):
        if word == "hundred":
            below_thousand = 100 * (below_thousand or 1)
        elif word == "thousand":
            total, below_thousand = 1_000 * (below_thousand or 1), 0
        else:
            below_thousand += VALUES.get(word, 0)
    return str(total + below_thousand)


def _multiplied(match: re.Match[str]) -> str:
    sign = next(group for group in match.groups()[1:] if group)
    return _product(match[1], _MULTIPLES[sign.lower()])


def _product(number: str, factor: int) -> str:
    if len(number) > _MOST_DIGITS:
        return number
    product = Decimal(number) * factor
    whole = product.to_integral_value()
    return format(whole if product == whole else product.normalize(), "f")


def _ends(match: re.Match[str]) -> str:
    """A range of its two ends, with the unit that stands behind the first one alone."""
    if Decimal(match[1]) >= Decimal(match[3]):
        return match[0]
    unit = f" {match[2]}" if match[2] and not match.string.startswith(f" {match[2]}", match.end()) else ""
    return f"{match[1]}-{match[3]}{unit}"


def _range(match: re.Match[str]) -> str:
    """`2-3` for `2 to 3`; "RFC 9420 - 3 options" and "a ratio of 5 to 1" are no ranges, since they fall."""
    return f"{match[1]}-{match[2]}" if Decimal(match[1]) < Decimal(match[2]) else match[0]
