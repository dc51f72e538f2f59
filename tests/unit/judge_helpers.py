"""Items, trials and responses for the tests of the judges."""

from typing import Any

from rcwt.base.records import PromptSize, Response, Status, TrialRecord, Usage
from rcwt.scoring.items import Evidence, Item

EVIDENCE = Evidence(strict=("x",), lenient=("x",))
ITEMS = (
    Item(id="pg_limit", statement="The payload limit is 8KB.", evidence=EVIDENCE, accept=("8KB",)),
    Item(id="ramp_up", statement="The ramp-up takes 1 week.", effective=False, evidence=EVIDENCE, accept=("1 week",)),
)


def response(
    text: str | None,
    status: Status = "ok",
    prompt: int | None = None,
    completion: int | None = None,
    cost_usd: float | None = None,
    prompt_size: PromptSize | None = None,
) -> Response:
    return Response(
        status=status,
        text=text,
        finish_reason=None,
        returned_model=None,
        response_id=None,
        system_fingerprint=None,
        usage=Usage(prompt=prompt, completion=completion),
        sent_params={},
        time_utc="2026-11-29T00:00:00+00:00",
        latency_s=0.1,
        attempts=1,
        cost_usd=cost_usd,
        price_as_of=None,
        prompt_size=prompt_size,
    )


def record(trial: int, text: str | None, status: Status = "ok", **more: Any) -> TrialRecord:
    given = {"condition": "c1", "model": "m", "prompt_sha256": "p", "request_key": f"key-{trial}"}
    given |= {"requested_model": "openai/m", "requested_params": {}, **more}
    return TrialRecord(trial=trial, response=response(text, status=status), **given)
