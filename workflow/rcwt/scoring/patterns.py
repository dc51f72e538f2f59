"""The pattern language of `accept` and `reject`: regular expressions on normalised text, whole values only.

A pattern is an ordinary regular expression (Python's `re`, case ignored). It is read against passages that
`rcwt.scoring.normalise` has brought to one spelling, and the plain words and numbers of the pattern itself
are brought to the same spelling first. So `100K messages per second` in a pattern finds `100,000 msgs/sec`
in a reply, and `2-3 weeks` finds "two to three weeks".

Boundaries are added by themselves:

- a match begins and ends at the edge of a word: `correct` does not find "incorrect", nor `week` "weeks";
- a number is a whole number with nothing before or after it: `5 ms` finds neither "15 ms", "1.5 ms",
  "5.5 ms", "3-5 ms" nor "-5 ms", also behind a wildcard (`streams.*5 ms`);
- a unit is whole: `8 KB` finds neither "8 KBps", "8 KB/s" nor "8 kbit";
- a number right behind "not", "never", "rather than" or "instead of" is not a match, nor is there any pattern
  that is an alternative by itself.

A word right before `?`, `*`, `+`, a class or an escape keeps its spelling: in `weeks?` the `?` is about the
`s`. Normalised text has units in the singular behind a number, and that is what `weeks?` then finds.

Patterns are a user's, and one such as `(a+)+b` may take years on a short text. So they run in `regex`, which reads the
same language, can be stopped, and lets other threads run meanwhile.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import regex

from rcwt.base.errors import RcwtError
from rcwt.scoring.normalise import UNIT, normalise

T = TypeVar("T")

#: CPU seconds of the process that one search may take, so a busy machine stops none. The patterns of the bundled tasks
#: take less than a second for a reply of a megabyte.
LONGEST_SEARCH_S = 10.0
#: CPU seconds after which a search begins anew and lets other threads run. To let them run from the start would cost
#: more than most searches.
_ALONE_S = 0.05
#: Characters of a text that an error shows.
_SHOWN = 60

# As `re` has it: `regex` counts combining marks as parts of a word, the one behind an emoji too.
_WORD = r"[\p{L}\p{N}_]"
_EDGE = rf"(?:(?<!{_WORD})|(?!{_WORD}))"
_NUMBER_BEFORE = r"(?<!\d)(?<!\d[.,/^-])(?<!\s-)(?<!^-)"
_NUMBER_AFTER = r"(?!\d)(?![.,/^-]\d)"

_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_COUNT = r"\{\d*,?\d*\}"
# Plain text of a pattern, in which a point between digits is a decimal point; or a piece of syntax.
_PIECE = re.compile(
    r"(?P<text>(?:[^\\\[\](){}|.^$*+?]|(?<=\d)\\?\.(?=\d))+)"
    rf"|\(\?(?:P<\w+>|P=\w+\)|<?[=!]|[:>]|[a-zA-Z-]+[:)])|{_CLASS}|{_COUNT}|\\.|.",
    re.DOTALL,
)
_LAST_WORD = re.compile(r"[^\W_]+$")
_ATOM = rf"(?:\d|\\d|\[[\d-]*\d[\d-]*\])(?:[*+?]|{_COUNT})?"
# A number with its sign, or syntax whose digits are none.
_NUMBER = re.compile(
    rf"(?P<number>(?:(?<![\w\])-])-)?{_ATOM}(?:(?:\\\.|-)?{_ATOM})*)|\(\?<?[=!][^()]*\)|{_CLASS}|{_COUNT}|\(\?P<\w+>|\\."
)
_WILDCARD_THEN_WORD = re.compile(rf"((?:(?<!\\)\.\)?|\[\^[^\]]*\])(?:[*+]|{_COUNT})\??)(?=\w)")
_NEGATED = re.compile(r"(?:\b(?:not|never|rather than|instead of)|n't)(?: (?:exactly|the|a|an|at|is|be|of))* $")
#: Characters before a match in which its negation stands.
_NEGATION = 120


class RunawayPatternError(RcwtError):
    """A pattern that takes too long on a text. It gives no score: neither a hit nor a miss is known."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        super().__init__(
            f"found the pattern '{source}', which runs for more than {LONGEST_SEARCH_S:g} s of CPU on the "
            f"{len(text)} characters '{shown}'; accepted: a pattern whose parts match no text in very many ways. "
            "Bound what repeats, as in [^.]{0,80} for .*, or let it keep what it took, as in \\w*+"
        )


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern; see the module's docstring for what it finds."""

    source: str
    compiled: Any  # of `regex`, which has no types
    names_number: bool

    def found_in(self, passage: str, *, whole_claim: bool = False) -> bool:
        """Whether the normalised `passage` says what the pattern says.

        What stands behind "not" or "instead of" is not said. That goes for a pattern with a number and for
        one that is the `whole_claim`; beside others a pattern may be a mere subject, as in "chosen instead of
        LISTEN/NOTIFY, whose limit is 8 KB". Raises RunawayPatternError.
        """
        may_be_negated = self.names_number or whole_claim

        def found(**limits: Any) -> bool:
            matches = self.compiled.finditer(passage, **limits)
            return any(not (may_be_negated and negated(passage, match.start())) for match in matches)

        return self._within_limits(found, passage)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the matches in `text` begin and end. Raises RunawayPatternError."""

        def found(**limits: Any) -> list[tuple[int, int]]:
            return [match.span() for match in self.compiled.finditer(text, **limits)]

        return self._within_limits(found, text)

    def found_across(self, text: str, place: int) -> list[str]:
        """The matches in `text` that begin before `place` and end behind it. Raises RunawayPatternError."""

        def found(**limits: Any) -> list[str]:
            matches = self.compiled.finditer(text, overlapped=True, **limits)
            return [match[0] for match in matches if match.start() < place < match.end()]

        return self._within_limits(found, text)

    def taken_out(self, text: str, mark: str) -> str:
        """`text` with `mark` in the place of all that the pattern finds. Raises RunawayPatternError."""

        def taken(**limits: Any) -> str:
            return str(self.compiled.sub(mark, text, **limits))

        return self._within_limits(taken, text)

    def _within_limits(self, search: Callable[..., T], text: str) -> T:
        try:
            return search(timeout=_ALONE_S)
        except TimeoutError:
            pass
        try:
            return search(timeout=LONGEST_SEARCH_S, concurrent=True)
        except TimeoutError:
            raise RunawayPatternError(self.source, text) from None


def negated(passage: str, at: int) -> bool:
    """Whether what begins at `at` in the normalised `passage` stands right behind "not", "instead of" or the like."""
    return passage[at - 1 : at] == " " and bool(_NEGATED.search(passage, max(0, at - _NEGATION), at))


@lru_cache(maxsize=4096)
def compile_pattern(source: str) -> Pattern:
    """The pattern that `source` writes.

    Raises ValueError, saying what is wrong, for a source that is no regular expression or that would be
    found in an empty text.
    """
    body = _NUMBER.sub(_guard_number, _normalise_text(source.strip()))
    edged = _WILDCARD_THEN_WORD.sub(lambda match: match[1] + _EDGE, body)
    try:
        # The language is that of `re`, which refuses what `regex` has beyond it.
        re.compile(source)
        re.compile(f"(?:{body})")
        compiled = regex.compile(f"{_EDGE}(?:{edged}){_EDGE}", regex.IGNORECASE)
    except (re.error, regex.error) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    if compiled.search("", timeout=LONGEST_SEARCH_S):
        raise ValueError("it is found in an empty text, so it says nothing")
    plain = "".join(piece["text"] or "" for piece in _PIECE.finditer(source))
    return Pattern(source, compiled, names_number=bool(re.search(r"\d", normalise(plain))))


def _normalise_text(source: str) -> str:
    """`source` with its plain text in the spelling of normalised passages."""
    return "".join(
        _plain(piece["text"], source[piece.end() : piece.end() + 1]) if piece["text"] else _syntax(piece[0])
        for piece in _PIECE.finditer(source)
    )


def _syntax(piece: str) -> str:
    """A piece of syntax; braces that count nothing are plain to `re`, where `regex` reads another thing in them."""
    return piece.replace("{", "\\{").replace("}", "\\}") if piece in ("{", "}", "{}") else piece


def _plain(text: str, following: str) -> str:
    # A quantifier acts on the last letter as written, so the word it ends must stay as written.
    word = _LAST_WORD.search(text) if following and following in "?*+{[\\" else None
    start = word.start() if word else len(text)
    plain = re.sub(r"\\?\.", r"\\.", normalise(text[:start].replace("\\.", ".")) + text[start:].casefold())
    # Behind a number written as syntax, as in `(?:2|3) weeks`, the unit is short; behind a word it is not.
    unit = UNIT.match(f"0{plain}", 1)
    if unit is None or unit.end() > start + 1:
        return plain
    written = plain[: unit.end() - 1]
    return f"(?:{written}| {unit.lastgroup}){plain[len(written) :]}"


def _guard_number(match: re.Match[str]) -> str:
    number = match["number"]
    return f"{_NUMBER_BEFORE}(?:{number}){_NUMBER_AFTER}" if number else match[0]
