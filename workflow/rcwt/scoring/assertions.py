"""What a passage asserts: text that is denied, doubted, bounded, asked, disclaimed or taken back asserts nothing.

A small layer for every task, after NegEx (Chapman et al. 2001, J. Biomed. Inform. 34) and ConText (Harkema et al. 2009,
J. Biomed. Inform. 42): a trigger (`rcwt.scoring.triggers`) has a scope, which ends where its clause ends. `not` acts
forwards, `is not` on the whole clause, as do words of doubt, what declines (`rcwt.base.declining`) and words of
somebody else. Of two candidates neither is asserted (`rcwt.scoring.quantities`); of a correction, what stands before
it is not.

All works on normalised text (`rcwt.scoring.normalise`), and only takes text out: patterns are then read on the rest.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from rcwt.base.declining import DECLINING
from rcwt.base.phrases import last_match
from rcwt.scoring import triggers
from rcwt.scoring.quantities import QUANTITY, TAKEN, Bound, one_candidate, within_bound

#: What stands between the headings, labels and the sentence of a passage.
_PART = " | "
#: Characters behind a correction in which its value stands.
_NEAR = 60


@lru_cache(maxsize=8192)
def asserted(passage: str, bound: Bound = None, *, candidates: bool = True) -> str:
    """`passage` with what it does not assert taken out; `bound` is what the fact at hand may be stated with.

    Each of its parts (a heading, a label, the sentence) is read by itself. Without `candidates`, two values beside
    each other stay, for a reader that has a rule of its own for them.
    """
    parts = passage.split(_PART)
    answers = [*parts[1:], ""]
    return _PART.join(
        _asked(part, answer) if part.endswith("?") else _part(part, bound, candidates=candidates)
        for part, answer in zip(parts, answers, strict=True)
    )


def standing(sentences: Sequence[str]) -> list[str]:
    """The sentences of a text that stand.

    One that corrects goes on from the one before, and one that disclaims what it refers to takes that away.
    """
    kept: list[str] = []
    for sentence in sentences:
        plain = sentence.lower().replace("’", "'")
        if kept and triggers.CORRECTS_BEFORE.match(plain):
            kept[-1] = f"{kept[-1].rstrip('. ')} - {sentence}"
            continue
        if kept and _takes_away(plain):
            kept[-1] = ""
        kept.append(sentence)
    return [sentence for sentence in kept if sentence]


def clauses(text: str) -> list[str]:
    """The clauses of a passage, its headings and labels among them."""
    return [text[start:end] for start, end in _clauses(text)]


def _takes_away(sentence: str) -> bool:
    """Whether a sentence in lower case says of the one before that it is not so, or not the material's."""
    if triggers.DISOWNS.match(sentence) or triggers.RETRACTS.match(sentence):
        return True
    about = triggers.REFERS_BACK.match(sentence) or triggers.SAYS_IT.search(sentence)
    return bool(about) and _disclaims(sentence)


def _disclaims(sentence: str) -> bool:
    told = triggers.OWN_KNOWLEDGE.search(sentence) or triggers.OF_OTHERS.search(sentence)
    return bool(told or (DECLINING.search(sentence) and triggers.SOURCE.search(sentence)))


def _asked(question: str, answer: str) -> str:
    """What a question tells of its answer: the subject, and what it asks whether it holds, if the answer is yes."""
    if answer.startswith("yes"):
        return question
    return QUANTITY.sub(TAKEN, question) if answer and triggers.ASKS_WHAT.search(question) else TAKEN


def _part(text: str, bound: Bound, *, candidates: bool) -> str:
    text = within_bound(triggers.COMPARED.sub("beside", _corrected(text)), bound)
    return _without_scopes(one_candidate(text) if candidates else text)


def _corrected(text: str) -> str:
    """`text` without what its writer takes back: the last number where another follows, else the last word."""
    if withdrawn := last_match(triggers.WITHDRAWS, text):
        text = TAKEN + text[withdrawn.end() :]
    pieces, at = [], 0
    for marker in triggers.CORRECTS.finditer(text):
        behind = text[marker.end() : marker.end() + _NEAR]
        pieces.append(_without_last(text[at : marker.start()], number=bool(re.search(r"\d", behind))))
        at = marker.end()
    return "".join([*pieces, text[at:]])


def _without_last(text: str, *, number: bool) -> str:
    if number:
        last = last_match(QUANTITY, text)
        return text[: last.start(1)] + TAKEN + text[last.end(1) :] if last else text
    before, _, word = text.rstrip(" ,.;:-").rpartition(" ")
    return f"{before} {TAKEN}" if word else text


def _without_scopes(text: str) -> str:
    """`text` without the clauses, and parts of them, that are denied, doubted, declined or somebody else's."""
    spans = _clauses(text)
    kept: list[str] = []
    gone = 0
    for place, (start, end) in enumerate(spans):
        clause = text[start:end]
        disclaimed = any(trigger.search(clause) for trigger in (triggers.OF_OTHERS, triggers.OWN_KNOWLEDGE, DECLINING))
        back = triggers.REFERS_BACK.match(clause) or triggers.SAYS_IT.search(clause)
        if (disclaimed and back) or triggers.RETRACTS.match(clause):
            gone = place
        doubted = triggers.DOUBTS.search(clause) or triggers.SUPPOSES.match(clause)
        own = triggers.OWN_KNOWLEDGE.search(clause)
        if kept and _is_aside(clause, doubted or own):
            kept[-1] = TAKEN
        if own and not place and triggers.BASED_ON.match(clause):
            return TAKEN
        denied = disclaimed or doubted or triggers.NEGATES_CLAUSE.search(clause)
        kept.append(TAKEN if denied else _before_denial(clause))
    kept[:gone] = [TAKEN] * gone
    ends = [0, *(end for _, end in spans)]
    between = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return "".join(part for pair in zip(between, kept, strict=True) for part in pair) + text[ends[-1] :]


def _is_aside(clause: str, unsure: re.Match[str] | None) -> bool:
    """Whether a clause says no more than how sure the one before it is: `8KB (I think)`."""
    return unsure is not None and len(clause.replace(unsure[0], " ").split()) <= 1


def _before_denial(clause: str) -> str:
    """A clause up to the first word that denies what follows."""
    # What only looks like a negation is masked, not taken out.
    masked = triggers.NO_NEGATION.sub(lambda found: "x" * len(found[0]), clause)
    starts = [found.start() for found in (triggers.NEGATES.search(masked),) if found]
    starts += [found.start("over") for found in (triggers.CHOSEN_OVER.search(masked),) if found]
    return clause[: min(starts)] + TAKEN if starts else clause


def _clauses(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a text begin and end."""
    found, at = [], 0
    ends = [*(end.span() for end in triggers.CLAUSE_END.finditer(text)), (len(text), len(text))]
    for end, next_start in ends:
        comma = text.find(", ", at, end) if triggers.ENDS_AT_COMMA.match(text, at) else -1
        if comma >= 0:
            found.append((at, comma))
            at = comma + 2
        found.append((at, end))
        at = next_start
    return found
