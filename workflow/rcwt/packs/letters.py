"""The letter of an option that is the whole answer: `B`, `(B)`, `B.`, `B) its text`, `option B`, `the answer is B`.

A reason may follow (`B because …`, `B (not C)`), and what is taken back may stand before (`C, no wait, B`). A letter
beside another (`B or C`) chooses nothing, nor does a word that begins with one (`A dog`, `I: cannot tell`).
"""

import re
from collections.abc import Sequence

from rcwt.base.declining import declines
from rcwt.packs.corrections import hedged, resolved
from rcwt.packs.items import LETTERS
from rcwt.packs.numerals import unwrapped
from rcwt.packs.surface import narrow, surface

_LEAD = re.compile(
    r"[\s#:→>]*+(?:(?:so|thus|therefore|hence),?\s{1,3})?"
    r"(?:(?:(?:i\s{1,3}(?:would\s{1,3}|will\s{1,3})?(?:choose|select|pick|answer|chose|selected|picked)|it\s{1,3}is|it['’]s"
    r"|choose|select|pick|final)\s{0,3}:?\s{0,3}"
    r"|(?:the|my)\s{1,3}|(?:final|correct|best|right)\s{1,3}|(?:answer|option|choice|letter|pick|selection)s?"
    r"(?:\s{1,3}is\b|\s{0,3}[:=])?\s{0,3}:?[\s*_`]{0,6}))*+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"[*_`]*+(?:\((?P<round>[A-Za-z])\)|\[(?P<square>[A-Za-z])\]|(?P<bare>[A-Z]|[a-z](?=[*_`]*(?:[):]|\.\s))))"
    r"(?![^\W_]|['’])[*_`]*+(?P<rest>.*)",
    re.DOTALL,
)
_ALONE = re.compile(r"[a-z][.)]?")
_DELIMITER = re.compile(r"\s*+[.)\]:,;!–—-]\s*+")
#: A second letter: a capital, or a small one in brackets.
_SECOND = r"(?:\(?[A-Z]\b[.)]?|\(?[a-z]\))"
_JOINED = r"\bor\b|\band\b|[/,&;+]"
_ANOTHER = re.compile(rf"(?:{_JOINED})\s?{_SECOND}(?=\s{{0,9}}(?:$|{_JOINED}|[.)]))")
#: The same at the start of what follows the first letter.
_NEXT = re.compile(
    r"\s*+(?:[,/&;+-]|or\b|and\b|\.\s{0,3}or\b|\)\s{0,3}or\b)?+\s*+(?:\(?[A-Z]\)?|\(?[a-z]\))\s{0,9}(?:$|[.,;)]|\bor\b|\band\b)"
)
#: What says that the letter before it is the answer.
_CONFIRMED = re.compile(
    r"\s*+(?:is|seems|it\s{1,3}is)\b(?!\s{1,3}(?:not|wrong|incorrect|false|likely|probabl|possib|perhaps|almost|out|either))"
    r"(?:\s{1,3}(?:the|my|clearly|definitely|most|only|indeed))*+\s{1,3}(?:final\s{1,3}|correct\s{1,3}|best\s{1,3}|right\s{1,3})?"
    r"(?:correct|right|true|best|answer|choice|option|one|fit|match)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:[\s,.;:–—(-])*+\b(?:because|since|as|due\s{1,3}to|given|by|for\s{1,3}the\s{1,3}reason|reason|explanation)\b(?!\s{1,3}well)",
    re.IGNORECASE,
)
_ANSWERS_AGAIN = re.compile(
    r"\s*+(?:so\s|thus\s|therefore\s)?(?:the|my|correct|final)\s(?:\w{1,10}\s){0,2}(?:answer|option|choice)\b", re.I
)
#: A letter with an option that says no.
_NO = re.compile(r"\W{0,4}[A-Za-z]\W{1,4}no\b", re.IGNORECASE)
_LONGEST = 4000


def letter(text: str, options: Sequence[str]) -> str | None:
    """The letter that an answer gives, be it offered or not; None for a text that gives none, or more than one."""
    if len(text) > _LONGEST:
        return None
    whole = unwrapped(narrow(surface(text)))
    # The text of an option may itself take something back, or begin with "No,".
    found, whole_text = _begun(whole), _flat(whole)
    if found is not None and found < len(options) and whole_text.endswith(_flat(options[found])):
        return _given(whole, options)
    negative = found is not None and found < len(options) and options[found].casefold().startswith("no")
    return _given(whole if negative and _NO.match(whole) else unwrapped(resolved(whole)), options)


def _begun(text: str) -> int | None:
    """The place of the option whose letter a text begins with."""
    match = _LETTER.match(text)
    return LETTERS.index((match["round"] or match["square"] or match["bare"]).upper()) if match else None


def _given(text: str, options: Sequence[str]) -> str | None:
    plain = unwrapped(text)
    plain = unwrapped(plain[lead.end() :]) if (lead := _LEAD.match(plain)) else plain
    if _ALONE.fullmatch(plain):
        return plain[0].upper()
    match = _LETTER.fullmatch(plain)
    if match is None:
        return None
    found = (match["round"] or match["square"] or match["bare"]).upper()
    rest = match["rest"]
    delimiter = _DELIMITER.match(rest)
    behind = rest[delimiter.end() :] if delimiter else rest
    said = _flat(behind)
    if not said:
        return None if "?" in rest else found
    place = LETTERS.index(found)
    if place < len(options) and said == _flat(options[place]):
        return found
    return found if _adds_nothing(match, rest, behind, options) else None


def _adds_nothing(match: re.Match[str], rest: str, behind: str, options: Sequence[str]) -> bool:
    """Whether what follows a letter gives no other answer, doubts it, or makes a word of it."""
    if declines(behind) or _ANSWERS_AGAIN.match(behind):
        return False
    if _CONFIRMED.match(rest):
        return not rest.rstrip().endswith("?")
    if _REASON.match(rest):
        return match["bare"] not in ("I", "A") or bool(re.match(r"\s*+[^\w\s]|\s*+because|\s*+since", rest))
    delimited = _DELIMITER.match(rest) or match["bare"] is None or rest.lstrip().startswith(("(", "["))
    if not delimited or _ANOTHER.search(f" {rest.strip()}") or _NEXT.match(rest) or hedged(rest):
        return False
    # A letter beside the text of another option gives two answers.
    said = _flat(behind)
    return not any(said == _flat(option) for option in options)


def _flat(text: str) -> str:
    return " ".join(unwrapped(text).casefold().split())
