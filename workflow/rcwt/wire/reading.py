"""What a received answer is: a reply, or a fault. Pure, so that a kept body is read again as it was read at first.

`reading_digest` is the fingerprint of all code that this depends on.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from rcwt.base.digests import canonical_json, code_digest
from rcwt.base.errors import RcwtError
from rcwt.base.keys import SCRUBBED, SURELY_A_SECRET, scrub
from rcwt.base.records import Response
from rcwt.wire.faults import fault_of, read_error
from rcwt.wire.received import Received, UnreadableFault
from rcwt.wire.replies import Protocol, WireReply, read_reply, reply_of_error
from rcwt.wire.streams import put_together

_TEXTS = ("text", "finish_reason", "returned_model", "response_id", "system_fingerprint")
#: Statuses that an unknown finish word was given: what ended otherwise had a word of its own.
_OPEN_STATUSES = frozenset({"ok", "empty", "unknown_finish"})


def reading_digest() -> str:
    """sha256 of the code that reads answers."""
    return code_digest("wire.reading")


def read(received: Received, headers: Mapping[str, str] | None = None) -> WireReply:
    """The reply that an answer holds. `headers` are all of them, where they are known: a fault's wait is in them.

    Raises `TransientFault` and `PermanentFault` for a failure, and `UnreadableFault` for a success that is no reply.
    """
    headers = received.headers if headers is None else headers
    # Of a stream that holds one event a reader of whole replies would see the beginning of one.
    whole = None if "chat.completion.chunk" in received.body else received.body
    reply = None if whole is None else _reply(received, whole, headers)
    if reply is None:
        whole = put_together(received.protocol, received.body)
        reply = None if whole is None else _reply(received, whole, headers)
    if reply is None:
        raise UnreadableFault(
            received.status,
            f"the body is not a reply of the {received.protocol} protocol: {received.body[:200]!r}",
            # No reading will make a reply of a web page: it comes from what stands between here and the model.
            None if received.body.lstrip()[:1] == "<" else received,
        )
    cleaned = {name: _clean(getattr(reply, name)) for name in _TEXTS}
    return replace(
        reply,
        **cast(dict[str, Any], cleaned),
        sent=dict(received.sent),
        latency_s=received.latency_s,
        time_utc=received.time_utc,
        # A key that shows only in the text put together would stay in the body: that body is not kept.
        received=None if any(_held_a_key(getattr(reply, name), cleaned[name]) for name in _TEXTS) else received,
    )


def _reply(received: Received, body: str, headers: Mapping[str, str]) -> WireReply | None:
    error = read_error(received.status, body)
    if error is not None:
        outcome = reply_of_error(error)
        if outcome is None:
            raise fault_of(error, headers)
        return outcome
    return read_reply(cast(Protocol, received.protocol), body, headers)


def _clean(text: str | None) -> str | None:
    """A text of a reply that can be kept.

    It may hold a key that was escaped in the body, or split over parts of the reply. Half of a character's escape, as
    a server that cuts by bytes sends it, becomes U+FFFD.
    """
    if text is None:
        return None
    return scrub(text, SURELY_A_SECRET).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _held_a_key(before: str | None, after: str | None) -> bool:
    return (after or "").count(SCRUBBED) > (before or "").count(SCRUBBED)


def failure_of(response: Response, protocol: str) -> str | None:
    """The finish word of a response without a body that a reading today would take for a failure; None for others."""
    if response.status not in _OPEN_STATUSES or response.finish_reason is None:
        return None
    return response.finish_reason if _fails(protocol, response.finish_reason, response.status == "empty") else None


@cache
def _fails(protocol: str, word: str, empty: bool) -> bool:
    text = "" if empty else "text"
    bodies: dict[str, dict[str, Any]] = {
        "openai": {"choices": [{"finish_reason": word, "message": {"content": text}}]},
        "anthropic": {"content": [{"type": "text", "text": text}], "stop_reason": word},
        "gemini": {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": word}]},
    }
    if protocol not in bodies:
        return False
    try:
        read(Received(protocol, 200, {}, canonical_json(bodies[protocol]), {}, "", 0.0))
    except RcwtError:
        return True
    return False
