"""The embedded model: what it can see, it quotes; what was cut away, it cannot know; nothing else decides.

The ceilings 1/1/1/1/.625/.375/0/0/0 at W = 4096 are those of the paper's geometry, checked against its data.
The other tasks below are invented here, so that nothing in the reader can have been fitted to them.
"""

import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rcwt.base.tokens import count, decode, encode, fill
from rcwt.reader import demands as reader_demands
from rcwt.reader import reader
from rcwt.reader import text as reader_text

ROOT = Path(__file__).parents[2]
SPEC_RECALL = ROOT / "resources" / "templates" / "spec_recall"
ORDERS = ("coord_first", "reason_first")
SHARES = (0, 25, 50, 75, 90, 92, 94, 96, 98)
CEILING = dict(zip(SHARES, (1, 1, 1, 1, 0.625, 0.375, 0, 0, 0), strict=True))


def flat(text: str) -> str:
    return " ".join(text.split())


def block(text: str, budget: int) -> str:
    return decode(fill(encode(text), budget))


def messages_of(coordination: str, reference: str, instruction: str, order: str) -> list[dict[str, str]]:
    blocks = [coordination, reference] if order == "coord_first" else [reference, coordination]
    system = "\n\n".join(text for text in blocks if text)
    return [{"role": "system", "content": system}, {"role": "user", "content": instruction}]


def ask(system: str, user: str, max_tokens: int = 1024) -> reader.ReaderReply:
    return reader.answer([{"role": "system", "content": system}, {"role": "user", "content": user}], max_tokens)


def stated(text: str, facts: dict[str, list[str]]) -> set[str]:
    return {name for name, evidence in facts.items() if all(flat(part) in flat(text) for part in evidence)}


# --- the project's own task ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spec() -> dict[str, str]:
    return {
        name: (SPEC_RECALL / f"{name}.md").read_text("utf-8") for name in ("instruction", "reference", "coordination")
    }


@pytest.fixture(scope="module")
def spec_facts() -> dict[str, list[str]]:
    items = yaml.safe_load((SPEC_RECALL / "task.yaml").read_text("utf-8"))["items"]
    return {item["id"]: item["evidence"]["lenient"] for item in items if item.get("effective", True)}


def spec_prompt(spec: dict[str, str], window: int, share: float, order: str) -> tuple[list[dict[str, str]], str]:
    room = window - count(spec["instruction"])
    c = int(Decimal(str(share)) * room / 100)
    reference = block(spec["reference"], room - c)
    coordination = block(spec["coordination"], c)
    return messages_of(coordination, reference, spec["instruction"], order), reference


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("share", SHARES)
def test_it_finds_exactly_the_visible_facts_of_the_main_task(spec, spec_facts, share, order):
    messages, reference = spec_prompt(spec, 4096, share, order)
    reply = reader.answer(messages, 1024)
    assert stated(reply.text, spec_facts) == stated(reference, spec_facts)
    assert len(stated(reply.text, spec_facts)) == CEILING[share] * 8
    assert reply.finish_reason == "stop"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("window", "share", "ceiling"),
    [
        (8192, 94, 0.875),
        (8192, 96, 0.5),
        (8192, 98, 0),
        (16384, 97, 0.875),
        (16384, 97.5, 0.625),
        (16384, 98.5, 0.125),
    ],
)
def test_it_stands_at_the_ceiling_of_the_larger_windows(spec, spec_facts, window, share, ceiling, order):
    messages, reference = spec_prompt(spec, window, share, order)
    found = stated(reader.answer(messages, 1024).text, spec_facts)
    assert found == stated(reference, spec_facts)
    assert len(found) == ceiling * 8


def test_it_selects_and_does_not_copy(spec):
    messages, _ = spec_prompt(spec, 4096, 0, "coord_first")
    reply = reader.answer(messages, 1024)
    assert reply.prompt_tokens == sum(count(message["content"]) for message in messages)
    assert reply.completion_tokens < 0.25 * reply.prompt_tokens
    quoted = [line for line in reply.text.splitlines() if line.startswith("- ")]
    assert len(quoted) == len(set(quoted)) <= 6 * reader.SENTENCES_PER_DEMAND


def test_no_word_of_the_task_is_in_its_code():
    source = " ".join(
        Path(module.__file__).read_text("utf-8").lower() for module in (reader, reader_demands, reader_text)
    )
    for word in (
        "redis",
        "postgres",
        "prosemirror",
        "crdt",
        "websocket",
        "encryption",
        "symmetric",
        "migration",
        "ramp",
    ):
        assert word not in source


# --- another task: other domain, facts, names and numbers ---------------------------------------------------

HARBOUR = """# Harbour handbook

The handbook gathers what the port office decided in spring. It replaces the notes that pilots carried before.

## Berths

Quay North takes vessels up to 142 metres. Fishing boats moor at the wooden pier, where no crane reaches.
Fenders are checked by the watch after each storm, and worn ones go to the yard behind the chandler.

## Pilotage

A pilot boards every tanker at buoy Kestrel. The pilot launch Marigold needs 25 minutes to get there.
Masters who know the channel may ask for an exemption, which lapses when their vessel changes its flag.
- Night passages: only two tugs are on duty.
- Fog: traffic stops when visibility drops below 600 yards.

## Dues

| Vessel | Fee per day |
| --- | --- |
| Trawler | 18 crowns |
| Yacht | 31 crowns |

Invoices go out on Fridays. Unpaid dues are handed to the bailiff after 9 weeks.

## Ice

The icebreaker is called Svalin. In a hard winter she keeps a lane of 40 fathoms open, convoys leave at dawn.
Crews rest ashore, since the mess on board closes at noon. The office thanks all who sent corrections.
"""
HARBOUR_ASKS = """Write the briefing for a new harbour master. Meet every demand.

1. Berths: what length of vessel does Quay North take?
2. Pilotage: where does a pilot board a tanker, and how long does the launch need?
3. Traffic: state how many tugs are on duty for night passages, and at what
   visibility traffic stops.
4. Dues: state the daily fee of a trawler and of a yacht.
5. Invoices: say when unpaid dues go to the bailiff.
6. Ice: name the icebreaker and the width of the lane it keeps open.

Quote values as the handbook has them.
"""
HARBOUR_TALK = """# Table of five

You are the clerk of a table of five. Speak in turn, and keep your vote to yourself until the end.

## Messages

Agent 1: The pilots ask whether the vessel register is public. I would open it.
Agent 2: Dues should be printed in two languages. The yacht club agrees, the trawler owners do not.
Agent 3: Ice charts come late. Could the office name one person for them?

## Tools

```json
{"name": "vote", "description": "Vote on a motion.", "parameters": {"motion": {"type": "string"}}}
```
"""
HARBOUR_FACTS = {
    "length": ["up to 142 metres"],
    "boards": ["at buoy Kestrel"],
    "launch": ["Marigold needs 25 minutes"],
    "tugs": ["only two tugs"],
    "fog": ["below 600 yards"],
    "trawler": ["18 crowns"],
    "yacht": ["31 crowns"],
    "bailiff": ["after 9 weeks"],
    "icebreaker": ["is called Svalin"],
    "lane": ["lane of 40 fathoms"],
}


def shuffled_sections(text: str, seed: int) -> str:
    title, *sections = text.split("\n## ")
    random.Random(seed).shuffle(sections)
    return "\n## ".join([title, *sections])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_on_another_task_the_cliff_is_where_its_facts_are(seed, order):
    reference = HARBOUR if seed is None else shuffled_sections(HARBOUR, seed)
    found_at = []
    for r in range(10, count(reference) + 20, 7):
        visible = block(reference, r)
        messages = messages_of(block(HARBOUR_TALK, 900 - r), visible, HARBOUR_ASKS, order)
        found = stated(reader.answer(messages, 1024).text, HARBOUR_FACTS)
        assert found == stated(visible, HARBOUR_FACTS), r
        found_at.append(len(found))
    assert found_at[0] == 0
    assert found_at[-1] == len(HARBOUR_FACTS)
    assert len(set(found_at)) > 6  # fact by fact, not all at once


THINGS = [
    "capacity boiler litres",
    "depth orchard metres",
    "pressure turbine bars",
    "age bakery years",
    "weight ferry tonnes",
    "width tunnel inches",
    "output quarry gallons",
    "height glacier feet",
    "altitude observatory miles",
    "radius aqueduct acres",
    "yield vineyard bushels",
    "span library volts",
]
FILLER = [
    "Visitors sign the register at the gate.",
    "The committee meets when the bell has rung twice.",
    "Nobody recalls who painted the door.",
    "A lamp burns in the corridor until morning.",
    "Letters are sorted before breakfast.",
    "The gardener keeps spare keys under a stone.",
]


@settings(max_examples=60)
@given(
    places=st.permutations(range(12)).map(lambda order: order[:6]),
    numbers=st.lists(st.integers(11, 9999), min_size=6, max_size=6, unique=True),
    lines=st.permutations(range(12)),
    r=st.integers(1, 400),
    order=st.sampled_from(ORDERS),
)
def test_random_facts_are_found_exactly_when_they_are_visible(places, numbers, lines, r, order):
    things = [(*THINGS[place].split(), number) for place, number in zip(places, numbers, strict=True)]
    told = [f"The {quality} of the {noun} is {number} {unit}." for quality, noun, unit, number in things]
    facts = {noun: [f"is {number} {unit}."] for _, noun, unit, number in things}
    asks = "\n".join(f"{n}. State the {quality} of the {noun}." for n, (quality, noun, *_) in enumerate(things, 1))
    visible = block(" ".join([*told, *FILLER][n] for n in lines), r)
    reply = reader.answer(messages_of(block(HARBOUR_TALK, 300), visible, asks, order), 1024)
    assert stated(reply.text, facts) == stated(visible, facts)


# --- the output cap -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [1, 2, 7, 40, 100, 200])
def test_the_cap_is_obeyed_and_reported(max_tokens):
    whole = ask(HARBOUR, HARBOUR_ASKS)
    assert whole.finish_reason == "stop"
    assert whole.completion_tokens == count(whole.text) > 200
    cut = ask(HARBOUR, HARBOUR_ASKS, max_tokens)
    assert cut.finish_reason == "length"
    assert cut.completion_tokens == count(cut.text) == max_tokens


def test_a_cap_of_just_the_reply_cuts_nothing():
    whole = ask(HARBOUR, HARBOUR_ASKS)
    assert ask(HARBOUR, HARBOUR_ASKS, whole.completion_tokens) == whole
    assert ask(HARBOUR, HARBOUR_ASKS, whole.completion_tokens - 1).finish_reason == "length"


def test_a_cap_takes_the_weakest_sentences_of_all_demands_not_the_last_demands():
    best = ask(HARBOUR, HARBOUR_ASKS, 230).text
    assert [n for n in range(1, 7) if f"Answer {n} reads:" in best] == [1, 2, 3, 4, 5, 6]
    assert len(stated(best, HARBOUR_FACTS)) >= len(HARBOUR_FACTS) - 2


def test_a_cap_below_one_is_refused():
    with pytest.raises(ValueError, match="max_tokens"):
        ask(HARBOUR, HARBOUR_ASKS, 0)


@settings(max_examples=150)
@given(
    system=st.text('#-*|`{}[]":.?! \n12Aaé界🦉', max_size=200),
    user=st.text('#-*`":.?! \n12ABaé', max_size=80),
    max_tokens=st.integers(1, 60),
)
def test_any_text_gets_a_reply_within_the_cap(system, user, max_tokens):
    reply = ask(system, user, max_tokens)
    assert reply.completion_tokens == count(reply.text) <= max_tokens


# --- abstaining ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [HARBOUR_ASKS, "Who owns the lighthouse?"])
def test_it_abstains_when_there_is_nothing_to_read(question):
    assert ask("", question).text == reader.NOTHING
    assert reader.answer([{"role": "user", "content": question}], 50).text == reader.NOTHING


def test_it_abstains_on_a_question_about_something_else():
    reply = ask(HARBOUR, "What is the capital of Mongolia?")
    assert (reply.text, reply.finish_reason) == (reader.NOTHING, "stop")


def test_it_abstains_on_one_demand_and_answers_another():
    text = ask(HARBOUR, "1. Name the icebreaker.\n2. Name the emperor of Mongolia.\n").text
    first, second = text.split("Answer 2 reads:\n")
    assert "Svalin" in first
    assert second == reader.NOTHING


@pytest.mark.parametrize(
    "question",
    [
        "Is the icebreaker called Svalin?",
        "Does Quay North take vessels of 150 metres? Answer yes or no.",
        "Given the fog, can a tanker pass the channel?",
        "1. Is Quay North long?\n2. Are dues paid on Fridays?",
        "Reply YES or NO under each name.\n1. tugs: two tugs are on duty\n2. fee: the yacht pays less",
        "What is 17 * 23?",
        "A trawler pays 18 crowns a day and stays 5 days. How much does it pay?",
        "Anna moors three boats and sells two. How many boats are left at the pier?",
        "Which vessel is called Svalin?\nA) the launch\nB) the icebreaker\nC) the trawler",
        "def dues(days):\n    fee = 18\n    return fee * days\n\nWhat are the dues of the yacht?",
    ],
)
def test_it_abstains_from_judging_and_calculating(question):
    reply = ask(HARBOUR, question)
    assert reply.text == reader.REASONING
    assert reply.finish_reason == "stop"


@pytest.mark.parametrize(
    "question",
    [
        "How long does the launch Marigold need, if anybody knows?",
        "Which quay, if any, takes large vessels?",
        "Can you name the icebreaker?",
        "How many tugs are on duty?",
    ],
)
def test_it_quotes_for_questions_that_only_look_alike(question):
    assert ask(HARBOUR, question).text.count("\n- ") >= 1


def test_its_abstentions_can_be_no_right_answer():
    for text in (reader.NOTHING, reader.REASONING, reader.ABSTAIN):
        read = set(reader_text.words(text))
        assert not read & {"yes", "no", "true", "false", "correct", "incorrect", *"abcdefghij"}
        assert not any(character.isdigit() for character in text)


def test_a_pack_is_abstained_from_line_by_line_as_far_as_it_is_visible():
    pack = "Question 1: Ann has 3 hens, buys 4. Sum?\n\nQuestion 2: Which?\nA) one\nB) two\n\nQuestion 3: H"
    reply = ask(f"You are a clerk.\n\n{pack}", "Answer each question on a line of its own as `ANSWER n: <answer>`.")
    assert reply.text == "ANSWER 1: abstain\nANSWER 2: abstain\nANSWER 3: abstain"


# --- JSON fields --------------------------------------------------------------------------------------------

FIELDS = {
    "quay_north_length": "142 metres",
    "launch_duration": "25 minutes",
    "fog_visibility_limit": "600 yards",
    "icebreaker_name": "The icebreaker is called Svalin",
    "emperor_of_mongolia": None,
}


@pytest.mark.parametrize(
    "question",
    [
        "Answer with one JSON object with the keys " + ", ".join(f'"{key}"' for key in FIELDS) + ".",
        "Fill this JSON:\n{\n" + ",\n".join(f'  "{key}": "..."' for key in FIELDS) + "\n}",
        "Return JSON: {" + ", ".join(f'"{key}": "<text>"' for key in FIELDS) + "}",
        "Return a JSON object with these fields:\n" + "\n".join(f"- `{key}`: as written" for key in FIELDS),
    ],
)
def test_json_fields_hold_the_number_with_unit_or_the_phrase_or_null(question):
    assert json.loads(ask(HARBOUR, question).text) == FIELDS


def test_a_field_that_asks_for_a_rate_gets_one_where_a_good_sentence_holds_it():
    text = "The crane hoist rests 4 minutes between lifts. The crane hoist of the yard lifts 30 crates per hour."
    question = "Reply with a JSON object with the keys `crane_hoist_rate` and `crane_hoist_rest_time`."
    found = json.loads(ask(text, question).text)
    assert found == {"crane_hoist_rate": "30 crates per hour", "crane_hoist_rest_time": "4 minutes"}
    # Without any rate the best sentence's number is given, as for other fields.
    alone = "Reply with a JSON object with the keys `crane_hoist_rate` and `yard`."
    assert json.loads(ask("The crane hoist rests 4 minutes.", alone).text)["crane_hoist_rate"] == "4 minutes"


def test_json_fields_of_yes_or_no_are_null():
    question = 'Answer in JSON with YES or NO: {"tugs_on_duty": "two tugs are on duty", "yacht_fee": "31 crowns"}'
    assert json.loads(ask(HARBOUR, question).text) == {"tugs_on_duty": None, "yacht_fee": None}


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        ("The lane is 2-3 cables wide.", {"lane"}, "2-3 cables"),
        ("It takes two to three weeks of drying.", {"drying"}, "two to three weeks"),
        ("The bell rings about 1,200 times a day in spring.", {"bell"}, "1,200 times a day"),
        ("The pump moves ~40K litres/s.", {"pump"}, "~40K litres/s"),
        ("Rope weighs 3 kg, where chain weighs 15 kg.", {"chain", "weighs"}, "15 kg"),
        ("It is the form RFC 1149 and no other.", {"form"}, "RFC 1149"),
        ("It drains 5.5 % of the tank.", {"tank"}, "5.5 %"),
        ("There is none.", {"none"}, None),
    ],
)
def test_quantity_takes_the_number_that_belongs_to_what_is_asked(text, asked, value):
    assert reader_text.quantity(text, asked) == value


# --- determinism and independence ---------------------------------------------------------------------------


def test_the_order_of_the_blocks_changes_nothing():
    replies = {reader.answer(messages_of(HARBOUR_TALK, HARBOUR, HARBOUR_ASKS, order), 1024).text for order in ORDERS}
    lines = [set(text.splitlines()) for text in replies]
    assert all(one == other for one, other in pairwise(lines))


def test_another_process_with_another_hash_seed_gives_the_same_reply():
    code = (
        "import json, sys; from rcwt.reader import reader;"
        "sys.stdout.write(reader.answer(json.load(sys.stdin), 1024).text)"
    )
    messages = messages_of(HARBOUR_TALK, HARBOUR, HARBOUR_ASKS, "coord_first")
    here = reader.answer(messages, 1024).text
    for seed in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            input=json.dumps(messages),
            capture_output=True,
            text=True,
        )
        assert run.stdout == here, run.stderr


def imported(module: object) -> Iterable[str]:
    for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module


def test_it_imports_nothing_that_knows_a_task():
    allowed = {"bm25s", "Stemmer", "numpy", *sys.stdlib_module_names}
    own = {"rcwt.base.number_words", "rcwt.base.tokens", "rcwt.reader.text", "rcwt.reader.demands"}
    for module in (reader, reader_text, reader_demands):
        for name in imported(module):
            assert name in own or name.split(".")[0] in allowed, f"{module.__name__} imports {name}"


def test_importing_it_loads_no_retrieval_library():
    code = "import sys, rcwt.reader.reader; print(sorted({'bm25s', 'scipy', 'numba', 'litellm'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
