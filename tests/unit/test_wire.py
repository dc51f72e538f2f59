"""One reply on three protocols: what is read from it.

The right values are design.md's section "litellm on the wire" and its fact 8: each case there must come
out as what it truly is. litellm is the real one; the server is tests/fixtures/fault_server.py.
"""

import pytest
from wire_helpers import PARAMS, PROTOCOLS, ask

from rcwt.wire.faults import TransientFault
from rcwt.wire.replies import WireReply

pytestmark = pytest.mark.usefixtures("planted_key")


# What each act is, as (status, finish reason) on the three protocols.
OUTCOMES: dict[str, list[tuple[str, str | None]]] = {
    "ok": [("ok", "stop"), ("ok", "end_turn"), ("ok", "STOP")],
    "truncated": [("truncated", "length"), ("truncated", "max_tokens"), ("truncated", "MAX_TOKENS")],
    "reasoning": [("truncated", "length"), ("truncated", "max_tokens"), ("truncated", "MAX_TOKENS")],
    "context_exceeded": [
        ("truncated", "length"),
        ("truncated", "model_context_window_exceeded"),
        ("truncated", "MAX_TOKENS"),
    ],
    "pause_turn": [("truncated", "length"), ("truncated", "pause_turn"), ("truncated", "MAX_TOKENS")],
    "no_choices": [("empty", None), ("empty", "end_turn"), ("empty", None)],
    "null_content": [("empty", "stop"), ("empty", "end_turn"), ("empty", "STOP")],
    "whitespace": [("empty", "stop"), ("empty", "end_turn"), ("empty", "STOP")],
    "null_finish": [("ok", None), ("ok", None), ("ok", None)],
    "native_finish": [("ok", "eos_token"), ("ok", "eos_token"), ("ok", "eos_token")],
    "refusal": [("refused", "stop"), ("refused", "refusal"), ("filtered", "PROHIBITED_CONTENT")],
    "content_filter": [("filtered", "content_filter"), ("refused", "refusal"), ("filtered", "SAFETY")],
    "filter_no_text": [("filtered", "content_filter"), ("refused", "refusal"), ("filtered", "SAFETY")],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("act", OUTCOMES)
def test_outcome_and_native_finish_reason(act: str, protocol: str) -> None:
    reply = ask(protocol, act)
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.finish_reason) == OUTCOMES[act][PROTOCOLS.index(protocol)]


@pytest.mark.parametrize("reason", ["RECITATION", "BLOCKLIST", "SPII", "PROHIBITED_CONTENT"])
def test_gemini_filters_keep_reason_text_and_id(reason: str) -> None:
    reply = ask("gemini", f"native:{reason}")
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.finish_reason) == ("filtered", reason)
    assert reply.text
    assert reply.response_id
    assert reply.response_id.startswith("resp-")


def test_gemini_blocked_prompt_without_usage_is_filtered() -> None:
    reply = ask("gemini", "blocked_prompt")
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text, reply.finish_reason) == ("filtered", None, "PROHIBITED_CONTENT")
    assert reply.usage.prompt is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_failure_of_the_provider_is_asked_again_with_or_without_text(protocol: str) -> None:
    fault = ask(protocol, "native:OTHER")
    assert isinstance(fault, TransientFault)
    assert fault.maybe_billed
    assert "'OTHER'" in fault.cause


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_word_that_nobody_knows_is_said_to_be_unknown(protocol: str) -> None:
    reply = ask(protocol, "native:SOMETHING_NEW")
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.finish_reason) == ("unknown_finish", "SOMETHING_NEW")
    assert reply.text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_record_of_a_reply(protocol: str) -> None:
    reply = ask(protocol, "ok")
    assert isinstance(reply, WireReply)
    named = {"openai": "gpt-4.1-mini", "anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"}
    assert reply.returned_model == f"{named[protocol]}-served"
    prefix = {"openai": "chatcmpl-", "anthropic": "req_1", "gemini": "resp-"}
    assert (reply.response_id or "").startswith(prefix[protocol])
    assert reply.system_fingerprint == ("fp_fault" if protocol == "openai" else None)
    assert reply.usage.prompt
    assert reply.usage.completion
    assert reply.usage.note is None
    assert 0 < reply.latency_s < 5
    assert reply.time_utc.endswith("+00:00")
    assert reply.requested == PARAMS
    config = reply.sent["generationConfig"] if protocol == "gemini" else reply.sent
    assert config["temperature"] == 0.3
    assert {config.get("max_tokens"), config.get("max_output_tokens")} == {64, None}
    assert not reply.sent.keys() & {"messages", "system", "contents", "system_instruction"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_missing_usage_is_null_and_said(protocol: str) -> None:
    for act in ("no_usage", "zero_usage"):
        reply = ask(protocol, act)
        assert isinstance(reply, WireReply)
        assert (reply.status, reply.usage.prompt, reply.usage.completion) == ("ok", None, None)
        assert "no prompt and completion tokens" in (reply.usage.note or "")


@pytest.mark.parametrize("protocol", ["openai", "gemini"])
def test_reasoning_that_eats_the_budget_is_counted(protocol: str) -> None:
    reply = ask(protocol, "reasoning")
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text) == ("truncated", None)
    assert reply.usage.reasoning
    assert reply.usage.reasoning == reply.usage.completion
    assert reply.usage.note is None
