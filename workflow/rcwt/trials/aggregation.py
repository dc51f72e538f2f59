"""From the files of all cells to the two tables of a run: `trials.parquet` and `scores.parquet`.

A cell whose files were made from another prompt, another number of trials or another reply than the manifest and
its own calls say is refused: results copied from elsewhere do not slip into a table unseen.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.base.digests import file_digest
from rcwt.base.errors import StaleResultError
from rcwt.base.records import TrialRecord, planned_records
from rcwt.base.sealed import damaged
from rcwt.config.returned_ids import another_model
from rcwt.config.schema import RULES_JUDGE
from rcwt.scoring.outcomes import CellScores, TrialScores, scores_at
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, write_table

#: `Study.call_identity`, by condition and model.
Identity = Callable[[str, str], Mapping[str, Any]]


@dataclass(frozen=True)
class CellFiles:
    """Where the files of a run are: `calls(model, condition)` and `scores(judge, model, condition)`."""

    results: Path

    def calls(self, model: str, condition: str) -> Path:
        """Calls of a cell."""
        return self.results / "calls" / model / f"{condition}.jsonl"

    def scores(self, judge: str, model: str, condition: str) -> Path:
        """Scores of a cell under a judge."""
        return self.results / "scores" / judge / model / f"{condition}.json"


def write_tables(
    manifest: Sequence[Mapping[str, Any]],
    tokens: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    judges: Sequence[str],
    identity: Identity,
    trials_file: Path,
    scores_file: Path,
) -> None:
    """Gather all cells of a run and write its two tables; calls and scores stand beside them.

    `identity` says what is to be asked in a cell. Raises StaleResultError for a cell that is not the planned one.
    """
    effective = {task["task"]: {item["id"]: item["effective"] for item in task["items"]} for task in tokens}
    trials, scores = gather(manifest, CellFiles(trials_file.parent), models, judges, effective, identity)
    write_table(trials, TRIAL_SCHEMA, trials_file)
    write_table(scores, SCORE_SCHEMA, scores_file)


def gather(
    manifest: Sequence[Mapping[str, Any]],
    files: CellFiles,
    models: Sequence[str],
    judges: Sequence[str],
    effective: Mapping[str, Mapping[str, bool]],
    identity: Identity | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trials and scores of all cells of `manifest` × `models`, judged by `judges`; the first judge is the headline.

    Conditions that are scored by rule have one judge, the rules. `effective` says for each task which items count; an
    item that it does not name does. Raises StaleResultError for a cell that is not the planned one.
    """
    trials: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for condition in manifest:
        for model in models:
            asked = identity(condition["condition"], model) if identity else None
            records = checked_records(condition, files.calls(model, condition["condition"]), asked)
            judged = {
                judge: _checked_scores(
                    files.scores(judge, model, condition["condition"]),
                    files.calls(model, condition["condition"]),
                    condition["trials"],
                )
                for judge in judges_of(condition, judges)
            }
            counts = {} if condition["scored_by"] == "rules" else effective[condition["task"]]
            trials += _trial_rows(condition, records, next(iter(judged.values())), counts)
            for cell in judged.values():
                scores += _score_rows(condition, cell, counts)
    return pd.DataFrame(trials, columns=TRIAL_SCHEMA.names), pd.DataFrame(scores, columns=SCORE_SCHEMA.names)


def judges_of(condition: Mapping[str, Any], judges: Sequence[str]) -> Sequence[str]:
    """The judges of a row of the manifest."""
    return [RULES_JUDGE] if condition["scored_by"] == "rules" else judges


def checked_records(
    condition: Mapping[str, Any], path: Path, identity: Mapping[str, Any] | None = None
) -> list[TrialRecord]:
    """A cell's trials, held against its row of the manifest. Raises StaleResultError where they are not the planned."""
    return planned_records(path, condition["condition"], condition["prompt_sha256"], condition["trials"], identity)


def _checked_scores(path: Path, calls: Path, trials: int) -> CellScores:
    scores = scores_at(path)
    if [score.trial for score in scores.scores] != list(range(trials)):
        raise damaged(path, f"holds the scores of {len(scores.scores)} trials, planned are {trials}")
    if scores.calls_sha256 != file_digest(calls):
        raise StaleResultError(
            f"{path}: made from other replies than {calls} holds. Delete {path.parents[1]} and run the same command "
            "again"
        )
    return scores


def _trial_rows(
    condition: Mapping[str, Any], records: Sequence[TrialRecord], headline: CellScores, effective: Mapping[str, bool]
) -> Iterator[dict[str, Any]]:
    shared = {name: condition[name] for name in TRIAL_SCHEMA.names if name in condition and name != "prompt_tokens"}
    by_trial = {score.trial: score for score in headline.scores}
    for record in records:
        response, usage, scored = record.response, record.response.usage, by_trial[record.trial]
        items = scored.items
        raw = [score for score in items.values() if score is not None]
        counted = [score for item, score in items.items() if score is not None and effective.get(item, True)]
        yield {
            **shared,
            "source": "run",
            "model": record.model,
            "trial": record.trial,
            "status": response.status,
            "hits": sum(counted) if counted else None,
            "possible": len(counted) if counted else None,
            "raw_hits": sum(raw) if raw else None,
            "raw_possible": len(raw) if raw else None,
            "headline_judge": headline.judge,
            "ceiling": condition["ceiling_lenient"],
            "text": response.text,
            "finish_reason": response.finish_reason,
            "returned_model": response.returned_model,
            "response_id": response.response_id,
            "prompt_tokens": usage.prompt,
            "cached_tokens": usage.cached,
            "completion_tokens": usage.completion,
            "reasoning_tokens": usage.reasoning,
            "cost_usd": response.cost_usd,
            "price_as_of": response.price_as_of,
            "attempts": response.attempts,
            "latency_s": response.latency_s,
            "time_utc": response.time_utc,
            "task_truncated": _cut(condition),
            "other_model": another_model(record.requested_model, record.response.returned_model),
            "reasoning_text": response.reasoning_text,
            "abstained": sum(effective.get(item, True) for item in scored.abstained_items) if counted else None,
        }


def _cut(condition: Mapping[str, Any]) -> bool | None:
    """Whether a question of the condition's pack is not whole; None for a condition without a pack."""
    if condition["pack"] is None:
        return None
    return any(condition[name] is not None for name in ("items_cut", "items_gone"))


def _score_rows(
    condition: Mapping[str, Any], cell: CellScores, effective: Mapping[str, bool]
) -> Iterator[dict[str, Any]]:
    shared = {name: condition[name] for name in ("experiment", "window", "order", "pack", "q")}
    for trial in cell.scores:
        for item, score in trial.items.items():
            yield {
                **shared,
                "source": "run",
                "model": cell.model,
                "trial": trial.trial,
                "judge": cell.judge,
                "item": item,
                "effective": effective.get(item, True),
                "score": score,
                "f1": (trial.f1 or {}).get(item),
                "plain_score": (trial.plain or {}).get(item),
                "score_status": _status(item, trial),
            }


def _status(item: str, trial: TrialScores) -> str:
    if item in trial.cut_items:
        return "truncated"
    return "abstained" if item in trial.abstained_items else trial.status
