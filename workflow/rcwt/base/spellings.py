"""One spelling for equal parameters: `1` and `1.0`, `[0]` and `[0.0]` ask for the same thing.

A request's key spells every whole number without a point. Keys of earlier responses were spelled as the configuration
of then: so what is not found under the one spelling is looked for under the others.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice, product
from typing import Any

from rcwt.base.digests import canonical_json

#: So many spellings of one request are looked for; six parameters that are whole numbers have as many.
MOST_SPELLINGS = 64
#: Never spelled with a point: the configuration takes only whole numbers, and a judge's schema is the project's own.
_ALWAYS_WHOLE = frozenset({"max_tokens", "max_completion_tokens", "response_format"})


def plain(value: Any) -> Any:
    """`value` with every whole number in it spelled without a point; a large one keeps all its digits."""
    return _spelled(value, lambda number: int(number) if isinstance(number, float) and number.is_integer() else number)


def same(one: Any, other: Any) -> bool:
    """Whether two values ask for the same: `1` is `1.0`, and neither is `true`."""
    return canonical_json(plain(one)) == canonical_json(plain(other))


def spellings(params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """`params` as their key spells them, then in each other way in which they may have been spelled, some 64 at most.

    The likely ways come first: as they are, and with a point in every number.
    """
    ways = {name: _ways(name, value) for name, value in params.items()}
    whole, *likely = ({name: spelled[place] for name, spelled in ways.items()} for place in range(3))
    yield whole
    distinct = ({canonical_json(way): way for way in spelled}.values() for spelled in ways.values())
    mixed = (dict(zip(ways, chosen, strict=True)) for chosen in product(*distinct))
    seen = {canonical_json(whole)}
    for way in islice(chain(likely, mixed), MOST_SPELLINGS):
        if canonical_json(way) not in seen:
            seen.add(canonical_json(way))
            yield way


def _ways(name: str, value: Any) -> tuple[Any, Any, Any]:
    """The spellings of one parameter: plain, as it is, and with a point in every whole number."""
    spelled = plain(value)
    return spelled, value, spelled if name in _ALWAYS_WHOLE else _spelled(spelled, _pointed)


def _pointed(number: float) -> float:
    try:
        return float(number) if float(number) == number else number
    except OverflowError:
        return number


def _spelled(value: Any, spell: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _spelled(part, spell) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(part, spell) for part in value]
    return value if isinstance(value, bool) or not isinstance(value, int | float) else spell(value)
