"""Scores of the rule judge for the trials of a cell, and of any judge's scores the misses that a reply declines."""

from collections.abc import Sequence

from rcwt.base.records import TrialRecord
from rcwt.scoring.abstentions import abstained_items
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


def with_abstentions(
    scores: TrialScores, record: TrialRecord, items: Sequence[Item], demands: Sequence[str]
) -> TrialScores:
    """Scores of a reply in free text, whoever judged it, with those misses marked that the reply declines to answer.

    What the judge credits is no abstention, and what it left open stays open.
    """
    reply = reply_of(record)
    if reply is None or scores.status != "scored":
        return scores
    declined = abstained_items(reply, items, demands)
    return scores.model_copy(update={"abstained_items": tuple(item for item in declined if scores.items[item] == 0)})
