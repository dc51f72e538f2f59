"""Numbers below a hundred that English writes as one word."""

VALUES = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19},
    **{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}


def alternatives(least: int = 0, most: int = 99) -> str:
    """The words from `least` to `most` as alternatives of a regular expression, without a group around them.

    Longer words stand first: "seven" must not end "seventeen".
    """
    return "|".join(sorted((word for word, value in VALUES.items() if least <= value <= most), key=len, reverse=True))
