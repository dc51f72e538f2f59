"""Which returned ids are forms of the id that was asked for; the pairs are those that vendors and gateways return."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.config.returned_ids import same_model

FORMS = [
    ("gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"),
    ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
    ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini-2025-04-14-served"),
    ("GPT-4o", "gpt-4o"),
    ("o3", "o3-2025-04-16"),
    ("gpt-4-0613", "gpt-4-2023-06-13"),
    ("mistral-large-2407", "mistral-large-2024-07-24"),
    ("qwen2.5-7b-instruct-q4", "qwen2.5-7b-instruct-q4_k_m"),
    ("gpt-4", "gpt-4-0613"),
    ("gpt-oss:120b", "gpt-oss-120b"),
    ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
    ("claude-sonnet-4-0", "claude-sonnet-4-20250514"),
    ("claude-opus-4-1", "claude-opus-4-1@20250805"),
    ("claude-3-5-haiku", "us.anthropic.claude-3-5-haiku-20241022-v1:0"),
    ("anthropic/claude-3.5-haiku", "claude-3-5-haiku-20241022"),
    ("anthropic/claude-haiku-4.5", "anthropic/claude-4.5-haiku-20251001"),
    ("gemini-2.0-flash", "models/gemini-2.0-flash"),
    ("gemini-2.0-flash", "gemini-2.0-flash-001"),
    ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"),
    ("gemini-flash-latest", "gemini-2.5-flash-preview-09-2025"),
    ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-v3.1-8b-instruct"),
    ("meta-llama/Llama-3.1-8B-Instruct-Turbo", "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo"),
    ("Llama-3.1-8B-Instruct", "RedHatAI/Llama-3.1-8B-Instruct-FP8"),
    ("llama-3.1-8b", "Meta-Llama-3.1-8B-Instruct"),
    ("llama3.2", "llama3.2:latest"),
    ("mixtral-8x7b", "mistralai/Mixtral-8x7B-Instruct-v0.1"),
    ("mistral-large-latest", "mistral-large-2411"),
    ("command-r", "command-r-08-2024"),
    ("deepseek/deepseek-chat:free", "deepseek/deepseek-chat-v3-0324"),
    ("kimi-k2", "moonshotai/Kimi-K2-Instruct-0905"),
    ("/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "Qwen2.5-7B-Instruct"),
    ("/models/x.gguf", "x"),
]
OTHERS = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4", "gpt-4o"),
    ("gpt-4", "gpt-4.1"),
    ("gpt-4", "gpt-4-turbo"),
    ("gpt-4", "gpt-4-32k"),
    ("gpt-5", "gpt-5-chat-latest"),
    ("gpt-4.1-mini", "gpt-4.1"),
    ("gpt-4.1-mini", "gpt-4.1-nano-2025-04-14"),
    ("o1", "o3"),
    ("o3", "o3-mini"),
    ("gemini-2.5-flash", "gemini-2.5-flash-lite"),
    ("gemini-2.0-flash", "gemini-2.5-flash"),
    ("claude-opus-4", "claude-opus-4-1-20250805"),
    ("claude-3-5-haiku", "claude-3-haiku-20240307"),
    ("llama-3.1-8b-instruct", "llama-3.1-70b-instruct"),
    ("llama3.2", "llama3.2:1b"),
    ("llama-70b", "DeepSeek-R1-Distill-Llama-70B"),
    ("qwen2.5-7b", "qwen2-7b"),
    ("mistral-small", "mistral-large"),
    ("deepseek-chat", "deepseek-reasoner"),
    ("local", "gpt-4o"),
    ("my-deployment", "gpt-4.1"),
    ("gpt-4o", ""),
    ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
    ("claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20241022"),
    ("mistral-large-2411", "mistral-large-2407"),
    ("qwen2.5-7b-instruct-q8_0", "qwen2.5-7b-instruct-q2_k"),
    ("llama-3.1-8b-fp8", "llama-3.1-8b-w4a16"),
]


@pytest.mark.parametrize(("asked", "answered"), FORMS)
def test_a_form_of_the_id_is_the_same_model(asked: str, answered: str) -> None:
    assert same_model(asked, answered)


@pytest.mark.parametrize(("asked", "answered"), OTHERS)
def test_another_model_is_not(asked: str, answered: str) -> None:
    assert not same_model(asked, answered)


@given(st.sampled_from([asked for asked, _ in FORMS]), st.sampled_from(["", "openai/", "a/b/", "/models/"]))
def test_a_path_a_date_and_another_case_never_matter(asked: str, path: str) -> None:
    name = asked.rpartition("/")[2]
    assert same_model(asked, f"{path}{name}-2026-11-30".upper())


@given(st.text(), st.text())
def test_any_two_texts_are_compared(asked: str, answered: str) -> None:
    assert same_model(asked, asked)
    assert same_model(asked, answered) in (True, False)


@pytest.mark.parametrize("unit", ["1", "a", "-", "q4_a", "1x1", "w4a1", "2025-04-", ".", "8bit", "0"])
def test_a_very_long_id_is_read_in_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        begun = time.process_time()
        same_model("gpt-4o", unit * (length // len(unit)))
        return time.process_time() - begun

    # Quadratic reading would take 64 times as long for 8 times the text.
    assert seconds(400_000) < 30 * max(seconds(50_000), 0.005)
