"""The rule judge: which items a reply states, by the patterns of the task's items. No model is asked.

`accept` lists alternatives; one that is met credits the item:

- a string: a pattern (`rcwt.scoring.patterns`) found in one passage;
- a list of strings: all of them found in one passage, so that a value counts only where its subject is named;
- a list of lists: each inner list is met by a passage, not necessarily the same one.

A passage is a sentence, list item or table row under its headings (`rcwt.scoring.passages`), without what it does not
assert (`rcwt.scoring.assertions`). One that matches any `reject` pattern credits nothing.

Under the number of a demand its subject is understood: in "4. ProseMirror is the framework." the fourth demand says of
what. It names no value, and what it says never makes a claim alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rcwt.base.declining import DECLINING
from rcwt.scoring.assertions import asserted, clauses
from rcwt.scoring.normalise import normalise
from rcwt.scoring.passages import UNDER, Passage, numbered_passages
from rcwt.scoring.patterns import Pattern, compile_pattern
from rcwt.scoring.quantities import bound_of
from rcwt.scoring.subjects import another_named, another_nearer

if TYPE_CHECKING:
    from rcwt.scoring.items import Alternative, Item


def judge(text: str, items: Sequence["Item"], demands: Sequence[str] = ()) -> dict[str, int]:
    """1 for each item that `text` states and 0 for the rest, by item id in the order of `items`.

    `demands` are those that the instruction numbers, in their order. Raises ValueError for a pattern that does not
    compile; `load_task` has refused those.
    """
    outcome = _outcome(text, tuple(items), tuple(demands))
    return dict(zip((item.id for item in items), outcome, strict=True))


_LONG_WORD = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True)
class _Passage:
    """What a passage asserts, and the demand under whose number it stands, both normalised."""

    text: str
    demand: str


@lru_cache(maxsize=256)
def _outcome(text: str, items: tuple["Item", ...], demands: tuple[str, ...]) -> tuple[int, ...]:
    # Kept, because all trials of a deterministic model give one text.
    found = list(_understood(numbered_passages(text), [_plain(demand).strip() for demand in demands]))
    return tuple(int(_states(found, item, _others(item, items))) for item in items)


def _understood(found: Sequence[Passage], asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each passage with the demand that is understood in it; none is, once the reply has declined that demand."""
    declined: set[int] = set()
    for passage in found:
        number = passage.number or 0
        demand = asked[number - 1] if 0 < number <= len(asked) and number not in declined else ""
        declining = DECLINING.search(passage.text) if demand else None
        if declining is None:
            yield passage.text, demand
            continue
        yield passage.text[: declining.start()], demand
        yield passage.text, ""
        if _answers(passage.text, declining, demand):
            declined.add(number)


def _answers(passage: str, declining: "re.Match[str]", demand: str) -> bool:
    """Whether what declines stands alone, or declines what the demand names."""
    clause = next((one for one in clauses(passage) if declining[0] in one), "")
    words = _LONG_WORD.findall(clause.replace(declining[0], " "))
    return not words or any(word in demand for word in words)


def _states(found: Sequence[tuple[str, str]], item: "Item", others: Sequence[Pattern]) -> bool:
    bound = bound_of(item.statement)
    said = [_Passage(asserted(text, bound), demand) for text, demand in found]
    rejected = [compile_pattern(pattern) for pattern in item.reject]
    usable = [passage for passage in said if not any(pattern.found_in(passage.text) for pattern in rejected)]
    return any(_met(alternative, usable, others) for alternative in item.accept)


def _met(alternative: "Alternative", found: Sequence[_Passage], others: Sequence[Pattern]) -> bool:
    if isinstance(alternative, str):
        claim = compile_pattern(alternative)
        return any(_claims(claim, passage) for passage in found)
    together = [compile_pattern(part) for part in alternative if isinstance(part, str)]
    apart = [part for part in alternative if not isinstance(part, str)]
    if apart:
        return all(_met(part, found, others) for part in apart)
    return any(_says(together, passage, others) for passage in found)


def _claims(claim: Pattern, passage: _Passage) -> bool:
    """Whether a passage makes a claim, by itself or behind what its demand asks for."""
    if claim.found_in(passage.text, whole_claim=True):
        return True
    if not passage.demand or claim.names_number:
        return False
    before = f"{passage.demand}{UNDER}"
    understood = claim.found_across(before + passage.text, len(before))
    # A passage that names the subject itself says of it what it says.
    return any(not passage.text.count(_first_words(subject)) for subject in understood)


def _first_words(text: str) -> str:
    return " ".join(text.split(" ")[:2]).rstrip(".,:;")


def _says(together: Sequence[Pattern], passage: _Passage, others: Sequence[Pattern]) -> bool:
    """Whether a passage says all of `together`; the subject may be understood, and is no other item's."""
    values = [pattern for pattern in together if pattern.names_number] or list(together[-1:])
    subjects = [pattern for pattern in together if not pattern.names_number and pattern not in values]
    if not all(pattern.found_in(passage.text) for pattern in values):
        return False
    if not all(pattern.found_in(passage.text) or _is_understood(pattern, passage) for pattern in subjects):
        return False
    if not subjects:
        return True
    subject = subjects[0]
    return not all(another_nearer(subject, value, passage.text) for value in values) and any(
        subject.found_in(clause) or not any(other.found_in(clause) for other in others)
        for clause in _holding(values, passage.text)
    )


def _is_understood(subject: Pattern, passage: _Passage) -> bool:
    """Whether the demand names a subject, and the passage no other one of its kind."""
    named = bool(passage.demand) and subject.found_in(passage.demand)
    return named and not another_named(subject, passage.text, passage.demand)


def _holding(values: Sequence[Pattern], passage: str) -> Sequence[str]:
    """The clauses of a passage that hold all values; the whole of it where they stand in several."""
    return [one for one in clauses(passage) if all(value.found_in(one) for value in values)] or [passage]


def _others(item: "Item", items: Sequence["Item"]) -> tuple[Pattern, ...]:
    """The subjects of the other items, as far as they are none of this one's."""
    own = {pattern.source for pattern in _subjects(item)}
    statement = _plain(item.statement)
    return tuple(
        pattern
        for other in items
        if other.id != item.id
        for pattern in _subjects(other)
        if pattern.source not in own and not pattern.found_in(statement)
    )


# A task's own sentences come again with each reply.
_plain = lru_cache(maxsize=1024)(normalise)


def _subjects(item: "Item") -> Iterator[Pattern]:
    """The first pattern of each list that also holds a number: what the number is said of."""
    for alternative in item.accept:
        parts = [] if isinstance(alternative, str) else [part for part in alternative if isinstance(part, str)]
        compiled = [compile_pattern(part) for part in parts]
        if any(pattern.names_number for pattern in compiled) and not compiled[0].names_number:
            yield compiled[0]
