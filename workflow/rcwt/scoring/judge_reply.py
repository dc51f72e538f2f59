"""What a judge's reply says: 0 or 1 for each item, or why it says nothing that can be used.

A judge is asked for one JSON object. Fences and prose around it are tolerated, because they change nothing; anything
that leaves open which score was meant is a fault, because a wrong guess would pass for a measurement.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

#: Longest part of a reply that a fault quotes, in characters.
LONGEST_QUOTE = 60

# A brace that begins a JSON object. `{0 or 1}` and `{id: 0}` in prose do not.
_OPENING = re.compile(r'\{\s*["}]')
_BRACED = re.compile(r"\{[^{}]*")


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object as written, a doubled key included."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


def parse(text: str, ids: Sequence[str]) -> dict[str, int] | str:
    """The scores of a reply by item, in the order of `ids`; or a sentence that says what is wrong with it.

    The reply must hold one JSON object whose keys are exactly `ids`, each once, and whose values are the numbers 0
    or 1: not true, "1" or 1.0. The same object written twice counts once. Objects that name no item (an aside of
    the judge) are passed over; a second one that names items must say the same, and braces around items that are no
    JSON (`{'id': 1}`, `{id: 1}`) may be the judge's second thought.
    """
    read = _objects(text)
    if isinstance(read, str):
        return read
    found, beside = read
    braced = [part for piece in beside for part in _BRACED.findall(piece)]
    named = next((part for part in braced if _naming(tuple(ids)).search(part)), None)
    if found and named is not None:
        return f"beside JSON the reply holds {_quoted(named)}, which names items and is no JSON object"
    about = [pairs for pairs in found if any(key in ids for key, _ in pairs)]
    if not about:
        where = "no JSON object with the items as its keys" if found else "no JSON object"
        return f"the reply holds {where}"
    scored = [_scores(pairs, ids) for pairs in about]
    fault = next((outcome for outcome in scored if isinstance(outcome, str)), None)
    if fault is not None:
        return fault
    scores = [outcome for outcome in scored if not isinstance(outcome, str)]
    if any(other != scores[0] for other in scores):
        return "the reply holds more than one JSON object, and they differ"
    return scores[0]


def _objects(text: str) -> tuple[list[_Pairs], list[str]] | str:
    """The JSON objects of a text that lie in no other, and the texts beside them; a fault for one not well formed.

    What lies inside a broken object is not looked at: a complete draft inside a cut reply is not the reply.
    """
    found: list[_Pairs] = []
    beside: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        beside.append(text[at : opening.start()])
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            return f"the JSON object that begins with {_quoted(text[opening.start() :])} is not well formed"
        found.append(value)
    return found, [*beside, text[at:]]


@lru_cache(maxsize=256)
def _naming(ids: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the items by its whole name."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ids)) or '(?!)'})(?!\w)")


def _scores(pairs: _Pairs, ids: Sequence[str]) -> dict[str, int] | str:
    keys = [key for key, _ in pairs]
    doubled = next((key for key, times in Counter(keys).items() if times > 1), None)
    if doubled is not None:
        return f"the key {_quoted(doubled)} is there twice"
    unknown = next((key for key in keys if key not in ids), None)
    if unknown is not None:
        return f"the key {_quoted(unknown)} is not an item"
    missing = [item for item in ids if item not in keys]
    if missing:
        return f"the item {_quoted(missing[0])} is missing" + (f", and {len(missing) - 1} more" if missing[1:] else "")
    for key, value in pairs:
        # Not `value in (0, 1)`: true and 1.0 are equal to 1.
        if type(value) is not int or value not in (0, 1):
            return f"the value of {_quoted(key)} is {_shortened(_written(value))}, not 0 or 1"
    scores = dict(pairs)
    return {item: scores[item] for item in ids}


def _written(value: Any) -> str:
    try:
        return json.dumps(dict(value) if isinstance(value, _Pairs) else value, default=str)
    except RecursionError:
        return "a value that is nested deeply"


def _quoted(text: str) -> str:
    return repr(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"
