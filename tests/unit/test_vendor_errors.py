"""What vendors and servers answer instead of a reply: which failures stay, what they are called, what the user reads.

`vendor_errors.jsonl` has a line each: the vendor or server, the HTTP status, the body (worded after its documentation;
a text is sent as it is), the kind (null: it may pass; `filtered`: an outcome), and a part of what the user reads.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.wire import fault_kinds
from rcwt.wire.faults import PermanentFault, TransientFault, fault_of, read_error, retry_after_s
from rcwt.wire.replies import WireReply, reply_of_error

CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "fixtures/vendor_errors.jsonl").read_text().splitlines()
]


def outcome(status: int, body: Any, headers: dict[str, str] | None = None) -> Any:
    error = read_error(status, body if isinstance(body, str) else json.dumps(body))
    assert error is not None
    return reply_of_error(error) or fault_of(error, headers or {})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['vendor']}-{case['status']}")
def test_each_is_what_its_vendor_says(case: dict[str, Any]) -> None:
    kind = case["kind"]
    found = outcome(case["status"], case["body"])
    if kind == "filtered":
        assert isinstance(found, WireReply), found
        assert found.status == "filtered"
        return
    assert getattr(found, "kind", None) == kind, found
    assert isinstance(found, PermanentFault if kind else TransientFault)
    assert case["says"] in str(found)


# Which other calls of a model a fault strikes: all of them, those with its parameters, or none.
SCOPES = {
    "model": {
        *("missing_key", "wrong_key", "redirected", "forbidden", "location_not_supported", "account_inactive"),
        *("retired_model", "quota_exhausted"),
    },
    "parameters": {"unsupported_parameter"},
    "request": {"context_window_exceeded", "too_large", "above_quota", "long_context_not_enabled", "bad_request"},
}


def test_every_kind_has_a_scope_that_was_thought_of() -> None:
    assert set(fault_kinds._REMEDIES) <= set().union(*SCOPES.values())
    for scope, kinds in SCOPES.items():
        assert {fault_kinds.scope_of(kind) for kind in kinds} == {scope}


@pytest.mark.parametrize(("status", "scope"), [(401, "model"), (402, "model"), (403, "request"), (404, "request")])
def test_a_page_of_a_gateway_may_mean_one_request(status: int, scope: str) -> None:
    assert outcome(status, "<html>no</html>").scope == scope
    assert outcome(status, {"error": {"message": "no"}}).scope == "model"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "0", "retry-after": "1"}, 1.0),
        ({"retry-after-ms": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "100", "retry-after": "30"}, 30.0),
        ({"retry-after-ms": "5000", "retry-after": "1"}, 5.0),
        ({"retry-after-ms": "-1", "retry-after": "3"}, 3.0),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after-ms": "200", "retry-after": "soon"}, 0.2),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1e300"}, 1e9),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_that_headers_ask_for(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after_s(headers) == wait


def test_the_longer_of_header_and_body_is_waited() -> None:
    body = {"error": {"code": 429, "message": "slow", "details": [{"retryDelay": "40s"}]}}
    for header, wait in (("1", 40.0), ("50", 50.0)):
        fault = outcome(429, body, {"retry-after": header})
        assert isinstance(fault, TransientFault)
        assert fault.retry_after_s == wait


def test_a_long_limit_that_soon_grants_another_call_passes() -> None:
    body = {"error": {"message": "Rate limit reached on tokens per day (TPD)", "code": "rate_limit_exceeded"}}
    assert isinstance(outcome(429, body, {"retry-after": "20"}), TransientFault)
    assert outcome(429, body, {"retry-after": "7200"}).kind == "quota_exhausted"


def test_recorded_errors_of_vendors(shared: Path) -> None:
    """Each of the recorded ones is read as an error; its vendor's type says whether it stays."""
    lines = [json.loads(line) for line in (shared / "wire/shapes.jsonl").read_text().splitlines()]
    errors = [line for line in lines if line["expected"].get("error")]
    assert len(errors) == 36
    for line in errors:
        found = outcome(line["status"], line["body"], line["headers"])
        text = json.dumps(line["body"])
        stays = line["status"] != 529 and (line["status"] != 429 or "prepayment" in text or "insufficient" in text)
        assert isinstance(found, TransientFault) != stays, (line, found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "type", "metadata", "raw", "details", "detail", "errors", "base_resp"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(status=st.integers(300, 599), body=JSON, wrapped=st.booleans())
def test_any_body_ends_in_a_fault(status: int, body: Any, wrapped: bool) -> None:
    text = json.dumps({"error": {"message": json.dumps(body), "metadata": {"raw": body}}} if wrapped else body)
    found = outcome(status, text)
    assert isinstance(found, WireReply | TransientFault | PermanentFault)
    if status in (408, 500, 502, 503, 504) and isinstance(found, PermanentFault):
        assert found.kind == "context_window_exceeded"


@given(body=JSON)
def test_a_body_with_status_200_is_read_without_fail(body: Any) -> None:
    read_error(200, json.dumps(body))


WORDS = (
    "context length exceed prompt too long max model limit 0 quota per day try again in 1h2m3s account not supported "
)


@pytest.mark.parametrize("text", [WORDS * 900, " " * 100_000, "exceed" * 16_000, "9" * 100_000, '{"error":' * 11_000])
@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_long_errors_are_looked_at_in_part(text: str, status: int) -> None:
    for body in (text, {"error": {"message": text}}, {"error": {"message": "x", "metadata": {"raw": text}}}):
        assert len(str(outcome(status, body))) < 2000
