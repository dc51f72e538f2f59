"""Scores of the rule judge for the trials of a cell."""

from collections.abc import Sequence

from rcwt.base.records import TrialRecord
from rcwt.scoring.items import Item
from rcwt.scoring.outcomes import TrialScores, non_answer, reply_of
from rcwt.scoring.rules import judge


def by_rules(records: Sequence[TrialRecord], items: Sequence[Item], demands: Sequence[str] = ()) -> list[TrialScores]:
    """Scores of the rule judge; `demands` are those that the instruction numbers.

    A reply that holds no answer is not judged: its items are misses by rule.
    """
    scores = []
    for record in records:
        reply = reply_of(record)
        if reply is None:
            scores.append(non_answer(record, items))
        else:
            outcome: dict[str, int | None] = {**judge(reply, items, demands)}
            scores.append(TrialScores(trial=record.trial, status="scored", items=outcome))
    return scores
