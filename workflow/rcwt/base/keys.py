"""API keys: read from the environment, and scrubbed from every text that is kept.

A provider may echo the key it refused, so a key can come back in an error body, as it is or as a web address, a page
or JSON spells it. Everything that came over the wire passes `scrub` before it is parsed, and its texts once more
before they are stored or shown: parsing may put a key together that was escaped or came in parts.
"""

import base64
import html
import logging
import os
import re
import threading
from collections.abc import Iterable
from functools import cache

from rcwt.base.visible import visible

#: What stands where a key stood.
SCRUBBED = "[key removed]"
#: A shorter value is a placeholder such as `none`, and would be cut out of ordinary words.
SHORTEST_KEY = 6

#: A value this long is no word that a model would say; shorter ones are often placeholders such as `ollama`.
SURELY_A_SECRET = 16

#: How a sign's number is spelled in a web address, in JSON and in a page.
_CODES = ("%{:02x}", "\\u{:04x}", "&#{};", "&#x{:x};")

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
    lowered = text.lower()
    for key in known:
        if len(key) < shortest:
            break
        marks, spelled = _spelled(key)
        if any(mark in lowered for mark in marks):
            text = spelled.sub(SCRUBBED, text)
    return text


@cache
def _spelled(key: str) -> tuple[list[str], re.Pattern[str]]:
    """A key as it may come back: plain, or with signs escaped as in web addresses, pages and JSON, or as base64.

    Returned with marks, texts in small letters one of which is in each spelling: they are found sooner than a pattern.
    """
    plain = "".join(sign if sign.isalnum() else _escaped(sign) for sign in key)
    whole = ["".join(form.format(ord(sign)) for sign in key) for form in _CODES]
    encoded = [encode(key.encode()).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)]
    # A long one is no word in capitals either. Without regard to case hexadecimal digits are read in both.
    flags = re.IGNORECASE if len(key) >= SURELY_A_SECRET else re.NOFLAG
    longest = max(re.findall(r"[^\W_]+", key) or [""], key=len)
    marks = [text.lower() for text in (longest, *whole, *encoded)]
    return marks, re.compile("|".join([plain, *map(re.escape, [*whole, *encoded])]), flags)


def _escaped(sign: str) -> str:
    """The pattern of a sign as it is, or escaped in any of the ways."""
    spellings = [f"\\{sign}", *(form.format(ord(sign)) for form in _CODES), html.escape(sign), sign]
    # Each once: two equal ones would be tried in all combinations.
    return f"(?:{'|'.join(map(re.escape, dict.fromkeys(spellings)))})"


class _Scrubbed(logging.Filter):
    """Takes keys out of log records, whoever made them, and makes visible what would act on a terminal."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage() if isinstance(record.msg, str) else ""
        if (clean := visible(scrub(text))) != text:
            record.msg, record.args = clean, None
        return True


def guard(logger: logging.Logger, variables: Iterable[str | None]) -> None:
    """Keep the keys in these environment variables, and control characters, out of a logger's records.

    A job's process may print its whole environment: with `--verbose` the Slurm plugin does.
    """
    for variable in variables:
        read_key(variable)
    logger.addFilter(_Scrubbed())
