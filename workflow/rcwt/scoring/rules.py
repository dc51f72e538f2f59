"""The rule judge: which items a reply states, by the patterns of the task's items. No model is asked.

`accept` lists alternatives; one that is met credits the item:

- a string: a pattern (`rcwt.scoring.patterns`) found in one passage;
- a list of strings: all of them found in one passage, so that a value counts only where its subject is named;
- a list of lists: each inner list is met by a passage, not necessarily the same one.

A passage is a sentence, list item or table row under its headings (`rcwt.scoring.passages`). One that
matches any `reject` pattern credits nothing.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rcwt.scoring.passages import passages
from rcwt.scoring.patterns import compile_pattern

if TYPE_CHECKING:
    from rcwt.scoring.items import Alternative, Item


def judge(text: str, items: Sequence["Item"]) -> dict[str, int]:
    """1 for each item that `text` states and 0 for the rest, by item id in the order of `items`.

    Raises ValueError for a pattern that does not compile; `load_task` has refused those.
    """
    return dict(zip((item.id for item in items), _outcome(text, tuple(items)), strict=True))


@lru_cache(maxsize=256)
def _outcome(text: str, items: tuple["Item", ...]) -> tuple[int, ...]:
    # Kept, because all trials of a deterministic model give one text.
    found = passages(text)
    return tuple(int(_states(found, item)) for item in items)


def _states(found: Sequence[str], item: "Item") -> bool:
    usable = [
        passage for passage in found if not any(compile_pattern(pattern).found_in(passage) for pattern in item.reject)
    ]
    return any(_met(alternative, usable) for alternative in item.accept)


def _met(alternative: "Alternative", found: Sequence[str]) -> bool:
    if isinstance(alternative, str):
        claim = compile_pattern(alternative)
        return any(claim.found_in(passage, whole_claim=True) for passage in found)
    together = [compile_pattern(part) for part in alternative if isinstance(part, str)]
    apart = [part for part in alternative if not isinstance(part, str)]
    if apart:
        return all(_met(part, found) for part in apart)
    return any(all(pattern.found_in(passage) for pattern in together) for passage in found)
