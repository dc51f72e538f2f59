"""Finish words: a closed set. The words and their meanings are those of the vendors' own references."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.wire.finishes import End, deciding, end_of, word_of
from rcwt.wire.replies import FailedReplyFault, Protocol, WireReply, read_reply

WORDS: dict[End, list[str | None]] = {
    "ok": [
        *("stop", "end_turn", "stop_sequence", "STOP", "STOP_SEQUENCE", "FINISH_REASON_UNSPECIFIED"),  # the big three
        *("eos", "eos_token", "COMPLETE", "FINISH", "endoftext", "normal"),  # Together, TGI, Cohere, Titan, AI21, Baidu
        *("completed", "eosFound", "stopStringFound", "REASON_STOP", "FinishReason.STOP", "word"),
        *("tool_calls", "function_call", "tool_use", "TOOL_CALL", "1", "0", "", " ", None, "null"),
    ],
    "truncated": [
        *("length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "pause_turn", "compaction", "2"),
        *(
            "model_length",
            "limit",
            "token_limit",
            "max_output_tokens",
            "LENGTH",
            "ERROR_LIMIT",
            "maxPredictedTokensReached",
        ),
    ],
    "refused": ["refusal"],
    "filtered": [
        *(
            "content_filter",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "3",
            "4",
            "8",
        ),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK"),
        *("sensitive", "guardrail_intervened", "content_filtered", "ERROR_TOXIC", "CONTENT_FILTERED"),
    ],
    "failed": [
        *("error", "failed", "timeout", "network_error", "insufficient_system_resource", "ERROR", "TIMEOUT", "abort"),
        *("OTHER", "5", "MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
        *("MISSING_THOUGHT_SIGNATURE", "IMAGE_OTHER", "NO_IMAGE", "cancelled", "USER_CANCEL", "not_finished"),
        *("malformed_model_output", "malformed_tool_use", "time_limit", "load", "unload"),
    ],
}
KNOWN = [(word, end) for end, words in WORDS.items() for word in words]


def read(protocol: Protocol, word: object, text: str | None = "5 ms.", **more: Any) -> WireReply:
    bodies: dict[Protocol, dict[str, Any]] = {
        "openai": {"choices": [{"message": {"content": text}, "finish_reason": word, **more}]},
        "anthropic": {"content": [{"type": "text", "text": text or ""}], "stop_reason": word},
        "gemini": {"candidates": [{"content": {"parts": [{"text": text or ""}]}, "finishReason": word}]},
    }
    reply = read_reply(protocol, json.dumps(bodies[protocol]), {})
    assert reply is not None
    return reply


@pytest.mark.parametrize(("word", "end"), KNOWN)
@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_each_known_word_has_its_end_in_every_protocol(protocol: Protocol, word: str | None, end: End) -> None:
    assert end_of(word) == end
    if end == "failed":
        with pytest.raises(FailedReplyFault) as failed:
            read(protocol, word)
        assert failed.value.word == word
    else:
        reply = read(protocol, word)
        assert (reply.status, reply.text, reply.finish_reason) == (end, "5 ms.", word)
        # A plain end without a text is an empty reply; what was cut or withheld stays that.
        assert read(protocol, word, None).status == ("empty" if end == "ok" else end)


@given(st.sampled_from(KNOWN), st.sampled_from([str.lower, str.upper, str.title, lambda word: word.replace("_", "-")]))
def test_case_and_separators_do_not_count(known: tuple[str | None, End], spell: Any) -> None:
    word, end = known
    assert end_of(word and spell(word)) == end


@pytest.mark.parametrize(
    "word",
    [
        "novel",
        "STOPPED_BY_MOON",
        "stop_and_think",
        "...",
        "99",
        "halt",
        "-1",
        "1.5",
        "stop停",
        "x.1",
        "x" * 100_000,
        "stop" + 200 * " " + "x",
    ],
)
@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_a_word_that_nobody_knows_is_said(protocol: Protocol, word: str) -> None:
    reply = read(protocol, word)
    assert (reply.status, reply.finish_reason, reply.text) == ("unknown_finish", word, "5 ms.")
    assert read(protocol, word, None).status == "unknown_finish"


@pytest.mark.parametrize(
    ("value", "word"),
    [(1, "1"), (1.0, "1"), ({"type": "length"}, "length"), ({"type": "stop", "matched": 7}, "stop"), (None, None)],
)
def test_a_word_may_be_a_number_or_stand_in_an_object(value: object, word: str | None) -> None:
    assert word_of(value) == word


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda part: st.lists(part)))
def test_whatever_stands_in_the_field_the_reply_has_an_end(value: Any) -> None:
    word = word_of(value)
    if end_of(word) == "failed":
        with pytest.raises(FailedReplyFault):
            read("openai", value)
    else:
        assert read("openai", value).status == (end_of(word) or "unknown_finish")


@pytest.mark.parametrize(
    ("word", "native", "decides"),
    [
        ("stop", "end_turn", "stop"),
        ("stop", "completed", "stop"),
        ("length", "MAX_TOKENS", "length"),
        ("tool_calls", "STOP", "tool_calls"),
        ("stop", "novel", "stop"),
        ("novel", "STOP", "STOP"),
        ("novel", None, "novel"),
        (None, "novel", "novel"),
        ("", "MAX_TOKENS", "MAX_TOKENS"),
        ("stop", "refusal", "refusal"),
        ("stop", "OTHER", "OTHER"),
        # A filter or a limit would end the next attempt too, so it is no failure to be asked again.
        ("error", "SAFETY", "SAFETY"),
        ("error", "max_tokens", "max_tokens"),
        ("content_filter", "error", "content_filter"),
        ("length", "abort", "length"),
        (None, None, None),
    ],
)
def test_of_two_words_one_decides_and_is_shown(word: str | None, native: str | None, decides: str | None) -> None:
    assert deciding(word, native) == decides
    if end_of(decides) == "failed":
        with pytest.raises(FailedReplyFault):
            read("openai", word, native_finish_reason=native)
    else:
        assert read("openai", word, native_finish_reason=native).finish_reason == decides


def test_a_blocked_prompt_is_filtered_by_whatever_word() -> None:
    for word in ("OTHER", "SAFETY", "JAILBREAK", "A_NEW_ONE", 2):
        reply = read_reply("gemini", json.dumps({"promptFeedback": {"blockReason": word}}), {})
        assert reply is not None
        assert (reply.status, reply.finish_reason) == ("filtered", str(word))


def test_a_refusal_beside_an_unknown_word_is_a_refusal() -> None:
    body = {"choices": [{"message": {"content": None, "refusal": "I can't."}, "finish_reason": "novel"}]}
    reply = read_reply("openai", json.dumps(body), {})
    assert reply is not None
    assert (reply.status, reply.text) == ("refused", "I can't.")
