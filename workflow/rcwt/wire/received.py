"""What a server answered, as it arrived: all that a later reading of it depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rcwt.wire.faults import TransientFault

#: Headers of an answer that a reading may need; others may hold cookies and names of accounts.
_HEADERS = ("content-type", "request-id", "x-request-id")


@dataclass(frozen=True)
class Received:
    """One complete answer.

    `headers` are those that a reading may need, `body` is the text cleaned of keys, `sent` every field of the request
    body but the conversation. `time_utc` is when the request left, `latency_s` the seconds from then to the last byte.
    """

    protocol: str
    status: int
    headers: Mapping[str, str]
    body: str
    sent: Mapping[str, Any]
    time_utc: str
    latency_s: float


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are kept with an answer, of all its headers in lower case."""
    return {name: headers[name] for name in _HEADERS if name in headers}


class UnreadableFault(TransientFault):
    """A complete and successful answer, so a paid one, that is no reply; None for one that is
    too long to be kept, or a web page.

    Worth another attempt, but not many: each is billed.
    """

    def __init__(self, status: int | None, cause: str, received: Received | None) -> None:
        self.received = received
        super().__init__(status, cause, maybe_billed=True)
