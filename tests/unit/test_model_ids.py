"""Ids that no chat request reaches are refused before the first job; every other one is not.

The ids are the issue's, and those of the list that litellm's wheel carries (`mode`, `supported_endpoints`).
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rcwt.base.errors import ConfigError
from rcwt.config.check import load
from rcwt.config.model_ids import why_no_chat

OWN = "http://127.0.0.1:8000/v1"
RESPONSES_ONLY = [
    *("gpt-5-pro", "gpt-5-pro-2025-10-06", "gpt-5.4-pro", "gpt-5-codex", "gpt-5.1-codex-mini", "gpt-5.3-codex"),
    *("o1-pro", "o1-pro-2025-03-19", "o3-pro", "o3-deep-research", "o4-mini-deep-research-2025-06-26"),
    *("computer-use-preview", "codex-mini-latest"),
    # Newer than litellm's list.
    *("gpt-7-pro", "gpt-7.3-codex", "gpt-7-mini-codex-2027-01-01", "o9-pro", "gpt-7-deep-research"),
]
CHAT = [
    *("openai/gpt-4.1-mini", "openai/gpt-5", "openai/gpt-5-mini", "openai/gpt-5.4-mini", "openai/o3", "openai/o4-mini"),
    *("openai/o1", "openai/chat-latest", "openai/ft:gpt-4o:me::1", "openai/gpt-7", "openai/professional", "openai/o1x"),
    *("anthropic/claude-haiku-4-5-20251001", "anthropic/claude-9-pro", "gemini/gemini-2.5-flash", "embedded/reader"),
    *("gemini/gemini-2.5-pro", "gemini/gemma-4-31b-it", "gemini/gemini-flash-latest"),
]


@pytest.mark.parametrize("name", RESPONSES_ONLY)
@pytest.mark.parametrize("base", [None, "https://api.openai.com/v1", "https://eu.api.openai.com/v1", OWN])
def test_what_openai_answers_at_v1_responses_alone(name: str, base: str | None) -> None:
    assert "/v1/responses" in (why_no_chat(f"openai/{name}", base) or "")


@pytest.mark.parametrize("name", RESPONSES_ONLY)
def test_a_gateway_that_has_a_name_of_its_own_for_it_may_offer_it_in_a_chat(name: str) -> None:
    assert why_no_chat(f"openai/openai/{name}", OWN) is None


@pytest.mark.parametrize("base", [None, OWN])
@pytest.mark.parametrize(
    "model",
    ["openai/responses/gpt-4.1", "openai/ft:babbage-002:me", "anthropic/claude-2", "anthropic/claude-instant-1"],
)
def test_what_litellm_sends_elsewhere_wherever_the_server_is(model: str, base: str | None) -> None:
    assert why_no_chat(model, base)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("openai/gpt-4o-transcribe", "audio transcription"),
        ("openai/text-embedding-3-small", "embedding"),
        ("openai/gpt-3.5-turbo-instruct", "completion"),
        ("openai/o1-mini", "no system message"),
        ("openai/o1-preview-2024-09-12", "no system message"),
        ("gemini/gemini-2.5-flash-image", "image generation"),
        ("gemini/deep-research-pro-preview-12-2025", "no chat model"),
    ],
)
def test_models_of_another_kind(model: str, reason: str) -> None:
    assert reason in (why_no_chat(model, None) or "")


@pytest.mark.parametrize("model", CHAT)
def test_chat_models_are_not_refused(model: str) -> None:
    assert why_no_chat(model, None) is None


@pytest.mark.parametrize("role", ["models", "judges"])
def test_the_configuration_names_key_and_id(root: Path, tmp_path: Path, role: str) -> None:
    merged: dict[str, Any] = {}
    paths = [root / "config" / f"{name}.yaml" for name in ("models", "prices", "config")]
    for path in paths:
        merged |= yaml.safe_load(path.read_text())
    mine = tmp_path / "mine.yaml"
    mine.write_text("registry:\n  mine:\n    litellm: openai/gpt-5-pro\n")
    merged["registry"]["mine"] = {"litellm": "openai/gpt-5-pro"}
    merged["prices"]["mine"] = {"input": 1, "output": 1, "as_of": "2026-11-01"}
    load(merged, [*paths, mine])  # an entry that is not picked is nobody's fault
    merged[role] = [*merged[role], "mine"]
    with pytest.raises(ConfigError) as caught:
        load(json.loads(json.dumps(merged, default=str)), [*paths, mine])
    for part in (f"{mine}:3: key 'registry.mine.litellm'", "found 'openai/gpt-5-pro'", "/v1/responses", "accepted:"):
        assert part in str(caught.value)
