"""The record of a trial: one JSON line a call, the same for every model.

A missing value is null. `usage` holds what the model reported; a model that reports nothing leaves nulls.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rcwt.base.errors import StaleResultError
from rcwt.base.sealed import damaged, read_text

#: How a call ended. `prompt_cut` is never read from a reply: see `Response.prompt_cut`.
Status = Literal["ok", "truncated", "empty", "refused", "filtered", "unknown_finish", "prompt_cut"]
#: A server that counts a smaller part of a prompt than this has cut it.
WHOLE = 0.7


class Usage(BaseModel):
    """Tokens as the model counted them; None is "not said", never zero.

    `prompt` includes `cached` (and, of Anthropic, what was written to its cache); `completion` includes `reasoning` and
    what only the total counts. `note` says what is missing or does not add up.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    note: str | None = None


class PromptSize(BaseModel):
    """How large a prompt was, and what its model's preflight says of the model's own count.

    `tokens` are cl100k tokens with chat overhead; `ratio` the model's own tokens for each of them, at least, and 0
    where its server counts every prompt alike; `overhead` what it counts beside them, as for a template.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int
    ratio: float
    overhead: float

    @property
    def expected(self) -> int:
        """The fewest tokens that the model counts in the whole prompt, about."""
        return round(self.overhead + self.ratio * self.tokens)

    def is_cut(self, usage: Usage) -> bool:
        """Whether the tokens that were counted are too few for a whole prompt; False where none were."""
        if usage.prompt is None:
            return False
        # Cached tokens are a part of the prompt's; where they are more, the server has counted them apart.
        apart = usage.cached if usage.cached is not None and usage.cached > usage.prompt else 0
        return usage.prompt + apart - self.overhead < WHOLE * self.ratio * self.tokens


class Response(BaseModel):
    """What came back for one request, as it is kept in the response cache.

    `prompt_size` is null where the model's preflight said nothing of its count, and in responses from before.
    `reasoning_text` is what a trial's record holds apart from `text`; in the cache both stand in `text`, as they came.
    """

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
    prompt_size: PromptSize | None = None
    reasoning_text: str | None = None

    @property
    def prompt_cut(self) -> bool:
        """Whether the server cut the prompt: whatever it answered, it answered another question."""
        # A filter may have stopped the count together with the reply.
        return self.prompt_size is not None and self.status != "filtered" and self.prompt_size.is_cut(self.usage)


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
    text = read_text(path)
    if not text.endswith("\n"):
        raise damaged(path, "its last line has no end")
    lines = text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            records.append(TrialRecord.model_validate_json(line))
        except ValidationError:
            raise damaged(path, f"line {number} is not the record of a trial") from None
    return records


def planned_records(
    path: Path, condition: str, prompt_sha256: str, trials: int, identity: Mapping[str, Any] | None = None
) -> list[TrialRecord]:
    """A cell's trials, held against the plan; the folder that the file is in names their model, and `identity`, as
    `rcwt.config.identity.call_identity` makes it, what was to be asked of it.

    Raises StaleResultError for trials of another cell or prompt, or another number of them.
    """
    records = read_records(path)
    # A command would need the same --configfile; deleting works with whatever command was given.
    remedy = f"Delete {path.parents[1]} and run the same command again; cached responses are not paid for again"
    other = next((record for record in records if record.prompt_sha256 != prompt_sha256), None)
    if other is not None:
        raise StaleResultError(
            f"{path}: made from prompt {other.prompt_sha256[:12]}, the manifest plans {prompt_sha256[:12]}. {remedy}"
        )
    strange = next(
        (record for record in records if (record.condition, record.model) != (condition, path.parent.name)), None
    )
    if strange is not None:
        raise StaleResultError(f"{path}: holds trials of {strange.condition} on {strange.model}. {remedy}")
    if [record.trial for record in records] != list(range(trials)):
        doubled = ", some of them twice" if len({record.trial for record in records}) < len(records) else ""
        raise StaleResultError(f"{path}: holds {len(records)} trials{doubled}, the manifest plans {trials}. {remedy}")
    if identity is not None:
        model, params = identity["model"], identity["params"]
        for record in records:
            if (record.requested_model, record.requested_params) != (model, params):
                raise StaleResultError(
                    f"{path}: asked of {record.requested_model} with {record.requested_params}, planned is {model} "
                    f"with {params}. {remedy}"
                )
    return records
