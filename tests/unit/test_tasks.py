"""Loading task folders: a good one, and every way a folder can be wrong, with a message that helps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from rcwt.base.errors import TaskError
from rcwt.scoring import patterns
from rcwt.study.tasks import Task, exact_digest, judge_digest, load_task, statement_digest

REFERENCE = "# Pump\n\nThe pump moves 40 litres per minute.\nIts seal is made\nof nitrile rubber.\n"


def item(**changes: Any) -> dict[str, Any]:
    return {
        "id": "flow",
        "statement": "The pump moves 40 litres a minute.",
        "evidence": {"strict": ["The pump moves 40 litres per minute"], "lenient": ["40 litres per minute"]},
        "accept": [["pump", "40 (?:litres|l) (?:per|a) minute"]],
        **changes,
    }


def description(**changes: Any) -> dict[str, Any]:
    spec = {"name": "pump", "title": "Recall of a pump", "kind": "open", "items": [item()], **changes}
    return {key: value for key, value in spec.items() if value is not None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "pump"
    path.mkdir()
    (path / "instruction.md").write_text("1. How much does the pump move?\n", encoding="utf-8")
    (path / "reference.md").write_text(REFERENCE, encoding="utf-8")
    (path / "coordination.md").write_text("You are one of two agents.\n", encoding="utf-8")
    write(path, description())
    return path


def write(folder: Path, content: dict[str, Any] | str) -> None:
    text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
    (folder / "task.yaml").write_text(text, encoding="utf-8")


def refused(folder: Path) -> str:
    with pytest.raises(TaskError) as error:
        load_task(folder)
    message = str(error.value)
    assert str(folder) in message
    return message


def test_good_folder(folder: Path) -> None:
    (folder / "coordination_long.md").write_text("You are one of nine agents.", encoding="utf-8")
    (folder / "exact_question.md").write_text("Answer in JSON.", encoding="utf-8")
    (folder / "README.md").write_text("", encoding="utf-8")
    task = load_task(folder)
    assert (task.name, task.title, task.kind, task.folder) == ("pump", "Recall of a pump", "open", folder)
    assert task.instruction == "1. How much does the pump move?"
    assert task.reference == REFERENCE.strip()
    assert task.coordination == "coordination"
    assert set(task.coordinations) == {"coordination", "coordination_long"}
    assert task.questions == {"exact_question": "Answer in JSON."}
    assert task.items[0].effective
    assert task.items[0].reject == ()


def test_task_is_frozen(folder: Path) -> None:
    task = load_task(folder)
    with pytest.raises(ValidationError, match="frozen"):
        task.name = "other"  # type: ignore[misc]


def test_byte_order_mark_and_windows_line_ends_are_read_away(folder: Path) -> None:
    plain = load_task(folder)
    (folder / "reference.md").write_bytes(b"\xef\xbb\xbf" + REFERENCE.replace("\n", "\r\n").encode())
    assert load_task(folder).reference == plain.reference


def test_evidence_may_break_lines_otherwise(folder: Path) -> None:
    write(folder, description(items=[item(evidence={"strict": ["seal is made of nitrile"], "lenient": ["40 litres"]})]))
    assert load_task(folder).items[0].evidence.strict == ("seal is made of nitrile",)


def test_accept_takes_patterns_lists_and_lists_of_lists(folder: Path) -> None:
    accept = ["40 litres", ["pump", "40 litres"], [["pump"], ["40 litres"]]]
    write(folder, description(items=[item(accept=accept)]))
    assert load_task(folder).items[0].accept == ("40 litres", ("pump", "40 litres"), (("pump",), ("40 litres",)))


# Files


def test_missing_folder(tmp_path: Path) -> None:
    message = refused(tmp_path / "nowhere")
    assert "no such folder" in message


@pytest.mark.parametrize("name", ["instruction.md", "reference.md", "coordination.md", "task.yaml"])
def test_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    message = refused(folder)
    assert f"{name}: no such file" in message


@pytest.mark.parametrize("name", ["instruction.md", "reference.md", "coordination.md"])
@pytest.mark.parametrize("content", ["", " \n\t\r\n", "\ufeff"])
def test_empty_text(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    message = refused(folder)
    assert f"{name}: found no text" in message


def test_invalid_utf8_names_the_byte(folder: Path) -> None:
    (folder / "reference.md").write_bytes(b"Flow: 40 l, \xe9 la minute")
    message = refused(folder)
    assert "reference.md: found byte 0xe9 at offset 12" in message
    assert "Save the file as UTF-8" in message


def test_offset_counts_a_byte_order_mark(folder: Path) -> None:
    (folder / "reference.md").write_bytes(b"\xef\xbb\xbfab\xff")
    assert "at offset 5" in refused(folder)


@pytest.mark.parametrize("name", ["instruction.md", "reference.md", "coordination.md"])
@pytest.mark.parametrize("token", ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"])
def test_special_token(folder: Path, name: str, token: str) -> None:
    (folder / name).write_text(f"First line.\nThen {token}.\n", encoding="utf-8")
    message = refused(folder)
    assert f"{name}:2: found the special token '{token}'" in message
    assert "not plain text for models" in message


def test_a_directory_in_place_of_a_text(folder: Path) -> None:
    (folder / "reference.md").unlink()
    (folder / "reference.md").mkdir()
    assert "reference.md: cannot be read" in refused(folder)


# task.yaml


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"titel": "x"}, ["key 'titel' is unknown", "Did you mean 'title'?"]),
        ({"title": None}, ["key 'title' is missing", "one line for people"]),
        ({"title": " "}, ["key 'title'", "it is empty"]),
        ({"name": "a b"}, ["key 'name'", "found 'a b'", "letters, digits"]),
        ({"kind": "quiz"}, ["key 'kind'", "found 'quiz'", "accepted: 'open'"]),
        ({"items": None}, ["key 'items' is missing"]),
        ({"items": []}, ["key 'items'", "found []", "at least one item"]),
        ({"items": "flow"}, ["key 'items'", "found 'flow'"]),
        ({"coordination": "talk.md"}, ["key 'coordination'", "found 'talk.md'", "coordination.md"]),
    ],
)
def test_wrong_key_of_the_task(folder: Path, changes: dict[str, Any], expected: list[str]) -> None:
    write(folder, description(**changes))
    message = refused(folder)
    assert "task.yaml" in message
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"acept": []}, ["key 'items[0].acept' is unknown", "Did you mean 'accept'?"]),
        ({"id": "a b"}, ["key 'items[0].id'", "found 'a b'"]),
        ({"effective": "no thanks"}, ["key 'items[0].effective'", "true or false"]),
        ({"statement": ""}, ["key 'items[0].statement'", "it is empty"]),
        ({"evidence": {"strict": ["The pump"]}}, ["key 'items[0].evidence.lenient' is missing"]),
        ({"evidence": {"strict": [], "lenient": ["40"]}}, ["key 'items[0].evidence.strict'", "found []"]),
        ({"evidence": {"strict": [""], "lenient": ["40"]}}, ["key 'items[0].evidence.strict[0]'", "it is empty"]),
        ({"evidence": {"strict": "The pump", "lenient": ["40"]}}, ["key 'items[0].evidence.strict'", "'The pump'"]),
        ({"accept": []}, ["key 'items[0].accept'", "found []"]),
        ({"accept": [40]}, ["key 'items[0].accept[0]'", "found 40", "quote a pattern"]),
        ({"accept": ["40 (litres"]}, ["key 'items[0].accept[0]'", "not a regular expression", "position 3"]),
        ({"accept": [["pump", "[40"]]}, ["key 'items[0].accept[0]'", "not a regular expression"]),
        ({"accept": [[]]}, ["key 'items[0].accept[0]'", "found []"]),
        ({"accept": [["pump", ["40"]]]}, ["key 'items[0].accept[0]'", "a list of lists"]),
        ({"accept": [[[["40"]]]]}, ["key 'items[0].accept[0]'", "a list of lists"]),
        ({"accept": ["x?"]}, ["key 'items[0].accept[0]'", "found in an empty text"]),
        ({"reject": ["*"]}, ["key 'items[0].reject[0]'", "not a regular expression"]),
        ({"reject": "50 litres"}, ["key 'items[0].reject'", "found '50 litres'", "a list of patterns"]),
    ],
)
def test_wrong_key_of_an_item(folder: Path, changes: dict[str, Any], expected: list[str]) -> None:
    write(folder, description(items=[item(**changes)]))
    message = refused(folder)
    assert "task.yaml:" in message
    for part in expected:
        assert part in message


def test_all_faults_are_told_at_once(folder: Path) -> None:
    write(folder, description(title="", items=[item(statement=""), item(id="0")]))
    assert len(refused(folder).splitlines()) == 3


def test_the_line_of_a_fault_is_named(folder: Path) -> None:
    write(folder, "name: pump\ntitle: Recall\nkind: quiz\nitems: []\n")
    assert "task.yaml:3: key 'kind'" in refused(folder)


def test_key_written_twice(folder: Path) -> None:
    write(folder, (folder / "task.yaml").read_text(encoding="utf-8") + "title: Again\n")
    message = refused(folder)
    assert "'title' is written twice" in message


@pytest.mark.parametrize("content", ["", "- a list", "items: [", "just text"])
def test_task_file_that_is_no_mapping(folder: Path, content: str) -> None:
    write(folder, content)
    assert "task.yaml" in refused(folder)


def test_evidence_outside_the_reference(folder: Path) -> None:
    write(folder, description(items=[item(evidence={"strict": ["The pump moves"], "lenient": ["50 litres"]})]))
    message = refused(folder)
    assert "key 'items[0].evidence.lenient[0]' (flow): found '50 litres', which is not in reference.md" in message


def test_evidence_of_another_case_is_shown_as_it_stands(folder: Path) -> None:
    write(folder, description(items=[item(evidence={"strict": ["the PUMP moves"], "lenient": ["40 litres"]})]))
    assert "It stands there as 'The pump moves'" in refused(folder)


def test_doubled_item(folder: Path) -> None:
    write(folder, description(items=[item(), item()]))
    message = refused(folder)
    assert "key 'items[1].id': found 'flow', which items[0] has already" in message


def test_no_effective_item(folder: Path) -> None:
    write(folder, description(items=[item(effective=False)]))
    assert "no item with 'effective: true'" in refused(folder)


def test_accept_that_a_quote_of_the_reference_does_not_meet(folder: Path) -> None:
    write(folder, description(items=[item(accept=["40 gallons per minute"])]))
    message = refused(folder)
    assert "key 'items[0].accept' (flow)" in message
    assert "pump | the pump moves 40 litres per minute" in message


def test_reject_that_the_reference_itself_matches(folder: Path) -> None:
    write(folder, description(items=[item(reject=["moves"])]))
    assert "key 'items[0].reject' (flow)" in refused(folder)


# Digests


@pytest.mark.parametrize(
    ("changes", "judge_changes", "statement_changes"),
    [
        ({"accept": ["40 litres"]}, True, False),
        ({"reject": ["50 litres"]}, True, False),
        ({"statement": "It pumps 40 litres a minute."}, False, True),
        ({"id": "rate"}, True, True),
        ({"evidence": {"strict": ["40 litres"], "lenient": ["40 litres"]}}, False, False),
    ],
)
def test_digests_cover_what_each_judge_uses(
    folder: Path, changes: dict[str, Any], judge_changes: bool, statement_changes: bool
) -> None:
    def changed(digest: Callable[[Task], str]) -> bool:
        write(folder, description())
        before = digest(load_task(folder))
        write(folder, description(items=[item(**changes)]))
        return digest(load_task(folder)) != before

    assert changed(judge_digest) is judge_changes
    assert changed(statement_digest) is statement_changes


def test_a_pattern_that_runs_away_on_the_reference_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LONGEST_SEARCH_S", 0.2)
    (folder / "reference.md").write_text(f"{REFERENCE}\nNote: {'a' * 3000}\n", encoding="utf-8")
    write(folder, description(items=[item(), item(id="note", reject=["(?:a|aa)+b"])]))
    message = refused(folder)
    for part in (
        "task.yaml:",
        "key 'items[1].reject' (note)",
        "its own reference",
        "'(?:a|aa)+b'",
        "Bound what repeats",
    ):
        assert part in message


def test_digests_cover_which_items_are_effective(folder: Path) -> None:
    other = item(id="other")
    write(folder, description(items=[item(), other]))
    one = load_task(folder)
    write(folder, description(items=[item(), {**other, "effective": False}]))
    two = load_task(folder)
    assert judge_digest(one) != judge_digest(two)
    assert statement_digest(one) != statement_digest(two)


def field(**changes: Any) -> dict[str, Any]:
    evidence = {"strict": ["The pump moves 40 litres per minute"], "lenient": ["40 litres per minute"]}
    return {"id": "flow", "evidence": evidence, "accept": ["40 litres per minute"], **changes}


def test_fields_are_read_beside_items(folder: Path) -> None:
    write(folder, description(fields=[field(units=["litres per minute"])]))
    task = load_task(folder)
    assert [one.id for one in task.fields] == ["flow"]
    assert exact_digest(task) != exact_digest(load_task_with(folder, fields=[field(accept=["40 litres"])]))
    # What a judge of free text uses is not touched by them.
    assert judge_digest(task) == judge_digest(load_task_with(folder, fields=None))


def load_task_with(folder: Path, **changes: Any) -> Task:
    write(folder, description(**changes))
    return load_task(folder)


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ([field(accept=["50 litres per minute"])], ["key 'fields[0]' (flow)", "its own evidence is a wrong answer"]),
        ([field(reject=["pump"])], ["key 'fields[0]' (flow)"]),
        ([field(), field()], ["key 'fields[1].id'", "fields[0] has already"]),
        ([field(accept=["("])], ["key 'fields[0].accept[0]'", "not a regular expression"]),
        ([field(unit=["l"])], ["key 'fields[0].unit' is unknown", "Did you mean 'units'?"]),
        ([{"id": "flow", "accept": ["x"]}], ["key 'fields[0].evidence' is missing"]),
        (
            [field(evidence={"strict": ["The pump moves 40 gallons"], "lenient": ["40"]})],
            ["key 'fields[0].evidence.strict[0]'", "not in reference.md"],
        ),
    ],
)
def test_a_field_that_cannot_be_used_is_refused(folder: Path, fields: list[dict[str, Any]], parts: list[str]) -> None:
    write(folder, description(fields=fields))
    message = refused(folder)
    for part in parts:
        assert part in message


def test_an_algorithmic_task_needs_no_reference_and_answers_in_quotes(folder: Path) -> None:
    (folder / "reference.md").unlink()
    spec = description(kind="algorithmic", items=None)
    write(folder, spec | {"answers": [{"id": "sum_correct", "answer": "YES"}]})
    assert load_task(folder).answers[0].answer == "YES"
    write(folder, spec)
    assert "key 'answers' is missing; accepted: a list of at least one answer" in refused(folder)
    write(folder, spec | {"answers": [{"id": "sum_correct", "answer": True}]})
    message = refused(folder)
    assert "key 'answers[0].answer'" in message
    assert "in quotes" in message
    write(folder, spec | {"answers": [{"id": "a", "answer": "NO"}, {"id": "a", "answer": "NO"}]})
    assert "answers[0] has already" in refused(folder)
