"""Scores of replies that have one right form: exact fields and named answers, by rule, for the trials of a cell.

What a model did not say is a miss, and said to be one of four kinds, which are counted apart: the call holds no answer
at all (`non_answer`), its reply has not the form that was asked for (`unparsed`), the output cap cut the answer off
(`truncated`), or the reply declines to give it (`abstained`). Only what a *judge* did not say is missing.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from rcwt.base.declining import declines
from rcwt.base.records import TrialRecord
from rcwt.scoring.answers import declined_answers, score_answers
from rcwt.scoring.fields import declined_fields, score_fields
from rcwt.scoring.items import ExactField, NamedAnswer
from rcwt.scoring.outcomes import TrialScores, non_answer, reply_of


def by_fields(records: Sequence[TrialRecord], fields: Sequence[ExactField]) -> list[TrialScores]:
    """Scores of the fields of each reply's JSON object; a reply without one is `unparsed`."""
    scores = []
    # The trials of a cell often say the same.
    read, refused = (
        cache(lambda reply: score_fields(reply, fields)),
        cache(lambda reply: declined_fields(reply, fields)),
    )
    for record in records:
        reply = reply_of(record)
        given = {} if reply is None else read(reply) or {}
        declined = () if reply is None else _declined(reply, refused(reply), given, fields)
        scores.append(non_answer(record, fields) if reply is None else _outcome(record, fields, given, (), declined))
    return scores


def by_answers(records: Sequence[TrialRecord], answers: Sequence[NamedAnswer]) -> list[TrialScores]:
    """Scores of the named answers of each reply; a reply without any is `unparsed`.

    Of a reply that the output cap cut, the answers that are not there are `truncated`: they are misses that say
    nothing of what the model would have answered.
    """
    scores = []
    names = [answer.id for answer in answers]
    read, refused = (
        cache(lambda reply: score_answers(reply, answers)),
        cache(lambda reply: declined_answers(reply, names)),
    )
    for record in records:
        reply = reply_of(record)
        given = {} if reply is None else read(reply)
        declined = () if reply is None else _declined(reply, refused(reply), given, answers)
        absent = tuple(name for name in names if name not in given and name not in declined)
        cut = absent if record.response.status == "truncated" else ()
        scores.append(non_answer(record, answers) if reply is None else _outcome(record, answers, given, cut, declined))
    return scores


def _declined(
    reply: str, named: tuple[str, ...], given: Mapping[str, int], asked: Sequence[ExactField | NamedAnswer]
) -> tuple[str, ...]:
    """What a reply declines by name, or all that is asked where it says no more than that it declines."""
    return tuple(one.id for one in asked) if not named and not given and declines(reply) else named


def _outcome(
    record: TrialRecord,
    asked: Sequence[ExactField | NamedAnswer],
    given: Mapping[str, int],
    cut: tuple[str, ...],
    declined: tuple[str, ...],
) -> TrialScores:
    """The scores of a reply that gives some of what was asked.

    The rest are misses: those in `cut` were cut off, those in `declined` the reply declines to give.
    """
    items: dict[str, int | None] = {one.id: given.get(one.id, 0) for one in asked}
    return TrialScores(
        trial=record.trial,
        status="scored" if given or cut or declined else "unparsed",
        items=items,
        cut_items=cut,
        abstained_items=declined,
    )
