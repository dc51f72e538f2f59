"""What can go wrong with one request, decided by the true HTTP status and body.

litellm's own exception classes do not tell a fault that passes from one that stays: a spent quota and a
rate limit share one, a body that is not JSON looks like a bad request, and 529 becomes 500. So this module
looks only at what the server sent.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from rcwt.bodies import parts_of, read_json
from rcwt.errors import CallError, RcwtError
from rcwt.keys import scrub
from rcwt.visible import in_one_line

#: Longest part of a provider's message that is kept, in characters.
LONGEST_CAUSE = 500


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

    `kind` names it in one word, `remedy` says what to do; `attempts` counts the requests already made.
    """

    def __init__(self, kind: str, status: int | None, cause: str, remedy: str) -> None:
        self.kind = kind
        self.status = status
        self.cause = _kept(cause)
        self.remedy = scrub(remedy)
        self.attempts = 1
        super().__init__(f"{kind}: {_shown(status)}{self.cause.rstrip('.')}. {self.remedy}")


@dataclass(frozen=True)
class ErrorBody:
    """The parts of a provider's error answer that decide what it is."""

    status: int
    message: str
    codes: frozenset[str]
    retry_delay_s: float | None = None
    daily_quota: bool = False


_REMEDIES = {
    "wrong_key": "Check the key in the environment variable that the model's `api_key_env` names",
    "redirected": "Give the address that it redirects to as the model's `api_base`",
    "forbidden": "Ask the provider to allow this model, region or project for the key",
    "retired_model": "The model or address does not exist (any more): correct `litellm` or `api_base`",
    "too_large": "The request is larger than the server takes: use a smaller window",
    "quota_exhausted": "Add credit or raise the provider's limit, then run again: finished calls are kept",
    "context_window_exceeded": "Use a window that the model's context holds",
    "unsupported_parameter": "Rename it or set it to null under the model's `param_names`",
    "bad_request": "Correct the model's entry in the registry",
}

_OF_STATUS = {
    401: "wrong_key",
    402: "quota_exhausted",
    403: "forbidden",
    404: "retired_model",
    410: "retired_model",
    413: "too_large",
}

_PASSING = frozenset({408, 409, 425, 429})
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

_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
# Not OpenAI's "exceeded your current quota": Gemini says the same of a limit a minute, which passes.
_QUOTA_WORDS = ("credit balance is too low",)
_KEY_WORDS = ("api key not valid", "api key expired", "invalid api key")
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT_WORDS = (
    "maximum context length",
    "prompt is too long",
    "context length exceeded",
    "exceeds the maximum number of tokens",
    "exceed context limit",
    "exceeds the available context size",
    "context window",
)
_PARAMETER_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
_PARAMETER_WORDS = (
    "unsupported parameter",
    "unsupported value",
    "unknown parameter",
    "unknown name",
    "unrecognized request argument",
    "extra inputs are not permitted",
    "extra fields not permitted",
    "is not supported with this model",
    "is not supported by this model",
    "not enabled for this model",
    "is deprecated for this model",
    "`temperature` and `top_p` cannot both",
)


def permanent(kind: str, status: int | None, cause: str) -> PermanentFault:
    """Return the fault of a known `kind`, with its remedy."""
    return PermanentFault(kind, status, cause, _REMEDIES[kind])


def fault_of(error: ErrorBody, headers: Mapping[str, str]) -> TransientFault | PermanentFault:
    """Say what the server's error is. `headers` are the response's, names in lower case."""
    kind = _permanent_kind(error)
    if kind is not None:
        return permanent(kind, error.status, error.message)
    wait = retry_after_s(headers)
    return TransientFault(error.status, error.message, wait if wait is not None else error.retry_delay_s)


def _permanent_kind(error: ErrorBody) -> str | None:
    words = error.message.lower()
    if error.codes & _QUOTA_CODES or error.daily_quota or _has(words, _QUOTA_WORDS):
        return "quota_exhausted" if error.status < 500 else None
    if error.status >= 500 or error.status in _PASSING:
        return None
    if error.status < 400:
        return "redirected"
    if error.status in _OF_STATUS:
        return _OF_STATUS[error.status]
    if error.codes & {"api_key_invalid"} or _has(words, _KEY_WORDS):
        return "wrong_key"
    if error.codes & _CONTEXT_CODES or _has(words, _CONTEXT_WORDS):
        return "context_window_exceeded"
    if error.codes & _PARAMETER_CODES or _has(words, _PARAMETER_WORDS):
        return "unsupported_parameter"
    return "bad_request"


def read_error(status: int, body: str) -> ErrorBody | None:
    """Read an error answer; `body` has passed `scrub`. None where a 2xx body holds no error object.

    A 2xx status whose body is an error object takes the status that the object tells, else 500: it is
    some gateway's way to pass on a failure, and worth another attempt.
    """
    try:
        parsed = read_json(body)
    except ValueError:
        return None if status < 300 else ErrorBody(status, body.strip() or "empty body", frozenset())
    holder = parsed[0] if isinstance(parsed, list) and len(parsed) == 1 else parsed
    error = _error_object(holder, status)
    if error is None:
        return None if status < 300 else ErrorBody(status, body.strip() or "empty body", frozenset())
    codes = frozenset(_codes(error))
    true_status = status if status >= 300 else _told_status(error, codes)
    details = [part for part in parts_of(error.get("details")) if isinstance(part, dict)]
    return ErrorBody(
        true_status,
        str(error.get("message") or error.get("detail") or json.dumps(error)),
        codes,
        _retry_delay_s(details),
        any("PerDay" in json.dumps(part) for part in details),
    )


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
        return {"message": error, **{k: v for k, v in holder.items() if k in ("code", "type", "status")}}
    if holder.get("type") == "error" or holder.get("object") == "error" or status >= 300:
        return holder
    return None


def _said(error: object) -> object:
    """An error that says anything: some servers send an empty one beside a whole reply."""
    return error if (any(error.values()) if isinstance(error, dict) else error) else None


def _codes(error: Mapping[str, Any]) -> list[str]:
    named = [error.get(field) for field in ("code", "type", "status", "reason")]
    named += [part.get("reason") for part in parts_of(error.get("details")) if isinstance(part, dict)]
    return [str(code).lower() for code in named if code is not None]


def _told_status(error: Mapping[str, Any], codes: frozenset[str]) -> int:
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
    """Return the wait that the response headers ask for, in seconds; a date counts from `now`."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
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
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if value == value and value != float("inf") else None


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def _kept(text: str) -> str:
    one_line = in_one_line(scrub(text))
    return one_line if len(one_line) <= LONGEST_CAUSE else one_line[:LONGEST_CAUSE] + "…"


def _shown(status: int | None) -> str:
    return f"HTTP {status}, " if status is not None else ""
