"""Numbers below a hundred that English writes as one word, and the numbers made of them."""

import re

VALUES = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19},
    **{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}

_MULTIPLES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
#: Words of a number; no number that anybody writes has more.
_MOST = 20


def value_of(text: str) -> int | None:
    """The whole number that a text says in words and in nothing else (`one hundred and forty-eight`), or None."""
    words = [word for word in re.split(r"[\s-]+", text[:300].strip().lower()) if word != "and"]
    if not words or len(words) > _MOST or not all(word in VALUES or word in _MULTIPLES for word in words):
        return None
    total, part = 0, 0
    for word in words:
        if word == "hundred":
            part = 100 * (part or 1)
        elif word in _MULTIPLES:
            total, part = total + _MULTIPLES[word] * (part or 1), 0
        else:
            part += VALUES[word]
    return total + part


def alternatives(least: int = 0, most: int = 99) -> str:
    """The words from `least` to `most` as alternatives of a regular expression, without a group around them.

    Longer words stand first: "seven" must not end "seventeen".
    """
    return "|".join(sorted((word for word, value in VALUES.items() if least <= value <= most), key=len, reverse=True))
