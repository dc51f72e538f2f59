"""Budgets of the paper's conditions, in decimal arithmetic."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.errors import DesignError
from rcwt.config.schema import Config
from rcwt.study.design import Condition, conditions, intact_coordination, percent, split_window
from rcwt.study.prompts import build, prompt_tokens
from rcwt.study.tasks import load_task

#: Target share in percent and reference tokens of Table A1 (W = 4096, u = 337).
TABLE_A1 = {0: 3759, 25: 2820, 50: 1880, 75: 940, 90: 376, 92: 301, 94: 226, 96: 151, 98: 76}


@pytest.mark.parametrize(("share", "r"), TABLE_A1.items())
def test_reference_tokens_are_the_papers(share: int, r: int) -> None:
    assert split_window(4096, Decimal(share) / 100, 337) == (4096 - 337 - r, r)


@pytest.mark.parametrize(
    ("share", "c"), [("97", 15565), ("97.5", 15645), ("98", 15726), ("98.5", 15806), ("99", 15886)]
)
def test_coordination_tokens_at_16384_are_those_of_the_artifact(share: str, c: int) -> None:
    assert split_window(16384, Decimal(share) / 100, 337)[0] == c


def test_a_share_is_never_a_binary_fraction() -> None:
    # 0.07 * 100 is 7.000000000000001 in binary floats: floor would still be 7, but 0.29 * 100 is 28.999999999999996.
    assert split_window(101, Decimal("0.29"), 1) == (29, 71)


@given(window=st.integers(2, 200_000), u=st.integers(0, 5_000), share=st.decimals(0, 99, places=2))
def test_the_parts_add_up_to_the_window(window: int, u: int, share: Decimal) -> None:
    if u >= window:
        with pytest.raises(DesignError):
            split_window(window, share / 100, u)
        return
    c, r = split_window(window, share / 100, u)
    assert c >= 0
    assert r >= 0
    assert c + r + u == window
    assert c <= share / 100 * (window - u) < c + 1


def test_an_instruction_longer_than_the_window_is_refused() -> None:
    with pytest.raises(DesignError, match="337 tokens and the window only 300"):
        split_window(300, Decimal("0.5"), 337)


def test_a_condition_names_itself() -> None:
    condition = Condition(
        "fixed_budget", "t", "fixed_budget", "coordination", 16384, "coord_first", Decimal("0.975"), 15645, 337, 402, 10
    )
    assert condition.name == "fixed_budget-w16384-q97.5-coord_first"
    assert round(float(condition.p), 4) == 0.9549


@pytest.mark.parametrize(("q", "text"), [("0", "0"), ("0.9", "90"), ("0.975", "97.5"), ("0.9925", "99.25")])
def test_percent_has_no_trailing_zeros(q: str, text: str) -> None:
    assert percent(Decimal(q)) == text


# Paper, ablation: t = 698 tokens beside ratios of 0, 50, 75, 90 and 95 % (resources/published/intact.csv).
@pytest.mark.parametrize(("share", "c"), [(0, 0), (50, 698), (75, 2094), (90, 6282), (95, 13262)])
def test_coordination_beside_an_intact_task_is_the_papers(share: int, c: int) -> None:
    assert intact_coordination(Decimal(share), 698) == c


def of_design(root: Path, **design: Any) -> list[Condition]:
    merged = {
        "models": ["reader"],
        "judges": ["rules"],
        "experiments": ["mine"],
        "designs": {"mine": {"task": "spec_recall", "params": {"max_tokens": 9}, **design}},
        "registry": {"reader": {"litellm": "embedded/reader"}},
        "prices": {"reader": {"input": 0, "output": 0, "as_of": "2026-01-01"}},
    }
    return conditions(
        Config.model_validate(merged),
        {name: load_task(root / "resources/templates" / name) for name in ("spec_recall", "algorithmic", "gsm8k")},
    )


def test_an_intact_task_gives_the_coordination_a_window_of_its_own(root: Path) -> None:
    found = of_design(root, kind="intact", question="exact_question", shares=[0, 95], trials=5, orders=["coord_first"])
    # t = 89 (question) + 609 (reference) = 698.
    assert [(one.window, one.c, one.u, one.r) for one in found] == [(698, 0, 89, 609), (13960, 13262, 89, 609)]
    assert all(one.by_rule for one in found)


def test_coordination_given_in_tokens_is_kept_and_judged_as_the_main_task(root: Path) -> None:
    found = of_design(root, kind="intact", coordination_tokens=[0, 939, 3683], trials=20, orders=["reason_first"])
    # t = 337 + 609 = 946; q is c / (c + t).
    assert [(one.c, one.window) for one in found] == [(0, 946), (939, 1885), (3683, 4629)]
    assert [one.name for one in found][1] == "mine-w1885-q49.8143-reason_first"
    assert not any(one.by_rule for one in found)


def test_packs_have_no_instruction_in_the_window(root: Path) -> None:
    window = {"window": 4096, "shares": [90], "trials": 10}
    found = of_design(root, kind="packs", task="gsm8k", packs=2, windows=[window])
    # Published packs: c = int(4096 * 0.9) = 3686, r = 410.
    assert {(one.c, one.u, one.r) for one in found} == {(3686, None, 410)}
    assert [one.pack for one in found] == ["pack_1", "pack_1", "pack_2", "pack_2"]
    assert len({one.name for one in found}) == 4


@pytest.mark.parametrize(("kind", "task"), [("packs", "spec_recall"), ("fixed_budget", "gsm8k")])
def test_packs_need_a_task_of_their_kind(root: Path, kind: str, task: str) -> None:
    with pytest.raises(DesignError, match=r"designs\.mine: found the kind .*accepted: a task of the kind 'pack'"):
        of_design(root, kind=kind, task=task, windows=[{"window": 4096, "shares": [90], "trials": 10}])


def test_a_question_that_is_not_there_is_refused(root: Path) -> None:
    with pytest.raises(DesignError, match=r"designs\.mine\.question: found 'other'; accepted: .*exact_question"):
        of_design(root, kind="intact", question="other", shares=[0], trials=1)


def test_a_kind_of_task_that_a_design_cannot_use_is_refused(root: Path) -> None:
    windows = [{"window": 4096, "shares": [0], "trials": 1}]
    with pytest.raises(
        DesignError, match="kind 'algorithmic' with the task 'spec_recall', which is of the kind 'open'"
    ):
        of_design(root, kind="algorithmic", windows=windows)
    with pytest.raises(DesignError, match="with the task 'algorithmic'"):
        of_design(root, task="algorithmic", windows=windows)


def test_the_algorithmic_task_is_never_cut_and_has_no_filler(root: Path) -> None:
    windows = [{"window": 4096, "shares": [0, 90], "trials": 20}]
    found = of_design(root, kind="algorithmic", task="algorithmic", windows=windows, orders=["coord_first"])
    task = load_task(root / "resources/templates/algorithmic")
    # c = floor(q (W - u)) with u = 501 as counted: 3235.
    assert [(one.u, one.c, one.by_rule) for one in found] == [(501, 0, True), (501, 3235, True)]
    for one in found:
        prompt = build(one, task)
        assert prompt.user == task.instruction
        assert prompt.reference == ""
        assert prompt_tokens(prompt) <= one.c + 501 + 2 * 2 + 1 < 4096
