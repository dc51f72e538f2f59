"""Bodies that hold a whole reply, but not as one JSON object: event streams, a value a line, lists of events.

A server that streams though it was not asked to, or a gateway that adds a mark of its own, has been paid all the same.
Such a body is put together where there is one way to do it, and the reply came to its end; else it stays unread.
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcwt.wire.bodies import members_of, parts_of, read_json, text_of

_DONE = "[DONE]"
_FIELDS = ("event:", "id:", "retry:", ":")


class _UnclearError(ValueError):
    """There is more than one way to put a body together, or none."""


def put_together(protocol: str, body: str) -> str | None:
    """The reply that a body holds in parts, as the one JSON object of its protocol; None where that is not clear."""
    try:
        values, done = _values(body)
        return json.dumps(_whole(protocol, values, done))
    except (ValueError, RecursionError):
        return None


def _whole(protocol: str, values: Sequence[Any], done: bool) -> dict[str, Any]:
    if not values or not all(isinstance(value, dict) for value in values):
        raise _UnclearError
    for value in values:
        if value.get("error") or value.get("type") == "error":
            return dict(value)  # the stream says that it failed
    joins: Mapping[str, tuple[Callable[[Any], bool], Callable[[Sequence[Any], bool], dict[str, Any]]]] = {
        "openai": (_is_openai_part, _openai),
        "anthropic": (_is_anthropic_part, _anthropic),
        "gemini": (_is_gemini_part, _gemini),
    }
    is_part, join = joins[protocol]
    if all(is_part(value) for value in values):
        return join(values, done)
    # Not parts, so whole replies: of several that differ none is known to be the one.
    if any(is_part(value) for value in values) or any(value != values[0] for value in values):
        raise _UnclearError
    return dict(values[0])


def _values(body: str) -> tuple[list[Any], bool]:
    """The JSON values of a body in order, and whether a stream's closing mark stands behind them.

    Raises ValueError where something stands there that is no JSON.
    """
    plain, events, event, done = list[str](), list[str](), list[str](), False
    for line in [*body.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            if done:
                raise _UnclearError
            text = line.removeprefix("data:").strip()
            if text == _DONE:
                done = True
            else:
                event.append(text)
        elif not line.strip():
            if event:
                events.append("\n".join(event))
                event = []
        elif not line.startswith(_FIELDS):
            if event or (events and not plain):
                raise _UnclearError
            plain.append(line)
    if event:
        events.append("\n".join(event))
    values = [value for text in events for value in _data(text)]
    stated = _lines(plain)
    if stated and values and (len(stated) != 1 or any(value != stated[0] for value in values)):
        raise _UnclearError
    return stated or values, done


def _data(text: str) -> list[Any]:
    """The value of an event; several where a server leaves out the empty lines between events."""
    try:
        return [read_json(text)]
    except ValueError:
        return [read_json(line) for line in text.split("\n")]


def _lines(lines: Sequence[str]) -> list[Any]:
    """The values outside of events: one over all lines, its members where it is a list, or one a line."""
    text = "\n".join(lines).strip("\ufeff \t\r\n\0")
    if not text:
        return []
    try:
        value = read_json(text)
        return value if isinstance(value, list) else [value]
    except ValueError:
        pass
    return [value for line in lines if line.strip() for value in _concatenated(line)]


def _concatenated(line: str) -> list[Any]:
    """The value of one line. Unclear where there are several that differ."""
    decoder, values, at = json.JSONDecoder(strict=False), list[Any](), 0
    line = line.strip("\ufeff \t\0")
    while at < len(line):
        value, at = decoder.raw_decode(line, at)
        values.append(value)
        while at < len(line) and line[at] in " \t":
            at += 1
    if any(value != values[0] for value in values):
        raise _UnclearError
    return values[:1]


def _only(values: Sequence[object]) -> Any:
    """The one value that is given, the same wherever it is; None where it is nowhere."""
    said = [value for value in values if value not in (None, "")]
    if any(value != said[0] for value in said):
        raise _UnclearError
    return said[0] if said else None


def _last(values: Sequence[object]) -> Any:
    """The last object that says anything: counts grow while a reply does."""
    said = [value for value in values if isinstance(value, dict) and value]
    return said[-1] if said else None


#: Characters of a piece that no text repeats by chance.
_NO_CHANCE = 8


def _joined(pieces: Sequence[str]) -> str:
    """The text of its pieces. Unclear where each repeats all before it, or the last one does: some servers send what
    there is so far, or the whole once more.
    """
    pieces = [piece for piece in pieces if piece]
    text = "".join(pieces)
    if len(pieces) < 2:
        return text
    grows = len(pieces[-1]) > len(pieces[0]) and all(b.startswith(a) for a, b in itertools.pairwise(pieces))
    repeats = 2 * len(pieces[-1]) == len(text) and text.endswith(2 * pieces[-1])
    # Words of few characters may well come so in a text that is sent piece by piece.
    if (grows and (len(pieces) > 2 or len(pieces[0]) >= _NO_CHANCE)) or (repeats and len(pieces[-1]) >= _NO_CHANCE):
        raise _UnclearError
    return text


def _is_openai_part(value: Mapping[str, Any]) -> bool:
    choices = parts_of(value.get("choices"))
    deltas = [choice for choice in choices if isinstance(choice, dict) and "delta" in choice]
    return value.get("object") == "chat.completion.chunk" or bool(deltas)


def _openai(chunks: Sequence[Mapping[str, Any]], done: bool) -> dict[str, Any]:
    choices = [members_of(choice) for chunk in chunks for choice in parts_of(chunk.get("choices"))]
    if any(choice.get("index") not in (None, 0) for choice in choices):
        raise _UnclearError
    reason = _only([choice.get("finish_reason") for choice in choices])
    if not choices or (reason is None and not done):
        raise _UnclearError  # it has not come to its end
    deltas = [members_of(choice.get("delta")) for choice in choices]
    ended = next((n for n, choice in enumerate(choices) if choice.get("finish_reason")), len(choices))
    if any(delta.get("content") for delta in deltas[ended + 1 :]):
        raise _UnclearError  # another reply begins
    message = {name: _openai_text([delta.get(name) for delta in deltas]) for name in ("content", "refusal")}
    for choice in choices:
        repeated = members_of(choice.get("message")).get("content")
        if repeated and repeated != message["content"]:
            raise _UnclearError
    names = ("id", "model", "system_fingerprint")
    return {
        **{name: _only([chunk.get(name) for chunk in chunks]) for name in names},
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": reason,
                "native_finish_reason": _only([choice.get("native_finish_reason") for choice in choices]),
            }
        ],
        "usage": _last([chunk.get("usage") for chunk in chunks]),
    }


def _openai_text(pieces: Sequence[object]) -> str | None:
    texts = list[str]()
    for piece in pieces:
        if not isinstance(piece, str | list | None):
            raise _UnclearError
        texts += [text_of(members_of(part).get("text")) or "" for part in parts_of(piece)]
        texts += [piece] if isinstance(piece, str) else []
    return _joined(texts) if texts else None


def _is_anthropic_part(value: Mapping[str, Any]) -> bool:
    return str(value.get("type")).startswith(("message_", "content_block_")) or value.get("type") == "ping"


def _anthropic(events: Sequence[Mapping[str, Any]], done: bool) -> dict[str, Any]:
    starts = [members_of(event.get("message")) for event in events if event["type"] == "message_start"]
    if len(starts) != 1:
        raise _UnclearError
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, list[str]] = {}
    for event in events:
        number = event.get("index")
        if event["type"] == "content_block_start":
            if not isinstance(number, int) or number in blocks:
                raise _UnclearError
            blocks[number], pieces[number] = dict(members_of(event.get("content_block"))), []
        elif event["type"] == "content_block_delta":
            if not isinstance(number, int) or number not in blocks:
                raise _UnclearError
            delta = members_of(event.get("delta"))
            pieces[number].append(text_of(delta.get("text")) or text_of(delta.get("partial_json")) or "")
    for number, block in blocks.items():
        said = _joined(pieces[number])
        if block.get("type") == "text":
            block["text"] = (text_of(block.get("text")) or "") + said
        elif block.get("type") == "tool_use" and said:
            block["input"] = read_json(said)
    deltas = [event for event in events if event["type"] == "message_delta"]
    reason = _only([members_of(event.get("delta")).get("stop_reason") for event in deltas])
    if reason is None and not any(event["type"] == "message_stop" for event in events):
        raise _UnclearError
    usage = dict(members_of(starts[0].get("usage")))
    for event in deltas:
        usage |= {name: count for name, count in members_of(event.get("usage")).items() if count is not None}
    content = [blocks[number] for number in sorted(blocks)]
    return {**starts[0], "content": content, "stop_reason": reason, "usage": usage}


def _is_gemini_part(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & {"candidates", "promptFeedback", "usageMetadata"})


def _gemini(chunks: Sequence[Mapping[str, Any]], done: bool) -> dict[str, Any]:
    candidates = [members_of(candidate) for chunk in chunks for candidate in parts_of(chunk.get("candidates"))]
    if any(candidate.get("index") not in (None, 0) for candidate in candidates):
        raise _UnclearError
    reason = _only([candidate.get("finishReason") for candidate in candidates])
    feedback = _last([chunk.get("promptFeedback") for chunk in chunks])
    if reason is None and not members_of(feedback).get("blockReason"):
        raise _UnclearError
    contents = [candidate.get("content") or {} for candidate in candidates]
    known = all(isinstance(one, dict) and isinstance(one.get("parts") or [], list) for one in contents)
    if not known or any(candidate.get("output") for candidate in candidates):
        raise _UnclearError
    parts = [part for one in contents for part in parts_of(one.get("parts"))]
    _joined([text_of(members_of(part).get("text")) or "" for part in parts])
    whole = {"content": {"role": "model", "parts": parts}, "finishReason": reason}
    return {
        "candidates": [whole] if candidates else [],
        "promptFeedback": feedback,
        "usageMetadata": _last([chunk.get("usageMetadata") for chunk in chunks]),
        **{name: _only([chunk.get(name) for chunk in chunks]) for name in ("modelVersion", "responseId")},
    }
