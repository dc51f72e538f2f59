"""Whose value a passage gives: "the day shift needs 4 days" says nothing of the night shift. All on normalised text.

A subject of two words has a head, by which its like is known: the "team" of "backend team", "shift" of "night shift".
The same head behind another word is another subject; so is another name behind "limit of the".
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from rcwt.base.phrases import word_set
from rcwt.scoring.patterns import Pattern

_DETERMINERS = word_set("""
    the a an its their his her our your this that these those each every any no one whole entire same such and or of
    for with in on by to from as at is are was were has have needs need takes take new single main only said given 1
""")
_GROUPS = word_set("""
    team teams group groups shift side staff engineers developers crew people
""")
_LETTER = 2  # "option a" has no head: it is a letter among others
_HEAD_BEHIND = re.compile(r" ([a-z]{3,})\b")
_OF_BEFORE = re.compile(r"\b([a-z]{3,}) (?:of|for) (?:the |a |an )?\Z")
#: Characters before a match in which the word lies that it is the value of.
_NEAR = 60


def another_named(subject: Pattern, text: str, demand: str) -> bool:
    """Whether `text` speaks of something else than the subject that `demand` names."""
    for start, end in subject.spans(demand):
        for modifier, head in _heads(demand, start, end):
            if any(_others(text, modifier, head)):
                return True
        if frame := _OF_BEFORE.search(demand[max(0, start - _NEAR) : start]):
            own = demand[start:end].split(" ")[0]
            like = re.compile(rf"\b{frame[1]} (?:of|for) (?:the |a |an )?([a-z][\w/-]*)")
            if any(found[1] != own and found[1] not in _DETERMINERS for found in like.finditer(text)):
                return True
    return False


def another_nearer(subject: Pattern, value: Pattern, text: str) -> bool:
    """Whether every place of the value in the sentence of `text` is nearer to another subject of the same head.

    Only a head that tells groups of people apart, or the second word of the subject, is one here.
    """
    text = text.rpartition(" | ")[2]
    own = subject.spans(text)
    likes = {
        (modifier, head)
        for start, end in own
        for modifier, head in _heads(text, start, end)
        if start + len(modifier) < end or head in _GROUPS
    }
    others = sorted({place for modifier, head in likes for place in _others(text, modifier, head)})
    if not others:
        return False
    starts = [start for start, _ in own]
    return all(_nearest(start, others) > _nearest(start, starts) for start, _ in value.spans(text))


def _nearest(place: int, starts: list[int]) -> tuple[bool, int]:
    """The last of rising `starts` before a place; where all lie behind it, the first of them is the nearest."""
    before = bisect_left(starts, place)
    return (True, starts[before - 1]) if before else (False, -starts[0])


def _heads(text: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """The subject at a place as modifier and head: its two last words, or its one word and the next."""
    parts = text[start:end].split(" ")
    if len(parts) > 1:
        if len(parts[-1]) > _LETTER:
            yield parts[-2], parts[-1]
    elif (behind := _HEAD_BEHIND.match(text, end)) and behind[1] not in _DETERMINERS:
        yield parts[0], behind[1]


def _others(text: str, modifier: str, head: str) -> Iterator[int]:
    """Where `text` has the head behind another word than the modifier."""
    for found in re.finditer(rf"\b([a-z][\w/-]*)[ -]{re.escape(head)}\b", text):
        if found[1] != modifier and found[1] not in _DETERMINERS:
            yield found.start()
