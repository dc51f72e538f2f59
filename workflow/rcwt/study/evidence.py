"""What a reader can know: which facts stand whole in a prompt, before any model is asked.

The ceiling of a condition is the share of effective facts whose evidence is whole in one of its blocks. A reader
that uses nothing but the prompt cannot pass it, so every accuracy is shown beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from rcwt.base.tokens import decode, encode

#: `strict`: the whole statement with its subject; `lenient`: the shortest strings that carry the value.
Strictness = Literal["strict", "lenient"]


def _flat(text: str) -> str:
    return " ".join(text.split())


def states(text: str, evidence: Sequence[str]) -> bool:
    """Whether every string of `evidence` stands whole in `text`; line breaks count as spaces."""
    flat = _flat(text)
    return all(_flat(part) in flat for part in evidence)


def stated(text: str, items: Iterable[Mapping[str, Any]], strictness: Strictness) -> list[str]:
    """Ids of the items (as a tokens file lists them) that `text` states."""
    return [item["id"] for item in items if states(text, item["evidence"][strictness])]


def ceiling(blocks: Iterable[str], items: Sequence[Mapping[str, Any]], strictness: Strictness) -> float | None:
    """Share of the effective items that one of `blocks` states, from 0 to 1; None for a task without evidence."""
    known = {item for block in blocks for item in stated(block, items, strictness)}
    effective = [item["id"] for item in items if item["effective"]]
    return sum(item in known for item in effective) / len(effective) if effective else None


def completes_at(text: str, evidence: Sequence[str]) -> int | None:
    """Tokens of the shortest prefix of `text` that states `evidence`; None when the text does not state it."""
    if not states(text, evidence):
        return None
    tokens = encode(text)
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if states(decode(tokens[:middle]), evidence):
            high = middle
        else:
            low = middle + 1
    return low
