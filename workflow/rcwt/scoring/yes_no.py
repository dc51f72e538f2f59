"""What one line says behind a question's name: YES, NO, or neither clearly.

The answer may stand first ("YES, it is 71") or behind its reason ("it is 71, so YES"). A line that gives both answers
gives none: "YES or NO", "YES (NO)", "NO, it is YES". Words that correct let the later answer count: "NO... wait, YES".
An answer that is denied or weighed is no answer: "not YES", "YES?", "probably YES", "YES if all are counted".

In a running text a small "no" is a mere word: "YES, no rounding needed" is YES, and so is "YES, not 70".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"(?<!\w)(?:yes|no)(?!\w)(?!['’]\w)(?!-(?!(?:yes|no)\b)\w)", re.IGNORECASE)
#: Signs and spaces, emphasis, quotes, brackets, a tick or another picture before an answer.
_SIGNS_ONLY = re.compile(r"[^\w\n≠!~/\\]*+")
_SIGN = r"[^\w\n]"

_JOINING = (
    "and|but|it|is|it's|its|the|answer|should|be|i|mean|actually|rather|wait|sorry|apologies|instead"
    "|now|also|both|maybe|or|so"
)
_CLOSE = re.compile(rf"{_SIGN}{{1,8}}(?:(?:{_JOINING}){_SIGN}{{1,8}}){{0,6}}", re.IGNORECASE)
CORRECTS = re.compile(
    r"\b(?:wait|correction|corrected|correcting|scratch that|strike that|i mean|rather|instead|make (?:that|it)"
    r"|on (?:second thoughts?|reflection|review|checking)|sorry|apologies|edit(?:ed)?|oops"
    r"|revised|changed to|my mistake|looking again"
    r"|re-?checking|after all)\b",
    re.IGNORECASE,
)
#: Before an answer that is only spoken of.
_DENIED = re.compile(
    r"(?:\b(?:not|never|than|instead of|(?:as )?opposed to|nor|neither|unless|if|whether|without)|n't|n’t|≠|!=|!==)"
    rf"(?:{_SIGN}| (?:be|an?|the|say|answer|as|simply|just) ){{0,6}}$",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(
    r"(?:\b(?:an?|any|for|to be|(?:would|will) (?:be|need|mean|make it|give|say)|says?|said|claims?)"
    r"[ \"'“*_`]{1,4})$",
    re.IGNORECASE,
)
_UNTICKED = re.compile(r"(?:\[ ?\]|[☐□○◯⬜]) ?$")
#: Behind an answer that is only spoken of.
_WOULD = re.compile(
    rf"{_SIGN}{{1,4}}(?:would|wou?ldn't|is (?:wrong|incorrect|false|not|ruled out)|isn't|cannot|can't|answer would"
    r"|needs|requires|only if)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    rf"(?:\b(?:so|therefore|hence|thus|answer|answer is|it is|it's|is|verdict|result)|->|=>|→|⇒|=|:){_SIGN}{{1,4}}$",
    re.IGNORECASE,
)
#: Behind a "no" that belongs to what it counts: "no idea", "no answer given".
_NONE_OF = re.compile(
    r" (?:idea|answer|info|information|data|clue|comment|opinion|response|reply"
    r"|mention|way (?:to|of)|evidence|guess|result)\b",
    re.IGNORECASE,
)
_UNSURE = (
    r"maybe|perhaps|possibly|probably|probable|likely|presumably|unsure|uncertain|guess(?:ing)?|tentative(?:ly)?"
    r"|(?:not|n't|n’t|cannot|can't) (?:be )?(?:(?:so|too|very|quite|entirely|fully|completely|totally|100 ?%) )?"
    r"(?:sure|certain|confident|tell|say|know|determine|decide|verify)"
    r"|hard to (?:say|tell)|low confidence|i suppose|\d{1,2} ?% (?:sure|certain|confiden\w{1,3}|likely)"
)
_WEIGHED_BEFORE = re.compile(
    rf"\b(?:{_UNSURE}|either|unclear|lean(?:ing)?|inclined|seems?|appears?|might|may be|could be|hopefully)\b",
    re.IGNORECASE,
)
_WEIGHED_BEHIND = re.compile(rf"\b(?:{_UNSURE}|(?:may|might|could) be wrong)\b", re.IGNORECASE)
_DOUBTED = re.compile(r"\b(?:doubt|whether|unless|if|suppose|assume|deny|dispute)\b", re.IGNORECASE)
_ASKED = re.compile(r"[*_`\"'”’)\]]{0,4} ?\?")
_CONDITIONAL = re.compile(rf"{_SIGN}{{1,4}}(?:if|unless|assuming|provided|as long as|only when|depending)\b", re.I)
_OR = re.compile(rf"(?:{_SIGN}{{1,8}}or{_SIGN}{{1,8}}|[\"'*_` ]{{0,4}}[/\\][\"'*_` ]{{0,4}})", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"[ \t]{1,4}(?!(?:yes|no)\b)\w", re.IGNORECASE)
#: As much of a line beside an answer as is looked at: no phrase above is longer.
_NEAR = 60


@dataclass(frozen=True)
class _Word:
    """A "yes" or "no" with what stands between it and the one before, and behind it up to the next."""

    answer: str
    loud: bool
    first: bool
    before: str
    behind: str
    rest: str


def said(text: str) -> str | None:
    """`YES` or `NO` as one line says behind a name, None where it says neither or both."""
    answers: set[str] = set()
    weighed = corrected = passed = False
    for word in _words(text):
        corrected = corrected or (bool(answers) and bool(CORRECTS.search(word.before)))
        # "I cannot say YES or NO": what "or" joins to a word that does not answer does not answer either.
        passed = (passed and bool(_OR.fullmatch(word.before))) or not _counts(word, answers, corrected=corrected)
        if passed:
            continue
        doubt = _doubted(word)
        if corrected or not answers:
            answers, weighed = {word.answer}, doubt
        else:
            answers.add(word.answer)
            weighed = weighed or doubt
        corrected = False
    return answers.pop() if len(answers) == 1 and not weighed else None


def doubtful(before: str) -> bool:
    """Whether the words before a name take away what is said behind it: "it is unclear whether", "I doubt that"."""
    return bool(_WEIGHED_BEFORE.search(before) or _DENIED.search(before) or _DOUBTED.search(before))


def _words(text: str) -> Iterator[_Word]:
    found = list(_TOKEN.finditer(text))
    ends = [0, *(token.end() for token in found)]
    starts = [*(token.start() for token in found), len(text)]
    for place, token in enumerate(found):
        yield _Word(
            token[0].upper(),
            token[0].isupper(),
            place == 0,
            text[ends[place] : token.start()],
            text[token.end() : starts[place + 1]],
            text[token.end() : token.end() + _NEAR],
        )


def _counts(word: _Word, answers: set[str], *, corrected: bool) -> bool:
    """Whether a word answers, or takes back an answer before it, rather than standing in a sentence."""
    near = word.before[-_NEAR:]
    if word.answer == "NO" and _NONE_OF.match(word.rest):
        return False
    if _DENIED.search(near) or _UNTICKED.search(near) or _ASKED.match(word.rest) or _WOULD.match(word.rest):
        return False
    if word.first and _SIGNS_ONLY.fullmatch(word.before):
        return True
    if _OR.fullmatch(word.before):
        return True
    if _SPOKEN_OF.search(near):
        return False
    if word.loud:
        return True
    ends = not _WORD_BEHIND.match(word.rest)
    if answers and _CLOSE.fullmatch(word.before):
        # "YES, no wait" and "no, NO" do not answer: the small word only leads to what follows.
        return ends and not (corrected and word.behind.strip(" ,.;:-") == "" and word.rest != word.behind)
    return ends and bool(
        _LEADS.search(near) or (corrected and len(near) < _NEAR) or word.rest.strip(" .!*)\"'|}],") == ""
    )


def _doubted(word: _Word) -> bool:
    return bool(
        _WEIGHED_BEFORE.search(word.before) or _WEIGHED_BEHIND.search(word.behind) or _CONDITIONAL.match(word.rest)
    )
