"""The short call that goes before a model's first: what it asks, and a line for each that was paid.

A preflight is not cached, because it tests what may have changed since. So that its cost is not lost, each answered
one leaves a line in `preflights.jsonl` beside the cached responses, with the `results_dir` it was sent for.
"""

import json
import os
from pathlib import Path
from typing import Any

from rcwt.errors import StaleResultError
from rcwt.parameters import OUTPUT_CAPS
from rcwt.records import Response, Usage
from rcwt.responses import Request
from rcwt.sealed import read_text

PREFLIGHT_TEXT = "Reply with the single word: ready"
#: Enough for the word asked for; a reply cut here shows as well that key, model and parameters are accepted.
PREFLIGHT_CAP = 16
PREFLIGHT_FILE = "preflights.jsonl"


def preflight_request(request: Request) -> Request:
    """The short call that a model is asked before `request`: same parameters, but for a small output cap."""
    params = {**request.params}
    params |= {cap: min(PREFLIGHT_CAP, int(params[cap])) for cap in OUTPUT_CAPS if params.get(cap)}
    return Request(request.endpoint, request.model, (("user", PREFLIGHT_TEXT),), params, "preflight", 0)


def keep_preflight(folder: Path, results: Path, model: str, response: Response) -> None:
    """Add an answered preflight of a registry entry to the file in the cache's folder."""
    line = {
        "results_dir": str(results),
        "model": model,
        "time_utc": response.time_utc,
        "usage": response.usage.model_dump(),
        "cost_usd": response.cost_usd,
        "price_as_of": response.price_as_of,
    }
    folder.mkdir(parents=True, exist_ok=True)
    # One write at the end of the file: lines of two processes do not mix.
    handle = os.open(folder / PREFLIGHT_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, (json.dumps(line) + "\n").encode())
    finally:
        os.close(handle)


def read_preflights(folder: Path, results: Path) -> list[dict[str, Any]]:
    """The answered preflights of runs into a `results_dir`.

    Raises StaleResultError for a line that is none: its cost would be missing in the sums.
    """
    path = folder / PREFLIGHT_FILE
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        try:
            record = json.loads(line)
            Usage.model_validate(record["usage"])
            if not isinstance(record["model"], str):
                raise TypeError
            if record["results_dir"] == str(results):
                found.append(record)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise StaleResultError(
                f"{path}:{number}: not the line of a preflight; the file was cut or changed. Delete the line and run "
                "the same command again; what that preflight cost is then not in the table of spend"
            ) from None
    return found
