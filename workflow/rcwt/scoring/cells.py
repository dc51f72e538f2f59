"""A cell's scores under one judge: the rules, a person's audit, or a language model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rcwt.config import HUMAN_JUDGE, RULES_JUDGE
from rcwt.digests import file_digest
from rcwt.records import Response, TrialRecord, planned_records
from rcwt.responses import Request
from rcwt.scoring.by_form import by_answers, by_fields
from rcwt.scoring.by_human import by_human, read_audit_scores
from rcwt.scoring.by_packs import by_packs
from rcwt.scoring.by_rules import by_rules
from rcwt.scoring.model_judge import by_model
from rcwt.scoring.outcomes import CellScores, TrialScores, read_scores, scores_at, write_scores
from rcwt.task_items import Item

if TYPE_CHECKING:
    from rcwt.study import Study

__all__ = ["CellScores", "TrialScores", "read_scores", "score_cell", "scores_at", "write_scores"]


def score_cell(study: "Study", condition: str, judge: str, calls: Path, audit: Sequence[str]) -> CellScores:
    """Score a cell's calls file. `audit` is the file of the person's scores, for the judge `human` alone.

    Raises CallError where a language-model judge could not be reached; what it has answered is in the cache.
    """
    asked, prompt = study.conditions[condition], study.prompts[condition]
    records = planned_records(calls, condition, prompt.sha256, asked.trials)
    task = study.tasks[asked.task]
    items = task.items
    if pack := study.pack_of(asked):
        scores = by_packs(records, pack.questions)
    elif asked.question is not None:
        scores = by_fields(records, task.fields)
    elif asked.kind == "algorithmic":
        scores = by_answers(records, task.answers)
    elif judge == RULES_JUDGE:
        scores = by_rules(records, items)
    elif judge == HUMAN_JUDGE:
        scores = by_human(records, items, read_audit_scores(Path(audit[0])))
    else:
        scores = _by_model(study, condition, judge, records, items)
    return CellScores(
        condition=records[0].condition,
        model=records[0].model,
        judge=judge,
        judge_digest=study.judge_digest(condition, judge),
        calls_sha256=file_digest(calls),
        scores=tuple(scores),
    )


def _by_model(
    study: "Study", condition: str, judge: str, records: Sequence[TrialRecord], items: Sequence[Item]
) -> list[TrialScores]:
    from rcwt.runtime import current  # only a process that makes calls needs the models' code

    def ask(requests: Sequence[Request]) -> list[Response]:
        return current(study.config).answer(requests, judge, "judge", f"{condition}/{records[0].model} by {judge}")

    return by_model(records, items, study.judge_identity(condition, judge), ask)
