"""What a writer takes back: `50, no wait, 48`, `not 50 but 48`, `48 (not 50)`, and a line such as `Correction:`.

Also what makes of a value none: a guess, a bound, a condition.
"""

import re

#: Words that take back what stands before them, wherever they stand.
_STRONG = (
    r"no,?\s{1,3}wait(?:,?\s{1,3}no)?|no,?\s{1,3}sorry|wait,?\s{1,3}no|scratch\s{1,3}that|strike\s{1,3}that|"
    r"make\s{1,3}that|on\s{1,3}second\s{1,3}thoughts?|or\s{1,3}rather|corrected\s{1,3}to|correction|"
    r"changed\s{1,3}to|i\s{1,3}meant?"
)
#: Words that do so only behind a pause.
_WEAK = r"actually|sorry|oops|hmm|hold\s{1,3}on|rather(?!\s{1,3}than)|(?:no|wait)(?=\s{0,3}[,;:.!…—–-])"
_TAKEN_BACK = re.compile(rf"\b(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK}))\b", re.IGNORECASE)
_PAUSES = frozenset(",;:.…—–-([!?")
_AFTER = re.compile(r"(?:[\s,:;…—–!)\]]|\.(?!\d)|-(?=\s))*+")
_FILLER = re.compile(
    r"(?:(?:so|no|thus),?\s{1,3})?(?:(?:it|that|this|the\s{1,3}(?:correct\s{1,3})?answer)(?:['’]s|\s{1,3}(?:is|should\s"
    r"{1,3}be|must\s{1,3}be|was))|i\s{1,3}meant?|should\s{1,3}be|make\s{1,3}(?:it|that))\s{0,3}:?\s{0,3}",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    r"\s{0,3}(?:(?:the\s{1,3}answer|it)(?:['’]s|\s{1,3}is)\s{1,3})?not\s{1,3}[^\n]{1,60}?[,;]?\s{1,3}but\s{1,3}"
    r"(?:rather\s{1,3}|instead\s{1,3})?",
    re.IGNORECASE,
)
_IS_WRONG = re.compile(
    r"[^\n]{1,60}?\s{1,3}(?:is|was|are|were)(?:\s{1,3}|n['’]t\s{1,3}|\s{1,3}not\s{1,3})"
    r"(?:wrong|incorrect|false|correct|right|ruled\s{1,3}out|eliminated)"
    r"\s{0,3}[,;.:—–-]\s{0,3}(?:(?:so|thus|therefore|hence|which\s{1,3}leaves|leaving|but|and)\b[\s,]{0,3})?",
    re.IGNORECASE,
)
_DENIES = re.compile(r"n['’]t\b|\bnot\b|\b(?:wrong|incorrect|false|out|eliminated)\b", re.IGNORECASE)
#: What `not` denies no value with.
_UNSURE = (
    r"(?!\s{1,3}(?:sure|certain|confident|clear|stated|given|known|specified|necessarily|exactly|more|less|quite)\b)"
)
_NOT_IN_BRACKETS = re.compile(
    rf"\s?[(\[]\s?(?:and\s|but\s)?(?:not{_UNSURE}|rather\sthan|instead\sof)\s[^()\[\]]{{1,80}}[)\]]", re.IGNORECASE
)
_NOT_BEHIND = re.compile(
    rf"(?:[,;]|\s[—–-])\s?(?:and\s|but\s)?not{_UNSURE}\s[^\n]{{1,80}}\Z|[,;]?\s(?:rather\sthan|instead\sof)\s[^\n]{{1,80}}\Z",
    re.IGNORECASE,
)
_THEREFORE = re.compile(
    r"[^\n]{1,300}[,;.]\s{1,3}(?:so|thus|therefore|hence|giving|which\s{1,3}(?:is|gives|makes))\b,?\s{0,3}",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]++~~")

_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|likely|approx|approximately|roughly|circa|nearly|almost|or\s{1,3}so"
    r"|i\s{1,3}(?:think|guess|believe|suppose|assume|suspect)|i['’]d\s{1,3}(?:say|guess)|guess|guessing|unsure|uncertain|"
    r"not\s{1,3}(?:\w{1,12}\s)?(?:sure|certain|confident)|might|could|may\s{1,3}be|unclear|estimate|estimated|"
    r"at\s{1,3}(?:least|most)|(?:more|less|fewer|greater|higher|lower|other)\s{1,3}than|up\s{1,3}to|"
    r"or\s{1,3}(?:more|less|fewer|higher|lower|above|below|over|under)|and\s{1,3}(?:up|above|over)|"
    r"minimum|maximum|if|unless|depending|depends|either|tops|ballpark|give\s{1,3}or\s{1,3}take|alternatively|or|tentative|tentatively|assuming|"
    r"(?:about|around)(?=\s{0,3}(?:[\d)]|\Z)))\b|[?~≈±≥≤]|(?:\A|(?<=\d))[ -]?ish\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"[\s>*_#`•|\"'(\[-]*+(?:(?:but|oh|ah|no|ok|okay|so|my|the|here\s{1,3}are(?:\s{1,3}(?:my|the))?),?\s{1,3}){0,3}"
    r"(?:wait|actually|corrections?|corrected|correcting|sorry|apologies|i\s{1,3}apologi[sz]e|my\s{1,3}apologies|oops|"
    r"hmm|hold\s{1,3}on|edit(?:ed)?\s{0,3}:|update[d]?|revis(?:ed|ion|ing)|errat(?:um|a)|amended|no[,.!—–]|final\s{0,3}(?:answers?|results?|values?|version|list|response|check|[:*]|\Z)|"
    r"on\s{1,3}(?:second\s{1,3}thoughts?|reflection|review|closer)|(?:upon|after)\s{1,3}(?:re|closer|further|double)|"
    r"re-?check|double-?check|scratch|strike|let\s{1,3}me\s{1,3}(?:re|double|correct|fix|check|try\s{1,3}again))",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:(?:was|is|were|are)\s{1,3}(?:wrong|incorrect|mistaken|a\s{1,3}mistake|an\s{1,3}error)|"
    r"(?:a|an|my)\s{1,3}(?:\w{1,15}\s{1,3})?(?:mistake|error)|mistaken|miscalculat\w{1,4}|miscount\w{0,3}|misread|"
    r"final\s{1,3}answers?|revised\s{1,3}answers?|corrected\s{1,3}answers?|scratch\s{1,3}that|ignore\s{1,3}(?:that|the\s{1,3}(?:above|previous|first|earlier))|"
    r"second\s{1,3}thoughts?|should\s{1,3}have\s{1,3}been|(?:it|that|this)\s{1,3}should\s{1,3}be|let\s{1,3}me\s{1,3}(?:correct|fix|redo|recheck|revise))\b",
    re.IGNORECASE,
)
_CONFIRMS = re.compile(
    r"\b(?:no|not|without|nothing)\s{1,3}(?:\w{1,12}\s{1,3}){0,2}(?:corrections?|mistakes?|errors?|wrong)\b",
    re.IGNORECASE,
)

_GIVES = re.compile(
    r"\b(?:should\s{1,3}be|make\s{1,3}(?:it|that)|i\s{1,3}meant?|(?:it|that|answer)(?:['’]s|\s{1,3}is)|correction\s{0,3}:\s{0,3}\S)",
    re.IGNORECASE,
)
_STANDS = re.compile(r"\b(?:right|correct|fine|ok|okay|good|stands?|confirmed|checks?)\b", re.IGNORECASE)
#: Characters of a line that gives another value and no more.
_SHORT = 80


def resolved(text: str) -> str:
    """An answer as it stands after its writer has taken something back; empty where nothing is left."""
    text = _STRUCK.sub(" ", text).strip()
    last = None
    for found in _TAKEN_BACK.finditer(text):
        before = text[max(0, found.start() - 4) : found.start()].rstrip()
        if found["strong"] or not before or before[-1] in _PAUSES:
            last = found
    if last and (behind := text[last.end() :].strip()):
        text = behind[_match_end(_AFTER, behind) :]
        text = text[_match_end(_FILLER, text) :]
    elif last and last.start():
        return ""
    text = text[_match_end(_NOT_BUT, text) :]
    wrong = _IS_WRONG.match(text)
    if wrong and _DENIES.search(wrong[0]):
        text = text[wrong.end() :]
        text = text[_match_end(_FILLER, text) :]
    return _NOT_BEHIND.sub("", _NOT_IN_BRACKETS.sub("", text)).strip()


def hedged(text: str) -> bool:
    """Whether a text guesses, bounds, asks, sets a condition or offers a choice."""
    return _HEDGE.search(text) is not None


def concluded(text: str) -> str:
    """What a text ends by concluding (`12 boxes of 4, so 48`), where nothing before is a guess; else nothing."""
    found = _THEREFORE.match(text)
    return text[found.end() :] if found and not hedged(found[0]) else ""


def corrects(line: str) -> bool:
    """Whether a line between answers says that those behind it stand for those before it."""
    return bool(_BEGINS.match(line) or _SAYS.search(line)) and not _CONFIRMS.search(line)


def amends(line: str) -> bool:
    """Whether a line is a correction that itself gives another value: `Wait, it should be 48.`"""
    return len(line) <= _SHORT and bool(_BEGINS.match(line) and _GIVES.search(line)) and not _STANDS.search(line)


def _match_end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
