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
        "sum_correct: NO - actually, YES",
        "sum_correct: YES → NO",
        "sum_correct: YES | NO |",
        "sum_correct: yes or no is asked",
        "sum_correct: YES NO YES",
        "sum_correct != YES",
        "sum_correct: ≠ YES",
        "sum_correct: not YES",
        "sum_correct: ~~YES~~",
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
        ("The code runs once.", "ok"),
        (None, "refused"),
    ]
    found = by_answers([record(0, *reply) for reply in replies], task.answers)
    assert [sum(score or 0 for score in scores.items.values()) for scores in found] == [10, 7, 7, 0, 0, 0]
    assert [scores.status for scores in found] == ["scored", "scored", "scored", "scored", "unparsed", "non_answer"]
    assert [len(scores.cut_items) for scores in found] == [0, 0, 3, 10, 0, 0]
    assert found[2].cut_items == ALGORITHMIC_ITEMS[7:]


NAMES = list(ALGORITHMIC_ITEMS)
#: How a reply may give all answers, each clear to a person who reads it.
CLEAR = [
    "{name}: {answer}",
    "{answer}: {name}",
    "{name} is {answer}.",
    "{name} {answer}",
    "{name},{answer}",
    "{name}? {answer}",
    "{name}: counted twice, so {answer}.",
    "{name}: it comes to 71 or to 2 → {answer}",
    "{name}: `f(x) == 3`. The answer is {answer}.",
    "For {name}, the answer is {answer} because of the indices.",
    "### {name}\n\n{answer}\n",
    "**{name}**\n- by counting\n- **Answer: {answer}**\n",
    "{name}:\n  what it says\n  Verdict: {answer}",
    "| {number} | {name} | what it says | {answer} |",
    '{{"name": "{name}", "answer": "{answer}"}},',
    '{{\n"name": "{name}",\n"answer": "{answer}"\n}},',
    "<{name}>{answer}</{name}>",
    "<tr><td>{name}</td><td>{answer}</td></tr>",
    "{number}. {answer}",
    "{number}. {answer} ({name})",
    "Q: {name}\nA: {answer}\n",
    "{name} [what it says, `f(x) == 3`]: {answer}",
    "{name}, what it says - {answer}",
    "{name}: {other} [edit: {answer}]",
    "{number}) {answer}, by counting",
    "Q{number}: {answer}",
    "| {number} | {answer} |",
    "{name}: not {other} but {answer}",
    "{name}: {answer}, not {other}",
    "{name}: {answer} rather than {other}",
    "{name}: {answer}. {other} would be wrong",
    "{name}: {other}... wait, {answer}",
    "{name}: {other}, no, correction: {answer}",
    "{name}: {other}? No wait, {answer}.",
    "{name}: ~~{other}~~ {answer}",
    "{name}: [ ] {other} [x] {answer}",
    "{name}: {other}\nCorrection: {name}: {answer}",
    "{name}: {other}\n{name} (corrected): {answer}",
    "The form is `{name}: {other}`.\n{name}: {answer}",
]
#: How a reply may speak of an answer and not clearly give it.
UNCLEAR = [
    "{name}: YES/NO",
    "{name}: either YES or NO",
    "{name}: {answer}?",
    "{name}: probably {answer}",
    "{name}: I lean towards {answer}",
    "{name}: {answer}, but it could be {other}",
    "{name}: {answer} would be wrong",
    "{name}: {answer} (60% sure)",
    "{name}: {answer}, maybe",
    "{name}: {answer} (not sure)",
    "{name}: I am not certain, but {answer}",
    "{name}: my guess is {answer}",
    "{name}: {answer} if indices count from 0",
    "{name}: not {answer}",
    "{name}: YES for one reading and NO for the other",
    "It is unclear whether {name} is {answer}.",
    "{name}: cannot tell",
    "{name}: I cannot say YES or NO",
    "{name}: 71",
    "For example {name}: {answer}",
]
HIDDEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"]


def _reply(frame: str, answers: dict[str, str]) -> str:
    other = {"YES": "NO", "NO": "YES"}
    return "\n".join(
        frame.format(number=number, name=name, answer=answer, other=other[answer])
        for number, (name, answer) in enumerate(answers.items(), 1)
    )


_ANSWERS = st.lists(st.sampled_from(["YES", "NO"]), min_size=10, max_size=10).map(
    lambda answers: dict(zip(NAMES, answers, strict=True))
)


@pytest.mark.parametrize("frame", CLEAR)
@given(answers=_ANSWERS)
def test_a_clear_answer_is_read_in_any_form(frame: str, answers: dict[str, str]) -> None:
    assert read_answers(_reply(frame, answers), NAMES) == {name: {answer} for name, answer in answers.items()}
    assert declined_answers(_reply(frame, answers), NAMES) == ()


@pytest.mark.parametrize("frame", UNCLEAR)
@given(answers=_ANSWERS)
def test_what_is_weighed_denied_or_left_open_is_no_answer(frame: str, answers: dict[str, str]) -> None:
    assert read_answers(_reply(frame, answers), NAMES) == {}


@given(answers=_ANSWERS, sign=st.sampled_from(HIDDEN), at=st.integers(0, 400))
def test_an_invisible_character_changes_nothing(answers: dict[str, str], sign: str, at: int) -> None:
    reply = _reply("{name}: {answer}", answers)
    assert read_answers(reply[:at] + sign + reply[at:], NAMES) == read_answers(reply, NAMES)


_PIECES = st.one_of(
    st.sampled_from(
        ["YES", "NO", "no", "\n", ": ", " | ", "or ", "wait, ", "1. ", "10) ", "sum_correct", "ſum_correct"]
    ),
    st.sampled_from(
        ["no negatives", "no_negatıves", "Draft:", "Final answers:", "<think>", "</think>", "</s>", "a_b: "]
    ),
    st.text(max_size=5),
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_any_text_is_read_and_always_the_same(reply: str) -> None:
    found = read_answers(reply, NAMES)
    assert found == read_answers(reply, NAMES)
    assert all(answers and answers <= {"YES", "NO"} for answers in found.values())
    assert not set(found) & set(declined_answers(reply, NAMES))


ALL_YES = _reply("{name}: {answer}", dict.fromkeys(NAMES, "YES"))
ALL_NO = _reply("{name}: {answer}", dict.fromkeys(NAMES, "NO"))


@pytest.mark.parametrize(
    "reply",
    [
        f"Draft:\n{ALL_NO}\n\nFinal answers:\n{ALL_YES}",
        f"Working:\n{ALL_NO}\n\n{ALL_YES}",
        f"Final answers:\n{ALL_YES}\n\nMy first draft:\n{ALL_NO}",
        f"{ALL_NO}\n\nWait, I took the list for another. Again:\n{ALL_YES}",
        f"{ALL_NO}\n\nI made a mistake above.\n\n{ALL_YES}",
        f"{ALL_YES}\n\nIn short:\n{ALL_YES}",
        f"{ALL_YES}<|im_end|>\n<|im_start|>user\n{ALL_NO}",
        "YES: " + ", ".join(NAMES),
        "**YES**\n" + "\n".join(f"- {name}" for name in NAMES),
        ", ".join(NAMES) + ": YES",
        "The following are YES: " + ", ".join(NAMES) + ".",
        f"| {' | '.join(NAMES)} |\n{'|---' * 10}|\n{'| YES ' * 10}|",
        " ".join(f"{number}. YES" for number in range(1, 11)),
        "\n".join(f"{name.replace('_', ' ').capitalize()}: yes" for name in NAMES),
    ],
)
def test_a_whole_reply_that_says_yes_throughout(reply: str) -> None:
    assert read_answers(reply, NAMES) == {name: {"YES"} for name in NAMES}


@pytest.mark.parametrize(
    "reply",
    [
        "\n".join(f"{name}:" for name in NAMES) + "\nNo answers can be given.",
        "I cannot answer. No code was run.",
    ],
)
def test_a_whole_reply_without_an_answer(reply: str) -> None:
    assert read_answers(reply, NAMES) == {}


def test_the_instruction_itself_gives_no_answer(task: Task) -> None:
    """A model may repeat the questions before it answers them."""
    assert read_answers(task.instruction, NAMES) == {}
    assert read_answers(f"{task.instruction}\n\n{ALL_NO}", NAMES) == {name: {"NO"} for name in NAMES}


@pytest.mark.parametrize(
    "words",
    ["not stated", "N/A", "cannot tell", "No idea", "no answer given", "unknown", '"n/a",', "Cannot be determined."],
)
def test_an_answer_that_declines_is_counted_apart(words: str) -> None:
    for reply in (f"sum_correct: {words}\nabove_count: NO", f"| sum_correct | {words} |\n| above_count | NO |"):
        assert declined_answers(reply, NAMES) == ("sum_correct",)
        assert read_answers(reply, NAMES) == {"above_count": {"NO"}}
    assert declined_answers(f"sum_correct: {words}\nsum_correct: YES", NAMES) == ()
    assert declined_answers(f"1. {words}\n2. NO", NAMES) == ("sum_correct",)


@pytest.mark.parametrize(
    "line", ["sum_correct: YES or NO", "sum_correct: not YES", "sum_correct:", "sum_correct: 71", ""]
)
def test_what_is_no_answer_does_not_yet_decline(line: str) -> None:
    assert declined_answers(line, NAMES) == ()


@pytest.mark.parametrize(
    "reply", ["Abstain: this needs reasoning, and the reader only quotes.", "I cannot tell.", "N/A"]
)
def test_a_reply_that_only_declines_declines_all(task: Task, reply: str) -> None:
    [found] = by_answers([record(0, reply)], task.answers)
    assert (found.status, found.abstained_items) == ("scored", tuple(answer.id for answer in task.answers))
