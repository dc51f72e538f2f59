"""The rule judge: right and wrong phrasings of every fact, whole numbers and units, and whole replies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from phrasings import RIGHT, WRONG

from rcwt.scoring.passages import passages
from rcwt.scoring.rules import judge
from rcwt.study.tasks import Item, load_task

TASK = load_task(Path(__file__).parents[2] / "resources/templates/spec_recall")
ITEMS = {item.id: item for item in TASK.items}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(item, text) for item, texts in table.items() for text in texts]


@pytest.mark.parametrize(("item", "text"), cases(RIGHT))
def test_right_phrasings_are_credited(item: str, text: str) -> None:
    assert judge(text, [ITEMS[item]]) == {item: 1}, passages(text)


@pytest.mark.parametrize(("item", "text"), cases(WRONG))
def test_wrong_phrasings_are_not_credited(item: str, text: str) -> None:
    assert judge(text, [ITEMS[item]]) == {item: 0}, passages(text)


# Whole numbers and units, for every fact that has one

#: A right sentence an item with its number cut out, and the number as it may be written.
SLOTS = {
    "crdt_throughput": ("Y.js sustained {} operations per second.", ["10K", "10,000", "10000"]),
    "mls_rfc": ("MLS is published as RFC {}.", ["9420"]),
    "three_encryption_options": ("There are {} encryption options.", ["3"]),
    "pg_limit": ("PostgreSQL LISTEN/NOTIFY has a limit of {}.", ["8KB", "8 KB", "8 kilobytes", "8000 bytes"]),
    "redis_pubsub_rate": ("Redis Pub/Sub fans out {} messages per second.", ["100K", "100,000", "100000"]),
    "redis_streams_latency": ("Redis Streams takes {}, Redis Pub/Sub takes 1 ms.", ["5 ms", "5ms", "5-millisecond"]),
    "backend_rampup": ("The backend team needs a CRDT ramp-up of {}.", ["1 week", "1-week"]),
    "infra_migration_weeks": (
        "The WebSocket migration is estimated at {}.",
        ["2-3 weeks", "2–3 weeks", "2 to 3 weeks"],
    ),
}
SLOT_CASES = [(item, sentence, number) for item, (sentence, numbers) in SLOTS.items() for number in numbers]


def score(item: str, text: str) -> int:
    return judge(text, [ITEMS[item]])[item]


@pytest.mark.parametrize(("item", "sentence", "number"), SLOT_CASES)
def test_every_digit_before_a_right_number_makes_it_wrong(item: str, sentence: str, number: str) -> None:
    assert score(item, sentence.format(number)) == 1
    for digit in "0123456789":
        for joint in ("", ".", "-", "–", " to ", "/"):
            text = sentence.format(digit + joint + number)
            if joint == " to " and digit >= number[0]:
                continue  # "9 to 8 KB" is no range
            assert score(item, text) == 0, text


@given(
    case=st.sampled_from(SLOT_CASES),
    before=st.from_regex(r"[1-9][0-9]{0,6}([.,])?", fullmatch=True),
)
def test_digits_before_a_right_number_make_it_wrong(case: tuple[str, str, str], before: str) -> None:
    item, sentence, number = case
    assert score(item, sentence.format(before + number)) == 0


@given(case=st.sampled_from(SLOT_CASES), after=st.from_regex(r"[.,]?[0-9]{1,6}", fullmatch=True))
def test_digits_after_a_right_number_make_it_wrong(case: tuple[str, str, str], after: str) -> None:
    item, sentence, number = case
    end = next((place for place, letter in enumerate(number) if not letter.isdigit() and letter not in ",-–"), None)
    digits, unit = (number, "") if end is None else (number[:end], number[end:])
    if not after.strip(".,0") and "." in after:
        return  # 8.0 KB is 8 KB to some
    assert score(item, sentence.format(digits + after + unit)) == 0


@pytest.mark.parametrize(("item", "sentence", "number"), SLOT_CASES)
@pytest.mark.parametrize(
    "mark", ["**{}**", "*{}*", "`{}`", "~{}", "≈{}", "about {}", "approximately {}", "_{}_", "<b>{}</b>"]
)
def test_emphasis_and_hedges_around_a_number_change_nothing(item: str, sentence: str, number: str, mark: str) -> None:
    assert score(item, sentence.format(mark.format(number))) == 1


@pytest.mark.parametrize("text", ["", " ", "\n\n", "|", "| |\n|-|", "#", "- ", "**", "```", ":", "...", "not stated"])
def test_a_text_without_facts_scores_nothing(text: str) -> None:
    assert judge(text, TASK.items) == dict.fromkeys(ITEMS, 0)


@pytest.mark.parametrize("text", ["1E28", "2.5e99 requests", f"{'1' * 40} thousand", "0e30"])
def test_a_number_beyond_all_sizes_is_no_fact(text: str) -> None:
    # More digits than decimal arithmetic keeps; found by the property below.
    assert judge(text, TASK.items) == dict.fromkeys(ITEMS, 0)


@given(st.text())
def test_any_text_is_judged_and_always_alike(text: str) -> None:
    first = judge(text, TASK.items)
    assert list(first) == list(ITEMS)
    assert set(first.values()) <= {0, 1}
    assert judge(text, list(TASK.items)) == first


@given(order=st.permutations(list(RIGHT)), separator=st.sampled_from(["\n", "\n\n", "\n- ", " "]))
def test_facts_in_any_order_are_all_credited(order: list[str], separator: str) -> None:
    text = separator + separator.join(RIGHT[item][0] for item in order)
    assert judge(text, TASK.items) == dict.fromkeys(ITEMS, 1)


# Whole replies

REPLY_WITH_HEADINGS = """1. **Encryption Options**

The security review compared **three encryption options**:

*   **Option A:** MLS group keys for every editing session.
*   **Option B:** A per-document symmetric key wrapped for each member.
*   **Option C:** Server-side encryption.

The security review recommends the **per-document symmetric key of Option B**. Each document gets its own key.

2. **PostgreSQL LISTEN/NOTIFY**

The payload limit is **8KB**. Larger updates need to be split or stored elsewhere.

3. **Redis**

A single node fans out about **100K messages per second** with Redis Pub/Sub. Redis Streams has a delivery latency
of about **5 ms**, compared to Redis Pub/Sub's latency of about **1 ms**. The trade-off is durability.

4. **Rich Text**

It is built on the framework **ProseMirror**.

5. **Backend**

A CRDT ramp-up of **1 week** is needed.

6. **Migration**

It is estimated at **2–3 weeks**.
"""

REPLY_WITH_BULLETS = """## 1. Encryption
- Number of options compared: three
- Options: (A) MLS group keys; (B) per-document symmetric key; (C) server-side encryption
- Recommended: per-document symmetric key (Option B)

## 2. PostgreSQL
- LISTEN/NOTIFY payload limit: 8KB

## 3. Redis
- Pub/Sub fan-out: ~100K messages/second (single node)
- Latency: Streams ≈ 5 ms vs Pub/Sub ≈ 1 ms

## 4. Rich text
- Framework: ProseMirror

## 5. Backend ramp-up
- 1 week of CRDT ramp-up

## 6. Migration
- Estimated duration: 2–3 weeks
"""

REPLY_AS_TABLE = """| # | Topic | Value |
|---|---|---|
| 1 | Encryption options compared | three (Option A, B, C) |
| 1 | Recommended key scheme | per-document symmetric key (Option B) |
| 2 | PostgreSQL LISTEN/NOTIFY payload limit | 8KB |
| 3 | Redis Pub/Sub fan-out | ~100K messages per second |
| 3 | Redis Streams latency vs Pub/Sub | ~5 ms vs ~1 ms |
| 4 | Rich text framework | ProseMirror |
| 5 | Backend CRDT ramp-up | 1 week |
| 6 | WebSocket infrastructure migration | 2-3 weeks |
"""

REPLY_IN_LINES = """1. Encryption
Three encryption options were compared. They are Option A (MLS group keys), Option B (per-document symmetric key)
and Option C (server-side encryption). The recommended scheme is Option B.
2. PostgreSQL
8KB is the payload limit of LISTEN/NOTIFY.
3. Redis
Pub/Sub: about 100K messages per second.
Streams latency: about 5 ms; Pub/Sub latency: about 1 ms.
4. Rich text
ProseMirror.
5. Backend
1 week of CRDT ramp-up.
6. Migration
2-3 weeks.
"""

REPLY_AS_JSON = """```json
{
  "encryption_options": "three: Option A, Option B, Option C",
  "recommended_encryption": "per-document symmetric key (Option B)",
  "pg_limit": "8KB",
  "redis_pubsub_rate": "100K messages per second",
  "redis_streams_latency": "5 ms",
  "redis_pubsub_latency": "1 ms",
  "prosemirror_role": "rich text editing",
  "backend_rampup": "CRDT ramp-up of 1 week",
  "infra_migration": "2-3 weeks"
}
```"""

REPLY_OF_THE_EXTRACTIVE_READER = """2. Message transport › PostgreSQL LISTEN/NOTIFY needs no extra service, but its
payload limit is 8KB.
3. Message transport › Redis Pub/Sub has no such limit, and a single node fans out about 100K messages per second.
Message transport › Redis Streams keeps them, with a delivery latency of about 5 ms, whereas Redis Pub/Sub latency is
about 1 ms."""

REPLY_WITHOUT_ANSWERS = """1. Encryption options: not stated. Recommended key scheme: not stated.
2. PostgreSQL LISTEN/NOTIFY payload limit: not stated.
3. Redis Pub/Sub messages per second: not stated. Streams and Pub/Sub latency: not stated.
4. Rich text framework: not stated.
5. Backend CRDT ramp-up: not stated.
6. WebSocket infrastructure migration: not stated."""


@pytest.mark.parametrize(
    "reply",
    [REPLY_WITH_HEADINGS, REPLY_WITH_BULLETS, REPLY_AS_TABLE, REPLY_IN_LINES, REPLY_AS_JSON],
    ids=["headings", "bullets", "table", "lines", "json"],
)
def test_whole_replies_score_every_effective_fact(reply: str) -> None:
    assert judge(reply, TASK.items) == {item.id: int(item.effective) for item in TASK.items}
    assert judge(reply.replace("\n", "\r\n"), TASK.items) == judge(reply, TASK.items)


def test_a_quoted_reply_scores_what_it_quotes() -> None:
    credited = [item for item, one in judge(REPLY_OF_THE_EXTRACTIVE_READER, TASK.items).items() if one]
    assert credited == ["pg_limit", "redis_pubsub_rate", "redis_streams_latency"]


def test_a_reply_without_answers_scores_nothing() -> None:
    assert judge(REPLY_WITHOUT_ANSWERS, TASK.items) == dict.fromkeys(ITEMS, 0)


# How accept and reject combine


def toy(accept: object, reject: tuple[str, ...] = ()) -> Item:
    return Item.model_validate(
        {
            "id": "toy",
            "statement": "The pump moves 40 litres.",
            "evidence": {"strict": ["x"], "lenient": ["x"]},
            "accept": accept,
            "reject": reject,
        }
    )


@pytest.mark.parametrize(
    ("accept", "text", "expected"),
    [
        (["pump", "40 litres"], "A pump.", 1),
        (["pump", "40 litres"], "It moves 40 litres.", 1),
        ([["pump", "40 litres"]], "The pump moves 40 litres.", 1),
        ([["pump", "40 litres"]], "The pump is old. The tank holds 40 litres.", 0),
        ([["pump", "40 litres"]], "# Pump\n\nMoves 40 litres.", 1),
        ([["pump", "40 litres"]], "# Pump\n\n# Tank\n\nHolds 40 litres.", 0),
        ([["pump", "40 litres"]], "- Pump\n  - 40 litres", 1),
        ([["pump", "40 litres"]], "- Pump\n- 40 litres", 0),
        ([["pump", "40 litres"]], "The pump runs all day. It moves 40 litres.", 1),
        ([["pump", "40 litres"]], "Pump: runs all day. Moves 40 litres.", 1),
        ([[["pump"], ["40 litres"]]], "The pump is old. The tank holds 40 litres.", 1),
        ([[["pump", "old"], ["40 litres"]]], "The pump is new. The tank holds 40 litres.", 0),
        ([["the new pump", "40 litres"]], "Unlike the old one, the new pump moves forty litres.", 1),
    ],
)
def test_alternatives(accept: object, text: str, expected: int) -> None:
    assert judge(text, [toy(accept)]) == {"toy": expected}


def test_a_rejected_passage_credits_nothing_but_another_may() -> None:
    item = toy([["pump", "40 litres"]], ("broken",))
    assert judge("The broken pump moves 40 litres.", [item]) == {"toy": 0}
    assert judge("The broken pump moves 40 litres. The new pump moves 40 litres.", [item]) == {"toy": 1}
