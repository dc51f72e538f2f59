"""The letter of an option that is the whole answer: `B`, `(B)`, `B.`, `B) its text`, `option B`, `the answer is B`.

A letter beside another (`B or C`) chooses nothing, nor does a word that begins with one (`A dog`).
"""

import re
from collections.abc import Sequence

from rcwt.base.declining import declines
from rcwt.packs.items import LETTERS
from rcwt.packs.numerals import unwrapped
from rcwt.packs.spelling import plain

_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+|correct\s+|best\s+)?"
    r"(?:(?:answer|option|choice|letter)\s*(?:is|:)?\s*)+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"[*_`]*(?:\((?P<round>[A-Za-z])\)|\[(?P<square>[A-Za-z])\]|(?P<bare>[A-Z]|[a-z](?=[*_`]*(?:[):]|\.\s))))"
    r"[*_`]*(?P<rest>.*)",
    re.DOTALL,
)
# `B is correct`, `B (not A or C)`, `C, not D`: what more is said of a letter, or of those that are not meant.
_IS_RIGHT = re.compile(
    r"^[*_`(\[]*([A-Za-z])[*_`)\]]*\s+(?:is|seems|must be|would be)\s+(?:the\s+)?"
    r"(?:correct|right|best|true|answer|one)\b[^\n]{0,60}$",
    re.IGNORECASE,
)
_NOT_OTHERS = re.compile(
    r"\s*(?:[,;–—-]\s*|\()\s*(?:and |but )?(?:not|rather than|instead of|nor)\s+(?:option |answer )?\(?[A-Za-z]\)?"
    r"(?:(?:\s*[,/]\s*|\s*,?\s+(?:or|nor|and)\s+)\(?[A-Za-z]\)?)*\)?\s*$"
)
_BECAUSE = re.compile(r"\s*[,;.:–—-]*\s*\b(?:because|since|as|given|for|so that|due to)\b", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:answer|option|choice|letter)(?:\s+(?:is|must be|should be|would be)|\s*:)?\s+\(?([A-Z])\b(?!\w)"
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
    said = unwrapped(plain(text))
    said = unwrapped(_LEAD.sub("", said, count=1)) if _LEAD.match(said) else said
    said = _NOT_OTHERS.sub("", _IS_RIGHT.sub(r"\1", said)).strip()
    said = unwrapped(said)
    if _ALONE.fullmatch(said):
        return said[0].upper()
    match = _LETTER.fullmatch(said)
    if match is None:
        return None
    found = (match["round"] or match["square"] or match["bare"]).upper()
    rest = match["rest"]
    delimiter = _DELIMITER.match(rest)
    beside = _flat(rest[delimiter.end() :] if delimiter else rest)
    if not beside:
        return found
    place = LETTERS.index(found)
    if place < len(options) and beside == _flat(options[place]):
        return found
    if _BECAUSE.match(rest):
        return None if _names_another(rest, found) else found
    bracketed = match["bare"] is None
    if not (delimiter or bracketed) or _ANOTHER.search(f" {rest.strip()}") or _NEXT.match(rest):
        return None
    if declines(beside) or _names_another(rest, found):
        return None
    # A letter beside the text of another option gives two answers.
    return None if any(beside == _flat(option) for option in options) else found


def _names_another(rest: str, found: str) -> bool:
    """Whether what stands behind a letter says that another one is the answer."""
    named = _SAYS.search(rest)
    return named is not None and named[1].upper() != found


def _flat(text: str) -> str:
    return " ".join(unwrapped(text).casefold().split())
