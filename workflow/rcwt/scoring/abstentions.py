"""Which items of a free text are declined rather than answered: `abstained`, a miss that is counted apart.

A clause that declines ("not stated", "the reference does not say") is about the items that it names, or else about all
that the demand asks for under whose number it stands. A reply that numbers nothing and only declines is about all.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rcwt.base.declining import DECLINING
from rcwt.base.phrases import word_set
from rcwt.scoring.assertions import clauses
from rcwt.scoring.normalise import normalise
from rcwt.scoring.passages import UNDER, Passage, numbered_passages
from rcwt.scoring.rules import judge
from rcwt.scoring.triggers import REFERS_BACK

if TYPE_CHECKING:
    from rcwt.scoring.items import Item


#: Letters by which two forms of a word are one: `recommends` and `recommended`.
_STEM = 6
#: Words of a demand and of a fact that both must hold, for the one to ask for the other.
_SHARED = 2
_EMPTY = word_set("""
    about against also and are been both does for from give given gives giving has have how into its long many
    much not of on or out per say says second state stated states takes team than that the their them they this
    under unit was what which with
""")
#: Words of a clause that declines which name the material or the answer, and nothing that is asked for.
_MATERIAL = word_set("""
    abstain all doesn isn didn wasn aren couldn don although answer answered any anywhere appear applicable
    available before but can cannot
    concerning contain context could cover covered data defined demand determine determined disclose document
    either enough excerpt far figure figures find five found four here include included indicate indicated
    information item itself know known list listed material mention mentioned missing name named neither none
    nor nothing nowhere number omitted one only part parts passage please point portion present prompt provide
    provided question recorded reference regarding reply reported reveal saw section see seen show shown silent
    six sorry source specified specify stop stops supplied tell text there therefore these those though three
    two unable unfortunately unknown value values visible within yet you your
""")
#: Passages of a reply that does no more than decline.
_WHOLE = 3
_WHY = re.compile(r"\b(?:why|when|where|who)\W*\Z")
_WORD = re.compile(r"[a-z]{3,}")


def abstained_items(text: str, items: Sequence["Item"], demands: Sequence[str] = ()) -> tuple[str, ...]:
    """The ids of the items that `text` declines to state, in their order; each of them scores 0.

    `demands` are as `rcwt.scoring.rules.judge` has them.
    """
    return _abstained(text, tuple(items), tuple(demands))


@lru_cache(maxsize=256)
def _abstained(text: str, items: tuple["Item", ...], demands: tuple[str, ...]) -> tuple[str, ...]:
    asked = _asked(items, demands)
    found = numbered_passages(text)
    numbered = any(passage.number in asked for passage in found)
    scores = judge(text, items, demands)
    declining = [passage for passage in found if DECLINING.search(passage.text)]
    if declining and not numbered and len(found) <= _WHOLE and not _names_any(found, items):
        return tuple(item.id for item in items if not asked or any(item in group for group in asked.values()))
    declined: set[str] = set()
    for passage in declining:
        number = passage.number or 0
        candidates = asked.get(number, () if numbered else items)
        demand = demands[number - 1] if 0 < number <= len(demands) else ""
        declined |= {item.id for item in _meant(passage, candidates, demand)}
    return tuple(item.id for item in items if item.id in declined and scores[item.id] == 0)


def _names_any(found: Sequence[Passage], items: Sequence["Item"]) -> bool:
    """Whether passages hold a word of any item's fact."""
    words = frozenset[str]().union(*(_words(passage.text) for passage in found))
    return any(_words(item.statement) & words for item in items)


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


def _meant(passage: Passage, candidates: Sequence["Item"], demand: str) -> Sequence["Item"]:
    """Those of the candidates that the declining clauses of a passage name.

    All of them where the clauses name nothing; none where they name another thing: "Linde. Its price is not stated."
    """
    said = set[str]()
    for clause in _declining(passage.text):
        # "this is not stated" is about what stands before, and "it is not stated why" about something else.
        if _WHY.search(clause):
            return ()
        said |= frozenset() if REFERS_BACK.match(clause) else _words(clause)
    facts = {item.id: _words(item.statement) for item in candidates}
    common = frozenset.intersection(*facts.values()) if len(facts) > 1 else frozenset()
    named = [item for item in candidates if (facts[item.id] - common) & said]
    other = said - _words(demand) - _MATERIAL_WORDS - common
    return named or (() if other and not said & (_words(demand) | common) else candidates)


def _declining(passage: str) -> Iterator[str]:
    """The clauses that decline, each with the label that it stands behind: `Latencies: not stated`."""
    label = ""
    for part in passage.split(UNDER):
        for clause in clauses(part):
            if DECLINING.search(clause):
                yield clause if _words(clause) - _MATERIAL_WORDS else f"{label} {clause}"
            label = clause


# The facts and demands of a task come again with each reply.
@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    words = (word.rstrip("s") for word in _WORD.findall(normalise(text)) if word not in _EMPTY)
    return frozenset(word[:_STEM] for word in words if len(word) > 2)


_MATERIAL_WORDS = _words(" ".join(_MATERIAL))
