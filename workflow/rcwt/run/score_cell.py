"""A cell's replies scored by one judge: the rules, a person's audit, or a language model.

Trials whose prompt the server cut have none.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rcwt.base.digests import file_digest
from rcwt.base.reasoning import answered
from rcwt.base.records import Response, TrialRecord, planned_records
from rcwt.base.request import Request
from rcwt.base.statuses import PROMPT_CUT
from rcwt.config.schema import HUMAN_JUDGE, RULES_JUDGE
from rcwt.scoring.by_form import by_answers, by_fields
from rcwt.scoring.by_human import by_human, read_audit_scores
from rcwt.scoring.by_packs import by_packs
from rcwt.scoring.by_rules import by_rules
from rcwt.scoring.items import Item
from rcwt.scoring.model_judge import by_model
from rcwt.scoring.outcomes import CellScores, TrialScores, unscored, with_abstentions
from rcwt.scoring.patterns import RunawayPatternError
from rcwt.study.tasks import runaway

if TYPE_CHECKING:
    from rcwt.study.study import Study


def score_cell(study: "Study", condition: str, judge: str, calls: Path, audit: Sequence[str]) -> CellScores:
    """Score a cell's calls file. `audit` is the file of the person's scores, for the judge `human` alone.

    Raises CallError where a language-model judge could not be reached; what it has answered is in the cache.
    Raises TaskError naming a pattern of the task that runs away on a reply: the cell has no scores then.
    """
    trials, identity = study.conditions[condition].trials, study.call_identity(condition, calls.parent.name)
    records = planned_records(calls, condition, study.prompts[condition].sha256, trials, identity)
    # What answers a prompt that the server cut answers another question: no judge is asked about it.
    whole = [record for record in records if record.response.status != PROMPT_CUT]
    try:
        scored = {scores.trial: scores for scores in _judged(study, condition, judge, whole, audit)}
    except RunawayPatternError as error:
        task = study.tasks[study.conditions[condition].task]
        raise runaway(task, error, f"a reply of {records[0].model} to {condition}") from None
    items = study.item_ids(condition)
    scores = [scored.get(record.trial) or unscored(record, items) for record in records]
    return CellScores(
        condition=records[0].condition,
        model=records[0].model,
        judge=judge,
        judge_digest=study.judge_digest(condition, judge),
        calls_sha256=file_digest(calls),
        scores=tuple(scores),
    )


def _judged(
    study: "Study", condition: str, judge: str, records: Sequence[TrialRecord], audit: Sequence[str]
) -> list[TrialScores]:
    asked = study.conditions[condition]
    task = study.tasks[asked.task]
    items = task.items
    if pack := study.pack_of(asked):
        return by_packs(records, pack.questions)
    if asked.question is not None:
        return by_fields(records, task.fields)
    if asked.kind == "algorithmic":
        return by_answers(records, task.answers)
    if judge == RULES_JUDGE:
        scored = by_rules(records, items, task.demands)
    elif judge == HUMAN_JUDGE:
        scored = by_human(records, items, read_audit_scores(Path(audit[0])))
    else:
        scored = _by_model(study, condition, judge, records, items)
    judged = zip(scored, records, strict=True)
    return [with_abstentions(scores, record, items, task.demands) for scores, record in judged]


def _by_model(
    study: "Study", condition: str, judge: str, records: Sequence[TrialRecord], items: Sequence[Item]
) -> list[TrialScores]:
    from rcwt.calls.runtime import current  # only a process that makes calls needs the models' code

    tags = study.reasoning_tags(judge)

    def ask(requests: Sequence[Request]) -> list[Response]:
        cell = f"{condition}/{records[0].model} by {judge}"
        responses = current(study.config).answer(requests, judge, "judge", cell, study.preflight_of(judge))
        return [answered(response, tags) for response in responses]

    return by_model(records, items, study.judge_identity(condition, judge), ask)
