"""Words by which a reply declines to give a value: "not stated", "N/A", "the reference does not say".

The instruction of the main task asks for "not stated"; models say it in many other ways. What declines is told by its
words alone, so that tasks, fields, named answers and benchmark packs see the same.
"""

import re

from rcwt.base.phrases import one_of

_TOLD = one_of("""
    stated, given, specified, mentioned, provided, available, disclosed, named, listed, included, shown, visible, found
    present, indicated, recorded, reported, covered, addressed, defined, known, established, determined, determinable
    answered, answerable, supplied, quoted, legible, readable, contained, discernible, inferable, derivable, recoverable
    documented, described, clear
""")
_TELLS = one_of("""
    say, state, give, mention, specify, name, provide, tell, include, contain, indicate, disclose, cover, reveal, show
    list, answer, report, quote, supply, address, settle, identify, cite, find, determine, know, define, record, note
""")
_WHAT = one_of(r"""
    information, mention, figures?, values?, numbers?, data, answer, indication, statement, details?, estimates?
    duration, names?, evidence, reference, record, trace, limit, rate, framework, recommendation, ramp-up
""")
_NOT = r"(?:not|never|nowhere|n't|n’t|cannot|neither)"
_SOME_WORDS = r"(?:\s+(?!only\b)[a-z]+){0,2}?"
#: A phrase that declines, anywhere in a text in any case. Words may stand between "not" and what is not done.
DECLINING = re.compile(
    one_of(rf"""
    \b{_NOT}{_SOME_WORDS}\s+{_TOLD}\b
    (?:\b{_NOT}|n't|n’t){_SOME_WORDS}\s+(?!need\b|have\b){_TELLS}(?!\w)
    \bun(?:stated|specified|known|disclosed|available|answerable|determined|named|mentioned|answered)\b
    \bindeterminate\b
    \bno(?:\s+[a-z-]+){{0,3}}?\s+{_WHAT}(?:\s+[a-z/-]+){{0,5}}?\s+{_TOLD}\b
    \bno\s+(?:information|mention|answer|data|indication)\b
    \b(?:silent|unsure)\s+(?:on|about|as)\b
    \bsays?\s+nothing\b
    \bnothing\s+(?:in|about|on|is|was)\b
    \bno\s+idea\b
    \b(?:gives?|names?|states?|provides?|mentions?|specifies|contains?|shows?|holds?)\s+(?:no(?!\s+such)|neither|none)\b
    \b(?:none|nothing)\s+(?:is\s+|was\s+|that\s+is\s+)?{_TOLD}\b
    \bneither\s+(?:is|are|was|were|does|do|did)\b
    (?<![\w/])n\s?/\s?a(?![\w/])
    (?<![\w.])n\.a\.
    \bnot\s+applicable\b
    \babstain(?:s|ed|ing)?\b
    \b(?:missing|absent|omitted|cut\s+off|left\s+out|lost)\s+(?:from|in|before)\b
    \b(?:unable|impossible)\s+to\s+(?:say|tell|determine|answer|find|state|know|give)\b
    \b(?:insufficient|not\s+enough)\s+(?:information|context|data|evidence)\b
    \b(?:do\s+not|don't|don’t)\s+know\b
    """),
    re.IGNORECASE,
)
_WORDS = one_of("""
    unknown, n/?[.]?a[.]?, missing, abstain(?:ed|s)?, unstated, unspecified, undisclosed, unavailable, unanswered, null
    undefined, absent, tbd, skip(?:ped)?, no answer, not sure, unsure, unclear, (?:i )?can(?:not|'t|’t) (?:say|tell)
""")
#: A whole answer that declines in a word.
_ALONE = re.compile(rf"\W*{_WORDS}\W*", re.IGNORECASE)
#: Characters of an answer that may decline.
_LONGEST = 400


def declines(answer: str) -> bool:
    """Whether a short answer declines: it says so, and no number stands beside it.

    An answer such as "none" may be a value, and declines nothing.
    """
    text = answer.strip()
    if not text or len(text) > _LONGEST:
        return False
    if _ALONE.fullmatch(text):
        return True
    return bool(DECLINING.search(text)) and not re.search(r"\d", text)
