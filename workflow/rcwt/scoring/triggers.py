"""The vocabulary of assertions: which words deny, doubt, disclaim or take back, in normalised text.

Kinds of triggers and their scopes are those of NegEx and ConText; see `rcwt.scoring.assertions`, which acts on them.
"""

import re

from rcwt.base.phrases import one_of


def _words(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b{one_of(phrases)}\b")


# A word that takes back only where a pause stands before it: clients wait, and a rule is actually there.
_WEAK = one_of("wait, actually, hmm+, sorry, apologies, rather(?! than)")
_STRONG = one_of(r"""
    no,? wait, wait,? no, actually,? no, no,? actually, corrections?:?, corrected:?, scratch that, strike that
    i mean, i meant, make that, or rather, on second (?:thou?ghts?|reading|look), on (?:reflection|re-?reading)
    my mistake, i misread, oops, let me correct(?: that| this)?
""")
_CONJUNCTIONS = one_of(
    "but, whereas, while, whilst, although, though, however, yet, because, since, before, until, so that, when"
)
_BEGINS = one_of(r"""
    and, so, which, who, that, with, where, as, it, they, he, she, we, one, this, these, then, or rather, not, whatever
    despite, regardless, contrary, unlike, even, rather, never, whose, unless, provided
    if(?! (?:i|memory)\b)
""")
#: A clause ends here; at a comma only before a word that begins another one.
CLAUSE_END = re.compile(
    rf"[;()]|(?<!\d)[.:](?= )|(?<= )-(?= )| \| |,? \b{_CONJUNCTIONS}\b|, (?={_BEGINS}\b)",
)
#: A clause that begins with one of these ends at its first comma.
ENDS_AT_COMMA = re.compile(
    one_of(r"""
    which, who, whose, where, unlike, contrary, despite, instead of, rather than, whatever, regardless, although, though
    while, whilst, whereas, (?:if|unless)(?! (?:i|memory)\b), whether, in case, provided
    """)
    + r"\b"
)
#: Of two quantities that are compared both are asserted: "5 ms instead of the 1 ms that Pub/Sub takes".
COMPARED = re.compile(
    r"\b(?:instead of|rather than)(?= (?:the |a )?\d[^,;]{0,20}? (?:that|which|of|with|for|in)\b)"
    r"|\b(?:against|versus|as opposed to)(?= (?:the |its |a )?\d)"
    r"|\b(?:instead of|rather than|unlike)(?= [^,;.]{1,40}, whose [^,;.]{0,60}\d)",
)

#: What looks like a negation and is none (pseudo-negation).
NO_NEGATION = _words(r"""
    not (?:only|just|merely|least|counting|including), no (?:doubt|longer than|matter|fewer than|such|extra)
    without (?:a |any )?(?:doubt|exception|question)
    (?:nothing|nobody|none|no one|no 1) (?:but|else than|other than|except|less than)
    (?:cannot|not) [a-z]{1,30} without
    no [a-z]{1,30} (?:but|other than|except), not to be exceeded, not least
""")
_HARD = one_of("clearly, explicitly, actually, certainly, therefore, also")
#: Denies its whole clause, what stands before it too.
NEGATES_CLAUSE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)(?: {_HARD})?(?: not|n't)\b(?! (?:only|just)\b)"
    rf"|\b(?:is|are|was|were|been|got|be) "
    + one_of(r"""
    wrong, incorrect, false, untrue, rejected, ruled out, dropped, discarded, abandoned, withdrawn, refuted, denied
    disputed, excluded, mistaken, no longer
    """)
    + r"\b|\b(?:despite|falsely|wrongly)\b|\b(?:not|n't) (?:be )?(?:enough|suffic\w+)\b"
    r"|\b(?:considered|weighed|discussed|evaluated|proposed|tried)\b[^,;]{0,60} and (?:then |later )?"
    r"(?:dropped|rejected|discarded|abandoned|ruled out)\b"
)
#: Denies what follows it in its clause.
NEGATES = re.compile(
    r"\b"
    + one_of(r"""
    not, never, no, nor, neither, without, cannot, nobody, no one, no 1, (?<!or )none, nowhere, nothing
    rather than, instead of, in place of, far from, anything but, unlike
    rejects?, rejected, rules? out, ruled out, denies, denied, excludes?, excluded, avoids?, dismiss(?:es|ed), against
    fails? to, failed to, refuses? to, hardly, barely
    """)
    + r"\b|n't\b"
)
#: Denies what follows `over`.
CHOSEN_OVER = re.compile(
    r"\b(?:chosen|chose|prefer\w*|favou?r\w*|pick\w*|select\w*|recommend\w*|adopt\w*|wins?"
    r"|won)\b[^,;]{0,60}?\b(?P<over>over)\b"
)
#: Leaves open whether its clause holds, or says that it held once.
DOUBTS = _words(r"""
    (?<!no )(?<!without )(?<!without a )(?<!any )doubt(?:s|ed)?, unless i, i would expect
    might, could(?! (?:not|only) be), perhaps, maybe, possibly, probably, presumably, conceivably, arguably, supposedly
    allegedly, reportedly, apparently, likely, unclear, uncertain, unsure, unconfirmed, questionable, doubtful
    unverified, tentatively, whether, seems?, seemed, appears? (?:to|that), appeared to, guess(?:es|ing)?, suspects?
    assum(?:e|es|ed|ing), assumption, speculat\w+, would(?= [^.;]{0,80}\bif\b), previously, formerly, used to be
    (?:is|was|are|were) (?:one|1) of (?:the|several|many|some), unless i am, if i am not, if memory serves
    on (?:one|1) of (?!the\b)
    hypothetical\w*, suppos(?:e|ing), i (?:think|believe|recall|expect)
    i would say, if i (?:recall|remember)\w*, may (?:be|have|take|well|need|reach|use|mean|or), undecided
    to be (?:decided|determined|confirmed), not sure, somewhere between, either, depending on, potentially
    rumou?red
    (?:first|originally|initially|previously|formerly|once) (?:estimated|planned|stated|set|put|given|thought)
    (?:first|originally|initially|previously|formerly|once) (?:named|chosen)
""")

_SOMEBODY = one_of(r"""
    agents?, participants?, colleagues?, members?, someone, somebody, speakers?, users?, people, others, planners?
    reviewers? \d, facilitators?, moderators?, proposals?, earlier notes?, older notes?, drafts?, discussions?
    roundtable
    debate, chat, thread, transcript, minutes, coordination
""")
_TALK = one_of("call, meeting, team, thread, chat, discussion, roundtable, room, debate, panel")
_CLAIMS = one_of(r"""
    claim, say, said, suggest, propos, spoke, speak, mention, argu, believ, think, thought, guess, estimat, want, prefer
    assum, recommend, advocat, favou?r, insist, hold, put, giv, gave, nam, quot, cit, stat, ask, push, float, rais
    offer
    expect, assert, report, talk, bring, brought, voic, had, remark, fear, wish, recall, back
""")
_CLAIMED = one_of(r"""
    says?, claims?, states?, writes?, adds?, recalls?, thinks?, believes?, remarks?
    according to, said, claimed, suggested, proposed, mentioned, raised, floated, quoted, stated, voiced, named, given
    put forward
""")
#: Says that its clause is what somebody said, and not what the material says.
OF_OTHERS = re.compile(
    rf"\b{_SOMEBODY}(?: (?:\d+|[a-z]\b|[a-z]+ agent|(?:on|in|at) the {_TALK}))?"
    rf"(?:'s\b| (?:[a-z]+ )?{_CLAIMS}\w*)"
    rf"|\b{_CLAIMED} (?:only )?(?:by |in |from )?(?:the |an? |1 |one |another |some )?(?:[a-z]+ )?{_SOMEBODY}\b"
    r"|\b(?:proposal|suggestion|claim|hypothesis|idea|rumou?r) (?:is|was) that\b"
    rf"|\b(?:per|from|by) (?:the )?{_SOMEBODY}(?: \d+)?\b|\bin the (?:discussion|roundtable|debate|chat|thread"
    rf"|transcript)\b"
)
#: Says that its clause is the writer's own knowledge, and not what the material says.
OWN_KNOWLEDGE = _words(r"""
    (?:general|common|background|prior|outside|own|world) knowledge, commonly known, well[- ]known, from memory
    training data, rule of thumb, common default, commonly, usually, normally, typical(?:ly)?, from elsewhere
    i (?:supplied|added|filled|happen to know|know|remember), outside the reference
    (?<!not )(?:my|a|an educated|best) (?:own )?guess
    (?:made|making) (?:this|that|it|them) up, invented, industry (?:figure|average|standard|norm)
    not (?:from|part of|based on) (?:the|this) (?:reference|text|document|excerpt|material|prompt)
    would (?:be|have been) (?:usual|typical|normal|common|customary|standard|reasonable|plausible|likely|expected)
    (?:my|a|an educated|best) (?:own )?assumption, usual(?:ly)? (?:default|limit|value|figure)
    (?:public|vendor'?s?|official) documentation
""")
#: Begins a clause that holds only in a case that is not said to hold.
SUPPOSES = re.compile(r"\W*(?:and |or |but )?(?:if|unless|provided that|in case)\b")
#: Begins a clause or sentence that says of what stands before it that it is wrong, or not known to be right.
RETRACTS = re.compile(
    r"\W*(?:or (?:maybe|perhaps) not\b|not (?:from|in|part of|based on) (?:the|this) (?:reference|text"
    r"|document|excerpt|material)\b"
    r"|(?:and |but |though |although )?(?:this|that|it|which|these|both|the (?:figure|value|number"
    r"|claim))(?: figures?| values?| numbers?)?"
    r" (?:is|are|was|were|remains?)(?: only| just| merely| still)? (?:an? )?"
    + one_of(r"""
    unconfirmed, uncertain, unverified, unproven, (?:mere )?assumption, (?:mere )?guess, estimate of mine, doubtful
    questionable
    disputed, wrong, false, incorrect, untrue, mistaken, speculation, not (?:true|right|correct|certain|sure|confirmed)
    """)
    + r"\b)"
)
#: Ends a clause about what was said before it.
SAYS_IT = re.compile(r"\b(?:it|them|so|(?:this|that|these|those)(?: (?:information|figures?|values?|numbers?))?)\W*\Z")
#: Begins a sentence that rests on what its first clause names.
BASED_ON = re.compile(r"\W*(?:based on|going by|from|by|as per|drawing on|using|according to)\b")
#: Begins a sentence that disowns the one before.
DISOWNS = re.compile(
    r"\W*(?:please |but )?(?:(?:disregard|ignore|forget|strike|scratch) (?:this|that|it|the (?:above|figure"
    r"|value|number)s?)\b"
    r"|i (?:just |have )?(?:made|invented|imagined|guessed) (?:this|that|it|the (?:figure|value|number))\b)"
)
#: Begins a clause or a sentence about what was said before.
REFERS_BACK = re.compile(
    r"\W*(?:and |but |though |although )?"
    + one_of(r"""
    this, that, these, those, it, its, they, both, the (?:figures?|values?|numbers?|latter|former)(?! of\b), which
    all of (?:this|these)
    """)
    + r"\b"
)
#: Names the material that a reply is to answer from.
SOURCE = _words("reference, text, document, excerpt, part, passage, source, material, prompt, page")
#: A question for a value, and not for yes or no.
ASKS_WHAT = _words("how, what, which, who, whose, when, where")

#: Takes back all that stands before it.
WITHDRAWS = _words(r"""
    (?:scratch|strike|forget|ignore|disregard) (?:that|this|it|these|those|the (?:above|figures?|values?|numbers?))
    (?:the )?other way (?:a)?round, vice versa
""")
#: Takes back the value before it, inside a sentence.
CORRECTS = re.compile(
    rf"(?:(?:(?<![(.,;:!-])[(.,;:!-]++ ?|(?<![\s(.,;:!-])[\s(.,;:!-]++(?={_STRONG}))(?:(?:oh|hmm|ah|er|um|oops"
    rf"|well),? )?)(?:{_STRONG}|{_WEAK}|no(?=[,:]))"
    r"(?: (?:that is|that's|it is|it's|should be|it should be|i misread|i mean|no))?\b[,:.!]*(?= )"
    r"(?! (?:is|was|are|were|has|have|does|do|will|needs?|takes?)\b)"
)
#: Begins a sentence that takes back the value of the one before.
CORRECTS_BEFORE = re.compile(rf"\W*(?:(?:oh|hmm+|ah|er|um|oops|well)\b,? ?)?(?:{_STRONG}|{_WEAK})(?:\b|(?<=:))")
