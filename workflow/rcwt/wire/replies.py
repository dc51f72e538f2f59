"""A reply, read from the bytes the server sent.

litellm's normalized answer loses what this project must keep: native finish reasons, Gemini's blocked text,
Anthropic's ids, the difference between no usage and zero tokens. So the three protocols' own bodies
are read here, and nothing is filled in that the server did not say.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rcwt.base.records import Status, Usage
from rcwt.wire.bodies import members_of, read_json, text_of, whole_number
from rcwt.wire.faults import ErrorBody, TransientFault
from rcwt.wire.finishes import deciding, end_of, word_of
from rcwt.wire.received import Received

Protocol = Literal["openai", "anthropic", "gemini"]
#: A count above this is no count of tokens.
MOST_TOKENS = 10**9
# litellm sends a schema to older Anthropic models as a tool of this name, which they are made to call.
_SCHEMA_TOOL = "json_tool_call"


class _FormError(ValueError):
    """A text stands in a form that nobody reads: to call the reply empty would be wrong."""


class FailedReplyFault(TransientFault):
    """A success whose finish word says that the provider failed, like an error in a 200; `word` is that word."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__(200, f"the reply ended with {word[:100]!r}, a failure of the provider", maybe_billed=True)


@dataclass(frozen=True)
class WireReply:
    """One complete reply of a model.

    `text` is what the model wrote (of a refusal, the refusal), None where it wrote nothing.
    `finish_reason` is the provider's own word, of two the one that decided. `response_id` is Anthropic's `request-id`
    header, elsewhere the body's id. `requested` are the parameters asked for by name, `sent` every field of the
    request body but the conversation. `latency_s` runs from the request's leaving to the reply's last byte, in
    seconds; `time_utc` is when it left. `received` is what all of it was read from, where that can be kept.
    """

    status: Status
    text: str | None
    finish_reason: str | None
    returned_model: str | None
    response_id: str | None
    system_fingerprint: str | None
    usage: Usage
    requested: Mapping[str, Any] = field(default_factory=dict)
    sent: Mapping[str, Any] = field(default_factory=dict)
    latency_s: float = 0.0
    time_utc: str = ""
    received: Received | None = None


_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_FILTER_WORDS = (
    *("content filtering policy", "content management policy", "flagged as potentially violating"),
    *("your input was flagged", "content violates usage guidelines"),
)
# What OpenAI answers, as a 400, when the reasoning left no room for a single visible token.
_NO_ROOM = "could not finish the message because max_tokens or model output limit was reached"


def read_reply(protocol: Protocol, body: str, headers: Mapping[str, str]) -> WireReply | None:
    """Read a 2xx body in its provider's shape; None where it is not one (not JSON, or something else).

    `body` has passed `keys.scrub`; `headers` are the response's, names in lower case. Raises FailedReplyFault for a
    reply that ended in a failure of the provider.
    """
    try:
        parsed = read_json(body)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    readers = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}
    try:
        return readers[protocol](parsed, headers)
    except _FormError:
        return None


def reply_of_error(error: ErrorBody) -> WireReply | None:
    """Return the outcome that a provider words as an error: filtered, or cut before the first token."""
    words = error.message.lower()
    if error.status not in (400, 403):  # moderation at a gateway, and xAI's, is a 403
        return None
    if _NO_ROOM in words:
        status, reason = "truncated", "max_tokens"
    elif error.codes & _FILTER_CODES or any(word in words for word in _FILTER_WORDS):
        status, reason = "filtered", "content_filter"
    else:
        return None
    usage = Usage(note=f"no usage in the reply: the provider answered with HTTP {error.status}")
    end: Status = "truncated" if status == "truncated" else "filtered"
    return WireReply(end, None, reason, None, None, None, usage)


def _status(word: str | None, text: str | None, refusal: str | None = None) -> Status:
    end = end_of(word)
    if end == "failed":
        raise FailedReplyFault(word or "")
    if end in ("truncated", "refused", "filtered"):
        return end
    if refusal:
        return "refused"
    if end is None:
        return "unknown_finish"
    return "ok" if text and text.strip() else "empty"


def _openai(body: dict[str, Any], headers: Mapping[str, str]) -> WireReply | None:
    choices = body.get("choices")
    choice = _first(choices)
    if choice is None:
        return None
    word = deciding(word_of(choice.get("finish_reason")), word_of(choice.get("native_finish_reason")))
    message = choice.get("message")
    # Some servers leave the message of a filtered reply out.
    if choices and not isinstance(message, dict) and end_of(word) in ("ok", None):
        return None
    content = members_of(message).get("content")
    if not isinstance(content, str | list | None):
        return None
    refusal = text_of(members_of(message).get("refusal"))
    text = _joined(content)
    return WireReply(
        status=_status(word, text, refusal),
        text=text if text else refusal or text,
        finish_reason=word,
        returned_model=text_of(body.get("model")),
        response_id=text_of(body.get("id")),
        system_fingerprint=text_of(body.get("system_fingerprint")),
        usage=_openai_usage(members_of(body.get("usage"))),
    )


def _first(items: object) -> dict[str, Any] | None:
    """The first of the answers in a reply, an empty object for none; None where these are no list of objects."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    return items[0] if items else {}


def _joined(content: object) -> str | None:
    """The text of a message's content, a text or a list of parts."""
    if isinstance(content, list):
        return "".join(filter(None, map(_part_text, content)))
    return text_of(content)


def _part_text(part: object) -> str | None:
    """The text of a part that is one, None for a thought, a call of a tool, a picture. Raises _FormError."""
    if isinstance(part, str):
        return part
    kind, text = members_of(part).get("type"), members_of(part).get("text")
    if kind in _THOUGHTS:
        return None
    if kind in _TEXTS:
        text = members_of(text).get("value", text)
        if not isinstance(text, str | None) or (text is None and part):
            raise _FormError
        return text
    if isinstance(text, str) and text.strip():
        raise _FormError
    return None


#: Types of a part or block: those that are the model's text (some servers name none), and those that are its thoughts.
_TEXTS = frozenset({None, "text", "output_text"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text", "reasoning_content", "thought"})


# Where servers of OpenAI's protocol put a count; of several the first that is one.
_PROMPT = ("prompt_tokens", "input_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_PROMPT_DETAILS = ("prompt_tokens_details", "prompt_token_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "completion_token_details", "output_tokens_details")
_CACHED = ("cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN = ("cache_creation_input_tokens", "cache_write_tokens")
_REASONING = ("reasoning_tokens", "thinking_tokens")


def _openai_usage(usage: Mapping[str, Any]) -> Usage:
    total, note = _count(usage.get("total_tokens")), None
    if total is None and usage.keys() & {"cache_read_input_tokens", _WRITTEN[0]} and not usage.keys() & {_PROMPT[0]}:
        # A gateway passes Anthropic's counts on, in which the prompt is what was not cached.
        return _anthropic_usage(usage)
    prompt_parts = [*(members_of(usage.get(name)) for name in _PROMPT_DETAILS), usage]
    completion_parts = [*(members_of(usage.get(name)) for name in _COMPLETION_DETAILS), usage]
    prompt, completion = _counted([usage], _PROMPT), _counted([usage], _COMPLETION)
    cached, reasoning = _counted(prompt_parts, _CACHED), _counted(completion_parts, _REASONING)
    if completion is None and prompt and total and total > prompt and _absent(usage, _COMPLETION):
        completion = 0  # what there is stands in the total
    if prompt and completion is not None and total is not None:
        beside = (cached or 0) + (_counted(prompt_parts, _WRITTEN) or 0)
        if beside and beside != reasoning and total == prompt + beside + completion:
            prompt += beside
            note = f"{beside} tokens read from or written to a cache stood beside the prompt and were added to it"
    if completion is not None and total is None and reasoning is not None and reasoning > completion:
        completion += reasoning
        note = "reasoning tokens stood beside the completion tokens and were added to them"
    return _checked(prompt, cached, completion, reasoning, total, note)


def _counted(parts: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int | None:
    """The first count under one of `names`, looked for in all parts before the next name is."""
    found = (_count(part.get(name)) for name in names for part in parts)
    return next((count for count in found if count is not None), None)


def _absent(usage: Mapping[str, Any], names: Sequence[str]) -> bool:
    return all(usage.get(name) is None for name in names)


def _anthropic(body: dict[str, Any], headers: Mapping[str, str]) -> WireReply | None:
    blocks = body.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return None
    texts = [text for block in blocks if (text := _part_text(block)) is not None]
    # The object that a schema's tool is called with is the answer; a call of any other tool is none.
    called = [block for block in blocks if block.get("type") == "tool_use" and block.get("name") == _SCHEMA_TOOL]
    texts += [json.dumps(block["input"]) for block in called if block.get("input")]
    text = "".join(texts) if texts else None
    reason = word_of(body.get("stop_reason"))
    return WireReply(
        status=_status(reason, text),
        text=text,
        finish_reason=reason,
        returned_model=text_of(body.get("model")),
        response_id=headers.get("request-id") or text_of(body.get("id")),
        system_fingerprint=None,
        usage=_anthropic_usage(members_of(body.get("usage"))),
    )


def _anthropic_usage(usage: Mapping[str, Any]) -> Usage:
    fresh, cached = _count(usage.get("input_tokens")), _count(usage.get("cache_read_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    prompt = None if fresh is None else fresh + (written or 0) + (cached or 0)
    thinking = _count(members_of(usage.get("output_tokens_details")).get("thinking_tokens"))
    note = f"{written} prompt tokens were written to a cache, which costs more than input" if written else None
    return _checked(prompt, cached, _count(usage.get("output_tokens")), thinking, None, note)


def _gemini(body: dict[str, Any], headers: Mapping[str, str]) -> WireReply | None:
    if not body.keys() & {"candidates", "promptFeedback", "usageMetadata", "responseId"}:
        return None
    candidate = _first(body.get("candidates", []))
    if candidate is None or not isinstance(candidate.get("content") or {}, dict) or candidate.get("output"):
        return None
    said = members_of(candidate.get("content")).get("parts") or []
    if not isinstance(said, list):
        return None
    parts = [members_of(part) for part in said]
    texts = [text for part in parts if not part.get("thought") and (text := text_of(part.get("text"))) is not None]
    text = "".join(texts) if texts else None
    blocked = word_of(members_of(body.get("promptFeedback")).get("blockReason")) if not candidate else None
    reason = blocked or word_of(candidate.get("finishReason"))
    return WireReply(
        status="filtered" if blocked else _status(reason, text),
        text=text,
        finish_reason=reason,
        returned_model=text_of(body.get("modelVersion")),
        response_id=text_of(body.get("responseId")),
        system_fingerprint=None,
        usage=_gemini_usage(members_of(body.get("usageMetadata"))),
    )


def _gemini_usage(usage: Mapping[str, Any]) -> Usage:
    prompt, total = _count(usage.get("promptTokenCount")), _count(usage.get("totalTokenCount"))
    if prompt is not None:
        prompt += _count(usage.get("toolUsePromptTokenCount")) or 0
    visible, thoughts = _count(usage.get("candidatesTokenCount")), _count(usage.get("thoughtsTokenCount"))
    note = None
    if visible is None and thoughts is None:
        # proto3 leaves a zero out, so an absent count is zero, but for what the total tells.
        absent = _absent(usage, ("candidatesTokenCount", "thoughtsTokenCount"))
        completion = 0 if absent and prompt is not None and total is not None and total >= prompt else None
    elif total is not None and prompt is not None and thoughts and total == prompt + (visible or 0):
        completion = visible
        note = "thought tokens were counted inside the candidates' tokens"
    else:
        completion = (visible or 0) + (thoughts or 0)
    return _checked(prompt, _count(usage.get("cachedContentTokenCount")), completion, thoughts, total, note)


def _checked(
    prompt: int | None,
    cached: int | None,
    completion: int | None,
    reasoning: int | None,
    total: int | None,
    note: str | None,
) -> Usage:
    notes = [note] if note else []
    if prompt == 0:
        # No request has an empty prompt: some servers fill in zeros for what they do not count.
        prompt, completion = None, completion or None
        notes.append("the server reported 0 prompt tokens")
    if prompt is not None and completion is not None and total is not None and total > prompt + completion:
        # Thoughts or audio that the vendor leaves out of the completion, and bills.
        notes.append(f"{total - prompt - completion} tokens that only the total counts were added to the completion")
        completion = total - prompt
    absent = [name for name, value in (("prompt", prompt), ("completion", completion)) if value is None]
    if absent:
        notes.append(f"no {' and '.join(absent)} tokens in the reply")
    elif total is not None and (prompt or 0) + (completion or 0) != total:
        notes.append(f"{prompt} prompt + {completion} completion tokens are not the total of {total}")
    if cached is not None and prompt is not None and cached > prompt:
        notes.append(f"{cached} cached tokens are more than the {prompt} prompt tokens")
    if reasoning is not None and completion is not None and reasoning > completion:
        notes.append(f"{reasoning} reasoning tokens are more than the {completion} completion tokens")
    note = "; ".join(notes) or None
    return Usage(prompt=prompt, cached=cached, completion=completion, reasoning=reasoning, note=note)


def _count(value: object) -> int | None:
    """A number of tokens, also where a server writes it as 100.0 or "100"; None for anything else, absurd ones too."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = whole_number(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None
