"""What a reply asserts: the issue's own examples, frames that deny or doubt any true sentence, and a second task."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warehouse import INSTRUCTION, WAREHOUSE

from rcwt.scoring.assertions import asserted, standing
from rcwt.scoring.rules import judge
from rcwt.scoring.understood import demands_of
from rcwt.study.tasks import load_task

FOLDER = Path(__file__).parents[2] / "resources/templates/spec_recall"
TASK = load_task(FOLDER)
DEMANDS = demands_of((FOLDER / "instruction.md").read_text(encoding="utf-8"))

#: Statements and right values, as the issue words them.
OF_THE_ISSUE = [
    (
        "2. PostgreSQL LISTEN/NOTIFY payload limit: not stated. "
        "Builders should not assume the commonly known 8 KB default.",
        "pg_limit",
        0,
    ),
    ("4. Rich text editing does not use ProseMirror.", "prosemirror_richtext", 0),
    ("3. Redis Pub/Sub does not reach 100K messages per second.", "redis_pubsub_rate", 0),
    ("6. The migration will not take 2-3 weeks.", "infra_migration_weeks", 0),
    ("3. Redis Pub/Sub fans out fewer than 100K messages per second.", "redis_pubsub_rate", 0),
    ("3. Redis Pub/Sub fans out over 100K messages per second.", "redis_pubsub_rate", 0),
    ("3. Redis Pub/Sub fans out at most 100K messages per second.", "redis_pubsub_rate", 0),
    ("2. The payload limit of PostgreSQL LISTEN/NOTIFY might be 8KB or 16KB.", "pg_limit", 0),
    ("4. Rich text editing is built on either ProseMirror or Slate.", "prosemirror_richtext", 0),
    ("1. It is unclear whether the review recommends Option B.", "recommends_option_b", 0),
    ("5. Frontend: 1 week of CRDT ramp-up. Backend: none.", "backend_rampup", 0),
    ("1. Of Options A, B and C, the review recommends B.", "recommends_option_b", 1),
    ("1. The winner is Option B", "recommends_option_b", 1),
    ("5. 5 working days of CRDT ramp-up", "backend_rampup", 1),
    ("6. The migration takes at least 2 weeks, at most 3 weeks.", "infra_migration_weeks", 1),
    ("4. ProseMirror is the framework.", "prosemirror_richtext", 1),
    ("2. The payload limit is at most 8KB.", "pg_limit", 1),
    # The demand says "recommends"; this reply recommends nothing.
    ("1. Options A, B and C were compared", "recommends_option_b", 0),
]


@pytest.mark.parametrize(("text", "item", "expected"), OF_THE_ISSUE)
def test_the_issues_statements(text: str, item: str, expected: int) -> None:
    assert judge(text, TASK.items, DEMANDS)[item] == expected


TRUE = {
    "three_encryption_options": (1, "the security review compared three encryption options"),
    "recommends_option_b": (1, "the security review recommends the per-document symmetric key of Option B"),
    "pg_limit": (2, "PostgreSQL LISTEN/NOTIFY has a payload limit of 8KB"),
    "redis_pubsub_rate": (3, "Redis Pub/Sub fans out about 100K messages per second"),
    "redis_streams_latency": (3, "Redis Streams delivers in about 5 ms and Redis Pub/Sub in about 1 ms"),
    "prosemirror_richtext": (4, "rich text editing is built on the framework ProseMirror"),
    "backend_rampup": (5, "the backend team needs a CRDT ramp-up of 1 week"),
    "infra_migration_weeks": (6, "the WebSocket infrastructure migration is estimated at 2-3 weeks"),
}
#: Frames in which nothing is asserted: denied, doubted, asked, supposed, somebody else's, taken back, declined.
UNASSERTED = """
It is not true that {}.
I doubt that {}.
It is unclear whether {}.
Nobody said that {}.
The reference does not say that {}.
Perhaps {}.
Agent 2 claims that {}.
One participant suggested that {}.
It might be that {}.
If {}, the builders can start.
Is it true that {}?
I assume that {}.
{}, I think.
{}, but that is a guess.
{} (not from the reference).
{}. This is from my general knowledge.
{}. That is only a participant's claim.
{}. Ignore that.
It was once thought that {}, but this is wrong.
{}? The reference does not say.
It remains to be decided whether {}.
There is no evidence that {}.
{} is what I would expect, but the reference does not state it.
Nothing in the reference says that {}.
A draft said that {}.
{}; this is unconfirmed.
{} - or maybe not.
Unless I misremember, {}.
Suppose that {}.
{} - this is an assumption.
""".strip().split("\n")
#: Frames that assert, although words of denial, doubt or others stand near.
ASSERTED = """
{}.
According to the reference, {}.
As the reference says, {}.
{}; builders must plan for it.
{}, which is not negotiable.
There is no doubt that {}.
{}. Nothing else is needed.
Agent 2 doubts it, but the reference says that {}.
Despite other proposals, {}.
{}. This is not a guess.
{}. It may change in the next review.
Whatever participants said, {}.
{}. The cost is not stated.
{}, and nobody objected.
Contrary to Agent 4, {}.
{}, regardless of what the participants proposed.
Not a proposal but a decision: {}.
{}. Do not assume anything else.
""".strip().split("\n")


@given(st.sampled_from(sorted(TRUE)), st.sampled_from(UNASSERTED), st.booleans())
def test_no_frame_of_doubt_or_denial_asserts_a_true_sentence(item: str, frame: str, numbered: bool) -> None:
    number, sentence = TRUE[item]
    text = f"{number}. " * numbered + frame.format(sentence)
    assert judge(text, TASK.items, DEMANDS)[item] == 0, text


@given(st.sampled_from(sorted(TRUE)), st.sampled_from(ASSERTED), st.booleans())
def test_every_asserting_frame_asserts_a_true_sentence(item: str, frame: str, numbered: bool) -> None:
    number, sentence = TRUE[item]
    text = f"{number}. " * numbered + frame.format(sentence)
    assert judge(text, TASK.items, DEMANDS)[item] == 1, text


# Another task, of which the layer knows nothing


@pytest.mark.parametrize(
    ("text", "item", "expected"),
    [
        # An answer under its number needs no subject.
        ("1. 1,200 parcels per hour.", "conveyor", 1),
        ("2) -25 °C", "cold", 1),
        ("### 3\nHalvorsen.", "supplier", 1),
        ("**4.** Four days.", "training", 1),
        ("Answer 5 reads: 150 kg", "roof", 1),
        ('{"4": "4 days", "5": "150 kg"}', "roof", 1),
        ("1,200 parcels per hour.", "conveyor", 0),
        # Another subject's value is not this one's.
        ("4. The day shift needs 4 days of training.", "training", 0),
        ("4. The night shift needs 2 days of training, the day shift 4 days.", "training", 0),
        ("4. The night shift needs 4 days of training, the day shift 2 days.", "training", 1),
        ("5. The maximum load of the floor is 150 kg.", "roof", 0),
        # Once declined, a demand is understood in nothing more.
        ("1. Not stated. (Similar conveyors move 1,200 parcels per hour.)", "conveyor", 0),
        ("3. The supplier is not named. Halvorsen is a bidder.", "supplier", 0),
        ("4. The reason is not stated; the need is 4 days.", "training", 0),
        # Bounds: a maximum may be stated with "at most", and by what is refused.
        ("5. The roof carries at most 150 kg.", "roof", 1),
        ("5. Loads above 150 kg are not allowed on the roof.", "roof", 1),
        ("5. The roof must not be loaded with more than 150 kg.", "roof", 1),
        ("5. The roof carries at least 150 kg.", "roof", 0),
        ("5. The roof's maximum load is less than 150 kg.", "roof", 0),
        ("2. The cold store does not fall below -25 °C.", "cold", 1),
        ("4. The night shift needs no more than 4 days of training.", "training", 0),
        ("4. The night shift needs 4+ days of training.", "training", 0),
        # Scopes.
        ("1. The north conveyor moves 1,200 parcels per hour, not 900.", "conveyor", 1),
        ("1. The north conveyor moves 900 parcels per hour, not 1,200 parcels.", "conveyor", 0),
        ("1. The north conveyor would move 1,200 parcels per hour if it were repaired.", "conveyor", 0),
        ("1. Previously the north conveyor moved 1,200 parcels per hour; now it moves 900.", "conveyor", 0),
        ("1. Whether or not the hall is heated, the north conveyor moves 1,200 parcels per hour.", "conveyor", 1),
        ("3. Not Linde but Halvorsen is the supplier of the forklifts.", "supplier", 1),
        ("3. Linde is the supplier of the forklifts, rather than Halvorsen.", "supplier", 0),
        ("3. No supplier other than Halvorsen was chosen.", "supplier", 1),
        ("3. Nobody but Halvorsen supplies the forklifts.", "supplier", 1),
        ("3. Halvorsen or Linde supplies the forklifts.", "supplier", 0),
        ("3. The supplier: Linde... no wait, Halvorsen.", "supplier", 1),
        ("3. The supplier: Halvorsen... no wait, Linde.", "supplier", 0),
        ("4. The night shift needs 4 days of training before it may use the conveyor.", "training", 1),
        ("4. The night shift needs 4 days of training. I made this up.", "training", 0),
    ],
)
def test_another_tasks_statements(text: str, item: str, expected: int) -> None:
    assert judge(text, WAREHOUSE, demands_of(INSTRUCTION))[item] == expected


def test_a_pause_makes_a_correction_and_a_verb_does_not() -> None:
    assert "5 ms" in asserted("clients wait 5 ms, which is actually little")
    assert "16 kb" not in asserted("the limit is 16 kb, sorry, 8 kb")


def test_a_sentence_that_retracts_takes_the_one_before_it_away() -> None:
    assert standing(["It is 8KB.", "Ignore that.", "It is 9KB."]) == ["Ignore that.", "It is 9KB."]
    assert standing(["It is 8KB.", "This is not a guess."]) == ["It is 8KB.", "This is not a guess."]


@given(st.text(max_size=300))
def test_any_text_is_read_and_only_shortened(text: str) -> None:
    assert isinstance(asserted(text), str)
    assert judge(text, WAREHOUSE, demands_of(INSTRUCTION)) == judge(text, WAREHOUSE, demands_of(INSTRUCTION))


@given(
    st.sampled_from(sorted(TRUE)),
    st.sampled_from([*UNASSERTED, *ASSERTED]),
    st.sampled_from("\u200b\u2060\ufeff\u00ad"),
)
def test_invisible_characters_change_nothing(item: str, frame: str, sign: str) -> None:
    number, sentence = TRUE[item]
    text = f"{number}. {frame.format(sentence)}"
    hidden = text[:-8] + sign + text[-8:]
    assert judge(hidden, TASK.items, DEMANDS) == judge(text, TASK.items, DEMANDS)


def test_demands_are_numbered_from_one() -> None:
    assert [demand.split(":")[0] for demand in demands_of(INSTRUCTION)] == [
        "Conveyor",
        "Cold store",
        "Supplier",
        "Training",
        "Roof",
    ]
    assert demands_of("Answer in a few words.") == ()
