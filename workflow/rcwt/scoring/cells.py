"""A cell's scores under one judge, as kept on disk: what was judged, and an outcome for every item of every trial."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rcwt.digests import file_digest
from rcwt.errors import StaleResultError
from rcwt.records import TrialRecord, read_records
from rcwt.scoring.rules import judge
from rcwt.tasks import Item
from rcwt.trials import NON_ANSWERS

ScoreStatus = Literal["scored", "non_answer", "judge_unparsed", "judge_truncated", "not_scored"]


class TrialScores(BaseModel):
    """The scores of one trial: 0 or 1 an item, or null where there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial: int
    status: ScoreStatus
    items: dict[str, int | None]


class CellScores(BaseModel):
    """All scores of a cell under one judge, with the digests of the judge and of the calls it was made from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: str
    model: str
    judge: str
    judge_digest: str
    calls_sha256: str
    scores: tuple[TrialScores, ...]


def by_rules(records: Sequence[TrialRecord], items: Sequence[Item]) -> list[TrialScores]:
    """Scores of the rule judge. A reply that holds no answer is not judged: its items are misses by rule."""
    scores = []
    for record in records:
        if record.response.status in NON_ANSWERS or record.response.text is None:
            missed: dict[str, int | None] = dict.fromkeys((item.id for item in items), 0)
            scores.append(TrialScores(trial=record.trial, status="non_answer", items=missed))
        else:
            outcome: dict[str, int | None] = {**judge(record.response.text, items)}
            scores.append(TrialScores(trial=record.trial, status="scored", items=outcome))
    return scores


def score_cell(calls: Path, judge_name: str, judge_digest: str, items: Sequence[Item]) -> CellScores:
    """Score a cell's calls file."""
    records = read_records(calls)
    return CellScores(
        condition=records[0].condition,
        model=records[0].model,
        judge=judge_name,
        judge_digest=judge_digest,
        calls_sha256=file_digest(calls),
        scores=tuple(by_rules(records, items)),
    )


def write_scores(scores: CellScores, path: Path) -> None:
    """Write a cell's scores."""
    path.write_text(scores.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_scores(path: Path) -> CellScores:
    """Read a cell's scores. Raises StaleResultError for a file that is not of this form."""
    try:
        return CellScores.model_validate_json(path.read_bytes())
    except ValidationError:
        raise StaleResultError(
            f"{path}: not the scores of a cell; the file was cut or written by another version. Delete it and run again"
        ) from None
