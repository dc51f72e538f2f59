"""What is asked before a model's first call: the cell's shape, a piece of each text, and the largest prompt."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rcwt.base.tokens import count
from rcwt.calls.responses import Request
from rcwt.calls.terms import request_tokens
from rcwt.config.schema import Config
from rcwt.scoring.model_judge import SYSTEM
from rcwt.study.preflight import LARGEST, PREFLIGHT_TEXT, SHORT, SHORT_SYSTEM, Preflight, preflight_params
from rcwt.study.study import Study

ADDRESS = "http://127.0.0.1:8000/v1"


def study(root: Path, *experiments: str, **windows: list[dict[str, Any]]) -> Study:
    merged: dict[str, Any] = {}
    for name in ("models", "prices", "config"):
        merged |= yaml.safe_load((root / f"config/{name}.yaml").read_text())
    for name, content in windows.items():
        merged["designs"][name]["windows"] = content
    merged["experiments"] = list(experiments)
    return Study(Config.model_validate(merged), root / "resources/templates")


def like(**params: Any) -> Request:
    return Request("endpoint", "openai/m", (("user", "Question?"),), {"max_tokens": 1024, **params}, "coord_first", 3)


def test_a_piece_of_each_text_and_the_largest_prompt(root: Path) -> None:
    made = study(root, "fixed_budget", fixed_budget=[{"window": 4096, "shares": [0, 50, 98], "trials": 1}])
    asked = made.preflight_of(made.config.models[0]).requests(like(temperature=0.3), ADDRESS)
    assert list(asked) == [SHORT, "spec_recall/reference", "spec_recall/coordination", LARGEST]
    assert all([role for role, _ in one.messages] == ["system", "user"] for one in asked.values())
    assert asked[SHORT].messages == (("system", SHORT_SYSTEM), ("user", PREFLIGHT_TEXT))
    pieces = list(asked.values())[1:3]
    assert all(1000 <= count(one.messages[0][1]) <= 1024 for one in pieces)
    assert (root / "resources/templates/spec_recall/reference.md").read_text()[:500] in pieces[0].messages[0][1]
    prompts = [dict(one) for one in made.prompts["fixed_budget-w4096-q98-coord_first"].messages]
    assert request_tokens(asked[LARGEST]) >= sum(count(one["content"]) for one in prompts) - 5
    assert all(one.params == {"max_tokens": 16, "temperature": 0.3} for one in asked.values())
    # A vendor's own server cuts nothing, and its tokens cost: the cells' own counts are enough.
    assert LARGEST not in made.preflight_of(made.config.models[0]).requests(like(), None)


def test_a_prompt_is_held_against_the_texts_that_make_it(root: Path) -> None:
    made = study(root, "fixed_budget", fixed_budget=[{"window": 4096, "shares": [0, 50, 98], "trials": 1}])

    def parts(condition: str) -> tuple[str, ...]:
        prompt = made.prompts[f"fixed_budget-w4096-{condition}"]
        return made.preflight_of(made.config.models[0]).parts[
            tuple((one["role"], one["content"]) for one in prompt.messages)
        ]

    assert parts("q0-coord_first") == parts("q0-reason_first") == ("spec_recall/reference",)
    assert parts("q50-reason_first") == ("spec_recall/coordination", "spec_recall/reference")
    # 76 tokens of reference and 337 of instruction in 4 096 hardly move what is counted.
    assert parts("q98-coord_first") == ("spec_recall/coordination",)


def test_tasks_that_share_a_text_have_it_measured_once(root: Path) -> None:
    made = study(root, "fixed_budget", "intact_open", "algorithmic", "gsm8k", "drop")
    names = list(made.preflight_of(made.config.models[0]).pieces)
    assert sum("coordination" in name for name in names) == 1
    assert {"spec_recall/reference", "spec_recall/instruction", "algorithmic/instruction", "gsm8k/pack"} <= set(names)
    assert len(set(made.preflight_of(made.config.models[0]).pieces.values())) == len(names)
    # Each prompt is made of some text that is measured.
    assert all(parts and set(parts) <= set(names) for parts in made.preflight_of(made.config.models[0]).parts.values())


def test_without_system_messages_none_is_sent(root: Path) -> None:
    window = [{"window": 4096, "shares": [0], "trials": 1}]
    made = study(root, "algorithmic", algorithmic=window)
    asked = made.preflight_of(made.config.models[0]).requests(like(), None)
    assert all([role for role, _ in one.messages] == ["user"] for one in asked.values())
    assert list(asked) == [SHORT, "algorithmic/instruction"]
    assert all(one.messages[-1][1].endswith(PREFLIGHT_TEXT) for one in asked.values())


def test_a_judge_that_is_no_target_is_asked_questions_of_its_own(root: Path) -> None:
    made = study(root, "fixed_budget", "algorithmic", fixed_budget=[{"window": 4096, "shares": [0], "trials": 1}])
    assert "another" not in made.config.models
    asked = made.preflight_of("another").requests(like(), ADDRESS)
    assert list(asked) == [SHORT, "spec_recall/judge"]  # the other task is scored by the form of the reply
    assert asked["spec_recall/judge"].messages[0][1].startswith(SYSTEM[:400])
    assert 1000 <= count(asked["spec_recall/judge"].messages[0][1]) <= 1024
    # A target's questions as a judge are held against the texts of its own preflight.
    assert made.preflight_of(made.config.models[0]).pieces.keys().isdisjoint({"spec_recall/judge"})


@pytest.mark.parametrize(
    ("params", "cap"),
    [
        ({}, 16),
        ({"max_tokens": 5}, 5),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, 1024 + 16),
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}, "max_tokens": 4010}, 4010),
        ({"thinking": {"type": "disabled"}}, 16),
        ({"thinking": {"type": "adaptive"}, "max_tokens": 9000}, 9000),
        ({"reasoning_effort": "low", "max_tokens": 9000}, 9000),
        ({"reasoning_effort": "none", "max_tokens": 9000}, 16),
        ({"reasoning": {"effort": "high"}, "max_tokens": 9000}, 9000),
        ({"reasoning": {"enabled": False}, "max_tokens": 9000}, 16),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}}, 512 + 16),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, 16),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}}, 16),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}, "max_tokens": 900}, 900),
    ],
)
def test_the_cap_is_small_and_above_a_budget_for_thinking(params: dict[str, Any], cap: int) -> None:
    """Anthropic refuses a cap that is not above its `budget_tokens`; a cut reply shows as much as a whole one."""
    given = like(**({"max_tokens": 8000} | params)).params
    assert preflight_params(given) == {**given, "max_tokens": cap}


def test_other_names_of_the_cap() -> None:
    assert preflight_params({"max_completion_tokens": 400}) == {"max_completion_tokens": 16}


def test_a_preflight_that_measures_nothing() -> None:
    assert list(Preflight().requests(like(), ADDRESS)) == [SHORT]
