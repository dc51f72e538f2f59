"""The letter of an option that is the whole answer: `B`, `(B)`, `B.`, `B) its text`, `option B`, `the answer is B`.

A reason may follow (`B because …`, `B (not C)`), and what is taken back may stand before (`C, no wait, B`). A letter
beside another (`B or C`) chooses nothing, nor does a word that begins with one (`A dog`, `I: cannot tell`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rcwt.base.declining import declines
from rcwt.packs.corrections import concluded, hedged, resolved
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
    r"(?![^\W_]|['’]\w)[*_`]*+(?P<rest>.*)",
    re.DOTALL,
)
_BRACKETS = str.maketrans("【「『〔〈《⟨{】」』〕〉》⟩}", "((((((((" + "))))))))")
_FORMULA = re.compile(r"\$(\(?[A-Za-z]\)?)\$|<(?P<angled>[A-Za-z])>")
_BEHIND = re.compile(r"\s?[(\[]([A-Za-z])[)\]]\.?\Z")
#: `B not C`.
_NOT_ANOTHER = re.compile(r"\s?,?\s?not\s\(?[A-Z]\)?[.!]?")
_GROUPING = re.compile(r"[\s\\${}()~]+")
_ALONE = re.compile(r"[a-z][.)]?")
_DELIMITER = re.compile(r"\s*+(?:[.)\]:,;!]|[–—-](?![\d.]))\s*+")
#: A second letter: a capital, or a small one in brackets.
_SECOND = r"(?:\(?[A-Z]\b[.)]?|\(?[a-z]\))"
_JOINED = r"\bor\b|\band\b|[/,&;+]"
_ANOTHER = re.compile(rf"(?:{_JOINED})\s?{_SECOND}(?=\s{{0,9}}(?:$|{_JOINED}|[.)]))")
#: The same at the start of what follows the first letter.
_NEXT = re.compile(
    r"\s*+(?:[,/&;+-]|or\b|and\b|\.\s{0,3}(?:or\b)?|\)\s{0,3}or\b)?+\s*+(?:\(?[A-Z]\)?|\(?[a-z]\))\s{0,9}(?:$|[.,;)]|\bor\b|\band\b)"
)
#: What says that the letter before it is the answer.
_CONFIRMED = re.compile(
    r"\s*+is\b(?!\s{1,3}(?:not|wrong|incorrect|false|likely|probabl|possib|perhaps|almost|out|either))"
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
#: A reason behind `A` or `I`, which may be words.
_PLAIN_REASON = re.compile(r"\s*+(?:[^\w\s]|because\b|since\b)", re.IGNORECASE)
#: A letter with an option that says no.
_NO = re.compile(r"\W{0,4}[A-Za-z]\W{1,4}no\b", re.IGNORECASE)
_LONGEST = 4000


@dataclass(frozen=True)
class _Begun:
    """An answer that begins with a letter: the letter, whether it stands in brackets, and what follows."""

    letter: str
    bracketed: bool
    rest: str

    @property
    def behind(self) -> str:
        """What follows, without the sign that parts it from the letter."""
        delimiter = _DELIMITER.match(self.rest)
        return self.rest[delimiter.end() :] if delimiter else self.rest

    def option(self, options: Sequence[str]) -> str | None:
        """The text of the option that has the letter."""
        place = LETTERS.index(self.letter)
        return options[place] if place < len(options) else None

    def is_followed_by(self, text: str) -> bool:
        """Whether a text, flat, is all that follows."""
        return text in (_flat(self.behind), _flat(self.rest))


def letter(text: str, options: Sequence[str]) -> str | None:
    """The letter that an answer gives, be it offered or not; None for a text that gives none, or more than one."""
    if len(text) > _LONGEST:
        return None
    whole = unwrapped(_FORMULA.sub(_lettered, narrow(surface(text)).translate(_BRACKETS)))
    said = _flat(whole)
    if len(said) > 1 and any(said == _option(option) for option in options):
        return None
    begun = _begun(whole)
    own = begun.option(options) if begun else None
    # The text of an option may itself take something back, or begin with "No,".
    if begun and own is not None and begun.is_followed_by(_option(own)):
        return begun.letter
    if own is None or not (_NO.match(whole) and own.casefold().startswith("no")):
        begun = _begun(unwrapped(resolved(whole)))
    begun = begun or _begun(unwrapped(concluded(whole))) or _ended(whole, options)
    return begun.letter if begun and _adds_nothing(begun, options) else None


def _lettered(match: re.Match[str]) -> str:
    return f"({match['angled']})" if match["angled"] else match[1]


def _begun(text: str) -> _Begun | None:
    """An answer as the letter that it begins with, words such as "the answer is" aside."""
    lead = _LEAD.match(text)
    plain = unwrapped(text[lead.end() :]) if lead else text
    if _ALONE.fullmatch(plain):
        return _Begun(plain[0].upper(), False, "")
    match = _LETTER.fullmatch(plain)
    if match is None:
        return None
    return _Begun((match["round"] or match["square"] or match["bare"]).upper(), not match["bare"], match["rest"])


def _ended(text: str, options: Sequence[str]) -> _Begun | None:
    """The letter in brackets behind the text of its own option."""
    match = _BEHIND.search(text[-6:])
    begun = _Begun(match[1].upper(), True, "") if match else None
    own = begun.option(options) if begun else None
    return begun if match and own and _flat(text[: -len(match[0])]) == _option(own) else None


def _adds_nothing(begun: _Begun, options: Sequence[str]) -> bool:
    """Whether what follows a letter gives no other answer, does not doubt it, and does not make a word of it."""
    rest = begun.rest
    own = begun.option(options)
    if not _flat(begun.behind):
        return "?" not in rest
    if own is not None and begun.is_followed_by(_option(own)):
        return True
    if _NOT_ANOTHER.fullmatch(rest):
        return True
    if declines(begun.behind) or _ANSWERS_AGAIN.match(begun.behind):
        return False
    if confirmed := _CONFIRMED.match(rest):
        tail = rest[confirmed.end() :]
        return bool(_REASON.match(tail)) or not (hedged(tail) or _ANOTHER.search(tail))
    if _REASON.match(rest):
        return begun.bracketed or begun.letter not in "AI" or bool(_PLAIN_REASON.match(rest))
    delimited = begun.bracketed or _DELIMITER.match(rest) or rest.lstrip().startswith(("(", "["))
    if not delimited or _ANOTHER.search(f" {rest.strip()}") or _NEXT.match(rest) or hedged(rest):
        return False
    # A letter beside the text of another option gives two answers.
    return not any(begun.is_followed_by(_option(option)) for option in options)


@lru_cache(maxsize=4096)
def _option(text: str) -> str:
    """The text of an option as it is compared."""
    return _flat(narrow(surface(text)))


def _flat(text: str) -> str:
    """A text as it is compared: without spaces and the signs that LaTeX groups by, which a reading may take away."""
    return _GROUPING.sub("", unwrapped(text).casefold())
