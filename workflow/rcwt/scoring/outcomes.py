"""A cell's scores under one judge, as kept on disk: what was judged, and an outcome for every item of every trial."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rcwt.base.records import TrialRecord
from rcwt.base.sealed import damaged, read_bytes
from rcwt.base.statuses import NON_ANSWERS, PROMPT_CUT
from rcwt.scoring.abstentions import abstained_items
from rcwt.scoring.items import ExactField, Item, NamedAnswer

ScoreStatus = Literal[
    "scored", "non_answer", "unparsed", "judge_unparsed", "judge_truncated", "judge_prompt_cut", "not_scored"
]


class TrialScores(BaseModel):
    """The scores of one trial: 0 or 1 an item, or null where there is none.

    The fields `judge_*` say what a language-model judge was asked and answered, its second ask included; they are
    null for other judges. `judge_keys` are the request keys, by which the responses are found in the response cache,
    and `judge_replies` their texts. Tokens are the judge's own count, dollars those of the moment of the call; a sum
    with an unknown part is null.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial: int
    status: ScoreStatus
    items: dict[str, int | None]
    cut_items: tuple[str, ...] = ()  # misses of a reply scored by its form, because the output cap cut them off
    abstained_items: tuple[str, ...] = ()  # misses whose answer the reply declines to give
    f1: dict[str, float] | None = None  # of items answered by spans of text: DROP's F1, from 0 to 1
    plain: dict[str, int] | None = None  # of the same: 0 or 1 with answer and reference in plain forms
    judge_keys: tuple[str, ...] | None = None
    judge_replies: tuple[str | None, ...] | None = None
    judge_fault: str | None = None  # what was wrong with the last reply; null where it was read
    judge_prompt_tokens: int | None = None
    judge_cached_tokens: int | None = None
    judge_completion_tokens: int | None = None
    judge_cost_usd: float | None = None


class CellScores(BaseModel):
    """All scores of a cell under one judge, with the digests of the judge and of the calls it was made from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: str
    model: str
    judge: str
    judge_digest: str
    calls_sha256: str
    scores: tuple[TrialScores, ...]


def reply_of(record: TrialRecord) -> str | None:
    """The text that a judge judges; None for a response that holds no answer, or one to a cut prompt."""
    text, silent = record.response.text, record.response.status in (*NON_ANSWERS, PROMPT_CUT)
    return text if not silent and text is not None and text.strip() else None


def non_answer(record: TrialRecord, items: Sequence[Item | ExactField | NamedAnswer]) -> TrialScores:
    """The scores of a response that holds no answer: its items are misses by rule, whoever judges."""
    return TrialScores(trial=record.trial, status="non_answer", items=dict.fromkeys((item.id for item in items), 0))


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


def unscored(record: TrialRecord, items: Sequence[str]) -> TrialScores:
    """The scores of a trial that no one has judged, by the ids of its items."""
    return TrialScores(trial=record.trial, status="not_scored", items=dict.fromkeys(items))


def write_scores(scores: CellScores, path: Path) -> None:
    """Write a cell's scores."""
    path.write_text(scores.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_scores(path: Path) -> CellScores:
    """Read a cell's scores. Raises StaleResultError for a file that is not of this form."""
    try:
        return CellScores.model_validate_json(read_bytes(path))
    except ValidationError:
        raise damaged(path, "not the scores of a cell") from None


def scores_at(path: Path) -> CellScores:
    """Read the scores of the cell and judge that a file's place names: `<judge>/<model>/<condition>.json`.

    Raises StaleResultError also for those of another one.
    """
    scores = read_scores(path)
    if (scores.judge, scores.model, scores.condition) != (path.parts[-3], path.parts[-2], path.stem):
        raise damaged(path, f"holds the scores of {scores.condition} on {scores.model} by {scores.judge}")
    return scores
