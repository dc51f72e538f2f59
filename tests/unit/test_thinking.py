"""Thinking is on, off or as deep as it was asked for, or nothing leaves.

The right values are the vendors' own: Anthropic's `thinking` and `output_config.effort`; Gemini's `thinkingBudget`, of
which 0 is off and -1 the model's choice, and `thinkingLevel`; Google's table of efforts as budgets (low 1,024, medium
8,192, high 24,576). litellm is the real one, the server tests/fixtures/fault_server.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from wire_helpers import endpoint, outcome, run

from rcwt.base.records import Response, Usage
from rcwt.base.request import Request
from rcwt.calls.responses import KeptResponses, ResponseCache
from rcwt.config.thinking import thinks_as_asked
from rcwt.wire.faults import PermanentFault
from rcwt.wire.replies import WireReply

pytestmark = pytest.mark.usefixtures("planted_key")


def enabled(budget: int) -> dict[str, Any]:
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def effort(word: str) -> dict[str, Any]:
    return {"reasoning_effort": word}


def gemini(**config: Any) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": config}}


OFF, ADAPTIVE = {"thinking": {"type": "disabled"}}, {"thinking": {"type": "adaptive"}}
AS_ASKED = [
    ("anthropic", OFF, OFF),
    ("anthropic", enabled(1024), enabled(1024)),
    ("anthropic", enabled(1024), enabled(1024.0)),  # type: ignore[arg-type]
    ("anthropic", ADAPTIVE, ADAPTIVE),
    ("anthropic", effort("none"), OFF),
    ("anthropic", effort("low"), {**ADAPTIVE, "output_config": {"effort": "low"}}),
    ("gemini", OFF, gemini(thinkingBudget=0)),
    ("gemini", ADAPTIVE, gemini(thinkingBudget=-1)),
    ("gemini", enabled(1024), gemini(thinkingBudget=1024, includeThoughts=True)),
    ("gemini", effort("none"), gemini(thinkingBudget=0, includeThoughts=False)),
    ("gemini", effort("low"), gemini(thinkingBudget=1024)),
    ("gemini", effort("high"), gemini(thinkingBudget=24576)),
    ("gemini", effort("low"), gemini(thinkingLevel="LOW")),
    ("openai", effort("low"), effort("low")),
    ("openai", OFF, OFF),
]
OTHERWISE = [
    ("anthropic", OFF, {}),
    ("anthropic", OFF, {"thinking": {}}),
    ("anthropic", OFF, enabled(1024)),
    ("anthropic", enabled(1024), enabled(2048)),
    ("anthropic", enabled(1024), ADAPTIVE),
    ("anthropic", enabled(1024), {**ADAPTIVE, "output_config": {"effort": "low"}}),
    ("anthropic", ADAPTIVE, enabled(2048)),
    ("anthropic", effort("none"), {}),
    ("anthropic", effort("low"), enabled(1024)),
    ("anthropic", effort("minimal"), {**ADAPTIVE, "output_config": {"effort": "low"}}),
    ("gemini", OFF, gemini()),
    ("gemini", OFF, gemini(includeThoughts=False)),
    ("gemini", OFF, gemini(thinkingLevel="minimal")),
    ("gemini", OFF, gemini(thinkingBudget=False)),
    ("gemini", ADAPTIVE, gemini()),
    ("gemini", {"thinking": {"type": "enabled"}}, gemini(includeThoughts=True)),
    ("gemini", enabled(1024), gemini(includeThoughts=True)),
    ("gemini", enabled(1024), gemini(thinkingBudget=512)),
    ("gemini", {"thinking": {"type": "enabled", "budget_tokens": 0, "level": "low"}}, gemini(thinkingBudget=0)),
    ("gemini", effort("none"), gemini(thinkingLevel="low", includeThoughts=False)),
    ("gemini", effort("minimal"), gemini(thinkingBudget=1)),
    ("gemini", effort("medium"), gemini(thinkingBudget=2048)),
    ("openai", effort("low"), effort("medium")),
    ("openai", effort("none"), {}),
    ("openai", OFF, {"thinking": {}}),
]


@pytest.mark.parametrize(("protocol", "asked", "body"), AS_ASKED)
def test_the_same_thing(protocol: str, asked: dict[str, Any], body: dict[str, Any]) -> None:
    [(name, value)] = asked.items()
    assert thinks_as_asked(protocol, name, value, body)


@pytest.mark.parametrize(("protocol", "asked", "body"), OTHERWISE)
def test_another_thing(protocol: str, asked: dict[str, Any], body: dict[str, Any]) -> None:
    [(name, value)] = asked.items()
    assert not thinks_as_asked(protocol, name, value, body)


def leaves(model: str, asked: dict[str, Any]) -> tuple[Any, int]:
    """What comes of one request with `asked`, and how many the server received."""

    async def inner() -> tuple[Any, int]:
        async with FaultServer() as server:
            at = endpoint(server, model.partition("/")[0], model=model)
            return await outcome(at, {"max_tokens": 30_000, **asked}), server.stats()["received"]

    return run(inner())


SENT = [
    ("anthropic/claude-haiku-4-5", OFF),
    ("anthropic/claude-haiku-4-5", enabled(1024)),
    ("anthropic/claude-opus-4-7", ADAPTIVE),
    ("anthropic/claude-opus-4-7", effort("high")),
    ("anthropic/claude-opus-4-7", {**ADAPTIVE, "output_config": {"effort": "low"}}),
    ("anthropic/claude-sonnet-5", effort("none")),
    ("gemini/gemini-2.5-flash", enabled(1024)),
    ("gemini/gemini-2.5-flash", enabled(0)),
    *(("gemini/gemini-2.5-flash", effort(word)) for word in ("none", "low", "medium", "high")),
    ("gemini/gemini-2.5-pro", {"thinkingConfig": {"thinkingBudget": 0}}),
    ("gemini/gemini-3.1-pro-preview", effort("low")),
    ("gemini/gemini-3.1-pro-preview", {"thinkingConfig": {"thinkingLevel": "low"}}),
    ("openai/gpt-5", effort("minimal")),
    ("openai/o3", effort("low")),
    ("openai/glm-5", {"extra_body": OFF}),
    ("openai/deepseek-v4", {"extra_body": {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}}),
    ("openai/my-own", {"extra_body": {"reasoning": {"effort": "low", "exclude": True}}}),
]


@pytest.mark.parametrize(("model", "asked"), SENT)
def test_what_leaves_as_it_was_asked(model: str, asked: dict[str, Any]) -> None:
    reply, received = leaves(model, asked)
    assert isinstance(reply, WireReply), str(reply)
    assert received == 1
    native = {"thinkingConfig", "output_config"} & asked.keys()
    assert all(json.dumps(asked[name]) in json.dumps(reply.sent) for name in native)


# Each of these left, with another meaning: as an empty object, as thoughts that are only hidden, as another budget, as
# a level, as another level. What the model takes is in the message.
REFUSED = [
    ("anthropic/claude-opus-4-7", enabled(1024), '"adaptive"', "output_config: {effort: low}"),
    ("anthropic/claude-fable-5", OFF, "nothing about thinking", "thinking: {type: adaptive}"),
    ("anthropic/claude-fable-5", effort("none"), "nothing about thinking", "thinking: {type: adaptive}"),
    ("anthropic/claude-haiku-4-5", ADAPTIVE, '"budget_tokens"', "budget_tokens: N"),
    ("anthropic/claude-haiku-4-5", effort("low"), '"budget_tokens": 1024', "budget_tokens: N"),
    ("anthropic/claude-opus-4-7", effort("minimal"), '"effort": "low"', "output_config: {effort: low}"),
    ("gemini/gemini-2.5-flash", OFF, "thinkingConfig: {}", "thinkingConfig: {thinkingBudget: N}"),
    ("gemini/gemini-2.5-flash", effort("minimal"), '"thinkingBudget": 1', "thinkingConfig: {thinkingBudget: N}"),
    ("gemini/gemini-3-flash-preview", OFF, '"includeThoughts": false', "thinkingConfig: {thinkingLevel: low}"),
    ("gemini/gemini-3-flash-preview", enabled(1024), '"includeThoughts": true', "thinkingLevel: low"),
    ("gemini/gemini-3.1-pro-preview", effort("none"), '"thinkingLevel": "low"', "cannot be off"),
]


@pytest.mark.parametrize(("model", "asked", "would_leave", "taken"), REFUSED)
def test_what_would_leave_with_another_meaning(model: str, asked: dict[str, Any], would_leave: str, taken: str) -> None:
    fault, received = leaves(model, asked)
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, received) == ("unsupported_parameter", 0)
    [(name, value)] = asked.items()
    for part in (f"{name}={value!r}", would_leave, taken):
        assert part in str(fault)


def test_what_litellm_refuses_itself_comes_without_its_advice_to_drop() -> None:
    fault, received = leaves("openai/gpt-4.1-mini", effort("low"))
    assert (fault.kind, received) == ("unsupported_parameter", 0)
    assert "reasoning_effort" in fault.cause
    assert "drop" not in str(fault)


def test_parameters_are_not_written_into() -> None:
    # litellm adds times of its own to a `metadata` that it is given.
    asked = {"metadata": {"user_id": "someone"}}
    reply, _ = leaves("anthropic/claude-haiku-4-5", asked)
    assert isinstance(reply, WireReply)
    assert asked == {"metadata": {"user_id": "someone"}}
    assert reply.sent["metadata"] == {"user_id": "someone"}


def kept(cache: ResponseCache, model: str, params: dict[str, Any], sent: dict[str, Any]) -> Request:
    request = Request("vendor", model, (("user", "Question?"),), {"max_tokens": 9, **params}, "coord_first", 0)
    response = Response.model_validate(
        {
            **dict.fromkeys(Response.model_fields),
            **{"status": "ok", "text": "A reply.", "usage": Usage(prompt=7, completion=1), "sent_params": sent},
            **{"time_utc": "2026-11-01T00:00:00+00:00", "latency_s": 1, "attempts": 1},
        }
    )
    cache.put(request, response)
    return request


@pytest.mark.parametrize(("protocol", "asked", "sent"), [case for case in OTHERWISE if case[2]])
def test_a_kept_response_that_was_asked_otherwise_is_stale(
    tmp_path: Path, protocol: str, asked: dict[str, Any], sent: dict[str, Any]
) -> None:
    cache = ResponseCache(tmp_path)
    request = kept(cache, f"{protocol}/m", asked, sent)
    assert cache.get(request.key) is None
    seen = KeptResponses(cache)
    assert seen.stale(request.params, [request.key]) == {request.key: sent}
    assert seen.read(request.key) is None
    # It was paid for: it stays where it is, and beside the one that takes its place.
    assert cache.path(request.key).exists()
    response = Response.model_validate(json.loads(cache.path(request.key).read_bytes())["response"])
    cache.put(request, response.model_copy(update={"sent_params": {}, "text": "anew"}))
    assert (cache.get(request.key) or response).text == "anew"
    [aside] = tmp_path.rglob("*.before-1")
    assert json.loads(aside.read_bytes())["response"]["text"] == "A reply."


@pytest.mark.parametrize(
    ("model", "params", "sent"),
    [
        *((f"{protocol}/m", asked, body) for protocol, asked, body in AS_ASKED),
        ("openai/m", effort("low"), {}),  # what was sent is not known
        ("embedded/reader", effort("low"), {"max_tokens": 9}),
        ("gemini/m", {"temperature": 0.5}, gemini()),
        ("gemini/m", {"top_k": 5}, {"generationConfig": {}}),  # nothing but thinking is compared anew
    ],
)
def test_every_other_kept_response_stays_valid(
    tmp_path: Path, model: str, params: dict[str, Any], sent: dict[str, Any]
) -> None:
    cache = ResponseCache(tmp_path)
    request = kept(cache, model, params, sent)
    assert cache.get(request.key) is not None
    seen = KeptResponses(cache)
    assert seen.stale(request.params, [request.key]) == {}
    assert seen.read(request.key) is not None
