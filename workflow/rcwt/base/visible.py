"""Foreign text as it may be shown: a terminal obeys no character of it, and no line of it runs backwards.

A server's message can hold escape sequences that clear the screen or rename its window, and signs that turn the
direction of what follows. Whatever becomes a message passes here; files of data keep texts as they are.
"""

import re
import unicodedata

# All but line ends, tabs and printable ASCII is looked at sign by sign.
_DOUBTFUL = re.compile(r"[^\n\t -~]")


def visible(text: str) -> str:
    """`text` with each sign that is not to be seen written out, as `\\x1b`; line ends, tabs and spaces stay.

    Written out are control characters, signs of format and direction, separators of lines and paragraphs, halves of
    surrogate pairs, and what Unicode has not assigned.
    """
    return _DOUBTFUL.sub(_written_out, text)


def in_one_line(text: str) -> str:
    """`text` made visible, with single spaces for all white space."""
    return visible(" ".join(text.split()))


def _written_out(match: re.Match[str]) -> str:
    sign = match[0]
    if sign.isprintable() or unicodedata.category(sign) == "Zs":
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
