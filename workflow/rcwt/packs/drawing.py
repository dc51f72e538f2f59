"""Packs drawn from a benchmark's questions by a seed."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rcwt.base.digests import digest
from rcwt.base.tokens import count
from rcwt.packs.items import Benchmark, PackError, Question, Reference, item_name
from rcwt.packs.layout import VISIBILITIES, PackText, lay_out
from rcwt.packs.numerals import number
from rcwt.packs.rows import DataRow


@dataclass(frozen=True)
class Pack:
    """The questions of one pack, in the order in which they are asked."""

    name: str  # pack_1, pack_2, …
    questions: tuple[Question, ...]

    @property
    def text(self) -> PackText:
        """The pack as it stands in a prompt."""
        return lay_out(self.questions)

    def shown(self, prefix: str, r: int) -> dict[str, Any]:
        """What a prompt shows of the questions that holds `prefix`, the pack cut to r tokens; part of its file.

        `note` says where not even the text before the first question fits.
        """
        laid = self.text
        visible = laid.visible(prefix)
        names = [item_name(place) for place in range(1, len(visible) + 1)]
        fixed = count(laid.fixed)
        lists = {one: [name for name, seen in zip(names, visible, strict=True) if seen == one] for one in VISIBILITIES}
        return {
            "pack_tokens": count(laid.text),
            "items": {name: question.id for name, question in zip(names, self.questions, strict=True)},
            **{f"items_{one}": found for one, found in lists.items()},
            "note": f"the {fixed} tokens before the first question exceed the {r} that are left" if fixed > r else None,
        }

    @property
    def digest(self) -> str:
        """sha256 of everything that is asked and accepted."""
        return digest([question.model_dump() for question in self.questions])


def pack_name(number: int) -> str:
    """The name of a pack by its number, from 1."""
    return f"pack_{number}"


def draw(questions: Sequence[Question], packs: int, items: int, seed: int, source: str) -> tuple[Pack, ...]:
    """Draw `packs` packs of `items` different questions each.

    Questions are ranked by sha256 of seed and id, and dealt in that order. So the order of a file changes nothing, and
    a question that is added or taken away moves at most those ranked behind it. A question about a passage that its
    pack already holds waits for the next pack, as long as there are others. Raises PackError, naming `source`, where
    there are too few.
    """
    if len(questions) < packs * items:
        raise PackError(
            f"{source}: found {len(questions)} different questions; accepted: at least {packs * items} for {packs} "
            f"packs of {items}. Lower 'packs' or 'items', or give a larger file"
        )
    ranked = sorted(questions, key=lambda question: (_rank(seed, question.id), question.id))
    return tuple(Pack(pack_name(number), _hand(ranked, items)) for number in range(1, packs + 1))


def _hand(ranked: list[Question], items: int) -> tuple[Question, ...]:
    """Take the next questions from `ranked`, each about another passage where possible."""
    hand: list[Question] = []
    passages: set[str] = set()
    while len(hand) < items:
        fresh = (place for place, one in enumerate(ranked) if one.passage is None or one.passage not in passages)
        hand.append(ranked.pop(next(fresh, 0)))
        passages.add(hand[-1].passage or "")
    return tuple(hand)


def _rank(seed: int, identity: str) -> bytes:
    return hashlib.sha256(f"{seed}\x1f{identity}".encode()).digest()


def distinct(rows: Iterable[tuple[DataRow, Question]], benchmark: Benchmark) -> list[Question]:
    """The questions of a file, each with an id of its own, in file order.

    An id that the file gives twice is refused. Where it gives none, the id is a hash of what is asked; the same
    question asked twice is then one, with the references of both: DROP's files hold many such. Of the other benchmarks
    it has one right answer, and two that differ are refused. Raises PackError naming both places.
    """
    kept: dict[str, Question] = {}
    places: dict[str, str] = {}
    for row, question in rows:
        own = bool(question.id)
        asked = [question.text, question.passage, question.options]
        identity = question.id or f"{benchmark}-{digest(asked)[:12]}"
        if identity not in kept:
            kept[identity], places[identity] = question.model_copy(update={"id": identity}), row.place
        elif own:
            raise PackError(
                f"{row.place}: found the id '{identity}', which {places[identity]} has already; accepted: each id "
                "once. Take one of the two out or give it another id"
            )
        else:
            kept[identity] = _joined(kept[identity], question, row, places[identity])
    return list(kept.values())


def _joined(first: Question, second: Question, row: DataRow, place: str) -> Question:
    if first.passage is None and {_value(one) for one in second.references} <= {
        _value(one) for one in first.references
    }:
        return first
    references: tuple[Reference, ...] = tuple(dict.fromkeys([*first.references, *second.references]))
    if first.passage is None:
        raise PackError(
            f"{row.place}: the same question as {place} with another answer "
            f"({second.references[0].values[0]}, there {first.references[0].values[0]}); accepted: one right answer. "
            "Take one of the two out"
        )
    return first.model_copy(update={"references": references})


def _value(reference: Reference) -> object:
    """What two right answers are compared by: a number's value, so that 5 and 5.0 are one; else its text."""
    return number(reference.values[0]) if reference.kind == "number" else reference.values
