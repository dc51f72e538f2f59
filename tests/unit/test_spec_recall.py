"""The geometry of the spec-recall texts: where each fact completes decides where its recall can break.

Right values: the paper's geometry (arXiv 2607.12216), as the project's design fixes it: 337 tokens of instruction,
609 of reference, the facts' positions within 4 tokens, and the ceilings of its three windows
and of one that is not in it.
"""

from decimal import Decimal
from pathlib import Path

import pytest

from rcwt.base.tokens import count, decode, encode, fill, special_tokens
from rcwt.scoring.rules import judge
from rcwt.study.tasks import Item, load_task

TASK = load_task(Path(__file__).parents[2] / "resources/templates/spec_recall")
REFERENCE = TASK.reference or ""
TOKENS = encode(REFERENCE)
ITEMS = {item.id: item for item in TASK.items}
EFFECTIVE = [item.id for item in TASK.items if item.effective]

POSITIONS = {
    "crdt_throughput": 81,
    "mls_rfc": 147,
    "three_encryption_options": 235,
    "recommends_option_b": 250,
    "pg_limit": 290,
    "redis_pubsub_rate": 312,
    "redis_streams_latency": 370,
    "infra_migration_weeks": 408,
    "prosemirror_richtext": 467,
    "backend_rampup": 553,
}
#: (window, share in percent, tokens of reference, ceiling).
CEILINGS = [
    *((4096, "0", 3759, 1.0), (4096, "25", 2820, 1.0), (4096, "50", 1880, 1.0), (4096, "75", 940, 1.0)),
    *((4096, "90", 376, 0.625), (4096, "92", 301, 0.375)),
    *((4096, "94", 226, 0.0), (4096, "96", 151, 0.0), (4096, "98", 76, 0.0)),
    *((8192, "94", 472, 0.875), (8192, "96", 315, 0.5), (8192, "98", 158, 0.0)),
    *((16384, "97", 482, 0.875), (16384, "97.5", 402, 0.625), (16384, "98", 321, 0.5)),
    *((16384, "98.5", 241, 0.125), (16384, "99", 161, 0.0)),
    # Not in the paper; from the positions above.
    *((32768, "97.5", 811, 1.0), (32768, "98.5", 487, 0.875), (32768, "99", 325, 0.5)),
    *((32768, "99.25", 244, 0.125), (32768, "99.5", 163, 0.0)),
]


def cut(tokens: int) -> str:
    return decode(fill(TOKENS, tokens))


def visible(text: str, strictness: str) -> set[str]:
    flat = " ".join(text.split())
    return {item.id for item in TASK.items if all(part in flat for part in evidence(item, strictness))}


def evidence(item: Item, strictness: str) -> tuple[str, ...]:
    return item.evidence.strict if strictness == "strict" else item.evidence.lenient


def completes_at(item: str, strictness: str) -> int:
    return next(n for n in range(len(TOKENS) + 1) if item in visible(decode(TOKENS[:n]), strictness))


def test_token_counts() -> None:
    assert count(TASK.instruction) == 337
    assert count(REFERENCE) == 609
    assert count(REFERENCE) + count(TASK.questions["exact_question"]) == 698
    assert {name: count(text) for name, text in TASK.coordinations.items()} == {
        "coordination": 567,
        "coordination_overlapping": 567,
    }


def test_items_are_the_columns_of_the_papers_artifact() -> None:
    assert [item.id for item in TASK.items] == [
        *("crdt_throughput", "mls_rfc", "three_encryption_options", "recommends_option_b", "pg_limit"),
        *("redis_pubsub_rate", "redis_streams_latency", "prosemirror_richtext", "backend_rampup"),
        "infra_migration_weeks",
    ]
    assert [item.id for item in TASK.items if not item.effective] == ["crdt_throughput", "mls_rfc"]


@pytest.mark.parametrize("strictness", ["strict", "lenient"])
@pytest.mark.parametrize(("item", "position"), POSITIONS.items())
def test_each_fact_completes_where_the_paper_has_it(item: str, position: int, strictness: str) -> None:
    assert abs(completes_at(item, strictness) - position) <= 4


@pytest.mark.parametrize("strictness", ["strict", "lenient"])
def test_limits_that_the_ceilings_rest_on(strictness: str) -> None:
    assert completes_at("redis_pubsub_rate", strictness) <= 314
    assert completes_at("prosemirror_richtext", strictness) <= 471
    assert completes_at("redis_streams_latency", strictness) <= 376


@pytest.mark.parametrize("strictness", ["strict", "lenient"])
@pytest.mark.parametrize("item", TASK.items, ids=lambda item: item.id)
def test_evidence_stands_once_in_the_reference(item: Item, strictness: str) -> None:
    flat = " ".join(REFERENCE.split())
    assert all(flat.count(part) == 1 for part in evidence(item, strictness))


@pytest.mark.parametrize("strictness", ["strict", "lenient"])
@pytest.mark.parametrize(("window", "share", "reference", "ceiling"), CEILINGS)
def test_ceilings(window: int, share: str, reference: int, ceiling: float, strictness: str) -> None:
    left = window - count(TASK.instruction)
    r = left - int(Decimal(share) / 100 * left)
    assert r == reference
    assert len(visible(cut(r), strictness) & set(EFFECTIVE)) / len(EFFECTIVE) == ceiling


def test_the_judge_credits_a_cut_reference_for_exactly_what_it_states() -> None:
    # Not inside the list of options: named A, B and C, they are three before the text says so.
    counted = range(227, 235)
    near_facts = {place + offset for place in POSITIONS.values() for offset in range(-9, 3)}
    for tokens in sorted(near_facts | set(range(0, len(TOKENS) + 1, 20))):
        credited = {item for item, score in judge(cut(tokens), TASK.items).items() if score}
        stated = visible(cut(tokens), "lenient")
        assert credited - stated == ({"three_encryption_options"} if tokens in counted else set()), tokens
        assert stated <= credited, tokens


def test_third_option_is_not_yet_named_where_the_ceiling_is_zero() -> None:
    assert "Option C" not in cut(226)


def test_full_reference_states_every_item() -> None:
    assert judge(REFERENCE, TASK.items) == dict.fromkeys(ITEMS, 1)


@pytest.mark.parametrize("text", ["instruction", "coordination", "exact_question"])
def test_no_other_text_states_a_fact(text: str) -> None:
    content = {"instruction": TASK.instruction, **TASK.coordinations, **TASK.questions}[text]
    repeated = decode(fill(encode(content), 4000))
    for version in (content, repeated):
        assert judge(version, TASK.items) == dict.fromkeys(ITEMS, 0)
        assert visible(version, "strict") == visible(version, "lenient") == set()


def test_overlapping_coordination_states_some_facts_and_contradicts_others() -> None:
    text = TASK.coordinations["coordination_overlapping"]
    stated = {"recommends_option_b", "pg_limit", "prosemirror_richtext"}
    assert {item for item, score in judge(text, TASK.items).items() if score} == stated
    assert visible(text, "lenient") == stated
    assert "migration will take 4-6 weeks" in text


def test_texts_are_plain() -> None:
    texts = [TASK.instruction, REFERENCE, *TASK.coordinations.values(), *TASK.questions.values()]
    for text in texts:
        assert decode(encode(text)) == text == text.strip()
        assert not any(token in text for token in special_tokens())


def test_exact_question_asks_for_the_eight_fields() -> None:
    fields = [
        *("pg_limit", "redis_pubsub_rate", "redis_streams_latency", "redis_pubsub_latency"),
        *("recommended_encryption", "prosemirror_role", "backend_rampup", "infra_migration"),
    ]
    question = TASK.questions["exact_question"]
    assert all(question.count(f'"{field}"') == 1 for field in fields)
    assert question.count('"') == 2 * len(fields)


def test_instruction_makes_six_numbered_demands() -> None:
    numbered = [line.split(".")[0] for line in TASK.instruction.splitlines() if line[:1].isdigit()]
    assert numbered == ["1", "2", "3", "4", "5", "6"]
