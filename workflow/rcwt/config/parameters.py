"""Request parameters: what was asked for, by what name, and whether it is in the request that goes out.

litellm drops what it thinks a provider does not know, and translates what it thinks the provider spells otherwise. A
dropped `seed`, or thinking that is on where it was to be off, would make the published settings untrue. So the body
of every request is compared with what was asked for, and one that lacks something is stopped before it leaves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rcwt.base.spellings import same
from rcwt.config.thinking import PROTOCOLS, THINKING, thinks_as_asked

Body = Mapping[str, Any]
Message = Mapping[str, str]

#: Names that govern the transport, the number of requests or the replies to one; `params` may not set them.
RESERVED = frozenset(
    {
        *("model", "messages", "api_key", "api_base", "base_url", "client", "extra_headers"),
        *("timeout", "stream", "num_retries", "max_retries", "fallbacks", "caching"),
        *("drop_params", "mock_response"),
        # These would make litellm ask another server, or none, through a client of its own.
        *("custom_llm_provider", "deployment_id", "model_list", "azure", "use_litellm_proxy", "text_completion"),
        *("mock_tool_calls", "mock_timeout", "mock_delay", "litellm_system_prompt", "prompt_id", "model_info"),
        *("n", "best_of", "candidate_count", "candidateCount", "num_return_sequences"),
    }
)
#: A request without one of these would be answered at any length: litellm asks Anthropic for 64 000 tokens.
OUTPUT_CAPS = ("max_tokens", "max_completion_tokens")

_CAP_FIELDS = (*OUTPUT_CAPS, "max_output_tokens", "maxOutputTokens")
# Where Gemini's body nests the parameters of a call.
_GENERATION = ("generationConfig", "generation_config")
# Other names under which a parameter may stand in a request body. Its own name and that name in
# camelCase always count.
_FIELDS: dict[str, tuple[str, ...]] = {
    "max_tokens": _CAP_FIELDS,
    "max_completion_tokens": _CAP_FIELDS,
    "stop": ("stop_sequences", "stopSequences"),
    "n": ("candidate_count", "candidateCount"),
    "user": ("user_id",),
    "logprobs": ("responseLogprobs", "response_logprobs"),
    "top_logprobs": ("logprobs",),
}
_SCHEMA_FIELDS = ("response_json_schema", "responseJsonSchema")
# Gemini's older field takes a part of a schema's words: the names of the properties are what can be checked.
_OLD_SCHEMA_FIELDS = ("response_schema", "responseSchema")
# Where fields of a request body nest. A schema's properties are no parameters, so they are not entered.
_NESTS = (*_GENERATION, "output_config", "metadata")
# Fields that hold the conversation, which is recorded by the prompt's digest and not a second time.
_CONVERSATION = frozenset({"messages", "system", "contents", "system_instruction", "systemInstruction"})


def renamed(params: Mapping[str, Any], names: Mapping[str, str | None]) -> dict[str, Any]:
    """Return `params` under the names that one model takes; a parameter mapped to None is left out.

    A parameter whose value is None counts as not asked for. The fields of `extra_body` are asked for
    one by one.
    """
    asked = {**{k: v for k, v in params.items() if k != "extra_body"}, **(params.get("extra_body") or {})}
    named = {names.get(name, name): value for name, value in asked.items() if value is not None}
    return {name: value for name, value in named.items() if name is not None}


def reserved_in(params: Mapping[str, Any]) -> list[str]:
    """Name the reserved parameters in `params`, those in `extra_body` and in Gemini's nest too."""
    return sorted(RESERVED & _fields(renamed(params, {}), _GENERATION).keys())


def unbounded(asked: Mapping[str, Any]) -> str | None:
    """Say why no worst case is known for a call with the parameters `asked`, by the names its model takes.

    None where one reply of at most one output cap is asked for: the cap is then what may be billed.
    """
    taken = reserved_in(asked)
    if taken:
        return f"{', '.join(taken)}, which the pipeline sets itself"
    found = [(name, cap) for name, caps in _fields(asked, _GENERATION).items() if name in _CAP_FIELDS for cap in caps]
    if len(found) > 1:
        return "more than one output cap: " + ", ".join(f"{name}: {cap!r}" for name, cap in found)
    if not found or found[0][0] not in OUTPUT_CAPS:
        return "no output cap" + (f" but {found[0][0]}" if found else "")
    name, cap = found[0]
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
        return f"{name}: {cap!r}, which is no whole number from 1"
    return None


def sent_parameters(body: Body) -> dict[str, Any]:
    """Return every field of a request body but the conversation."""
    return {name: value for name, value in body.items() if name not in _CONVERSATION}


def unsent(protocol: str, asked: Mapping[str, Any], body: Body) -> list[str]:
    """Name the parameters of `asked` that the request body lacks, or holds with another value."""
    fields = _fields(body)
    return sorted(name for name, value in asked.items() if not _is_sent(protocol, name, value, fields, body))


def unthought(protocol: str, asked: Mapping[str, Any], sent: Body) -> list[str]:
    """Name the parameters about thinking that went out with another meaning than asked for.

    `sent` are the `sent_params` of a kept response; where that is empty, none of it is known.
    """
    names = asked.keys() & THINKING if sent and protocol in PROTOCOLS else ()
    return sorted(name for name in names if not thinks_as_asked(protocol, name, asked[name], sent))


def _fields(body: Body, nests: Sequence[str] = _NESTS) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for holder in (body, *(body[nest] for nest in nests if isinstance(body.get(nest), Mapping))):
        for name, value in holder.items():
            found.setdefault(name, []).append(value)
    return found


def _is_sent(protocol: str, name: str, value: Any, fields: Mapping[str, list[Any]], body: Body) -> bool:
    if name in THINKING:
        return thinks_as_asked(protocol, name, value, body)
    if name == "response_format" and "response_format" not in fields:
        return _has_format(value, fields, body)
    places = [found for field in (name, _camel(name), *_FIELDS.get(name, ())) for found in fields.get(field, [])]
    return any(same(found, value) or same(found, [value]) for found in places)


def _has_format(value: Any, fields: Mapping[str, list[Any]], body: Body) -> bool:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind == "json_object":
        kinds = [*fields.get("response_mime_type", []), *fields.get("responseMimeType", [])]
        return "application/json" in kinds
    if kind != "json_schema":
        return False
    wanted = (value.get("json_schema") or {}).get("schema")
    if any(same(found, wanted) for found in _schemas(fields, body)):
        return True
    names = sorted((wanted or {}).get("properties") or {})
    olds = [found for field in _OLD_SCHEMA_FIELDS for found in fields.get(field, []) if isinstance(found, Mapping)]
    return any(sorted(found.get("properties") or {}) == names for found in olds)


def _schemas(fields: Mapping[str, list[Any]], body: Body) -> list[Any]:
    """The schemas that a reply must follow, wherever a protocol puts them."""
    found = [schema for field in _SCHEMA_FIELDS for schema in fields.get(field, [])]
    formats = [*fields.get("output_format", []), *fields.get("format", [])]
    found += [form.get("schema") for form in formats if isinstance(form, Mapping)]
    # Older Anthropic models take a schema as a tool that they are made to call.
    forced = body.get("tool_choice")
    if isinstance(forced, Mapping) and forced.get("type") == "tool":
        tools = [tool for tool in body.get("tools") or [] if isinstance(tool, Mapping)]
        found += [tool.get("input_schema") for tool in tools if tool.get("name") == forced.get("name")]
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def changed_messages(messages: Sequence[Message], body: Body) -> str | None:
    """Say how the conversation in a request body differs from `messages`; None where it does not.

    litellm merges the system text into the user's turn for a model it does not know, joins turns and
    strips white space: each would be another prompt than the one whose tokens were counted.
    """
    asked = [(message["role"], message["content"]) for message in messages]
    for role in ("system", "user", "assistant"):
        wanted = "".join(text for r, text in asked if r == role)
        found = "".join(_texts(body, role))
        if wanted != found:
            return f"the {role} text that would go out has {len(found)} characters, asked were {len(wanted)}"
    return None


def _texts(body: Body, role: str) -> list[str]:
    native = {"assistant": ("assistant", "model"), "system": ("system", "developer")}.get(role, (role,))
    turns = body.get("messages") or body.get("contents") or []
    found = [_text(turn.get("content", turn.get("parts"))) for turn in turns if turn.get("role") in native]
    if role == "system":
        for field in ("system", "system_instruction", "systemInstruction"):
            found.append(_text(body.get(field)))
    return found


def _text(content: Any) -> str:
    """Return the text of a message's content: a string, a list of parts, or Gemini's object of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("parts"))
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return ""
