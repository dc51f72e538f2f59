"""Which items of a free text are declined rather than answered: `abstained`, a miss that is counted apart.

A clause that declines ("not stated", "the reference does not say") is about the items that it names, or else about all
that the demand asks for under whose number it stands. A reply that numbers nothing and only declines is about all.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rcwt.base.declining import DECLINING
from rcwt.scoring.assertions import clauses
from rcwt.scoring.normalise import normalise
from rcwt.scoring.passages import UNDER, Passage, numbered_passages

if TYPE_CHECKING:
    from rcwt.scoring.items import Item

#: Letters by which two forms of a word are one: `recommends` and `recommended`.
_STEM = 6
#: Words of a demand and of a fact that both must hold, for the one to ask for the other.
_SHARED = 2
_EMPTY = frozenset(
    [
        "about",
        "against",
        "also",
        "and",
        "are",
        "been",
        "both",
        "does",
        "for",
        "from",
        "give",
        "gives",
        "giving",
        "given",
        "has",
        "have",
        "how",
        "into",
        "its",
        "long",
        "many",
        "much",
        "not",
        "of",
        "on",
        "or",
        "out",
        "per",
        "say",
        "says",
        "second",
        "state",
        "states",
        "stated",
        "takes",
        "team",
        "than",
        "that",
        "the",
        "their",
        "them",
        "they",
        "this",
        "under",
        "unit",
        "was",
        "what",
        "which",
        "with",
    ]
)
_WORD = re.compile(r"[a-z]{3,}")


def abstained_items(text: str, items: Sequence["Item"], demands: Sequence[str] = ()) -> tuple[str, ...]:
    """The ids of the items that `text` declines to state, in their order; `demands` as `rcwt.scoring.rules` has them."""
    return _abstained(text, tuple(items), tuple(demands))


@lru_cache(maxsize=256)
def _abstained(text: str, items: tuple["Item", ...], demands: tuple[str, ...]) -> tuple[str, ...]:
    asked = _asked(items, demands)
    found = numbered_passages(text)
    numbered = any(passage.number in asked for passage in found)
    declined: set[str] = set()
    for passage in found:
        if not DECLINING.search(passage.text):
            continue
        candidates = asked.get(passage.number or 0, () if numbered else items)
        declined |= {item.id for item in _meant(passage, candidates)}
    return tuple(item.id for item in items if item.id in declined)


def _asked(items: Sequence["Item"], demands: Sequence[str]) -> dict[int, tuple["Item", ...]]:
    """The items that each demand asks for, by its number: those whose fact shares most words with it."""
    words = [_words(demand) for demand in demands]
    found: dict[int, tuple[Item, ...]] = {}
    for item in items:
        shared = [len(_words(item.statement) & demand) for demand in words]
        if shared and max(shared) >= _SHARED:
            number = shared.index(max(shared)) + 1
            found[number] = (*found.get(number, ()), item)
    return found


def _meant(passage: Passage, candidates: Sequence["Item"]) -> Sequence["Item"]:
    """Those of the candidates that the declining clauses of a passage name; all of them where they name none."""
    said = set[str]()
    for clause in _declining(passage.text):
        said |= _words(clause)
    facts = {item.id: _words(item.statement) for item in candidates}
    common = frozenset.intersection(*facts.values()) if len(facts) > 1 else frozenset()
    named = [item for item in candidates if (facts[item.id] - common) & said]
    return named or candidates


def _declining(passage: str) -> Iterator[str]:
    """The clauses that decline, each with the label that it stands behind: `Latencies: not stated`."""
    label = ""
    for part in passage.split(UNDER):
        for clause in clauses(part):
            if DECLINING.search(clause):
                yield f"{label} {clause}" if len(clause.split()) < _SHORT else clause
            label = clause


#: Words of a clause that says nothing of what it is about.
_SHORT = 6


def _words(text: str) -> frozenset[str]:
    words = (word.rstrip("s") for word in _WORD.findall(normalise(text)) if word not in _EMPTY)
    return frozenset(word[:_STEM] for word in words if len(word) > 2)
