"""Bodies that hold a reply in parts: put together where there is one way to, else not read.

The right values are what the three protocols say of their streams: pieces are joined in order, the finish word and the
usage stand in the last events that have them. Each stream below is the whole body of its protocol, cut into events.
"""

import json
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.reading import read
from rcwt.wire.received import Received, UnreadableFault
from rcwt.wire.replies import WireReply

PROTOCOLS = ("openai", "anthropic", "gemini")
PIECES = ("ProseMirror ", "serves\n", "", "rich text – ünïcode")
TEXT = "ProseMirror serves\nrich text – ünïcode"


def openai(pieces: Sequence[str] = PIECES, reason: str | None = "stop") -> list[dict[str, Any]]:
    shared = {"id": "chat-1", "object": "chat.completion.chunk", "model": "m-1", "system_fingerprint": "fp"}
    # A first event without choices, and without a model, as a vendor that filters prompts sends it.
    events = [{**shared, "id": "", "model": "", "choices": [], "prompt_filter_results": []}]
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
    reasons = [None] * (len(deltas) - 1) + [reason]
    for delta, said in zip(deltas, reasons, strict=True):
        events.append({**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": said}], "usage": None})
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    return [*events, {**shared, "choices": [], "usage": usage}]


def anthropic(pieces: Sequence[str] = PIECES, reason: str | None = "end_turn") -> list[dict[str, Any]]:
    message = {"id": "msg-1", "type": "message", "role": "assistant", "content": [], "model": "m-1"}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 7, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        events.append({"type": "content_block_delta", "index": 1, "delta": delta})
    return [
        *events,
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def gemini(pieces: Sequence[str] = PIECES, reason: str | None = "STOP") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}], "modelVersion": "m-1"}
        for piece in pieces
    ]
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 5, "totalTokenCount": 12}
    ended: dict[str, Any] = {"finishReason": reason} if reason else {}
    return [*events, {"candidates": [ended], "usageMetadata": usage, "modelVersion": "m-1"}]


EVENTS = {"openai": openai, "anthropic": anthropic, "gemini": gemini}


def as_events(events: Sequence[Any], protocol: str = "openai", end: str = "\n\n") -> str:
    lines = []
    for event in events:
        named = f"event: {event['type']}\n" if protocol == "anthropic" else ""
        lines.append(f"{named}data: {json.dumps(event, ensure_ascii=False)}{end}")
    return "".join(lines) + ("data: [DONE]\n\n" if protocol == "openai" else "")


def as_lines(events: Sequence[Any], protocol: str = "openai") -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


FORMS = {
    "events": as_events,
    "events after comments": lambda events, protocol: ": PROCESSING\n\n: PROCESSING\n\n" + as_events(events, protocol),
    "events with CRLF": lambda events, protocol: as_events(events, protocol).replace("\n", "\r\n"),
    "events without empty lines": lambda events, protocol: as_events(events, protocol, "\n"),
    "events without spaces": lambda events, protocol: as_events(events, protocol).replace("data: ", "data:"),
    "a value a line": as_lines,
    "a list": lambda events, protocol: json.dumps(events, indent=1),
}


def outcome(body: str, protocol: str = "openai") -> WireReply | TransientFault | PermanentFault:
    try:
        return read(Received(protocol, 200, {}, body, {}, "", 0.0))
    except (TransientFault, PermanentFault) as fault:
        return fault


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("form", FORMS)
def test_a_whole_stream_is_the_reply_it_holds(form: str, protocol: str) -> None:
    reply = outcome(FORMS[form](EVENTS[protocol](), protocol), protocol)
    assert isinstance(reply, WireReply)
    word = {"openai": "stop", "anthropic": "end_turn", "gemini": "STOP"}[protocol]
    assert (reply.status, reply.text, reply.finish_reason, reply.returned_model) == ("ok", TEXT, word, "m-1")
    assert (reply.usage.prompt, reply.usage.completion) == (7, 5)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_that_was_cut_is_cut(protocol: str) -> None:
    word = {"openai": "length", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}[protocol]
    reply = outcome(as_events(EVENTS[protocol](reason=word), protocol), protocol)
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text) == ("truncated", TEXT)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_without_its_end_is_no_reply(protocol: str) -> None:
    events = EVENTS[protocol]()
    for length in range(len(events) - 2):
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events[: length + 1])
        assert isinstance(outcome(body, protocol), UnreadableFault), length
    # Nor is one that was cut inside of an event, before its end was said.
    assert isinstance(outcome(as_events(events, protocol)[:-80], protocol), UnreadableFault)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "pieces",
    [
        ["Hello", "Hello wor", "Hello world", "Hello world"],
        ["Hello wo", "Hello world"],
        ["Hello", " world", "Hello world"],
        ["Hello world", "Hello world"],
    ],
)
def test_a_stream_of_what_there_is_so_far_is_never_doubled(pieces: list[str], protocol: str) -> None:
    assert isinstance(outcome(as_events(EVENTS[protocol](pieces), protocol), protocol), UnreadableFault)


@given(st.lists(st.text(max_size=7), min_size=1, max_size=6), st.sampled_from(PROTOCOLS))
def test_the_text_is_that_of_the_pieces(pieces: list[str], protocol: str) -> None:
    reply = outcome(as_events(EVENTS[protocol](pieces), protocol), protocol)
    said = [piece for piece in pieces if piece]
    # So short a piece may begin or end with another by chance, three hardly may.
    grows = all(b.startswith(a) for a, b in pairwise(said)) and said[:1] != said[-1:]
    if len(said) > 2 and grows:
        assert isinstance(reply, UnreadableFault)
    else:
        assert isinstance(reply, WireReply)
        clean = "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert (reply.text or "") == clean


WHOLE = {
    "id": "c",
    "model": "m-1",
    "choices": [{"message": {"role": "assistant", "content": "A reply."}, "finish_reason": "stop"}],
}
OTHER = {**WHOLE, "choices": [{"message": {"content": "Another."}, "finish_reason": "stop"}]}
TEXT_OF = json.dumps(WHOLE)


@pytest.mark.parametrize(
    "body",
    [
        f"\ufeff{TEXT_OF}",
        f"\n\n   {TEXT_OF}\r\n\0\0",
        f"{TEXT_OF}\n\ndata: [DONE]\n\n",
        f"data: {TEXT_OF}\n\ndata: [DONE]\n\n",
        f": OPENROUTER PROCESSING\n\n{json.dumps(WHOLE, indent=2)}",
        f"{TEXT_OF}{TEXT_OF}",
        f"{TEXT_OF}\n{TEXT_OF}\n",
        f"[{TEXT_OF}]",
        TEXT_OF.replace("A reply.", "A\\u0020reply."),
    ],
)
def test_what_stands_around_a_reply_is_read_over(body: str) -> None:
    reply = outcome(body)
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text) == ("ok", "A reply.")


def test_raw_control_characters_in_a_text_are_a_part_of_it() -> None:
    reply = outcome(TEXT_OF.replace("A reply.", "A\treply\nof\x0b two\x1b lines."))
    assert isinstance(reply, WireReply)
    assert reply.text == "A\treply\nof\x0b two\x1b lines."


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "<html><body>Sign in to the network</body></html>",
        TEXT_OF[:-3],
        f"{TEXT_OF}{json.dumps(OTHER)}",
        f"{TEXT_OF}\n{json.dumps(OTHER)}\n",
        f"data: {TEXT_OF}\n\ndata: {json.dumps(OTHER)}\n\ndata: [DONE]\n\n",
        f"{TEXT_OF}\n<!-- cached -->",
        f"data: [DONE]\n\n{as_events(openai())}",
        "data: [DONE]\n\n",
        json.dumps({**openai()[1], "choices": [{"delta": {"content": "half"}, "finish_reason": None}]}),
        # Two streams in one: of two ids, of two choices, with a text behind the end, with two ends.
        as_events([*openai()[:-1], {**openai()[2], "id": "chat-2"}]),
        as_events([*openai()[:3], {"choices": [{"index": 1, "delta": {"content": "b"}}]}, *openai()[3:]]),
        as_events([*openai(), {"choices": [{"index": 0, "delta": {"content": "more"}}]}]),
        as_events([*openai(), {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]),
        # Each event holds all there is so far.
        as_events(openai(["It", "It takes", "It takes 5 ms."])),
        # Another protocol's events.
        as_events(anthropic(), "anthropic"),
        "[" * 100_000,
        "data: " * 20_000,
        "{}" * 50_000,
    ],
)
def test_what_is_not_clear_is_no_reply(body: str) -> None:
    assert isinstance(outcome(body), UnreadableFault)


def test_a_lone_event_is_not_taken_for_a_reply() -> None:
    event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "All."}}]}
    assert isinstance(outcome(json.dumps(event)), UnreadableFault)
    event["choices"] = [{"index": 0, "delta": {"content": "All."}, "finish_reason": "length"}]
    reply = outcome(json.dumps(event))
    assert isinstance(reply, WireReply)
    assert (reply.status, reply.text) == ("truncated", "All.")


@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        ("openai", {"error": {"code": 503, "message": "overloaded"}}),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
        ("gemini", {"error": {"code": 503, "message": "overloaded"}}),
    ],
)
def test_a_stream_that_says_it_failed_is_that_failure(protocol: str, event: dict[str, Any]) -> None:
    fault = outcome(as_events([*EVENTS[protocol]()[:4], event], protocol), protocol)
    assert isinstance(fault, TransientFault)
    assert not isinstance(fault, UnreadableFault)
    assert "overloaded" in fault.cause


def test_an_object_that_a_tool_is_called_with_is_put_together() -> None:
    block = {"type": "tool_use", "id": "t", "name": "json_tool_call", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ('{"redis": ', "1}")]
    events = [
        *anthropic()[:1],
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        *anthropic()[-3:],
    ]
    events = [event for event in events if event["type"] != "content_block_stop"]
    reply = outcome(as_events(events, "anthropic"), "anthropic")
    assert isinstance(reply, WireReply)
    assert reply.text == '{"redis": 1}'


@given(st.text(alphabet='{}[]":, \n\rdat:event[DONE]0\ufeff\0', max_size=60), st.sampled_from(PROTOCOLS))
def test_whatever_a_body_holds_it_is_a_reply_or_a_fault(body: str, protocol: str) -> None:
    assert isinstance(outcome(body, protocol), WireReply | TransientFault | PermanentFault)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "object",
                        "choices",
                        "delta",
                        "content",
                        "index",
                        "finish_reason",
                        "usage",
                        "error",
                        "id",
                        "message",
                    ),
                    *("type", "content_block", "candidates", "parts", "text", "finishReason", "promptFeedback"),
                ]
            ),
            inner | st.sampled_from(["message_start", "content_block_delta", "message_stop", "chat.completion.chunk"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4), st.sampled_from(PROTOCOLS), st.sampled_from(sorted(FORMS)))
def test_events_of_any_types_are_a_reply_or_a_fault(events: list[Any], protocol: str, form: str) -> None:
    lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    body = lines if form.startswith("events") else json.dumps(events) if form == "a list" else as_lines(events)
    assert isinstance(outcome(body, protocol), WireReply | TransientFault | PermanentFault)


def test_a_long_stream_is_read_in_time_that_grows_with_its_length() -> None:
    def events_read(number: int) -> float:
        body = as_events(openai([f"{n} " for n in range(number)]))
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            assert isinstance(outcome(body), WireReply)
            best = min(best, time.process_time() - began)
        return best

    # Eight times as many events; a square of them would take 64 times as long.
    assert events_read(8000) < 24 * events_read(1000)
