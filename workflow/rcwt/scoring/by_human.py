"""Scores that a person gave to a sample of trials, as one more judge of a cell."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rcwt.base.digests import digest
from rcwt.base.records import TrialRecord
from rcwt.base.sealed import damaged, read_json, require_seal
from rcwt.scoring.items import Item
from rcwt.scoring.outcomes import TrialScores, non_answer, reply_of, unscored

#: A person's scores: 0 or 1 by item, by sample id; an item that was left open is not there.
Audit = Mapping[str, Mapping[str, int]]


def sample_id(record: TrialRecord) -> str:
    """The name under which a trial is shown to a person: it tells nothing of model, share or order.

    It depends on the trial alone, so that a file stays good when the sample is drawn anew. It begins with a letter
    because spreadsheets would read some hexadecimal texts as numbers.
    """
    return "s" + digest(["audit", record.condition, record.model, record.trial, record.request_key])[:12]


def read_audit_scores(path: Path) -> Audit:
    """Read the scores that `rcwt.trials.audit` has checked and written. Raises StaleResultError for anything else."""
    scores = read_json(path)
    for sample, items in scores.items():
        if not isinstance(items, dict) or any(
            type(score) is not int or score not in (0, 1) for score in items.values()
        ):
            raise damaged(path, f"{sample} has other scores than 0 and 1")
    require_seal(path)
    return scores


def by_human(records: Sequence[TrialRecord], items: Sequence[Item], audit: Audit) -> list[TrialScores]:
    """Scores of a person, one a record. A trial that is not in the sample, or was left open, has none.

    A response that holds no answer is a miss by rule under this judge as under all others.
    """
    scores = []
    for record in records:
        given = audit.get(sample_id(record))
        if reply_of(record) is None:
            scores.append(non_answer(record, items))
        elif not given:
            scores.append(unscored(record, [item.id for item in items]))
        else:
            outcome = {item.id: given.get(item.id) for item in items}
            scores.append(TrialScores(trial=record.trial, status="scored", items=outcome))
    return scores
