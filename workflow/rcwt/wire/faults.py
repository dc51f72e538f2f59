"""What can go wrong with one request, decided by the true HTTP status and body.

litellm's own exception classes do not tell a fault that passes from one that stays: a spent quota and a
rate limit share one, a body that is not JSON looks like a bad request, and 529 becomes 500. So this module
looks only at what the server sent: it reads error answers here, and `rcwt.wire.fault_kinds` says what they are.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from rcwt.base.errors import CallError, RcwtError
from rcwt.base.keys import scrub
from rcwt.base.visible import in_one_line
from rcwt.wire.bodies import members_of, parts_of, read_json, text_of
from rcwt.wire.fault_kinds import Scope, kind_of, remedy_of, scope_of

#: Longest part of a provider's message that is kept, in characters.
LONGEST_CAUSE = 500
#: A wait above this many seconds is as long as any.
LONGEST_WAIT_S = 1e9


class TransientFault(RcwtError):  # noqa: N818 (not each is a mistake of ours)
    """A failure that may pass: the same request is worth another attempt.

    `status` is the HTTP status, None where no answer came. `retry_after_s` is the wait the server asked
    for, in seconds. `maybe_billed` says that the request may have been answered, and paid, unseen.
    """

    def __init__(
        self,
        status: int | None,
        cause: str,
        retry_after_s: float | None = None,
        *,
        maybe_billed: bool = False,
    ) -> None:
        self.status = status
        self.cause = _kept(cause)
        self.retry_after_s = retry_after_s
        self.maybe_billed = maybe_billed
        self.attempts = 1
        super().__init__(f"{_shown(status)}{self.cause}")


class PermanentFault(CallError):  # noqa: N818
    """A failure that another attempt would only repeat.

    `kind` names it in one word, `remedy` says what to do; `attempts` counts the requests already made; `scope` says
    whose other calls would fail of it too. `maybe_billed` says that the request may have been paid for unseen.
    """

    def __init__(self, kind: str, status: int | None, cause: str, remedy: str, *, maybe_billed: bool = False) -> None:
        self.kind = kind
        self.status = status
        self.cause = _kept(cause)
        self.remedy = scrub(remedy)
        self.maybe_billed = maybe_billed
        self.scope: Scope = scope_of(kind)
        self.attempts = 1
        super().__init__(f"{kind}: {_shown(status)}{self.cause.rstrip('.')}. {self.remedy}")


@dataclass(frozen=True)
class ErrorBody:
    """The parts of a provider's error answer that decide what it is.

    `message` and `codes` (in small letters) are those of the error and of what it wraps; `upstream` is the provider
    whose error a gateway passes on; `structured` says that it came as JSON, as a model server's own errors do.
    """

    status: int
    message: str
    codes: frozenset[str]
    retry_delay_s: float | None = None
    daily_quota: bool = False
    upstream: str = ""
    structured: bool = True


_HTTP_ERROR = re.compile(r"[45][0-9]{2}")

# What the `type`, `code` or `status` field of an error object says where the HTTP status is 200.
_STATUS_OF_CODE = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "billing_error": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "not_found": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "internal": 500,
    "server_error": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# MiniMax answers each failure with HTTP 200 and a number of its own.
_STATUS_OF_MINIMAX = {1001: 504, 1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1042: 400, 2013: 400, 2049: 401}
_MINIMAX_FILTER = (1026, 1027)

# Where an error keeps the one that it passes on, how deep these may nest, and how many of a list are read.
_WRAPPING = ("error", "innererror", "errors", "raw")
_DEEPEST, _MOST_PARTS = 5, 5
_CODE_FIELDS = ("code", "type", "status", "reason", "error_type", "error_code", "errorCode")
_MESSAGE_FIELDS = ("message", "msg", "detail", "title", "description")


def permanent(kind: str, status: int | None, cause: str) -> PermanentFault:
    """Return the fault of a known `kind`, with its remedy."""
    return PermanentFault(kind, status, cause, remedy_of(kind, cause))


def fault_of(error: ErrorBody, headers: Mapping[str, str]) -> TransientFault | PermanentFault:
    """Say what the server's error is. `headers` are the response's, names in lower case."""
    waits = [wait for wait in (retry_after_s(headers), error.retry_delay_s) if wait is not None]
    wait = max(waits, default=None)
    kind = kind_of(error.status, error.codes, error.message, wait, error.daily_quota)
    if kind is None:
        return TransientFault(error.status, error.message, wait)
    fault = PermanentFault(kind, error.status, error.message, remedy_of(kind, error.message, error.upstream))
    if not error.structured and error.status in (403, 404):
        # A page of some gateway or firewall, which may mean this one request.
        fault.scope = "request"
    return fault


def read_error(status: int, body: str) -> ErrorBody | None:
    """Read an error answer; `body` has passed `scrub`. None where a 2xx body holds no error object.

    A 2xx status whose body is an error object takes the status that the object tells, else 500: it is
    some gateway's way to pass on a failure, and worth another attempt.
    """
    try:
        parsed = read_json(body)
    except ValueError:
        return None if status < 300 else _unstructured(status, body)
    holder = parsed[0] if isinstance(parsed, list) and len(parsed) == 1 else parsed
    error = _error_object(holder, status)
    if error is None:
        return None if status < 300 else _unstructured(status, body)
    layers = list(_layers(error))
    codes = frozenset(code for layer in layers for code in _codes(layer))
    details = [part for part in parts_of(error.get("details")) if isinstance(part, dict)]
    provider = text_of(members_of(error.get("metadata")).get("provider_name")) or ""
    return ErrorBody(
        status if status >= 300 else _told_status(codes),
        _quota(details) + (_message(layers, provider) or json.dumps(error)),
        codes,
        _retry_delay_s(details),
        any("PerDay" in json.dumps(part) for part in details),
        provider if len(layers) > 1 else "",
    )


def _unstructured(status: int, body: str) -> ErrorBody:
    return ErrorBody(status, body.strip() or "empty body", frozenset(), structured=False)


def _error_object(holder: object, status: int) -> dict[str, Any] | None:
    if not isinstance(holder, dict):
        return None
    error = _said(holder.get("error"))
    if error is None:
        error = next(
            (c["error"] for c in parts_of(holder.get("choices")) if isinstance(c, dict) and _said(c.get("error"))), None
        )
    if isinstance(error, dict):
        return error
    if isinstance(error, str) and error:
        return {"message": error, **{name: holder[name] for name in (*_CODE_FIELDS, "metadata") if name in holder}}
    if holder.get("type") == "error" or holder.get("object") == "error" or status >= 300:
        return holder
    return _minimax(members_of(holder.get("base_resp")))


def _minimax(told: dict[str, Any]) -> dict[str, Any] | None:
    code = told.get("status_code")
    if not isinstance(code, int) or not code:
        return None
    found = {"message": told.get("status_msg"), "status": _STATUS_OF_MINIMAX.get(code, 500)}
    return found | ({"code": "content_filter"} if code in _MINIMAX_FILTER else {})


def _said(error: object) -> object:
    """An error that says anything: some servers send an empty one beside a whole reply."""
    return error if (any(error.values()) if isinstance(error, dict) else error) else None


def _layers(error: object, depth: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    """An error and those that it wraps, as objects or as JSON in a text; the outermost first."""
    if isinstance(error, str):
        error = _object_in(error) or {"message": error}
    for part in (error if isinstance(error, list) else [error])[:_MOST_PARTS]:
        if not isinstance(part, dict) or not depth:
            continue
        yield part
        wrapped = [part.get(name) for name in _WRAPPING] + [members_of(part.get("metadata")).get("raw")]
        for name in ("message", "detail"):
            value = part.get(name)
            wrapped.append(_object_in(value) if isinstance(value, str) else value)
        for inner in wrapped:
            if inner:
                yield from _layers(inner, depth - 1)


def _object_in(text: str) -> dict[str, Any] | None:
    """The object that a text is the JSON of."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return members_of(read_json(text)) or None
    except ValueError:
        return None


def _message(layers: list[dict[str, Any]], provider: str) -> str:
    """What an error says and what those say that it wraps, each once; with the provider whose they are."""
    said: list[str] = []
    for layer in layers:
        text = next((t for name in _MESSAGE_FIELDS if isinstance(t := layer.get(name), str) and t.strip()), "")
        place = ".".join(map(str, parts_of(layer.get("loc"))))
        text = f"{place}: {text}" if place and text else text
        if text and _object_in(text) is None and not any(text in other for other in said):
            said.append(text)
    if provider and len(said) > 1:
        said[0] += f" ({provider})"
    return ": ".join(said)


def _quota(details: list[dict[str, Any]]) -> str:
    """The quota that a Gemini error names, one of a day before others."""
    violations = [v for part in details for v in parts_of(part.get("violations")) if isinstance(v, dict)]
    named = [(str(v["quotaId"]), v.get("quotaValue")) for v in violations if v.get("quotaId")]
    if not named:
        return ""
    name, value = max(named, key=lambda quota: "PerDay" in quota[0])
    return f"quota {name}{'' if value is None else f' of {value}'}: "


def _codes(layer: Mapping[str, Any]) -> list[str]:
    named = [layer.get(field) for field in _CODE_FIELDS]
    named += [part.get("reason") for part in parts_of(layer.get("details")) if isinstance(part, dict)]
    return [str(code).lower() for code in named if isinstance(code, str | int)]


def _told_status(codes: frozenset[str]) -> int:
    told = [int(code) for code in codes if _HTTP_ERROR.fullmatch(code)]
    told += [_STATUS_OF_CODE[code] for code in codes if code in _STATUS_OF_CODE]
    # The most patient reading wins where the fields disagree: one more attempt costs less than a lost cell.
    return max(told, default=500)


def _retry_delay_s(details: list[dict[str, Any]]) -> float | None:
    for part in details:
        delay = part.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            return _seconds(delay[:-1])
    return None


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait that the response headers ask for, in seconds; a date counts from `now`.

    `retry-after-ms` is the exact form of a `retry-after` in whole seconds. Where it is shorter than that by more than
    the rounding, the longer one is meant: some servers send a 0 beside it.
    """
    exact, whole = _seconds(headers.get("retry-after-ms", "")), _whole_wait_s(headers.get("retry-after", ""), now)
    if exact is None:
        return whole
    exact /= 1000
    return exact if whole is None or whole - exact < 1 else whole


def _whole_wait_s(told: str, now: datetime | None) -> float | None:
    value = told.strip()
    seconds = _seconds(value)
    if seconds is not None or not value:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return None


def _seconds(text: str) -> float | None:
    """A wait in seconds; None for what is none, a time in the past too."""
    try:
        value = float(text)
    except ValueError:
        return None
    return min(value, LONGEST_WAIT_S) if 0 <= value < float("inf") else None


def _kept(text: str) -> str:
    one_line = in_one_line(scrub(text))
    return one_line if len(one_line) <= LONGEST_CAUSE else one_line[:LONGEST_CAUSE] + "…"


def _shown(status: int | None) -> str:
    return f"HTTP {status}, " if status is not None else ""
