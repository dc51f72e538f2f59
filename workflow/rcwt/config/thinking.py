"""Thinking before an answer: whether a request asks a model for what was asked of the pipeline.

Three protocols spell it in three ways, and litellm translates between them by the model's name: thinking that was to
be off left as an empty object, which leaves it on, and a budget of tokens as a level. Only what a vendor documents as
the same counts as the same here:

- OpenAI's protocol: the field itself, whatever the server calls it (`reasoning_effort`, `thinking`, …).
- Anthropic: `thinking` as it is; `reasoning_effort` as `output_config.effort`, and `none` as thinking that is disabled.
- Gemini: `thinking` as `thinkingBudget`, of which 0 is off and -1 the model's own choice; `reasoning_effort` as
  `thinkingLevel`, or in a model that takes budgets as the budget that Google documents for it.
"""

import json
from collections.abc import Mapping
from typing import Any

from rcwt.base.spellings import same

#: The parameters whose meaning this module knows.
THINKING = frozenset({"thinking", "reasoning_effort"})
#: Tokens of a Gemini `thinkingBudget` by effort, as Google's page on its OpenAI compatibility has them.
GEMINI_BUDGETS = {"none": 0, "low": 1024, "medium": 8192, "high": 24576}

PROTOCOLS = ("openai", "anthropic", "gemini")
#: How to ask for it so that it leaves as it is, by protocol.
REMEDIES = {
    "openai": "Ask for it as the server spells it; a field that OpenAI does not know belongs under `extra_body`",
    "anthropic": (
        "Ask for what the model takes, in Anthropic's own words: `thinking: {type: enabled, budget_tokens: N}` where "
        "it takes a budget, else `thinking: {type: adaptive}` and `output_config: {effort: low}`; `thinking: {type: "
        "disabled}` where it can do without"
    ),
    "gemini": (
        "Ask for what the model takes, in Gemini's own words: `thinkingConfig: {thinkingBudget: N}` up to Gemini 2.5 "
        "(0 is off, -1 the model's own choice), `thinkingConfig: {thinkingLevel: low}` from Gemini 3 on, which cannot "
        "be off"
    ),
}


def thinks_as_asked(protocol: str, name: str, value: Any, body: Mapping[str, Any]) -> bool:
    """Whether the fields of a request body mean what the parameter `name`, one of `THINKING`, asks for."""
    if protocol == "gemini":
        return _gemini(name, value, _config(body))
    if protocol == "anthropic" and name == "reasoning_effort":
        if value == "none":
            return same(body.get("thinking"), {"type": "disabled"})
        return same(_mapping(body.get("output_config")).get("effort"), value)
    return name in body and same(body[name], value)


def shown(protocol: str, asked: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What a request body says about thinking, and for what it stands there: as in a message."""
    if protocol == "gemini":
        sent: dict[str, Any] = {"thinkingConfig": _config(body)}
    else:
        sent = {name: body[name] for name in ("thinking", "output_config", "reasoning_effort") if name in body}
    wanted = {name: asked[name] for name in sorted(asked.keys() & THINKING)}
    return f"{_fields(sent) or 'nothing about thinking'} for {_fields(wanted)}"


def protocol_of(model: str) -> str:
    """The protocol that the id of a registry entry names."""
    return model.partition("/")[0]


def _fields(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {json.dumps(value, default=str)}" for name, value in values.items())


def _gemini(name: str, value: Any, config: Mapping[str, Any]) -> bool:
    budget = config.get("thinkingBudget", config.get("thinking_budget"))
    level = config.get("thinkingLevel", config.get("thinking_level"))
    if name == "reasoning_effort":
        if level is not None:
            return budget is None and isinstance(value, str) and value.lower() == str(level).lower()
        return isinstance(value, str) and budget is not None and same(budget, GEMINI_BUDGETS.get(value))
    wanted = _mapping(value)
    kind = wanted.get("type")
    if level is not None or budget is None or not wanted.keys() <= {"type", "budget_tokens"}:
        return False
    if kind == "enabled":
        return same(budget, wanted.get("budget_tokens"))
    return kind in ("disabled", "adaptive") and same(budget, 0 if kind == "disabled" else -1)


def _config(body: Mapping[str, Any]) -> Mapping[str, Any]:
    generation = _mapping(body.get("generationConfig", body.get("generation_config")))
    return _mapping(generation.get("thinkingConfig", generation.get("thinking_config")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
