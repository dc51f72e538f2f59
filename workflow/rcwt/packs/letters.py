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
    r"[*_`]*(?:\((?P<round>[A-Za-z])\)|\[(?P<square>[A-Za-z])\]|(?P<bare>[A-Z]))[*_`]*(?P<rest>.*)", re.DOTALL
)
_ALONE = re.compile(r"[a-z][.)]?")
_DELIMITER = re.compile(r"\s*[.):,;–—-]\s*")
_ANOTHER = re.compile(r"(?:\bor\b|\band\b|[/,&;])\s*\(?[A-Z]\b[.)]?(?=\s*(?:$|[/,;&]|\bor\b|\band\b|[.)]))")
_NEXT = re.compile(r"\s*(?:[,/&;+-]|or\b|and\b|\.\s*or\b|\)\s*or\b)?\s*\(?[A-Z]\)?\s*(?:$|[.,;)]|\bor\b|\band\b)")


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
    if not (delimiter or bracketed) or _ANOTHER.search(f" {rest.strip()}") or _other_letter(rest):
        return None
    # A letter beside the text of another option gives two answers.
    return None if any(said == _flat(option) for option in options) else found


def _other_letter(rest: str) -> bool:
    """Whether what follows the letter begins with another one: `B or C`, `B, C`, `B/C`."""
    return bool(
        re.match(r"\s*(?:[,/&;+-]|or\b|and\b|\.\s*or\b|\)\s*or\b)?\s*\(?[A-Z]\)?\s*(?:$|[.,;)]|\bor\b|\band\b)", rest)
    )


def _flat(text: str) -> str:
    return " ".join(unwrapped(text).casefold().split())
