"""One failed request on three protocols: whether it may pass, and what it is called (issue 3, 'Calls')."""

import json
import re
from typing import Any

import pytest
from fault_replies import Answer, body_of
from fault_server import FaultServer
from wire_helpers import KEY, PROTOCOLS, ask, endpoint, outcome, run

from rcwt.base.keys import SCRUBBED
from rcwt.wire.exchange import LONGEST_BODY
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.replies import WireReply

pytestmark = pytest.mark.usefixtures("planted_key")


# Statuses of issue 3, 'Calls': the kind of the permanent ones, None for those that pass.
STATUSES = {
    **dict.fromkeys((408, 409, 425, 429, 500, 502, 503, 504, 529)),
    **{400: "bad_request", 401: "wrong_key", 402: "quota_exhausted", 403: "forbidden"},
    **{404: "retired_model", 410: "retired_model", 413: "too_large", 422: "bad_request"},
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", STATUSES)
def test_true_status_decides(status: int, protocol: str) -> None:
    fault = ask(protocol, str(status))
    assert isinstance(fault, PermanentFault if STATUSES[status] else TransientFault)
    assert fault.status == status
    assert f"scripted status {status}" in fault.cause
    if isinstance(fault, PermanentFault):
        assert fault.kind == STATUSES[status]
        assert fault.remedy


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [429, 500])
def test_error_body_that_is_not_json_keeps_its_status(status: int, protocol: str) -> None:
    fault = ask(protocol, {"status": status, "body": "<html>busy</html>"})
    assert isinstance(fault, TransientFault)
    assert (fault.status, fault.cause) == (status, "<html>busy</html>")


def test_gemini_overloaded_by_its_true_status() -> None:
    for status in (500, 503):
        fault = ask("gemini", {"status": status, "message": "The model is overloaded. Please try again later."})
        assert isinstance(fault, TransientFault)
        assert fault.status == status


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "0.25"}, 0.25, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5, 1.5),
        ({"retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"}, 1e8, 1e10),
        ({"retry-after": "soon"}, None, None),
        ({}, None, None),
    ],
)
def test_retry_after(headers: dict[str, str], low: float | None, high: float | None, protocol: str) -> None:
    fault = ask(protocol, {"status": 429, "headers": headers})
    assert isinstance(fault, TransientFault)
    if low is None or high is None:
        assert fault.retry_after_s is None
    else:
        assert fault.retry_after_s is not None
        assert low <= fault.retry_after_s <= high


def _google_429(quota: str) -> dict[str, Any]:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
    ]
    message = "You exceeded your current quota, please check your plan and billing details."
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    return {"status": 429, "body": {"error": error}}


def test_gemini_limit_a_minute_passes_and_a_day_does_not() -> None:
    fault = ask("gemini", _google_429("GenerateRequestsPerMinutePerProjectPerModel"))
    assert isinstance(fault, TransientFault)
    assert fault.retry_after_s == 34.5
    fault = ask("gemini", _google_429("GenerateRequestsPerDayPerProjectPerModel-FreeTier"))
    assert isinstance(fault, PermanentFault)
    assert fault.kind == "quota_exhausted"


GOOGLE_KEY = {"code": 400, "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}
ELSEWHERE = {"Location": "http://127.0.0.1:9/v1/chat/completions"}
NAMED = [
    ("quota_exhausted", "openai", 429, {"code": "insufficient_quota"}),
    ("quota_exhausted", "openai", 400, {"code": "billing_hard_limit_reached"}),
    ("quota_exhausted", "anthropic", 400, {"message": "Your credit balance is too low to use the API"}),
    ("context_window_exceeded", "openai", 400, {"code": "context_length_exceeded"}),
    ("context_window_exceeded", "openai", 400, {"message": "This model's maximum context length is 8192"}),
    ("context_window_exceeded", "anthropic", 400, {"message": "prompt is too long: 210000 tokens"}),
    (
        "context_window_exceeded",
        "gemini",
        400,
        {"message": "9 exceeds the maximum number of tokens allowed (8)"},
    ),
    ("unsupported_parameter", "openai", 400, {"code": "unsupported_parameter"}),
    ("unsupported_parameter", "openai", 400, {"code": "unsupported_value"}),
    ("unsupported_parameter", "anthropic", 400, {"message": "seed: Extra inputs are not permitted"}),
    ("unsupported_parameter", "gemini", 400, {"message": "Invalid JSON payload. Unknown name 'x'"}),
    ("wrong_key", "gemini", 400, {"body": {"error": GOOGLE_KEY}}),
    ("redirected", "openai", 307, {"headers": ELSEWHERE}),
]


@pytest.mark.parametrize(("kind", "protocol", "status", "more"), NAMED)
def test_permanent_faults_are_named(kind: str, protocol: str, status: int, more: dict[str, Any]) -> None:
    fault = ask(protocol, {"status": status, **more})
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, fault.status) == (kind, status)


NO_ROOM = "Could not finish the message because max_tokens or model output limit was reached. Please try again."
WORDED_AS_ERRORS = [
    ("filtered", "openai", {"code": "content_filter"}),
    ("filtered", "openai", {"code": "content_policy_violation"}),
    ("filtered", "anthropic", {"message": "Output blocked by content filtering policy"}),
    ("truncated", "openai", {"message": NO_ROOM}),
]


@pytest.mark.parametrize(("status", "protocol", "more"), WORDED_AS_ERRORS)
def test_outcomes_that_come_as_errors(status: str, protocol: str, more: dict[str, Any]) -> None:
    reply = ask(protocol, {"status": 400, **more})
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text, reply.usage.prompt) == (status, None, None)
    assert reply.finish_reason == {"filtered": "content_filter", "truncated": "max_tokens"}[status]
    assert reply.usage.note


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("act", ["drop", "drop_mid_body", "not_json", "html", "empty_200"])
def test_half_answers_pass_and_may_be_billed(act: str, protocol: str) -> None:
    fault = ask(protocol, act)
    assert isinstance(fault, TransientFault)
    assert fault.maybe_billed
    assert fault.status == (None if act == "drop" else 200)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("act", ["hang", "drip"])
def test_deadline_ends_a_call_that_does_not_end(act: str, protocol: str) -> None:
    fault = ask(protocol, act, deadline_s=0.4)
    assert isinstance(fault, TransientFault)
    assert "deadline" in fault.cause
    assert fault.maybe_billed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refused_connection_is_transient_and_unbilled(protocol: str) -> None:
    async def inner() -> Any:
        async with FaultServer() as server:
            at = endpoint(server, protocol)
        # Closed again: nothing listens there now.
        return await outcome(at)

    fault = run(inner())
    assert isinstance(fault, TransientFault)
    assert (fault.status, fault.maybe_billed) == (None, False)
    assert "refused" in fault.cause


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_error_object_with_status_200_is_a_failure(protocol: str) -> None:
    fault = ask(protocol, "error_200")
    assert isinstance(fault, TransientFault)
    assert "upstream is overloaded" in fault.cause


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 401, "message": "no auth"}}, "wrong_key"),
        ({"error": "something broke"}, None),
        (
            {"choices": [{"error": {"code": 502, "message": "upstream"}, "message": {"content": "half"}}]},
            None,
        ),
        ({"error": {"type": "insufficient_quota", "message": "spent"}}, "quota_exhausted"),
        ({"something": "else"}, None),
        ([], None),
    ],
)
def test_bodies_that_are_no_reply(body: Any, kind: str | None) -> None:
    fault = ask("openai", {"status": 200, "body": body})
    assert isinstance(fault, PermanentFault if kind else TransientFault)
    assert getattr(fault, "kind", None) == kind


def whole(protocol: str, **changes: Any) -> dict[str, Any]:
    """A whole reply of the protocol, with fields of the body replaced."""
    answer = Answer(text="5 ms.", prompt=20, completion=3, model="m", identity="1")
    return {**body_of(protocol, answer), **changes}


WRONG_TYPES = [
    *(("openai", {"choices": value}) for value in (None, {}, "x", [None], ["x"], [{"text": "5 ms."}])),
    *(("openai", {"choices": [{"message": value, "finish_reason": "stop"}]}) for value in (None, "5 ms.", [])),
    *(("openai", {"choices": [{"message": {"content": value}}]}) for value in (42, {"text": "5 ms."})),
    *(("anthropic", {"content": value}) for value in (None, "5 ms.", ["5 ms."], [None], {})),
    *(("gemini", {"candidates": value}) for value in (None, {}, [None], ["5 ms."], [{"content": "5 ms."}])),
]


@pytest.mark.parametrize(("protocol", "changes"), WRONG_TYPES)
def test_a_reply_of_wrong_types_is_no_answer_of_a_model(protocol: str, changes: dict[str, Any]) -> None:
    fault = ask(protocol, {"status": 200, "body": whole(protocol, **changes)})
    assert isinstance(fault, TransientFault)
    assert fault.maybe_billed
    assert "not a reply" in fault.cause


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("body", ["[" * 300_000, '{"error":' * 300_000, '{"a":' * 900 + "1" + "}" * 900])
def test_a_body_nested_without_end_is_a_fault_as_any_other(body: str, status: int, protocol: str) -> None:
    fault = ask(protocol, {"status": status, "body": body})
    assert isinstance(fault, PermanentFault if status == 400 else TransientFault)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-1", '"' + "9" * 5000 + '"', '"²"', "[]"])
def test_an_absurd_count_is_none_and_the_reply_is_kept(number: str, protocol: str) -> None:
    names = {"openai": "completion_tokens", "anthropic": "output_tokens", "gemini": "candidatesTokenCount"}
    body = re.sub(rf'("{names[protocol]}": )\d+', lambda found: found[1] + number, json.dumps(whole(protocol)))
    reply = ask(protocol, {"status": 200, "body": body})
    assert isinstance(reply, WireReply)
    assert (reply.text, reply.status) == ("5 ms.", "ok")
    assert reply.usage.completion is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("code", ["²", "9" * 5000, 10**30, "", "0", -1])
def test_an_error_with_an_absurd_code_is_a_failure(code: Any, protocol: str) -> None:
    fault = ask(protocol, {"status": 200, "body": {"error": {"code": code, "message": "broken"}}})
    assert isinstance(fault, TransientFault)
    assert (fault.status, fault.cause) == (500, "broken")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("error", [{}, None, "", [], False, {"code": None, "message": ""}])
def test_an_empty_error_beside_a_whole_reply_is_none(error: Any, protocol: str) -> None:
    reply = ask(protocol, {"status": 200, "body": whole(protocol, error=error)})
    assert isinstance(reply, WireReply)
    assert reply.text == "5 ms."


@pytest.mark.parametrize("wait", ["Wed, 21 Oct 2015 07:28:00 +99999999999999", "²", "1e999", "nan", "soon"])
def test_a_retry_after_that_is_no_time_is_passed_over(wait: str) -> None:
    fault = ask("openai", {"status": 429, "headers": {"retry-after": wait}})
    assert isinstance(fault, TransientFault)
    assert fault.retry_after_s is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_body_without_end_is_left(protocol: str) -> None:
    fault = ask(protocol, {"status": 200, "body": json.dumps(whole(protocol)) + " " * LONGEST_BODY})
    assert isinstance(fault, TransientFault)
    assert fault.maybe_billed
    assert "longer than 8 MB" in fault.cause


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_echoed_key_is_scrubbed(protocol: str, caplog: pytest.LogCaptureFixture) -> None:
    for act in ("echo_key", {"status": 500, "message": f"bad {KEY}"}, {"status": 200, "body": f"<p>{KEY}"}):
        fault = ask(protocol, act)
        assert isinstance(fault, (PermanentFault, TransientFault))
        assert SCRUBBED in str(fault)
        assert KEY not in f"{fault} {vars(fault)} {fault.args}"
        assert fault.__cause__ is None
        assert fault.__context__ is None
    assert KEY not in caplog.text


def test_a_reply_that_holds_the_key_is_scrubbed() -> None:
    async def inner() -> Any:
        async with FaultServer({"text": {"literal": f"your key is {KEY}"}}) as server:
            return await outcome(endpoint(server, "openai"))

    assert run(inner()).text == f"your key is {SCRUBBED}"


def test_a_key_that_a_reply_escapes_or_splits_is_scrubbed() -> None:
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in KEY)
    split = [{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]
    for body in (
        json.dumps(whole("openai")).replace("5 ms.", escaped),
        whole("openai", choices=[{"message": {"content": split}, "finish_reason": "stop"}]),
    ):
        reply = ask("openai", {"status": 200, "body": body})
        assert isinstance(reply, WireReply)
        assert reply.text == SCRUBBED
