"""What a reply declines to state: words that decline, items of a free text, fields of an object."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warehouse import INSTRUCTION, WAREHOUSE

from rcwt.base.declining import declines
from rcwt.scoring.abstentions import abstained_items
from rcwt.scoring.fields import declined_fields, score_fields
from rcwt.scoring.rules import judge
from rcwt.scoring.understood import demands_of
from rcwt.study.tasks import load_task

TASK = load_task(Path(__file__).parents[2] / "resources/templates/spec_recall")
DEMANDS = demands_of(INSTRUCTION)
ALL = ("conveyor", "cold", "supplier", "training", "roof")

DECLINING = [
    *("not stated", "Not given.", "N/A", "n/a", "none stated", "unknown", "**not stated**", "NOT STATED"),
    *("the reference does not say", "not specified in the visible part", "cannot be determined", "abstain"),
    *("Abstain: this needs reasoning, and the reader only quotes.", "Nothing in the prompt answers this."),
    *("It isn't mentioned.", "The reference doesn't say.", "not stated in section 2", "There is no mention of it."),
    *("The visible part of the reference stops before this.", "In the part that I can see, it is not given."),
]
VALUES = [
    *("none", "None", "8KB", "no", "NO", "nothing", "zero", "never", "", "48", "not 16KB but 8KB", "no limit", "Napa"),
    *("Option B; the reason is not stated", "rich text (the version is not stated)", "the Unknown Soldier"),
    *("ProseMirror, though the version is not given", "8KB (not stated exactly)", "not C but D"),
]


@pytest.mark.parametrize("text", DECLINING)
def test_an_answer_that_declines(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize("text", VALUES)
def test_an_answer_that_may_be_a_value_declines_nothing(text: str) -> None:
    assert not declines(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The reference does not state any of these.", ALL),
        ("I cannot find any of these values in the reference.", ALL),
        ("None of the five values is stated.", ALL),
        ("Not stated.", ALL),
        ("Abstain.", ALL),
        (
            "1. Not stated.\n2. -25 °C\n3. Not stated.\n4. 4 days.\n5. The reference gives no load.",
            ("conveyor", "supplier", "roof"),
        ),
        ("1. Conveyor: N/A\n2. Cold store: n/a\n3. Supplier: unknown\n4. Training: cannot be determined", ALL[:4]),
        ("| # | Answer |\n|---|---|\n| 1 | not stated |\n| 2 | -25 °C |\n| 3 | N/A |", ("conveyor", "supplier")),
        ('{"1": "not stated", "2": "-25 °C", "3": "not given"}', ("conveyor", "supplier")),
        ("## 1. Conveyor\n\nNot stated.\n\n## 2. Cold store\n\nNot stated.", ("conveyor", "cold")),
        ("The supplier of the forklifts is not stated. The roof load is not given either.", ("supplier", "roof")),
        ("- Conveyor: not stated\n- Roof: not stated", ("conveyor", "roof")),
        # What is declined is another thing.
        ("3. Linde. The price is not stated.", ()),
        ("4. The night shift needs 3 days. It is not stated why.", ()),
        ("1. 900 parcels per hour; no reason is given.", ()),
        # A wrong value is a miss and no abstention, and a right one is no miss.
        ("1. 900 parcels per hour\n2. -18 °C", ()),
        ("1. The north conveyor moves 1,200 parcels per hour. Its year is not stated.", ()),
    ],
)
def test_the_items_that_a_reply_declines(text: str, expected: tuple[str, ...]) -> None:
    assert abstained_items(text, WAREHOUSE, DEMANDS) == expected


@given(
    st.lists(
        st.sampled_from([*DECLINING, "1,200 parcels per hour", "-25 °C", "Halvorsen", "4 days", "150 kg"]), max_size=5
    )
)
def test_an_item_that_scores_is_never_declined(answers: list[str]) -> None:
    text = "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))
    declined = abstained_items(text, WAREHOUSE, DEMANDS)
    scores = judge(text, WAREHOUSE, DEMANDS)
    assert all(scores[item] == 0 for item in declined)
    assert [ALL[place] for place, answer in enumerate(answers) if answer in DECLINING] == list(declined)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert set(abstained_items(text, WAREHOUSE, DEMANDS)) <= set(ALL)
    assert declines(text) == declines(text)


def test_fields_that_decline() -> None:
    reply = (
        '{"pg_limit": null, "redis_pubsub_rate": "not stated", "backend_rampup": "", "infra_migration": "2-3 weeks"}'
    )
    assert declined_fields(reply, TASK.fields) == ("pg_limit", "redis_pubsub_rate")
    assert declined_fields("Not stated.", TASK.fields) == ()
    assert declined_fields('{"pg_limit": null} {"pg_limit": "8KB"}', TASK.fields) == ()


@pytest.mark.parametrize(
    "value",
    ["8 Kb", "8 Kbit", "maybe 8KB", "8KB?", "not 8KB", "more than 8KB", "at least 8KB", "8KB or 16KB", "probably 8KB"],
)
def test_a_field_that_asserts_no_value(value: str) -> None:
    scores = score_fields(json.dumps({"pg_limit": value}), TASK.fields)
    assert scores == dict.fromkeys((field.id for field in TASK.fields), 0)
