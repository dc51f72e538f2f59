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
    list, answer, report, quote, supply, appear
    address, settle, identify, cite, find, determine, know, define, record, note
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
    (?:\b{_NOT}|n't|n’t){_SOME_WORDS}\s+{_TOLD}\b
    (?:\b{_NOT}|n't|n’t){_SOME_WORDS}\s+(?!need\b|have\b){_TELLS}(?!\w)
    \bun(?:stated|specified|known|disclosed|available|answerable|determined|named|mentioned|answered)\b
    \bindeterminate\b
    \bno(?:\s+[a-z-]+){{0,3}}?\s+{_WHAT}(?:\s+[a-z/-]+){{0,5}}?\s+{_TOLD}\b
    \bno(?:\s+[a-z][\w/-]*){{1,5}}?\s+(?:is|are|was|were|can\s+be|could\s+be)\s+{_TOLD}\b
    \bno\s+(?:information|mention|answer|data|indication)\b
    \b(?:silent|unsure)\s+(?:on|about|as)\b
    \bsays?\s+nothing\b
    \bnothing\s+(?:in|about|on|is|was)\b
    \bno\s+idea\b
    \b(?:gives?|names?|states?|provides?|mentions?|specifies|contains?|shows?|holds?)\s+(?:no(?!\s+such)|neither|none)\b
    \b(?:none|neither|nothing)(?:\s+\w[\w/-]*){{0,6}}?\s+{_TOLD}\b
    \bneither\s+(?:is|are|was|were)\s+(?:the|an?|its|that|any|{_TOLD})\b
    \bneither\s+(?:does|do|did)\s+(?:[a-z]+\s+){{1,4}}?{_TELLS}\b
    (?<![\w/])n\s?/\s?a(?![\w/])
    (?<![\w.])n\.\s?a\.
    \bnot\s+(?:to\s+be\s+found\s+)?(?:in|within|part\s+of)\s+(?:the|this|my|what)\b
    \b(?:stops?|ends?|breaks?\s+off|(?:is|was)\s+cut(?:\s+off)?)\s+before\b
    \bunclear\s+(?:from|in)\b
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
# A part of the material is no value.
_PLACE = re.compile(
    r"\b(?:sections?|parts?|questions?|demands?|pages?|chapters?|tables?|items?|points?|paragraphs?|answers?|agents?|participants?)"
    r"\s?#?\d{1,3}\b",
    re.IGNORECASE,
)
# What may stand before the words that decline; anything else is a value, as in "Option B; the reason is not stated".
_OPENING = re.compile(
    r"\W*(?:(?:in|within|from|on|by|based|as|given|according|sorry|well|hmm|unfortunately|regrettably|alas|the|this|my|i|it"
    r"|there|that|answer|value|result)\b[^.;:,()—–]{0,80})?\Z",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;:,()—–]|\s-\s|\b(?:though|although|but|whose|which|while|whereas)\b", re.IGNORECASE)
_NAMED_UNKNOWN = re.compile(r"\b(?:the|an?)\s+un\w+\s+\w", re.IGNORECASE)
#: Characters of an answer that may decline.
_LONGEST = 400


def declines(answer: str) -> bool:
    """Whether a short answer declines: it says so, and no number stands beside it.

    An answer such as "none" may be a value, and declines nothing.
    """
    text = answer.replace("_", " ").strip()
    if not text or len(text) > _LONGEST:
        return False
    if _ALONE.fullmatch(text):
        return True
    found = DECLINING.search(text)
    if found is None or re.search(r"\d", _PLACE.sub("", text)) or _NAMED_UNKNOWN.match(text):
        return False
    before, label = text[: found.start()], text.find(":")
    clauses = _CLAUSE.split(before[label + 1 :] if 0 <= label < found.start() else before)
    return len(clauses) == 1 or all(_OPENING.match(clause) for clause in clauses[:-1])
