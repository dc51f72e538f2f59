"""Token counts as providers word them; the bodies are theirs."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.wire import reading
from rcwt.wire.received import Received, UnreadableFault
from rcwt.wire.replies import Protocol, Usage, read_reply


def usage_of(protocol: Protocol, usage: dict[str, Any]) -> Usage:
    field = "usageMetadata" if protocol == "gemini" else "usage"
    shells: dict[str, dict[str, Any]] = {
        "openai": {"choices": []},
        "anthropic": {"content": []},
        "gemini": {"candidates": []},
    }
    reply = read_reply(protocol, json.dumps({**shells[protocol], field: usage}), {})
    assert reply is not None
    return reply.usage


def test_anthropic_prompt_is_input_written_and_read() -> None:
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 7,
    }
    read = usage_of("anthropic", usage)
    assert (read.prompt, read.cached, read.completion) == (325, 300, 7)
    assert "20 prompt tokens were written to a cache" in (read.note or "")


def test_gemini_thoughts_are_output() -> None:
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 40,
        "totalTokenCount": 150,
    }
    assert usage_of("gemini", {**usage, "cachedContentTokenCount": 60}) == Usage(
        prompt=100, cached=60, completion=50, reasoning=40
    )
    # Some versions count them inside the candidates: the total says which.
    read = usage_of("gemini", {**usage, "candidatesTokenCount": 50})
    assert (read.completion, read.reasoning) == (50, 40)
    assert "inside" in (read.note or "")


def test_gemini_absent_count_is_what_the_total_says() -> None:
    assert usage_of("gemini", {"promptTokenCount": 9, "totalTokenCount": 9}).completion == 0
    assert usage_of("gemini", {"promptTokenCount": 9, "totalTokenCount": 30}).completion == 21
    for unsaid in ({}, {"totalTokenCount": 8}, {"totalTokenCount": 30, "candidatesTokenCount": "many"}):
        read = usage_of("gemini", {"promptTokenCount": 9, **unsaid})
        assert read.completion is None
        assert read.note == "no completion tokens in the reply"


def test_an_absent_completion_is_what_the_total_says_and_a_wrong_one_is_missing() -> None:
    assert usage_of("openai", {"prompt_tokens": 9, "total_tokens": 30}).completion == 21
    for unsaid in ({}, {"total_tokens": 9}, {"total_tokens": 30, "completion_tokens": -1}):
        assert usage_of("openai", {"prompt_tokens": 9, **unsaid}).completion is None


@pytest.mark.parametrize("protocol", ["openai", "gemini"])
def test_what_only_the_total_counts_is_output(protocol: Protocol) -> None:
    # Gemini behind an OpenAI endpoint, of shared/wire: 35 and 12 of 109, the rest are thoughts.
    names = {
        "openai": ("prompt_tokens", "completion_tokens", "total_tokens"),
        "gemini": ("promptTokenCount", "candidatesTokenCount", "totalTokenCount"),
    }[protocol]
    read = usage_of(protocol, dict(zip(names, (35, 12, 109), strict=True)))
    assert (read.prompt, read.completion) == (35, 74)
    assert "62 tokens that only the total counts" in (read.note or "")


@pytest.mark.parametrize("total", [10, 0, 14, -99, None, "many"])
def test_a_total_below_its_parts_changes_nothing(total: Any) -> None:
    read = usage_of("openai", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": total})
    assert (read.prompt, read.completion) == (10, 5)
    said = f"not the total of {total}"
    assert (said in (read.note or "")) == (total in (10, 0, 14))


@given(st.lists(st.none() | st.integers(-5, 10**10) | st.floats() | st.text(), min_size=5, max_size=5))
def test_usage_is_counts_or_missing_and_never_less_than_what_was_said(values: list[Any]) -> None:
    prompt, completion, total, cached, reasoning = values
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, "cached_tokens": cached}
    read = usage_of("openai", {**usage, "reasoning_tokens": reasoning})
    for count in (read.prompt, read.cached, read.completion, read.reasoning):
        assert count is None or count >= 0
    if isinstance(completion, int) and completion > 0 and read.completion is not None:
        assert read.completion >= completion


@pytest.mark.parametrize(
    ("cached", "says"),
    [
        (7, {"prompt_tokens_details": {"cached_tokens": 7}}),
        (7, {"prompt_tokens_details": None, "cached_tokens": 7}),
        (7, {"num_cached_tokens": 7}),
        (0, {"num_cached_tokens": 0}),
        (7, {"prompt_cache_hit_tokens": 7, "prompt_cache_miss_tokens": 13}),
        (7, {"prompt_token_details": {"cached_tokens": 7}}),
        (7, {"cache_read_input_tokens": 7}),
        (None, {"cached_tokens": -1}),
    ],
)
def test_cached_tokens_in_every_spelling(cached: int | None, says: dict[str, Any]) -> None:
    read = usage_of("openai", {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25, **says})
    assert (read.prompt, read.cached, read.completion) == (20, cached, 5)


def test_a_cache_beside_the_prompt_is_prompt_and_not_output() -> None:
    beside = {"prompt_tokens": 5, "completion_tokens": 7, "cache_read_input_tokens": 300}
    read = usage_of("openai", {**beside, "cache_creation_input_tokens": 20, "total_tokens": 332})
    assert (read.prompt, read.cached, read.completion) == (325, 300, 7)
    # Anthropic's own counts, passed on.
    anthropic = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 300}
    assert usage_of("openai", anthropic) == Usage(prompt=305, cached=300, completion=7)
    # The total tells whether the cache is a part of the input.
    for prompt, total in ((305, 312), (5, 12)):
        read = usage_of("openai", {**anthropic, "total_tokens": total})
        assert (read.prompt, read.completion) == (prompt, 7)


def test_counts_by_the_names_of_the_newer_protocol() -> None:
    usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
    details = {"input_tokens_details": {"cached_tokens": 8}, "output_tokens_details": {"reasoning_tokens": 4}}
    assert usage_of("openai", {**usage, **details}) == Usage(prompt=20, cached=8, completion=9, reasoning=4)


def test_reasoning_beside_the_completion_is_added() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 30}}
    read = usage_of("openai", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45, **details})
    assert (read.completion, read.reasoning) == (35, 30)
    assert "added" in (read.note or "")
    # Without a total: what is more than the completion cannot be a part of it.
    read = usage_of("openai", {"prompt_tokens": 10, "completion_tokens": 5, **details})
    assert (read.completion, read.reasoning) == (35, 30)


@pytest.mark.parametrize("count", [None, "twelve", "-1", -1, 1.5, True, 10**20, [12]])
def test_what_is_no_count_is_missing(count: Any) -> None:
    assert usage_of("openai", {"prompt_tokens": count}).prompt is None
    assert usage_of("openai", {}).prompt is None


@pytest.mark.parametrize("count", [12, 12.0, "12"])
def test_a_whole_number_is_a_count_however_it_is_written(count: Any) -> None:
    assert usage_of("openai", {"prompt_tokens": count}).prompt == 12


@pytest.mark.parametrize("body", ["", "null", "[]", "{}", '"text"', "{"])
@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_other_bodies_are_no_reply(protocol: Protocol, body: str) -> None:
    assert read_reply(protocol, body, {}) is None


def test_text_in_parts_is_joined_and_thoughts_are_left_out() -> None:
    openai = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    gemini = {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "a"}, {"text": "b"}]}}]}
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]
    bodies: list[tuple[Protocol, dict[str, Any]]] = [
        ("openai", openai),
        ("anthropic", {"type": "message", "content": blocks}),
        ("gemini", gemini),
    ]
    for protocol, body in bodies:
        reply = read_reply(protocol, json.dumps(body), {})
        assert reply is not None
        assert (reply.text, reply.status) == ("ab", "ok")


def test_a_tool_that_nobody_offered_is_no_answer() -> None:
    call = {"type": "tool_use", "input": {"a": 1}, "name": "lookup"}
    # A schema is sent to older models as a tool of this name: what it is called with is the answer.
    schema = {**call, "name": "json_tool_call"}
    found = [
        read_reply("anthropic", json.dumps({"content": [block], "stop_reason": "tool_use"}), {})
        for block in (call, schema)
    ]
    assert [(reply.status, reply.text) for reply in found if reply] == [("empty", None), ("ok", '{"a": 1}')]
    openai = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    gemini = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "lookup"}}]}, "finishReason": "STOP"}]}
    for protocol, body in (("openai", openai), ("gemini", gemini)):
        reply = read_reply("openai" if protocol == "openai" else "gemini", json.dumps(body), {})
        assert reply is not None
        assert (reply.status, reply.text) == ("empty", None)


OPENAI_CONTENTS = [
    (["answer"], "answer"),
    ([{"type": "text", "text": {"value": "answer"}}], "answer"),
    ([{"type": "output_text", "text": "answer"}], "answer"),
    ([{"text": "an"}, {"type": "text", "text": "swer"}], "answer"),
    ([{"type": "reasoning", "text": "THOUGHT"}, {"type": "text", "text": "answer"}], "answer"),
    ([{"type": "thinking", "thinking": "THOUGHT"}, "answer"], "answer"),
    ([{"type": "refusal", "refusal": "No."}], None),
    ([], None),
]


@pytest.mark.parametrize(("content", "text"), OPENAI_CONTENTS)
def test_the_forms_of_a_text(content: object, text: str | None) -> None:
    read = read_reply("openai", json.dumps({"choices": [{"message": {"content": content}}]}), {})
    assert read is not None
    assert (read.text or None, read.status) == (text, "ok" if text else "empty")


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("openai", {"choices": [{"message": {"content": [{"type": "answer", "text": "answer"}]}}]}),
        ("openai", {"choices": [{"message": {"content": [{"type": "text", "text": ["answer"]}]}}]}),
        ("openai", {"choices": [{"message": {"content": [{"content": "answer"}]}}]}),
        ("anthropic", {"content": [{"type": "answer", "text": "answer"}], "stop_reason": "end_turn"}),
        ("gemini", {"candidates": [{"content": "answer", "finishReason": "STOP"}]}),
        ("gemini", {"candidates": [{"content": {"parts": {"text": "answer"}}, "finishReason": "STOP"}]}),
        ("gemini", {"candidates": [{"output": "answer", "finishReason": "STOP"}]}),
    ],
)
def test_a_text_in_a_form_that_nobody_reads_is_no_empty_reply(protocol: Protocol, body: dict[str, Any]) -> None:
    """Neither as a whole reply nor as a stream of one event."""
    with pytest.raises(UnreadableFault):
        reading.read(Received(protocol, 200, {}, json.dumps(body), {}, "", 0.0))


@pytest.mark.parametrize("block", [{"text": "answer"}, {"type": "output_text", "text": "answer"}])
def test_anthropic_blocks_of_text(block: dict[str, str]) -> None:
    read = read_reply("anthropic", json.dumps({"content": [block], "stop_reason": "end_turn"}), {})
    assert read is not None
    assert (read.text, read.status) == ("answer", "ok")
