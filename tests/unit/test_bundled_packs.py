"""The project's own questions: right answers wherever a program can tell, and packs as long as the paper's."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.tokens import count
from rcwt.packs.drawing import draw
from rcwt.packs.items import Benchmark
from rcwt.packs.numerals import number
from rcwt.packs.sources import questions

STEP = re.compile(r"<<([-+*/().\d ]+)=(-?[\d.]+)>>")


def rows(root: Path, benchmark: str) -> list[dict[str, Any]]:
    path = root / "resources/packs" / f"{benchmark}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_step_of_a_solution_is_right_and_the_last_one_is_the_answer(root: Path) -> None:
    for row in rows(root, "gsm8k"):
        steps = STEP.findall(row["answer"])
        assert len(steps) >= 3, row["id"]
        assert row["answer"].count("<<") == len(steps), row["id"]
        for sum_, result in steps:
            assert eval(sum_) == pytest.approx(float(result)), (row["id"], sum_)
        final = number(row["answer"].rpartition("####")[2])
        assert final is not None
        # One answer is a fraction whose value no decimal has, and is made of the last two results: 36 by 7.
        last = 36 / 7 if row["id"] == "word_problem_48" else float(steps[-1][1])
        assert float(final) == pytest.approx(last), row["id"]


def test_every_choice_has_ten_different_options_and_one_right_answer(root: Path) -> None:
    letters = []
    for row in rows(root, "mmlu_pro"):
        assert len(set(row["options"])) == 10, row["question_id"]
        assert "ABCDEFGHIJ"[row["answer_index"]] == row["answer"]
        letters.append(row["answer"])
    # No letter is right so often that always giving it would pay.
    assert max(letters.count(letter) for letter in letters) <= len(letters) / 5


def test_every_span_and_date_of_a_reference_stands_in_its_passage(root: Path) -> None:
    kinds = set()
    for row in rows(root, "drop"):
        for answer in (row["answer"], *row["validated_answers"]):
            date = " ".join(filter(None, answer["date"].values()))
            assert all(span in row["passage"] for span in answer["spans"]), row["query_id"]
            assert date in row["passage"], row["query_id"]
            kinds.add("number" if answer["number"] else "date" if date else f"{min(len(answer['spans']), 2)} spans")
    assert kinds == {"number", "date", "1 spans", "2 spans"}


# Tokens of the paper's five packs (column task_tokens_full of its files): 665 to 862, 1 492 to 2 767, 2 702 to 3 019.
@pytest.mark.parametrize(
    ("benchmark", "low", "high"), [("gsm8k", 600, 900), ("mmlu_pro", 1400, 2800), ("drop", 2300, 3100)]
)
def test_packs_are_about_as_long_as_the_papers(root: Path, benchmark: Benchmark, low: int, high: int) -> None:
    found = questions(root / "resources/packs" / f"{benchmark}.jsonl", benchmark)
    assert len(found) >= 50
    sizes = [count(pack.text.text) for seed in range(3) for pack in draw(found, 5, 10, seed, benchmark)]
    assert low <= min(sizes)
    assert max(sizes) <= high
    # At W = 4 096 GSM8K packs are whole at 75 % (1 024 tokens left) and cut at 90 % (410); the others are cut at 75 %.
    assert max(sizes) <= 1024 or min(sizes) > 1024
    assert min(sizes) > 410
