"""Benchmark files with a value of another type anywhere: questions, or one error that names the place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pack_files import CHOICE, COLUMNS, PAIR, SUM, flat, lines, read

from rcwt.packs.items import Benchmark, PackError, Question


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json", "a.parquet"])
def test_a_wrong_type_is_named_in_every_file_type(tmp_path: Path, name: str) -> None:
    row = json.loads(flat(answer={"number": "", "spans": "abc"}))
    if name.endswith(".parquet"):
        pd.DataFrame([row]).to_parquet(tmp_path / "x")
        content: str | bytes = (tmp_path / "x").read_bytes()
    else:
        content = json.dumps([row]) if name == "a.json" else gzip.compress(lines(row).encode())
    with pytest.raises(PackError, match=r"(row|line) 1: column 'answer\.spans': found 'abc'; accepted: a list"):
        read(tmp_path, name, content, "drop")


#: A valid row of each form that the readers know.
FORMS: list[tuple[Benchmark, Any]] = [
    ("gsm8k", {**SUM, "id": 1, "category": "sums"}),
    ("mmlu_pro", CHOICE),
    ("drop", {"passage": "x", "passage_id": "p", "qa_pairs": [PAIR]}),
    ("drop", json.loads(flat(answer=PAIR["answer"], validated_answers=COLUMNS))),
    ("drop", json.loads(flat(answers_spans={"spans": ["Ida", "2"], "types": ["span", "number"]}))),
    ("drop", {"context": "Passage: Ida left.\nQuestion: Who left?\nAnswer:", "ref_text": "Ida and Bo|2"}),
]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=5) | st.sampled_from(["a\ud800", "\udc00"])
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | ANY_TEXT
    | st.sampled_from(["#### 5", "A", "1999", "a\ud800#### 5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=5,
)


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path in a nested value, its own first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places_in(one, (*path, key)))]


def with_value(value: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    if not path:
        return wrong
    changed = value.copy()
    changed[path[0]] = with_value(value[path[0]], path[1:], wrong)
    return changed


@pytest.mark.parametrize("number", range(len(FORMS)))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_in_any_place_gives_questions_or_says_what_is_wrong(
    tmp_path: Path, number: int, data: st.DataObject
) -> None:
    benchmark, row = FORMS[number]
    assert questions_of(tmp_path, "a.jsonl", lines(row), benchmark)
    for path in data.draw(st.lists(st.sampled_from(places_in(row)), min_size=1, max_size=2, unique=True)):
        try:
            row = with_value(row, path, data.draw(ANY_JSON))
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # the first change took the second one's place away
    shape = data.draw(st.sampled_from(["lines", "list", "object", "passages"]))
    content = {"lines": row, "list": [row], "object": row, "passages": {data.draw(ANY_TEXT): row}}[shape]
    questions_of(tmp_path, "a.jsonl" if shape == "lines" else "a.json", json.dumps(content) + "\n", benchmark)


def questions_of(folder: Path, name: str, content: str, benchmark: Benchmark) -> list[Question]:
    """The questions, all of which can be written into a prompt; or none where the file was refused by name."""
    try:
        found: list[Question] = read(folder, name, content, benchmark)
    except PackError as error:
        message = str(error).encode().decode()
        assert str(folder / name) in message
        assert "accepted: " in message
        assert "found" in message or "not valid JSON" in message or "the same question" in message
        return []
    for question in found:
        question.model_dump_json().encode()
        assert question.references
        assert question.text.strip()
        assert all(value.strip() for reference in question.references for value in reference.values)
    return found
