"""Messages of a condition: budgets, orders, and what a prompt file says of them."""

from decimal import Decimal
from pathlib import Path

import pytest

from rcwt.base.digests import digest
from rcwt.base.tokens import count, encode
from rcwt.study.design import Condition, split_window
from rcwt.study.manifest import row, task_tokens
from rcwt.study.prompts import Prompt, blocks_of, build, prompt_tokens, record
from rcwt.study.tasks import Task, load_task

SHARES = ("0", "0.25", "0.5", "0.75", "0.9", "0.92", "0.94", "0.96", "0.98")


@pytest.fixture(scope="module")
def task(root: Path) -> Task:
    return load_task(root / "resources/templates/spec_recall")


def prompt(task: Task, q: str, order: str = "coord_first", window: int = 4096) -> Prompt:
    c, r = split_window(window, Decimal(q), 337)
    return build(
        Condition("e", "spec_recall", "fixed_budget", "coordination", window, order, Decimal(q), c, 337, r, 20),  # type: ignore[arg-type]
        task,
    )


def test_coordination_comes_first_or_last(task: Task) -> None:
    first, last = prompt(task, "0.5"), prompt(task, "0.5", "reason_first")
    assert first.system == f"{first.coordination}\n\n{first.reference}"
    assert last.system == f"{last.reference}\n\n{last.coordination}"
    assert [message["role"] for message in first.messages] == ["system", "user"]
    assert first.user == task.instruction


def test_without_coordination_both_orders_are_one_prompt(task: Task) -> None:
    assert prompt(task, "0").sha256 == prompt(task, "0", "reason_first").sha256
    assert prompt(task, "0").system == prompt(task, "0").reference


@pytest.mark.parametrize("q", SHARES)
def test_blocks_are_prefixes_or_repeats(task: Task, q: str) -> None:
    built = prompt(task, q)
    for text, source, budget in (
        (built.coordination, task.coordinations["coordination"], built.condition.c),
        (built.reference, task.reference or "", built.condition.r),
    ):
        repeats = budget // len(encode(source))
        assert text.startswith(source * repeats)
        # A cut inside a merge may change the count when the text is encoded again, by a token or two a joint.
        assert abs(count(text) - budget) <= 2 * (repeats + 1)


@pytest.mark.parametrize("order", ["coord_first", "reason_first"])
@pytest.mark.parametrize("q", SHARES)
def test_a_prompt_file_gives_back_its_blocks(task: Task, q: str, order: str) -> None:
    built = prompt(task, q, order)
    content = record(built)
    assert blocks_of(content) == {"coordination": built.coordination, "reference": built.reference}
    assert content["prompt_sha256"] == digest(content["messages"])


def test_prompt_tokens_count_separators_and_chat_overhead(task: Task) -> None:
    # The paper's intact prompt: 609 + 89 tokens are sent as 702, and 1 401 with 698 tokens of coordination.
    question = task.questions["exact_question"]
    condition = prompt(task, "0").condition
    bare = Prompt(condition, task.reference or "", question, "", task.reference or "")
    assert prompt_tokens(bare) == 702
    coordination = prompt(task, "0.5").coordination
    both = Prompt(condition, f"{coordination}\n\n{task.reference}", question, coordination, task.reference or "")
    assert prompt_tokens(both) == 702 + count(coordination) + 1


@pytest.mark.parametrize(
    ("window", "q", "expected"),
    [
        # design: share of the eight effective facts that are whole in the cut reference
        *((4096, q, value) for q, value in zip(SHARES, (1, 1, 1, 1, 0.625, 0.375, 0, 0, 0), strict=True)),
        *((8192, q, value) for q, value in (("0.94", 0.875), ("0.96", 0.5), ("0.98", 0))),
        *(
            (16384, q, value)
            for q, value in (("0.97", 0.875), ("0.975", 0.625), ("0.98", 0.5), ("0.985", 0.125), ("0.99", 0))
        ),
    ],
)
def test_the_lenient_ceiling_of_the_papers_geometry(task: Task, window: int, q: str, expected: float) -> None:
    line = row(record(prompt(task, q, window=window)), task_tokens(task), 20)
    assert line["ceiling_lenient"] == expected
    assert line["ceiling_strict"] <= expected
    assert line["facts_in_coordination"] == ""
