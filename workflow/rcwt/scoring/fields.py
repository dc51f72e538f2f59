"""Exact fields: what the JSON object of a reply says of each, scored by value and unit (paper, intact task).

Each field is scored in isolation. Only its own member of the object counts, so a value that stands in another field,
or in prose around the object, is not an answer to it.

A field's rule is data (`rcwt.task_items.ExactField`). Its value is brought to one spelling (`rcwt.scoring.normalise`)
and read with the pattern language of the rule judge (`rcwt.scoring.patterns`):

1. a value that one of `reject` matches is wrong;
2. what `aside` matches is taken out: the value of another thing that may be named beside the field's own;
3. one of `accept` must be found in the rest, and what it matches is taken out;
4. what is left must hold no second value: none of `others`, no number with one of `units`, and none that "or" joins on.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rcwt.scoring.normalise import normalise
from rcwt.scoring.patterns import compile_pattern

if TYPE_CHECKING:
    from rcwt.task_items import ExactField

#: What stands where text was taken out: no word, no number, no space.
_TAKEN = "·"
_TILDE_RANGE = re.compile(r"(?<=\d)\s?[~〜～∼]\s?(?=\d)")
_NUMBER = r"(?<![\w.,])-?\d[\d.,]*(?:-\d[\d.,]*)?"
_JOINED_NUMBER = rf"{_TAKEN}(?:,? (?:or|to) |-){_NUMBER}|{_NUMBER}(?:,? (?:or|to) |-){_TAKEN}"
_OBJECT = re.compile(r'\{\s*["}]')
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_STRAY_BACKSLASH = re.compile(r'\\(?!["\\/bfnrtu])')


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object as written, a doubled key included."""


# Not strict: a line break inside a string is no reason to lose a reply.
_DECODER = json.JSONDecoder(object_pairs_hook=_Members, strict=False)


def score_fields(reply: str, fields: Sequence["ExactField"]) -> dict[str, int] | None:
    """1 for each field that the reply's object answers rightly, else 0, in the order of `fields`.

    None where the reply holds no JSON object with any of the fields.
    """
    given = read_fields(reply, [field.id for field in fields])
    return None if given is None else {field.id: int(right(given.get(field.id, ""), field)) for field in fields}


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


def right(answer: str, field: "ExactField") -> bool:
    """Whether a field's answer is its value, with its unit and no other one beside it."""
    text = normalise(_TILDE_RANGE.sub("-", answer)).strip()
    if any(compile_pattern(source).found_in(text) for source in field.reject):
        return False
    for source in field.aside:
        text = compile_pattern(source).regex.sub(_TAKEN, text)
    accepted = [compile_pattern(pattern) for pattern in field.accept]
    if not any(pattern.found_in(text, whole_claim=True) for pattern in accepted):
        return False
    for pattern in accepted:
        text = pattern.regex.sub(_TAKEN, text)
    others = any(compile_pattern(source).found_in(text) for source in field.others)
    return not (others or _second_value(field.units).search(text))


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

    Reading ends at an object that is not well formed: what stands inside it may be another field's.
    """
    at = 0
    while opening := _OBJECT.search(text, at):
        try:
            value, at = _decoded(text, opening.start())
        except (ValueError, RecursionError):
            return
        yield from _holding(value, known)


def _decoded(text: str, opening: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, opening)
    except ValueError:
        # Mended from the opening on: the place of its end is then another, so nothing after it is read.
        mended = _STRAY_BACKSLASH.sub(r"\\\\", _TRAILING_COMMA.sub("", text[opening:]))
        return _DECODER.raw_decode(mended)[0], len(text)


def _holding(value: Any, known: Mapping[str, str]) -> Iterator[_Members]:
    if isinstance(value, _Members):
        if any(key.strip().casefold() in known for key, _ in value):
            yield value
            return
        for _, inner in value:
            yield from _holding(inner, known)
    elif isinstance(value, list):
        for inner in value:
            yield from _holding(inner, known)


def _text(value: Any) -> str:
    """A value as the text that was due."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, _Members):
        return " ".join(_text(inner) for _, inner in value)
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return str(value)
