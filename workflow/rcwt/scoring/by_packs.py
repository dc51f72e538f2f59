"""Scores of replies to a pack of benchmark questions, by rule, for the trials of a cell.

A question without an answer line is a miss; where the output cap cut the reply it is counted apart (`truncated`). A
reply without any answer line is `unparsed`, all of its questions misses. An answer that declines is a miss too
(`abstained`).
"""

from collections.abc import Callable, Sequence
from functools import cache

from rcwt.base.declining import declines
from rcwt.base.records import TrialRecord
from rcwt.packs.grading import Grade, grade
from rcwt.packs.items import Question
from rcwt.scoring.outcomes import TrialScores, reply_of


def by_packs(records: Sequence[TrialRecord], questions: Sequence[Question]) -> list[TrialScores]:
    """Scores of each reply to `questions`, which are asked by their numbers from 1."""
    # The trials of a cell often say the same.
    graded = cache(lambda reply, cut: grade(reply, questions, cut=cut))
    return [_scores(record, graded) for record in records]


def _scores(record: TrialRecord, graded: Callable[[str, bool], list[Grade]]) -> TrialScores:
    reply, cut = reply_of(record), record.response.status == "truncated"
    # A response without an answer has no line for any question: each is a miss.
    grades = graded(reply or "", cut)
    said = any(one.outcome not in ("missing", "truncated") for one in grades)
    # A reply without a line for any question may still say that it declines.
    abstained = [one.item for one in grades if one.outcome == "abstained" or (not said and declines(reply or ""))]
    return TrialScores(
        trial=record.trial,
        status="non_answer" if reply is None else "scored" if said or cut or abstained else "unparsed",
        items={one.item: one.score for one in grades},
        cut_items=tuple(one.item for one in grades if one.outcome == "truncated") if reply is not None else (),
        abstained_items=tuple(abstained),
        f1=_f1(grades),
        plain={one.item: one.plain for one in grades if one.f1 is not None} or None,
    )


def _f1(grades: Sequence[Grade]) -> dict[str, float] | None:
    found = {one.item: one.f1 for one in grades if one.f1 is not None}
    return found or None
