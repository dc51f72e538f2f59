"""Scores of replies that have one right form: exact fields and named answers, by rule, for the trials of a cell.

What a model did not say is a miss, and said to be one of three kinds, which are counted apart: the call holds no answer
at all (`non_answer`), its reply has not the form that was asked for (`unparsed`), or the output cap cut the answer off
(`truncated`). Only what a *judge* did not say is missing.
"""

from collections.abc import Mapping, Sequence

from rcwt.base.records import TrialRecord
from rcwt.scoring.answers import score_answers
from rcwt.scoring.fields import score_fields
from rcwt.scoring.items import ExactField, NamedAnswer
from rcwt.scoring.outcomes import TrialScores, non_answer, reply_of


def by_fields(records: Sequence[TrialRecord], fields: Sequence[ExactField]) -> list[TrialScores]:
    """Scores of the fields of each reply's JSON object; a reply without one is `unparsed`."""
    scores = []
    for record in records:
        reply = reply_of(record)
        given = {} if reply is None else score_fields(reply, fields) or {}
        scores.append(non_answer(record, fields) if reply is None else _outcome(record, fields, given))
    return scores


def by_answers(records: Sequence[TrialRecord], answers: Sequence[NamedAnswer]) -> list[TrialScores]:
    """Scores of the named answers of each reply; a reply without any is `unparsed`.

    Of a reply that the output cap cut, the answers that are not there are `truncated`: they are misses that say
    nothing of what the model would have answered.
    """
    scores = []
    for record in records:
        reply = reply_of(record)
        given = {} if reply is None else score_answers(reply, answers)
        absent = tuple(answer.id for answer in answers if answer.id not in given)
        cut = absent if record.response.status == "truncated" else ()
        scores.append(non_answer(record, answers) if reply is None else _outcome(record, answers, given, cut))
    return scores


def _outcome(
    record: TrialRecord,
    asked: Sequence[ExactField | NamedAnswer],
    given: Mapping[str, int],
    cut: tuple[str, ...] = (),
) -> TrialScores:
    """The scores of a reply that gives some of what was asked; the rest are misses, those in `cut` cut off."""
    items: dict[str, int | None] = {one.id: given.get(one.id, 0) for one in asked}
    return TrialScores(trial=record.trial, status="scored" if given or cut else "unparsed", items=items, cut_items=cut)
