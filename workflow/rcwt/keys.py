"""API keys: read from the environment, and scrubbed from every text that is kept.

A provider may echo the key it refused, so a key can come back in an error body. Everything that came
over the wire passes `scrub` before it is parsed, stored or shown.
"""

import logging
import os
import threading
from collections.abc import Iterable

#: What stands where a key stood.
SCRUBBED = "[key removed]"
#: A shorter value is a placeholder such as `none`, and would be cut out of ordinary words.
SHORTEST_KEY = 6

#: A value this long is no word that a model would say; shorter ones are often placeholders such as `ollama`.
SURELY_A_SECRET = 16

_known: set[str] = set()
_lock = threading.Lock()


def read_key(variable: str | None) -> str | None:
    """Return the key in environment variable `variable`, or None where it names none or it is unset.

    White space around the value, such as a newline from a file, is no part of a key. From the first
    read on `scrub` removes this key from any text.
    """
    value = os.environ.get(variable, "").strip() if variable else ""
    if not value:
        return None
    if len(value) >= SHORTEST_KEY:
        with _lock:
            _known.add(value)
    return value


def scrub(text: str, shortest: int = 0) -> str:
    """Return `text` without any key of at least `shortest` characters that was ever read, replaced by `SCRUBBED`."""
    with _lock:
        # Longest first: one key may be the beginning of another.
        known = sorted(_known, key=len, reverse=True)
    for key in known:
        if len(key) < shortest:
            break
        text = text.replace(key, SCRUBBED)
    return text


class _Scrubbed(logging.Filter):
    """Takes keys out of log records, whoever made them."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage() if isinstance(record.msg, str) else ""
        if (clean := scrub(text)) != text:
            record.msg, record.args = clean, None
        return True


def guard(logger: logging.Logger, variables: Iterable[str | None]) -> None:
    """Keep the keys in these environment variables out of a logger's records.

    A job's process may print its whole environment: with `--verbose` the Slurm plugin does.
    """
    for variable in variables:
        read_key(variable)
    logger.addFilter(_Scrubbed())
