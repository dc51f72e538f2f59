"""Vocabulary as data: a list of phrases becomes one pattern."""

import re
from collections import deque


def one_of(phrases: str) -> str:
    """A group that matches any of `phrases`, which stand on lines or behind `, `; each is a regular expression."""
    found = (phrase.strip() for phrase in re.split(r",\s+|\n", phrases))
    return f"(?:{'|'.join(filter(None, found))})"


def word_set(listed: str) -> frozenset[str]:
    """Words that are listed, apart by spaces, as a set."""
    return frozenset(listed.split())


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match of a pattern in a text."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None
