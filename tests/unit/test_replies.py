"""Token counts as providers word them; the bodies are theirs."""

import json
from typing import Any

import pytest

from rcwt.replies import Protocol, Usage, read_reply


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
    assert (read.prompt_tokens, read.cached_tokens, read.completion_tokens) == (325, 300, 7)
    assert "20 prompt tokens were written to a cache" in (read.note or "")


def test_gemini_thoughts_are_output() -> None:
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 40,
        "totalTokenCount": 150,
    }
    assert usage_of("gemini", {**usage, "cachedContentTokenCount": 60}) == Usage(100, 60, 50, 40, None)
    # Some versions count them inside the candidates: the total says which.
    read = usage_of("gemini", {**usage, "candidatesTokenCount": 50})
    assert (read.completion_tokens, read.reasoning_tokens) == (50, 40)
    assert "inside" in (read.note or "")


def test_gemini_absent_count_is_zero_only_where_the_total_says_so() -> None:
    assert usage_of("gemini", {"promptTokenCount": 9, "totalTokenCount": 9}).completion_tokens == 0
    read = usage_of("gemini", {"promptTokenCount": 9, "totalTokenCount": 30})
    assert read.completion_tokens is None
    assert read.note == "no completion tokens in the reply"


def test_openai_parts_that_do_not_add_up_are_said() -> None:
    read = usage_of("openai", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 99})
    assert (read.prompt_tokens, read.completion_tokens) == (10, 5)
    assert "not the total of 99" in (read.note or "")


def test_reasoning_beside_the_completion_is_added() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 30}}
    read = usage_of("openai", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45, **details})
    assert (read.completion_tokens, read.reasoning_tokens) == (35, 30)
    assert "added" in (read.note or "")


@pytest.mark.parametrize("count", [None, "twelve", "-1", -1, 1.5, True, 10**20, [12]])
def test_what_is_no_count_is_missing(count: Any) -> None:
    assert usage_of("openai", {"prompt_tokens": count}).prompt_tokens is None
    assert usage_of("openai", {}).prompt_tokens is None


@pytest.mark.parametrize("count", [12, 12.0, "12"])
def test_a_whole_number_is_a_count_however_it_is_written(count: Any) -> None:
    assert usage_of("openai", {"prompt_tokens": count}).prompt_tokens == 12


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
