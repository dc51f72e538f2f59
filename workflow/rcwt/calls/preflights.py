"""What preflights cost: a line for each that was paid.

A preflight is not cached, because it tests what may have changed since. So that its cost is not lost, each answered
one leaves a line in `preflights.jsonl` beside the cached responses, with the `results_dir` it was sent for.
"""

import errno
import fcntl
import json
import os
import threading
from pathlib import Path
from typing import Any

from rcwt.base.errors import StaleResultError
from rcwt.base.records import Response, Usage
from rcwt.base.sealed import read_text

PREFLIGHT_FILE = "preflights.jsonl"


# POSIX locks do not keep threads of one process apart.
_writing = threading.Lock()


def keep_preflight(folder: Path, results: Path, model: str, asked: str, tokens: int, response: Response) -> None:
    """Add an answered preflight of a registry entry to the file in the cache's folder.

    `asked` is its name in `Preflight.requests`, `tokens` the cl100k tokens of its prompt.
    """
    line = {
        "results_dir": str(results),
        "model": model,
        "time_utc": response.time_utc,
        "asked": asked,
        "tokens": tokens,
        "usage": response.usage.model_dump(),
        "cost_usd": response.cost_usd,
        "price_as_of": response.price_as_of,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with _writing, (folder / PREFLIGHT_FILE).open("ab+", buffering=0) as file:
        # Kept until the file is closed, so that no other process adds to what may have to be taken back.
        fcntl.lockf(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        # A line that a crash cut short takes no other with it.
        begin = "\n" if size and os.pread(file.fileno(), 1, size - 1) != b"\n" else ""
        text = f"{begin}{json.dumps(line)}\n".encode()
        if file.write(text) < len(text):  # the disk is full
            file.truncate(size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


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
