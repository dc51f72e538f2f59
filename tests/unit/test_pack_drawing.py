"""Packs drawn by a seed, their text, and what a cut of it shows."""

import random
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.tokens import count, decode, encode
from rcwt.packs.drawing import draw
from rcwt.packs.items import PackError, Question, Reference
from rcwt.packs.layout import lay_out
from rcwt.study.design import Condition
from rcwt.study.prompts import build
from rcwt.study.tasks import load_task


def question(number: int, passage: str | None = None, words: int = 9) -> Question:
    text = f"How many are {number}? " + "so " * words
    reference = Reference(kind="number", values=(str(number),))
    return Question(id=f"q{number:03d}", text=text.strip(), passage=passage, references=(reference,))


FIFTY = [question(number) for number in range(50)]


def ids(packs: object) -> list[list[str]]:
    return [[one.id for one in pack.questions] for pack in packs]  # type: ignore[attr-defined]


def test_a_draw_depends_on_seed_and_questions_and_not_on_their_order() -> None:
    shuffled = random.Random(1).sample(FIFTY, 50)
    assert ids(draw(FIFTY, 5, 10, 3, "x")) == ids(draw(shuffled, 5, 10, 3, "x"))
    assert ids(draw(FIFTY, 5, 10, 3, "x")) != ids(draw(FIFTY, 5, 10, 4, "x"))


def test_packs_share_no_question() -> None:
    drawn = [one for pack in ids(draw(FIFTY, 5, 10, 0, "x")) for one in pack]
    assert len(set(drawn)) == 50


def test_more_packs_keep_the_first_ones() -> None:
    assert ids(draw(FIFTY, 3, 10, 0, "x")) == ids(draw(FIFTY, 5, 10, 0, "x"))[:3]


def test_questions_of_one_passage_go_to_different_packs() -> None:
    pairs = [question(number, f"passage {number // 2}") for number in range(40)]
    for pack in draw(pairs, 2, 15, 0, "x"):
        assert len({one.passage for one in pack.questions}) == 15


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(
        PackError, match=r"data\.jsonl: found 50 different questions; accepted: at least 60 for 6 packs of 10"
    ):
        draw(FIFTY, 6, 10, 0, "data.jsonl")


def test_a_question_is_asked_with_number_passage_and_options() -> None:
    asked = Question(id="a", text="Which?", options=("x", "y"), references=(Reference(kind="letter", values=("B",)),))
    about = question(5, "Five came.", 0)
    laid = lay_out([asked, about])
    assert laid.text == (
        "# Questions\n\nQuestion 1: Which?\nA) x\nB) y\n\nQuestion 2:\nPassage: Five came.\nQuestion: How many are 5?"
    )
    assert [laid.text[start:end].splitlines()[0] for start, end in laid.spans] == ["Which?", "Passage: Five came."]
    assert laid.fixed == "# Questions\n\nQuestion 1: "


@given(st.integers(0, 400))
def test_every_question_of_a_cut_pack_is_whole_cut_or_gone_in_this_order(r: int) -> None:
    laid = lay_out(FIFTY[:10])
    tokens = encode(laid.text)
    visible = laid.visible(decode(tokens[:r]))
    assert visible == tuple(sorted(visible, key=("whole", "cut", "gone").index))
    assert visible.count("cut") <= 1
    if r >= len(tokens):
        assert set(visible) == {"whole"}


def test_a_broken_character_is_not_shown() -> None:
    laid = lay_out([question(1).model_copy(update={"text": "Wie viel ist 1 漢"})])
    tokens = encode(laid.text)
    assert laid.visible(decode(tokens)) == ("whole",)
    assert laid.visible(decode(tokens[:-1])) == ("cut",)


def condition(q: str, c: int, r: int) -> Condition:
    return Condition(
        "gsm8k", "gsm8k", "packs", "coordination", c + r, "coord_first", Decimal(q), c, None, r, 1, "pack_1"
    )


def test_a_pack_is_cut_from_its_end_and_never_repeated(root: Path) -> None:
    task = load_task(root / "resources/templates/gsm8k")
    (pack,) = draw(FIFTY, 1, 10, 0, "x")
    whole = build(condition("0", 0, 4096), task, pack)
    assert whole.system == pack.text.text
    assert whole.user == task.instruction
    cut = build(condition("0.9", 900, 100), task, pack)
    assert pack.text.text.startswith(cut.reference)
    assert count(cut.reference) == 100
    assert cut.system.endswith(cut.reference)
    assert len(cut.shown["items_whole"]) + len(cut.shown["items_cut"]) + len(cut.shown["items_gone"]) == 10
    assert cut.shown["note"] is None


def test_a_window_that_has_no_room_for_a_question_is_kept_and_said_so(root: Path) -> None:
    task = load_task(root / "resources/templates/gsm8k")
    (pack,) = draw(FIFTY, 1, 10, 0, "x")
    prompt = build(condition("0.9", 18, 2), task, pack)
    assert count(prompt.reference) == 2
    assert len(prompt.shown["items_gone"]) == 10
    fixed = count("# Questions\n\nQuestion 1: ")
    assert prompt.shown["note"] == f"the {fixed} tokens before the first question exceed the 2 that are left"
