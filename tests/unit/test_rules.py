"""The rule judge: right and wrong phrasings of every fact, whole numbers and units, and whole replies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.scoring.normalise import normalise
from rcwt.scoring.passages import passages
from rcwt.scoring.patterns import compile_pattern
from rcwt.scoring.rules import judge
from rcwt.tasks import Item, load_task

TASK = load_task(Path(__file__).parents[2] / "resources/templates/spec_recall")
ITEMS = {item.id: item for item in TASK.items}

RIGHT = {
    "crdt_throughput": [
        "Y.js sustained about 10K operations per second.",
        "- **Yjs throughput:** ~10,000 ops/sec",
        "The CRDT reached 10k ops/s in the load test.",
        "A single Y.js document handles ten thousand operations per second.",
        "Y.js CRDT: 10 000 operations/second",
    ],
    "mls_rfc": [
        "MLS is published as RFC 9420.",
        "- **MLS** (RFC 9420)",
        "Messaging Layer Security, RFC-9420",
        "The group protocol is MLS (RFC9420), which handles membership.",
        "MLS, see [RFC 9420](https://example.org/rfc)",
    ],
    "three_encryption_options": [
        "The security review compared three encryption options.",
        "1. **Encryption**: Three options were compared: A, B and C.",
        "There are 3 encryption approaches.",
        "## Encryption options\n\n- **Option A**: MLS group keys\n- **Option B**: per-document symmetric key\n- **Option C**: server-side",
        "It weighs Option A (MLS), Option B (per-document key) and Option C (server-side encryption).",
        "Number of encryption options compared: 3",
        "The options are MLS group keys, a per-document symmetric key, and server-side encryption.",
        "The review looked at three different encryption schemes.",
    ],
    "recommends_option_b": [
        "The security review recommends the per-document symmetric key of Option B.",
        "**Recommended:** Option B (per-document symmetric key)",
        "Option B is recommended over Option A.",
        "- Recommendation: per-document symmetric keys",
        "The review's preferred scheme is a symmetric key per document.",
        "| Question | Answer |\n|---|---|\n| Recommended option | B, per-document symmetric key |",
        "A per-document symmetric key, wrapped for each member, is what the review recommends.",
        "The recommended key scheme is the **per-document symmetric key** (Option B).",
        "### Recommended encryption\n\nOption B",
    ],
    "pg_limit": [
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 8KB.",
        "- **PostgreSQL `LISTEN/NOTIFY` payload limit:** 8 KB",
        "NOTIFY payloads are capped at 8 kilobytes.",
        "Postgres has an 8-kilobyte payload limit.",
        "PostgreSQL LISTEN/NOTIFY: 8000 bytes",
        "LISTEN/NOTIFY payloads may not exceed 8,000 bytes.",
        "2. **PostgreSQL**\n   - Payload limit: **8KB**",
        "| System | Limit |\n|:--|--:|\n| PostgreSQL LISTEN/NOTIFY | 8KB |",
        "PostgreSQL's LISTEN/NOTIFY has an eight-kilobyte limit. A larger edit must be split.",
        "2. PostgreSQL: The payload limit is 8KB.",
        "Pub/Sub was chosen instead of LISTEN/NOTIFY, whose limit is 8 KB.",
    ],
    "redis_pubsub_rate": [
        "Redis Pub/Sub fans out about 100K messages per second.",
        "- **Pub/Sub throughput:** ~100,000 msg/s",
        "Redis Pub/Sub: 100k messages/sec per node",
        "A node running Pub/Sub handles one hundred thousand messages a second.",
        "Pub/Sub delivers 100 thousand msgs per second",
        "| Redis Pub/Sub | Messages/s: 100K |",
        "### Redis\n\n* Pub/Sub fan-out: $\\sim$100{,}000 messages/s",
        "Redis Pub/Sub — up to 100\u202f000 messages per second — has no payload limit.",
        "Pub/Sub reaches 10⁵ messages/s.",
        "Unlike Redis Streams, Pub/Sub fans out 0.1 million messages per second.",
    ],
    "redis_streams_latency": [
        "Redis Streams takes about 5 ms, whereas Redis Pub/Sub takes about 1 ms.",
        "- **Redis Streams:** ~5ms\n- **Redis Pub/Sub:** ~1ms",
        "Latency is 5 milliseconds for Redis Streams and 1 millisecond for Pub/Sub.",
        "Pub/Sub delivers in ~1 ms, Streams in ~5 ms.",
        "Redis Streams has a delivery latency of about 5 ms (vs. ~1 ms for Pub/Sub).",
        "Compared with Pub/Sub's 1 ms, Redis Streams adds up to 5 ms.",
        "Streams vs. Pub/Sub latency: 5 ms vs. 1 ms",
        "| | Pub/Sub | Streams |\n|---|---|---|\n| Latency | ~1 ms | ~5 ms |",
        "| System | Latency |\n|---|---|\n| Redis Streams | five ms |\n| Redis Pub/Sub | one ms |",
        "**Redis Streams**\n- Latency: about 5 ms\n\n**Redis Pub/Sub**\n- Latency: about 1 ms",
        "3. **Redis**\n   - Streams keeps messages. Its delivery latency is 5 ms, against 1 ms with Pub/Sub.",
        "Delivery takes ≈5 ms (Redis Streams) against ≈1 ms (Redis Pub/Sub).",
    ],
    "prosemirror_richtext": [
        "Rich text editing is built on ProseMirror.",
        "- **Rich text:** ProseMirror",
        "ProseMirror is the rich-text framework.",
        "4. **Rich text**\n   The framework is **ProseMirror**.",
        "The editor uses the ProseMirror framework for richtext editing.",
        "| Rich text framework | ProseMirror |",
        "4. Rich text: The reference builds it on ProseMirror.",
    ],
    "backend_rampup": [
        "The backend team needs a CRDT ramp-up of 1 week.",
        "- **Backend ramp-up:** one week",
        "The backend team requires a 1-week CRDT ramp-up.",
        "5. **Backend**\n   - CRDT ramp-up: 1 week",
        "Backend engineers need a week to get up to speed with CRDTs.",
        "The back-end team needs one full week of CRDT training.",
        "Back-end ramp up on CRDTs takes 7 days.",
        "5. Backend: The ramp-up takes ~1 wk.",
    ],
    "infra_migration_weeks": [
        "The WebSocket infrastructure migration is estimated at 2-3 weeks.",
        "- **Migration:** 2–3 weeks",
        "Migrating the WebSocket infrastructure takes two to three weeks.",
        "6. **Migration**\n\nIt is estimated to take between two and three weeks.",
        "The infrastructure migration is a 2-to-3-week job.",
        "WebSocket migration: 2 - 3 wks",
        "The migration needs from 2 to 3 weeks.",
        "Migration: two weeks to three weeks",
        "The migration will take two or three weeks.",
        "Migration estimate (weeks): 2—3",
        "WebSocket infrastructure migration: about 2 to about 3 weeks",
    ],
}

WRONG = {
    "crdt_throughput": [
        "Y.js sustained about 100K operations per second.",
        "Y.js sustained 1.10K operations per second.",
        "Y.js sustained 10K operations per minute.",
        "Redis sustained 10K operations per second.",
        "Y.js: 8-10K operations per second",
        "The throughput of Y.js is not stated.",
    ],
    "mls_rfc": [
        "MLS is published as RFC 94200.",
        "MLS is published as RFC 942.",
        "TLS is published as RFC 9420.",
        "MLS: RFC 19420",
        "The group protocol is MLS.",
    ],
    "three_encryption_options": [
        "The security review compared two encryption options.",
        "There are 13 encryption options.",
        "There are 3-4 encryption options.",
        "There are not three encryption options but two.",
        "Three transport systems were compared.",
        "Options A and B were compared for encryption.",
        "The number of encryption options is not stated.",
        "The encryption options cost three weeks.",
        "Several hundred encryption options exist.",
    ],
    "recommends_option_b": [
        "The review recommends Option A.",
        "Option A is recommended over Option B.",
        "Option B is not recommended.",
        "The review recommends against Option B.",
        "Rather than Option B, the review recommends Option A.",
        "The options are MLS group keys, a per-document symmetric key and server-side encryption.",
        "Recommended: MLS group keys; the per-document symmetric key is simpler.",
        "Option B: a per-document symmetric key. The recommended option is not stated.",
    ],
    "pg_limit": [
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 128KB.",
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 0.8KB.",
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 8.5 KB.",
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 8MB.",
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 8 bytes.",
        "PostgreSQL LISTEN/NOTIFY moves 8 KB/s.",
        "PostgreSQL LISTEN/NOTIFY moves 8 kilobytes per second.",
        "PostgreSQL LISTEN/NOTIFY has a payload limit of 8-16 KB.",
        "PostgreSQL LISTEN/NOTIFY has a limit of 16 KB, not 8 KB.",
        "Redis has a payload limit of 8KB.",
        "The PostgreSQL payload limit is ~~8KB~~ 1 MB.",
        "PostgreSQL LISTEN/NOTIFY payload limit: not stated.",
        "PostgreSQL LISTEN/NOTIFY: 18,000 bytes",
    ],
    "redis_pubsub_rate": [
        "Redis Pub/Sub fans out about 10K messages per second.",
        "Redis Pub/Sub fans out about 1,100K messages per second.",
        "Redis Pub/Sub fans out about 100K messages per minute.",
        "Redis Pub/Sub fans out 100 messages per second.",
        "Redis Pub/Sub fans out 1,100,000 messages per second.",
        "Redis Pub/Sub fans out 50K-100K messages per second.",
        "Redis Pub/Sub fans out several hundred thousand messages per second.",
        "Redis Streams fans out 100K messages per second.",
        "Pub/Sub handles 50K messages/s, Streams 100K messages/s.",
        "Redis Pub/Sub: 100K",
        "The rate of Redis Pub/Sub is not stated.",
    ],
    "redis_streams_latency": [
        "Redis Streams takes about 15 ms, whereas Redis Pub/Sub takes about 1 ms.",
        "Redis Streams takes about 1 ms, whereas Redis Pub/Sub takes about 5 ms.",
        "Redis Streams takes about 5 ms.",
        "Redis Pub/Sub takes about 1 ms.",
        "Redis Streams takes 5 s, whereas Redis Pub/Sub takes 1 s.",
        "Redis Streams takes 0.5 ms, whereas Redis Pub/Sub takes 0.1 ms.",
        "Latency is 1 ms for Redis Streams and 5 ms for Pub/Sub.",
        "Pub/Sub takes 5 ms and Streams takes 1 ms.",
        "- Redis Streams: 1 ms\n- Redis Pub/Sub: 5 ms",
        "Streams vs. Pub/Sub latency: 1 ms vs. 5 ms",
        "| | Pub/Sub | Streams |\n|---|---|---|\n| Latency | 5 ms | 1 ms |",
        "Redis Streams takes 5-10 ms, whereas Redis Pub/Sub takes 1-2 ms.",
        "Redis Streams is slower than Redis Pub/Sub; the figures are not stated.",
    ],
    "prosemirror_richtext": [
        "Rich text editing is built on Quill.",
        "Rich text editing is built on CodeMirror.",
        "ProseMirror handles plain text.",
        "Rich text: not stated",
        "Lexical is used for rich text rather than ProseMirror.",
        "ProseMirror was rejected for rich text.",
        "CodeMirror for rich text, ProseMirror for code.",
        "The reference does not name a framework for rich text; ProseMirror would be common.",
    ],
    "backend_rampup": [
        "The backend team needs a CRDT ramp-up of 2 weeks.",
        "The backend team needs a CRDT ramp-up of 1.5 weeks.",
        "The backend team needs a CRDT ramp-up of 1-2 weeks.",
        "The backend team needs a CRDT ramp-up of one month.",
        "The backend team needs a CRDT ramp-up of 11 weeks.",
        "The backend team needs a CRDT ramp-up of half a week.",
        "The backend team needs a few weeks of CRDT ramp-up.",
        "The frontend team needs a CRDT ramp-up of 1 week.",
        "The migration takes 1 week and the backend team's CRDT ramp-up 2 weeks.",
        "Backend ramp-up: not stated",
        "The backend team needs a week and a half of CRDT ramp-up.",
    ],
    "infra_migration_weeks": [
        "The WebSocket infrastructure migration is estimated at 3 weeks.",
        "The WebSocket infrastructure migration is estimated at 13 weeks.",
        "The WebSocket infrastructure migration is estimated at 4-6 weeks.",
        "The WebSocket infrastructure migration is estimated at 2-3 months.",
        "The WebSocket infrastructure migration is estimated at 12-3 weeks.",
        "The WebSocket infrastructure migration is estimated at 2-30 weeks.",
        "The WebSocket infrastructure migration is estimated at 2.3 weeks.",
        "The WebSocket infrastructure migration takes 2 and the ramp-up 3 weeks.",
        "The CRDT ramp-up takes 2-3 weeks.",
        "The WebSocket infrastructure migration is not stated.",
    ],
}


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
    "infra_migration_weeks": ("The WebSocket migration is estimated at {}.", ["2-3 weeks", "2–3 weeks", "2 to 3 weeks"]),
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
@pytest.mark.parametrize("mark", ["**{}**", "*{}*", "`{}`", "~{}", "≈{}", "about {}", "approximately {}", "_{}_", "({})"])
def test_emphasis_and_hedges_around_a_number_change_nothing(item: str, sentence: str, number: str, mark: str) -> None:
    assert score(item, sentence.format(mark.format(number))) == 1


@pytest.mark.parametrize("text", ["", " ", "\n\n", "|", "| |\n|-|", "#", "- ", "**", "```", ":", "...", "not stated"])
def test_a_text_without_facts_scores_nothing(text: str) -> None:
    assert judge(text, TASK.items) == dict.fromkeys(ITEMS, 0)


@given(st.text())
def test_any_text_is_judged_and_always_alike(text: str) -> None:
    first = judge(text, TASK.items)
    assert list(first) == list(ITEMS)
    assert set(first.values()) <= {0, 1}
    assert judge(text, list(TASK.items)) == first


@given(order=st.permutations(range(len(RIGHT))), separator=st.sampled_from(["\n", "\n\n", "\n- "]))
def test_facts_in_any_order_are_all_credited(order: list[int], separator: str) -> None:
    texts = [next(iter(RIGHT.values())) for RIGHT in ({item: texts[0]} for item, texts in RIGHT_ITEMS)]
    assert judge(separator + separator.join(texts[place] for place in order), TASK.items) == dict.fromkeys(ITEMS, 1)


RIGHT_ITEMS = list(RIGHT.items())


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

REPLY_OF_THE_EXTRACTIVE_READER = """2. Message transport › PostgreSQL LISTEN/NOTIFY needs no extra service to operate in production, but its payload
limit is 8KB.
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


# The pattern language


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("correct", "The answer is CORRECT.", True),
        ("correct", "The answer is INCORRECT.", False),
        ("answer.*correct", "The answer is INCORRECT.", False),
        ("answer.*correct", "The answer is correct.", True),
        ("5 ms", "15ms", False),
        ("5 ms", "5ms", True),
        ("takes.*5 ms", "takes 15 ms", False),
        ("takes [^.]*5 ms", "takes all of 5 ms", True),
        ("8KB", "128KB", False),
        ("8KB", "8 kB.", True),
        ("8KB", "8 KBps", False),
        ("8KB", "(8KB)", True),
        ("8 KB", "8-kilobyte", True),
        ("100K messages per second", "100,000 msgs/s", True),
        ("100,000 messages/s", "100k messages a second", True),
        ("2–3 weeks", "two to three weeks", True),
        ("two to three weeks", "2-3 wks", True),
        ("3 weeks", "13 weeks", False),
        ("3 weeks", "2-3 weeks", False),
        ("(?:2|3) weeks", "3 weeks", True),
        ("[23] weeks", "13 weeks", False),
        (r"\d+ weeks", "13 weeks", True),
        (r"in \d weeks", "in 13 weeks", False),
        (r"0\.5 mm", "10.5 mm", False),
        (r"0.5 mm", "0.5 mm", True),
        ("1.5K requests", "1500 requests", True),
        ("weeks?", "a week", True),
        ("week", "weeks", False),
        ("five valves", "5 valves", True),
        ("5 valves", "not 5 valves", False),
        ("5 valves", "4 valves rather than 5 valves", False),
        ("5 valves", "4 valves isn’t it; it has 5 valves", True),
        ("exceed 5 valves", "may not exceed 5 valves", False),
        (r"y\.js", "Y.js", True),
        (r"(\w)\1 valve", "aa valve", True),
        ("(?P<n>five) valves", "5 valves", True),
        ("5 valves(?! of steel)", "5 valves of steel", False),
        ("-40 degrees", "-40 degrees", True),
        ("40 degrees", "-40 degrees", False),
    ],
)
def test_patterns(pattern: str, text: str, expected: bool) -> None:
    assert compile_pattern(pattern).found_in(normalise(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one hundred thousand", "100000"),
        ("a hundred and twenty-five", "125"),
        ("seven hundred forty-two thousand six", "742006"),
        ("someone alone", "someone alone"),
        ("several hundred thousand", "several hundred thousand"),
        ("1.5 million", "1500000"),
        ("2½ weeks", "2.5 week"),
        ("½ week", "0.5 week"),
        (".5 ms", "0.5 ms"),
        ("3 × 10^4", "30000"),
        ("1e5", "100000"),
        ("12,345,678", "12345678"),
        ("1,234.5", "1234.5"),
        ("1,2 and 3", "1,2 and 3"),
        ("5 to 1", "5 to 1"),
        ("RFC 9420 - 3 options", "rfc 9420 - 3 options"),
        ("5 m", "5 m"),
        ("10 µs", "10 us"),
        ("8&nbsp;KB", "8 kb"),
        ("$8\\,\\text{KB}$", "8 kb"),
        ("\\~5 ms", "5 ms"),
        ("8KB¹", "8 kb"),
        ("[8KB](https://example.org)", "8 kb"),
        ("first second", "first second"),
    ],
)
def test_normalised_spellings(text: str, expected: str) -> None:
    assert normalise(text).strip() == expected


@given(st.integers(0, 10**9))
def test_thousands_separators_are_read_away(number: int) -> None:
    for text in (f"{number:,}", f"{number:,}".replace(",", "\u202f"), f"{number:,}".replace(",", " ")):
        assert normalise(text) == str(number)


@given(st.integers(0, 999), st.integers(0, 999))
def test_ranges_have_one_spelling(low: int, gap: int) -> None:
    high = low + gap + 1
    texts = [f"{low}-{high}", f"{low}–{high}", f"{low} — {high}", f"{low} to {high}", f"between {low} and {high}"]
    assert {normalise(text) for text in texts} == {f"{low}-{high}"}


@pytest.mark.parametrize("pattern", ["(", "[", "a{2", "*", "(?P<1>x)", "x?", ".*", ""])
def test_patterns_that_say_nothing_or_do_not_compile(pattern: str) -> None:
    if pattern == "a{2":  # Python takes a lone brace as a letter
        assert compile_pattern(pattern).found_in("a{2")
        return
    with pytest.raises(ValueError, match=r"not a regular expression|empty text"):
        compile_pattern(pattern)
