"""The short call that goes before a model's first: what it asks, and a line for each that was paid.

A preflight is not cached, because it tests what may have changed since. So that its cost is not lost, each answered
one leaves a line in `preflights.jsonl` beside the cached responses, with the `results_dir` it was sent for.
"""

import errno
import json
import os
from pathlib import Path
from typing import Any

from rcwt.parameters import OUTPUT_CAPS
from rcwt.records import Response
from rcwt.requests import Request

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
    handle = os.open(folder / PREFLIGHT_FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(handle).st_size
        # A line that a crash or a full disk cut short takes no other with it.
        begin = "\n" if size and os.pread(handle, 1, size - 1) != b"\n" else ""
        text = f"{begin}{json.dumps(line)}\n".encode()
        # One write at the end of the file: lines of two processes do not mix.
        if os.write(handle, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    finally:
        os.close(handle)


def read_preflights(folder: Path, results: Path) -> list[dict[str, Any]]:
    """The answered preflights of runs into a `results_dir`; a line that a crash cut short is passed over."""
    try:
        lines = (folder / PREFLIGHT_FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("results_dir") == str(results):
            found.append(record)
    return found
