"""Exact fields: what the JSON object of a reply says of each, scored by value and unit (paper, intact task).

Each field is scored in isolation. Only its own member of the object counts, so a value that stands in another field,
or in prose around the object, is not an answer to it.

A field's rule is data (`rcwt.scoring.items.ExactField`). Its value is brought to one spelling
(`rcwt.scoring.normalise`) and read with the pattern language of the rule judge (`rcwt.scoring.patterns`):

1. a value that one of `reject` matches is wrong;
2. what it does not assert (`rcwt.scoring.assertions`: a denial, a doubt, a question) is taken out; so is what `aside`
   matches, the value of another thing that may be named beside the field's own;
3. one of `accept` must be found in the rest, and what it matches is taken out;
4. what is left must hold no second value: none of `others`, no number with one of `units`, and none that "or" joins on
   ("not 16 KB" is none: it is not said);
5. nothing may make another value of a number: "twice", "half of", "3 x" before it, "x 3" behind it.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rcwt.base.declining import declines
from rcwt.scoring.assertions import asserted
from rcwt.scoring.normalise import normalise
from rcwt.scoring.patterns import compile_pattern, negated
from rcwt.scoring.quantities import bound_of

if TYPE_CHECKING:
    from rcwt.scoring.items import ExactField

#: What stands where text was taken out: no word, no number, no space.
_TAKEN = "·"
_TILDE_RANGE = re.compile(r"(?<=\d)\s?[~〜～∼]\s?(?=\d)")
_NUMBER = r"(?<![\w.,])-?\d[\d.,]*(?:-\d[\d.,]*)?"
_JOINED_NUMBER = rf"{_TAKEN}(?:,? (?:or|to) |-){_NUMBER}|{_NUMBER}(?:,? (?:or|to) |-){_TAKEN}"
# What stands right beside a number and makes another of it.
_FACTOR = re.compile(
    r"\b(?:twice|thrice|double|triple|quadruple|half|halves|thirds?|quarters?|fifths?|tenths?|fractions?|multiples?|minus|negative)"
    rf"(?:[ -](?:of|the|that|as|an?))*[ -]?{_TAKEN}"
    rf"|\d ?(?:x|×|\*|∙|⋅|·|%|percent|-?fold|times)(?: (?:of|the))* ?{_TAKEN}"
    rf"|\b(?:several|many|few|multiple) times(?: the)? {_TAKEN}"
    rf"|{_TAKEN} ?(?:[x×*] ?\d|\d+ ?[x×](?!\w)|(?:times|doubled|halved|tripled|squared|twice|thrice)\b)"
    rf"|{_TAKEN} ?[/÷+] ?\d[\d.,]*(?! ?[a-z%])"
)
_UNDERSCORE_IN_NUMBER = re.compile(r"(?<=\d)_(?=\d{3}(?!\d))")
_ZERO_DECIMALS = re.compile(r"(?<![\w.,])(\d+)\.0+(?![\d]|[.,]\d)")
#: Letters of a word that is too short to tell a field.
_SHORT = 3
_UNIT_KEYS = frozenset({"unit", "units"})
#: A number or a range of numbers without a unit, as a member beside `unit` holds it.
_BARE = re.compile(r"\s*+(?:[~≈]|about )?\s*+\d[\d.,_]*\s?[kK]?(?:\s?(?:[-–—]|to)\s?\d[\d.,]*)?\s*")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(?: ?([a-z/]+))?")
_OBJECT = re.compile(r'\{\s*["}]')
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]|\\.)*+(?:"|$)', re.DOTALL)
# An object stands alone behind a fence or a quote's mark only, and not behind a key, a comma or a bracket.
_LINE_START = re.compile(r"[ \t>]*(?:```\w*[ \t]*)?")
_BELONGS = re.compile(r"(?:[\"']\s*:|[,\[{])\s*\Z")
_GOES_ON = re.compile(r"\s*+[,}\]]")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_STRAY_BACKSLASH = re.compile(r'\\(?!["\\/bfnrtu])')


#: How many times its length a reply is read in search of its objects, those that lie in broken ones included; none
#: that answers needs as many.
_MOST_READINGS = 20
#: Digits of a number that is read as one; a longer one stays as it is written, since Python reads no such number.
_MOST_DIGITS = 300
#: Characters of a part that may be a number, and levels of lists and objects in which the parts of a value stand.
_LONGEST_NUMBER, _DEEPEST = 200, 20


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object as written, a doubled key included."""


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


# Not strict: a line break inside a string is no reason to lose a reply.
_DECODER = json.JSONDecoder(object_pairs_hook=_Members, parse_int=_whole_number, strict=False)


def score_fields(reply: str, fields: Sequence["ExactField"]) -> dict[str, int] | None:
    """1 for each field that the reply's object answers rightly, else 0, in the order of `fields`.

    None where the reply holds no JSON object with any of the fields.
    """
    given = read_fields(reply, [field.id for field in fields])
    if given is None:
        return None
    return {field.id: int(right(given.get(field.id, ""), field, _others(field, fields))) for field in fields}


def declined_fields(reply: str, fields: Sequence["ExactField"]) -> tuple[str, ...]:
    """The ids of the fields that the reply's object declines to give: by its words, or by null.

    A key that is not there, and an empty text, decline nothing.
    """
    given = read_fields(reply, [field.id for field in fields]) or {}
    nothing = _nulls(reply, [field.id for field in fields])
    return tuple(field.id for field in fields if field.id in nothing or declines(given.get(field.id, "")))


def _nulls(reply: str, ids: Sequence[str]) -> set[str]:
    """The fields whose last answer is null."""
    known = {name.casefold(): name for name in ids}
    found: dict[str, bool] = {}
    for members in _objects(reply, known):
        found |= {name: value is None for key, value in members if (name := known.get(key.strip().casefold()))}
    return {name for name, null in found.items() if null}


def _others(field: "ExactField", fields: Sequence["ExactField"]) -> frozenset[str]:
    """Words of the other fields' names that neither this one's name nor its evidence holds."""
    words = {word for other in fields for word in other.id.lower().split("_")}
    own = set(field.id.lower().split("_")) | set(_words(" ".join(field.evidence.strict)))
    return frozenset(word for word in words - own if len(word) > _SHORT)


def _subject_words(text: str) -> list[str]:
    """Words of what a normalised answer says that it is about: before a colon, or behind one value and `for`."""
    label, colon, _ = text.partition(": ")
    value, of, subject = text.partition(" for ")
    one_value = of and len(re.findall(r"\d+", value)) == 1 and not re.search(r"\d", subject)
    return _words(label if colon else "") + _words(subject if one_value else "")


def _words(text: str) -> list[str]:
    """Words of a text in lower case; `Pub/Sub` and `ramp-up` are one."""
    return re.findall(r"\w+", re.sub(r"(?<=\w)[/-](?=\w)", "", text.lower()))


def read_fields(reply: str, ids: Sequence[str]) -> Mapping[str, str] | None:
    """What a reply answers to each field, as text; None for a reply without a JSON object that holds one of `ids`.

    The object may stand bare, in a fence, behind prose or in another object or list. A list or object where a text is
    due is read as its parts, a number as its digits; null as nothing. Several objects are read one after the other,
    and a later answer replaces an earlier one: a draft or an example comes before the reply. Inside one object a
    doubled key is two answers.
    """
    known = {name.casefold(): name for name in ids}
    given: dict[str, str] = {}
    for members in _objects(reply, known):
        answers: dict[str, list[str]] = {}
        for key, value in members:
            if name := known.get(key.strip().casefold()):
                answers.setdefault(name, []).append(_text(value))
        given |= {name: " / ".join(dict.fromkeys(texts)) for name, texts in answers.items()}
    return given or None


def right(answer: str, field: "ExactField", others: Collection[str] = ()) -> bool:
    """Whether a field's answer is its value, with its unit and no other one beside it.

    What it says that it is about names none of the `others`, which are words of other fields' names.
    """
    text = _spelled(answer)
    if any(word in others for word in _subject_words(text)):
        return False
    if any(compile_pattern(source).found_in(text) for source in field.reject):
        return False
    text = asserted(text, bound_of(" ".join(field.evidence.strict)), candidates=False)
    for source in field.aside:
        text = compile_pattern(source).taken_out(text, _TAKEN)
    accepted = [compile_pattern(pattern) for pattern in field.accept]
    if not any(pattern.found_in(text, whole_claim=True) for pattern in accepted):
        return False
    for pattern in accepted:
        text = pattern.taken_out(text, _TAKEN)
    if any(compile_pattern(source).found_in(text) for source in field.others):
        return False
    second = (match for match in _second_value(field.units).finditer(text) if not negated(text, match.start()))
    return not (any(second) or (field.units and _FACTOR.search(text)))


def _spelled(answer: str) -> str:
    """An answer in the spelling of patterns; `8.0` is 8 and `100_000` is 100000."""
    plain = _UNDERSCORE_IN_NUMBER.sub("", _TILDE_RANGE.sub("-", answer))
    return _ZERO_DECIMALS.sub(r"\1", normalise(plain)).strip()


@lru_cache(maxsize=256)
def _second_value(units: tuple[str, ...]) -> re.Pattern[str]:
    """Another number with one of the `units`, up to two words between them; or one joined to what was taken out."""
    if not units:
        return re.compile(r"(?!)")
    spelled = "|".join(re.escape(normalise(f"1 {unit}").strip()[1:].strip()) for unit in units)
    with_unit = rf"{_NUMBER}\+? ?(?:[a-z-]+ ){{0,2}}(?:{spelled})(?!\w)"
    return re.compile(f"{with_unit}|{_JOINED_NUMBER}")


def _objects(text: str, known: Mapping[str, str]) -> Iterator[_Members]:
    """The objects of a text that hold a known key; what lies in a known field is its value and no object of its own.

    Behind an object that is not well formed reading goes on, but never inside it, where another field's value may be.
    Behind its closing brace all counts, where it names no known key: it is a form or an example. Else, and where it
    has no closing brace, the next object must stand alone: it begins a line or a fence, and is neither a member's
    value nor an item of a list.
    """
    at, broken, braces = 0, False, Braces(text)
    left = _MOST_READINGS * len(text)
    while (opening := _OBJECT.search(text, at)) and braces.passed <= left:
        start = opening.start()
        if broken and not _alone(text, at, start):
            at = start + 1
            continue
        try:
            value, end = _decoded(text, start, braces)
        except (ValueError, RecursionError) as error:
            closed = braces.closing(start)
            reached: int = getattr(error, "pos", len(text)) if closed is None else closed
            left -= reached - start
            broken = broken or closed is None or any(name in text[start:closed].casefold() for name in known)
            at = start + 1 if broken or closed is None else closed
            continue
        if not (broken and _GOES_ON.match(text, end)):
            yield from _holding(value, known)
        at = end


def _alone(text: str, at: int, start: int) -> bool:
    """Whether the object that opens at `start` begins a line or a fence, and is no value and no item of a list.

    Before `at` lies another brace, or nothing: a line that began there does not begin with this object.
    """
    line = text.rfind("\n", at, start) + 1
    if (line == 0 and at > 0) or not _LINE_START.fullmatch(text, line, start):
        return False
    return not _BELONGS.search(text[max(0, line - 80) : start])


def _decoded(text: str, opening: int, braces: "Braces") -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, opening)
    except ValueError:
        # Mended up to its own closing brace.
        end = braces.closing(opening)
        if end is None:
            raise
        mended = _STRAY_BACKSLASH.sub(r"\\\\", _TRAILING_COMMA.sub("", text[opening:end]))
        return _DECODER.raw_decode(mended)[0], end


class Braces:
    """Where the objects of a text end, by their braces outside strings.

    What was passed on the way to one end is remembered: a reply may open thousands of objects and close none.
    `passed` counts the characters that were passed.
    """

    def __init__(self, text: str) -> None:
        self.passed = 0
        self._text = text
        self._closings: dict[int, int | None] = {}

    def closing(self, opening: int) -> int | None:
        """The place behind the brace that closes the object opened there; None where it is not closed."""
        if opening not in self._closings:
            open_braces: list[int] = []
            for token in _BRACE_OR_STRING.finditer(self._text, opening):
                if token[0] == "{":
                    open_braces.append(token.start())
                elif token[0] == "}":
                    self._closings[open_braces.pop()] = token.end()
                    if not open_braces:
                        break
            self._closings.update(dict.fromkeys(open_braces))
            self.passed += (self._closings[opening] or len(self._text)) - opening
        return self._closings[opening]


def _holding(value: Any, known: Mapping[str, str]) -> Iterator[_Members]:
    """The outermost objects in a value that hold a known key, in order."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, _Members):
            if any(key.strip().casefold() in known for key, _ in inner):
                yield inner
                continue
            inner = [part for _, part in inner]
        if isinstance(inner, list):
            waiting += reversed(inner)


def _text(value: Any, deep: int = 0) -> str:
    """A value as the text that was due: a member `unit` behind its number, two rising values of one unit as a range."""
    if value is None or isinstance(value, bool) or deep > _DEEPEST:
        return ""
    if isinstance(value, list):  # of members, for an object
        named = value if isinstance(value, _Members) else [("", inner) for inner in value]
        units = [_text(inner, deep + 1) for key, inner in named if key.strip().casefold() in _UNIT_KEYS]
        parts = [_text(inner, deep + 1) for key, inner in named if key.strip().casefold() not in _UNIT_KEYS]
        first = next((at for at, part in enumerate(parts) if _is_bare(part)), len(parts))
        after = [part for part in parts[first:] if not _is_bare(part)]
        bare = [part for part in parts[first:] if _is_bare(part)]
        ordered = [*parts[:first], _series(bare), *units, *after] if units else [_series(parts)]
        return " ".join(filter(None, ordered))
    return str(value)


def _is_bare(part: str) -> bool:
    return len(part) <= _LONGEST_NUMBER and _BARE.fullmatch(part) is not None


def _series(parts: list[str]) -> str:
    """Parts as one text: `2 weeks to 3 weeks` for two values of one unit that rise, else one after the other."""
    if len(parts) != 2 or max(map(len, parts)) > _LONGEST_NUMBER:
        return " ".join(parts)
    ends = [_QUANTITY.fullmatch(normalise(part).strip()) for part in parts]
    if ends[0] and ends[1] and ends[0][2] == ends[1][2] and float(ends[0][1]) < float(ends[1][1]):
        return f"{ends[0][1]}-{ends[1][1]} {ends[0][2] or ''}".strip()
    return " ".join(parts)
