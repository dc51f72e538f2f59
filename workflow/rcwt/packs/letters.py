"""The letter of an option that is the whole answer: `B`, `(B)`, `B.`, `B) its text`, `option B`, `the answer is B`.

A letter beside another (`B or C`) chooses nothing, nor does a word that begins with one (`A dog`).
"""

import re
from collections.abc import Sequence

from rcwt.packs.items import LETTERS
from rcwt.packs.numerals import unwrapped

_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+|correct\s+|best\s+)?"
    r"(?:(?:answer|option|choice)\s*(?:is|:)?\s*)+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"[*_`]*(?:\((?P<round>[A-Za-z])\)|\[(?P<square>[A-Za-z])\]|(?P<bare>[A-Z]|[a-z](?=[*_`]*(?:[):]|\.\s))))"
    r"[*_`]*(?P<rest>.*)",
    re.DOTALL,
)
_ALONE = re.compile(r"[a-z][.)]?")
_DELIMITER = re.compile(r"\s*[.):,;–—-]\s*")
#: A second letter: a capital, or a small one in brackets.
_SECOND = r"(?:\(?[A-Z]\b[.)]?|\(?[a-z]\))"
_JOINED = r"\bor\b|\band\b|[/,&;]"
_ANOTHER = re.compile(rf"(?:{_JOINED})\s*{_SECOND}(?=\s*(?:$|{_JOINED}|[.)]))")
#: The same at the start of what follows the first letter.
_NEXT = re.compile(
    r"\s*+(?:[,/&;+-]|or\b|and\b|\.\s*or\b|\)\s*or\b)?+\s*+(?:\(?[A-Z]\)?|\(?[a-z]\))\s*(?:$|[.,;)]|\bor\b|\band\b)"
)


def letter(text: str, options: Sequence[str]) -> str | None:
    """The letter that an answer gives, be it offered or not; None for a text that gives none, or more than one."""
    plain = unwrapped(text)
    plain = unwrapped(_LEAD.sub("", plain, count=1)) if _LEAD.match(plain) else plain
    if _ALONE.fullmatch(plain):
        return plain[0].upper()
    match = _LETTER.fullmatch(plain)
    if match is None:
        return None
    found = (match["round"] or match["square"] or match["bare"]).upper()
    rest = match["rest"]
    delimiter = _DELIMITER.match(rest)
    said = _flat(rest[delimiter.end() :] if delimiter else rest)
    if not said:
        return found
    place = LETTERS.index(found)
    if place < len(options) and said == _flat(options[place]):
        return found
    bracketed = match["bare"] is None
    if not (delimiter or bracketed) or _ANOTHER.search(f" {rest.strip()}") or _NEXT.match(rest):
        return None
    # A letter beside the text of another option gives two answers.
    return None if any(said == _flat(option) for option in options) else found


def _flat(text: str) -> str:
    return " ".join(unwrapped(text).casefold().split())
