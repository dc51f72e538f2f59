"""The algorithmic task: right answers computed from its instruction, and named answers read from replies."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_helpers import record

from rcwt.published.kinds import ALGORITHMIC_ITEMS
from rcwt.scoring.answers import declined_answers, read_answers, score_answers
from rcwt.scoring.by_form import by_answers
from rcwt.study.tasks import Task, load_task

QUESTION = re.compile(r"^\d+\. (\w+): .*\(`(.*)`\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def task(root: Path) -> Task:
    return load_task(root / "resources/templates/algorithmic")


@pytest.fixture(scope="module")
def computed(task: Task) -> dict[str, str]:
    """The answers that the function of instruction.md itself gives to the conditions that its questions state."""
    code = re.search(r"```python\n(.*?)```", task.instruction, re.DOTALL)
    assert code
    names: dict[str, Any] = {}
    exec(code[1], names)
    assert names["items"] == [3, 10, 15, 7, 10, 22, 4]  # the issue
    assert names["threshold"] == 10
    return {name: "YES" if eval(stated, names) else "NO" for name, stated in QUESTION.findall(task.instruction)}


def test_the_expected_answers_are_those_of_the_function(task: Task, computed: dict[str, str]) -> None:
    assert {answer.id: answer.answer for answer in task.answers} == computed
    assert tuple(computed) == ALGORITHMIC_ITEMS
    assert list(computed.values()).count("NO") >= 3  # so that a model that says YES throughout is seen


def test_the_facts_that_the_issue_states_are_asked(task: Task, computed: dict[str, str]) -> None:
    for name, stated in [("sum_correct", "71"), ("above_indices", "2 and 5"), ("max_above_correct", "22")]:
        assert re.search(rf"{name}: .*{stated}", task.instruction)
        assert computed[name] == "YES"


@pytest.mark.parametrize(
    "line",
    [
        "sum_correct: YES",
        "sum_correct: yes",
        "1. **sum_correct**: **YES**",
        "- `sum_correct`: Yes, the sum is 71.",
        "* sum_correct = YES",
        "| sum_correct | YES |",
        '"sum_correct": "YES",',
        "sum\\_correct: YES",
        "**sum_correct: YES**",
        "sum_correct: YES\nsum_correct: Yes",
        "sum_correct: (YES)",
        "sum_correct: <YES>",
        "sum_correct: ✅ YES",
        "✅ sum_correct: ✔️ **YES**",
        "sum_correct (71): YES",
        "**sum_correct** (YES or NO): YES",
        "sum_correct => YES",
        "sum_correct：YES",
        "sum_correct: YES, not 70",
        "sum_correct: YES (no rounding needed)",
        "sum_correct: YES, no rounding needed",
        "sum_correct: Yes and no item is missing",
        "sum_correct: YES. It is 71, and no index is left out",
        "sum_correct: YES, above_count: NO",
        "| sum_correct | YES | above_count | NO |",
        "sum_correct: YES\nNO other item",
        "sum_correct: YES\nNO",
        "sum_correct: YES, YES",
        # A correction counts, and what it corrects does not.
        "sum_correct: NO - actually, YES",
        "sum_correct: NO... wait, YES",
        "sum_correct: NO, no, correction: YES",
        "sum_correct: YES, wait, no... YES",
        "sum_correct: not NO but YES",
        "sum_correct: ~~NO~~ YES",
        "sum_correct: NO\n\nFinal answers:\nsum_correct: YES",
        "sum_correct: NO\nCorrection: sum_correct: YES",
        "Wait, I should trace it again.\nsum_correct: YES",
        # What nobody sees.
        "sum_correct：\u200b YES\u200b<|im_end|>",
        "sum_correct: ＹＥＳ</s>",
        "sum_correct – YES",
    ],
)
def test_an_answer_is_read_beside_its_name(line: str) -> None:
    assert read_answers(line, ["sum_correct"]) == {"sum_correct": {"YES"}}


@pytest.mark.parametrize(
    "line",
    [
        "the sum is correct: YES",
        "sum_correctness: YES",
        "not_sum_correct: YES",
        "sum_correct: YES or NO",
        "sum_correct: YES/NO",
        "sum_correct: YES and NO",
        "sum_correct: YES, no",
        "sum_correct: yes-no",
        "sum_correct: NO YES",
        "sum_correct: NO, it is YES",
        "sum_correct: No, it's yes.",
        "sum_correct: **YES** / **NO**",
        "sum_correct: YES (NO)",
        "sum_correct: YES → NO",
        "sum_correct: YES | NO |",
        "sum_correct: yes or no is asked",
        "sum_correct: YES NO YES",
        "sum_correct != YES",
        "sum_correct: ≠ YES",
        "sum_correct: not YES",
        "sum_correct: ~~YES~~",
        "sum_correct: YES?",
        "sum_correct: maybe YES",
        "sum_correct: nothing",
        "sum_correct: true",
        "sum_correct:",
        "sum_correct\nabove_count: YES",
        "YES",
    ],
)
def test_anything_else_is_no_answer(line: str) -> None:
    assert read_answers(line, ["sum_correct"]) == {}


def test_no_is_read_as_yes_is() -> None:
    for line in ("sum_correct: NO", "sum_correct: ❌ NO (it is 71)", "sum_correct (70)： no, not YES"):
        assert read_answers(line, ["sum_correct"]) == {"sum_correct": {"NO"}}


def test_two_lines_that_contradict_each_other_are_a_miss(task: Task) -> None:
    assert score_answers("sum_correct: YES\nsum_correct: NO", task.answers) == {"sum_correct": 0}


def test_answers_that_the_cap_cut_off_are_counted_apart_from_misses(task: Task, computed: dict[str, str]) -> None:
    lines = [f"{name}: {answer}" for name, answer in computed.items()]
    replies = [
        ("\n".join(lines), "ok"),
        ("\n".join(lines[:7]), "ok"),
        ("\n".join(lines[:7]) + "\nmax_above_corr", "truncated"),
        ("Let me trace the function first.", "truncated"),
        ("I cannot say.", "ok"),
        (None, "refused"),
    ]
    found = by_answers([record(0, *reply) for reply in replies], task.answers)
    assert [sum(score or 0 for score in scores.items.values()) for scores in found] == [10, 7, 7, 0, 0, 0]
    assert [scores.status for scores in found] == ["scored", "scored", "scored", "scored", "unparsed", "non_answer"]
    assert [len(scores.cut_items) for scores in found] == [0, 0, 3, 10, 0, 0]
    assert found[2].cut_items == ALGORITHMIC_ITEMS[7:]


def test_names_that_are_declined_are_told_apart(task: Task) -> None:
    reply = "sum_correct: not stated\nabove_count: N/A\nbelow_count: YES\n"
    reply += "equal_count: YES (it does not say more)\nmean_correct:"
    names = [answer.id for answer in task.answers]
    assert declined_answers(reply, names) == ("sum_correct", "above_count")
    [found] = by_answers([record(0, reply, "truncated")], task.answers)
    assert (found.status, found.abstained_items) == ("scored", ("sum_correct", "above_count"))
    assert set(found.cut_items) == set(names[4:])


FRAMES = [
    "{}",
    "**{}**",
    "`{}`",
    "{}.",
    "{}</s>",
    "({})",
    "\u200b{}",
    "{} (because)",
    "✅ {}",
    "not {other} but {}",
    "~~{other}~~ {}",
]


@given(
    st.sampled_from(["YES", "NO", "yes", "No"]),
    st.sampled_from(FRAMES),
    st.sampled_from([": ", " = ", "：", " - ", " | "]),
)
def test_an_answer_in_any_frame_is_that_answer(answer: str, frame: str, separator: str) -> None:
    said = frame.format(answer, other="NO" if answer.upper() == "YES" else "YES")
    assert read_answers(f"sum_correct{separator}{said}", ["sum_correct"]) == {"sum_correct": {answer.upper()}}


@given(st.text(alphabet="yesnoYESNO:,. |-*\n()~?waitnotbutor", max_size=120))
def test_any_text_gives_answers_or_none(text: str) -> None:
    found = read_answers(f"sum_correct: {text}", ["sum_correct"])
    assert found.get("sum_correct", {"YES"}) <= {"YES", "NO"}
    assert not set(declined_answers(f"sum_correct: {text}", ["sum_correct"])) & set(found)
