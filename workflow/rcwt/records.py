"""The record of a trial: one JSON line a call, the same for every model.

A missing value is null. `usage` holds what the model reported; a model that reports nothing leaves nulls.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rcwt.errors import StaleResultError

Status = Literal["ok", "truncated", "empty", "refused", "filtered", "unknown_finish"]


class Usage(BaseModel):
    """Tokens as the model counted them; `note` says when its parts do not add up to its total."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    note: str | None = None


class Response(BaseModel):
    """What came back for one request, as it is kept in the response cache."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Status
    text: str | None
    finish_reason: str | None
    returned_model: str | None
    response_id: str | None
    system_fingerprint: str | None
    usage: Usage
    sent_params: dict[str, Any]
    time_utc: str
    latency_s: float
    attempts: int
    cost_usd: float | None
    price_as_of: str | None


class TrialRecord(BaseModel):
    """One call of a cell: what was asked of which model, and the response."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: str
    model: str
    trial: int
    prompt_sha256: str
    request_key: str
    requested_model: str
    requested_params: dict[str, Any]
    response: Response


def write_records(records: Iterable[TrialRecord], path: Path) -> None:
    """Write a cell's trials as JSON lines."""
    path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")


def read_records(path: Path) -> list[TrialRecord]:
    """Read a cell's trials. Raises StaleResultError for a file that is not of this form."""
    records = []
    # Not splitlines(): a reply may hold characters such as U+2028 that it would take for line ends.
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            records.append(TrialRecord.model_validate_json(line))
        except ValidationError:
            raise StaleResultError(
                f"{path}:{number}: not the record of a trial; the file was cut or written by another version. "
                f"Delete it and run again: cached responses are not asked again"
            ) from None
    return records
