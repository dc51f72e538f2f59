"""A judge's reply is read where it leaves nothing open, and refused with a reason everywhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.scoring.judge_reply import parse

IDS = ("pg_limit", "prosemirror", "ramp_up")
RIGHT = {"pg_limit": 1, "prosemirror": 0, "ramp_up": 1}
OBJECT = json.dumps(RIGHT)
OTHER = json.dumps({**RIGHT, "ramp_up": 0})

READ = {
    "the object": OBJECT,
    "spaces around": f"\n\n  {OBJECT}\n ",
    "no spaces": json.dumps(RIGHT, separators=(",", ":")),
    "indented": json.dumps(RIGHT, indent=4),
    "Windows line ends": json.dumps(RIGHT, indent=2).replace("\n", "\r\n"),
    "other key order": json.dumps(dict(reversed(RIGHT.items()))),
    "fence": f"```json\n{OBJECT}\n```",
    "fence without a language": f"```\n{OBJECT}\n```",
    "unclosed fence": f"```json\n{OBJECT}",
    "leading prose": f"Here are the scores:\n\n{OBJECT}",
    "trailing prose": f"{OBJECT}\n\nThe reply never names ProseMirror.",
    "prose on both sides and a fence": f"Sure!\n```json\n{OBJECT}\n```\nLet me know if you need more.",
    "braces in prose": f"I answer in the form {{id: 0 or 1}}, {{}} and {{0|1}}: {OBJECT}",
    "a thought before": f"<think>pg_limit is there {{8KB}}, prosemirror is not.</think>{OBJECT}",
    "an aside that names no item": f'{{"note": "read twice", "sure": true}}\n{OBJECT}',
    "said twice, the same": f"{OBJECT}\nSo the answer is:\n{OBJECT}",
    "byte order mark": f"\ufeff{OBJECT}",
}

REFUSED = {
    "nothing": ("", "no JSON object"),
    "prose": ("Most of the facts are there.", "no JSON object"),
    "a list": ("[1, 0, 1]", "no JSON object"),
    "Python": (str(RIGHT), "no JSON object"),
    "empty object": ("{}", "no JSON object"),
    "one object an item": (
        '[{"id": "pg_limit", "score": 1}, {"id": "prosemirror", "score": 0}]',
        "no JSON object with the items as its keys",
    ),
    "wrapped": (f'{{"scores": {OBJECT}}}', "no JSON object with the items as its keys"),
    "other case": (OBJECT.replace("pg_limit", "PG_limit"), "'PG_limit' is not an item"),
    "space in a key": (OBJECT.replace("pg_limit", "pg_limit "), "'pg_limit ' is not an item"),
    "item missing": ('{"pg_limit": 1, "ramp_up": 0}', "'prosemirror' is missing"),
    "items missing": ('{"pg_limit": 1}', "'prosemirror' is missing, and 1 more"),
    "item too much": (OBJECT[:-1] + ', "total": 2}', "'total' is not an item"),
    "key twice, the same": (OBJECT[:-1] + ', "ramp_up": 1}', "'ramp_up' is there twice"),
    "key twice, different": (OBJECT[:-1] + ', "ramp_up": 0}', "'ramp_up' is there twice"),
    "key twice by an escape": (OBJECT[:-1] + ', "ramp\\u005fup": 1}', "'ramp_up' is there twice"),
    "true": (OBJECT.replace("0", "true"), "'prosemirror' is true"),
    "text": (OBJECT.replace("0", '"0"'), "'prosemirror' is \"0\""),
    "1.0": (OBJECT.replace("0", "1.0"), "'prosemirror' is 1.0"),
    "1e0": (OBJECT.replace("0", "1e0"), "'prosemirror' is 1.0"),
    "2": (OBJECT.replace("0", "2"), "'prosemirror' is 2"),
    "-1": (OBJECT.replace("0", "-1"), "'prosemirror' is -1"),
    "0.5": (OBJECT.replace("0", "0.5"), "'prosemirror' is 0.5"),
    "null": (OBJECT.replace("0", "null"), "'prosemirror' is null"),
    "NaN": (OBJECT.replace("0", "NaN"), "'prosemirror' is NaN"),
    "a list as a value": (OBJECT.replace("0", "[0]"), "'prosemirror' is [0]"),
    "an object as a value": (OBJECT.replace("0", '{"score": 0}'), "'prosemirror' is {"),
    "a number without end": (OBJECT.replace("0", "1" * 5000), "not well formed"),
    "cut": (OBJECT[:-4], "not well formed"),
    "trailing comma": (OBJECT[:-1] + ",}", "not well formed"),
    "comment": (OBJECT.replace(", ", ", // no\n", 1), "not well formed"),
    "two that differ": (f"{OBJECT}\nCorrection:\n{OTHER}", "they differ"),
    "a correction in Python": (f"{OBJECT}\nCorrection: {RIGHT}", "is no JSON object"),
    "a correction without quotes": (f"{OBJECT}\nCorrection: {{pg_limit: 0, ramp_up: 0}}", "is no JSON object"),
    "a correction with a comment": (f'{OBJECT}, final:\n{{ // now\n "pg_limit": 0}}', "is no JSON object"),
    "curved quotes and a draft": (f"{{“pg_limit”: 0, “ramp_up”: 0}} {OBJECT}", "is no JSON object"),
    "a partial correction": (f'{OBJECT}\nCorrection: {{"ramp_up": 0}}', "is missing"),
    "a draft inside a cut reply": (f'{{"draft": {OBJECT}, "final": {{"pg_limit": 0,', "not well formed"),
    "too deep": ('{"a":' * 100_000, "not well formed"),
}


@pytest.mark.parametrize("shape", READ)
def test_a_reply_that_leaves_nothing_open_is_read(shape: str) -> None:
    assert parse(READ[shape], IDS) == RIGHT
    assert list(parse(READ[shape], IDS)) == list(IDS)


@pytest.mark.parametrize("shape", REFUSED)
def test_any_other_reply_is_refused_with_its_fault(shape: str) -> None:
    text, fault = REFUSED[shape]
    found = parse(text, IDS)
    assert isinstance(found, str)
    assert fault in found
    assert "\n" not in found


BRACELESS = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]))


@given(st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3), BRACELESS, BRACELESS, st.integers(0, 4))
def test_prose_around_the_object_never_changes_a_score(scores: list[int], before: str, after: str, indent: int) -> None:
    right = dict(zip(IDS, scores, strict=True))
    assert parse(f"{before}{json.dumps(right, indent=indent or None)}{after}", IDS) == right


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*IDS, "x"]), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*IDS, "x"]), JSON))
def test_scores_come_only_from_exactly_the_right_object(value: dict[str, object]) -> None:
    right = set(value) == set(IDS) and all(type(score) is int and score in (0, 1) for score in value.values())
    found = parse(json.dumps(value), IDS)
    assert (found == value) if right else isinstance(found, str)


@given(st.text() | st.text(alphabet='{}":,01 \\pg_limit'))
def test_no_text_is_an_error(text: str) -> None:
    found = parse(text, ("pg_limit",))
    assert isinstance(found, str) or found in ({"pg_limit": 0}, {"pg_limit": 1})
