"""One request on three protocols: that what was asked for is what goes out, once, or nothing does."""

import asyncio
import json
from typing import Any

import pytest
from fault_server import FaultServer
from wire_helpers import KEY_ENV, MESSAGES, PARAMS, PROTOCOLS, ask, endpoint, outcome, run

from rcwt.base.errors import ConfigError
from rcwt.config.parameters import renamed
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.replies import WireReply
from rcwt.wire.wire import Endpoint

pytestmark = pytest.mark.usefixtures("planted_key")


SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "scores",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "latency": {"type": "integer", "enum": [0, 1]},
                "mls": {"type": "integer", "enum": [0, 1]},
            },
            "required": ["latency", "mls"],
            "additionalProperties": False,
        },
    },
}


# Parameters that litellm would drop without a word.
DROPPED = [
    ("anthropic", {"response_format": {"type": "json_object"}}),
    ("gemini", {"user": "someone"}),
    ("gemini", {"made_up": 1}),
    ("anthropic", {"seed": 7}),
]


@pytest.mark.parametrize(("protocol", "more"), DROPPED)
def test_a_parameter_that_would_not_be_sent_stops_the_request(protocol: str, more: dict[str, Any]) -> None:
    async def inner() -> tuple[Any, int]:
        async with FaultServer() as server:
            return await outcome(endpoint(server, protocol), {**PARAMS, **more}), server.stats()["received"]

    fault, received = run(inner())
    assert isinstance(fault, PermanentFault)
    assert fault.kind == "unsupported_parameter"
    assert next(iter(more)) in fault.cause
    assert received == 0


SENT = [
    ("openai", {"seed": 7, "top_p": 0.9, "stop": ["END"], "user": "someone", "top_k": 5}),
    ("openai", {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}),
    ("anthropic", {"stop": "END", "top_k": 5}),
    (
        "anthropic",
        {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048, "temperature": 1},
    ),
    ("gemini", {"seed": 7, "top_p": 0.9, "stop": ["END"], "top_k": 5}),
    ("gemini", {"reasoning_effort": "low"}),
    ("gemini", {"response_format": {"type": "json_object"}}),
    *((protocol, {"response_format": SCHEMA}) for protocol in PROTOCOLS),
]


@pytest.mark.parametrize(("protocol", "more"), SENT)
def test_parameters_that_are_sent_pass(protocol: str, more: dict[str, Any]) -> None:
    reply = ask(protocol, "ok", {**PARAMS, **more})
    assert isinstance(reply, WireReply), str(reply)
    asked = more.get("extra_body", more)
    assert asked.items() <= reply.requested.items()


# The last is older than schemas: it takes one as a tool that it must call.
JUDGES = [
    *((protocol, {}) for protocol in PROTOCOLS),
    ("anthropic", {"model": "anthropic/claude-3-haiku-20240307"}),
]


@pytest.mark.parametrize(("protocol", "more"), JUDGES)
def test_a_judge_is_answered_in_its_schema(protocol: str, more: dict[str, Any]) -> None:
    reply = ask(protocol, "ok", {**PARAMS, "response_format": SCHEMA}, **more)
    assert isinstance(reply, WireReply)
    scores = json.loads(reply.text or "")
    assert scores.keys() == {"latency", "mls"}
    assert set(scores.values()) <= {0, 1}


def test_renamed_and_removed_parameters() -> None:
    names = {"max_tokens": "max_completion_tokens", "temperature": None}
    reply = ask("openai", "ok", params=renamed({"temperature": 0.3, "max_tokens": 64, "seed": None}, names))
    assert isinstance(reply, WireReply)
    assert reply.requested == {"max_completion_tokens": 64}
    assert reply.sent == {"model": "gpt-4.1-mini", "max_completion_tokens": 64}


def test_what_litellm_refuses_itself_is_named_before_sending() -> None:
    async def inner() -> tuple[Any, int]:
        async with FaultServer() as server:
            return await outcome(endpoint(server, "openai", model="openai/o3-mini")), server.stats()["received"]

    fault, received = run(inner())
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, received) == ("unsupported_parameter", 0)
    assert "temperature" in fault.cause


@pytest.mark.parametrize("model", ["gemini/my-own", "gemini/gemini-9-flash"])
def test_gemini_models_new_to_litellm_get_the_messages_unmerged(model: str) -> None:
    reply = ask("gemini", "ok", {**PARAMS, "response_format": SCHEMA}, model=model)
    assert isinstance(reply, WireReply), str(reply)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_arrive_character_by_character(protocol: str) -> None:
    async def inner() -> list[str]:
        async with FaultServer() as server:
            assert isinstance(await outcome(endpoint(server, protocol)), WireReply)
            return server.requests[0].texts

    assert run(inner()) == [message["content"] for message in MESSAGES]


# litellm strips a begun answer, and merges the system text for a model that it knows to take none.
CHANGED = [
    ("anthropic", {}, [*MESSAGES, {"role": "assistant", "content": "begun, with spaces   "}]),
    ("gemini", {"model": "gemini/gemma-3-27b-it"}, MESSAGES),
]


@pytest.mark.parametrize(("protocol", "more", "messages"), CHANGED)
def test_messages_that_would_be_changed_are_not_sent(protocol: str, more: Any, messages: Any) -> None:
    async def inner() -> tuple[Any, int]:
        async with FaultServer() as server:
            result = await outcome(endpoint(server, protocol, **more), messages=messages)
            return result, server.stats()["received"]

    fault, received = run(inner())
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, received) == ("changed_messages", 0)


def test_bad_calls_are_refused_before_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    async def inner(params: Any, **more: Any) -> tuple[Any, int]:
        async with FaultServer() as server:
            return await outcome(endpoint(server, "openai", **more), params), server.stats()["received"]

    cases = [({"temperature": 0.3}, "unbounded"), ({**PARAMS, "stream": True}, "unbounded")]
    for params, kind in cases:
        fault, received = run(inner(params))
        assert (fault.kind, received) == (kind, 0)
    monkeypatch.delenv(KEY_ENV)
    fault, received = run(inner(PARAMS))
    assert (fault.kind, received) == ("missing_key", 0)
    assert KEY_ENV in fault.remedy
    reply, received = run(inner(PARAMS, api_key_env=None))
    assert (reply.status, received) == ("ok", 1)


def test_an_id_of_another_kind_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"bedrock/x.*openai/<model>"):
        Endpoint("mine", "bedrock/x")


def test_connections_are_shared_and_kept() -> None:
    async def inner() -> dict[str, Any]:
        async with FaultServer({"latency_s": 0.05}) as server:
            at = endpoint(server, "openai")
            for _ in range(3):
                replies = await asyncio.gather(*(outcome(at) for _ in range(16)))
                assert all(isinstance(reply, WireReply) for reply in replies)
            return server.stats()

    stats = run(inner())
    assert stats["received"] == stats["successes"] == 48
    assert stats["in_flight_max"] == 16
    # One for each call at a time, and not one for each call.
    assert stats["connections"] <= 17


def test_environment_cannot_redirect_or_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    assert isinstance(ask("openai", "ok"), WireReply)
    # `ask` asserts one request: neither litellm nor the SDK makes it again.
    assert isinstance(ask("openai", "500"), TransientFault)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_cancelled_call_ends_at_once(protocol: str) -> None:
    async def inner() -> dict[str, Any]:
        async with FaultServer({"always": "hang"}) as server:
            call = asyncio.create_task(outcome(endpoint(server, protocol)))
            while not server.stats()["in_flight"]:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.sleep(0.05)
            return server.stats()

    stats = run(inner())
    assert (stats["received"], stats["in_flight"]) == (1, 0)
