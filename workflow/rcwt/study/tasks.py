"""A task: the texts that fill a prompt, and the facts that a reply is judged by. One folder each.

A folder holds `task.yaml`, `instruction.md`, `reference.md` (what the task is answered from) and at least one
`coordination*.md`. Every other `*.md`, a README aside, is a further question by its name. The keys of `task.yaml`
are explained at the top of `resources/templates/spec_recall/task.yaml`.
"""

import difflib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from rcwt.base.digests import digest
from rcwt.base.errors import ConfigError, TaskError
from rcwt.base.tokens import special_tokens
from rcwt.config.yaml_files import ConfigFile, KeyPath
from rcwt.scoring.fields import right
from rcwt.scoring.items import Evidence, ExactField, Item, NamedAnswer, TaskRecord, Text
from rcwt.scoring.normalise import normalise
from rcwt.scoring.passages import passages
from rcwt.scoring.patterns import RunawayPatternError
from rcwt.scoring.rules import judge
from rcwt.scoring.understood import demands_of

TASK_FILE = "task.yaml"
INSTRUCTION, REFERENCE, COORDINATION = "instruction", "reference", "coordination"
#: Kinds of task: the reply to an `open` one is free text about a reference; an `algorithmic` one is all instruction;
#: the material of a `pack` are benchmark items.
Kind = Literal["open", "algorithmic", "pack"]


class _TaskFile(TaskRecord):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", description="a name of letters, digits, '_' and '-'")
    title: Text = Field(description="one line for people")
    kind: Kind = Field(description="'open', 'algorithmic' or 'pack'")
    coordination: Text = Field(
        default=f"{COORDINATION}.md",
        description="a coordination*.md file of the folder, or of another task's folder as ../other/coordination.md",
    )
    items: tuple[Item, ...] = Field(default=(), description="the list of facts that an open task is judged by")
    fields: tuple[ExactField, ...] = Field(default=(), description="the list of fields that exact questions ask for")
    answers: tuple[NamedAnswer, ...] = Field(
        default=(), description="the list of named yes/no answers of an algorithmic task"
    )


class Task(TaskRecord):
    """A task folder as loaded: texts without surrounding white space, and the items in file order."""

    name: str
    title: str
    kind: Kind
    folder: Path
    instruction: str
    reference: str | None  # None for kinds that are answered without one
    coordination: str  # the variant used by default, a key of `coordinations`
    coordinations: dict[str, str]  # by file name without .md
    questions: dict[str, str]  # by file name without .md
    items: tuple[Item, ...]
    fields: tuple[ExactField, ...]  # of its exact questions
    answers: tuple[NamedAnswer, ...]  # of an algorithmic task
    files: tuple[Path, ...]  # what the task was read from

    @cached_property
    def demands(self) -> tuple[str, ...]:
        """What the instruction asks for under its numbers, in their order; () where it numbers nothing."""
        return demands_of(self.instruction)


def load_task(folder: Path) -> Task:
    """Read and check a task folder.

    Raises TaskError naming file and key, what was found, what is accepted and what to do: a missing, empty or
    unreadable file, a key that is unknown, doubled or wrong, a pattern that does not compile, evidence that is
    not in the reference, a reference that its own items do not accept.
    """
    if not folder.is_dir():
        raise TaskError(
            f"{folder}: no such folder; accepted: a task folder with {TASK_FILE}, {INSTRUCTION}.md, "
            f"{REFERENCE}.md and {COORDINATION}.md. Create it or correct the task's name"
        )
    file = _task_file(folder / TASK_FILE)
    spec = _validated(file)
    if spec.name != folder.name:
        raise TaskError(
            f"{folder / TASK_FILE}: key 'name': found '{spec.name}'; accepted: '{folder.name}', the name of the "
            "folder, by which designs and tables call the task. Correct one of the two"
        )
    paths = _paths(folder, spec)
    texts = {name: _read(path) for name, path in paths.items()}
    coordinations = {name: text for name, text in texts.items() if name.startswith(COORDINATION)}
    task = Task(
        name=spec.name,
        title=spec.title,
        kind=spec.kind,
        folder=folder,
        instruction=texts[INSTRUCTION],
        reference=texts.get(REFERENCE),
        coordination=Path(spec.coordination).name.removesuffix(".md"),
        coordinations=coordinations,
        questions={name: texts[name] for name in texts if name not in {INSTRUCTION, REFERENCE, *coordinations}},
        items=spec.items,
        fields=spec.fields,
        answers=spec.answers,
        files=(*paths.values(), folder / TASK_FILE),
    )
    try:
        faults = list(_faults(task, file))
    except RunawayPatternError as error:
        raise runaway(task, error, "its own reference") from None
    if faults:
        raise TaskError("\n".join(faults))
    return task


def runaway(task: Task, error: RunawayPatternError, where: str) -> TaskError:
    """The error that names which pattern of a task runs away, and on which text."""
    file = _task_file(task.folder / TASK_FILE)
    records: list[tuple[KeyPath, Item | ExactField]] = [
        *((("items", index), item) for index, item in enumerate(task.items)),
        *((("fields", index), field) for index, field in enumerate(task.fields)),
    ]
    for key, record in records:
        for name in ("accept", "reject", "aside", "others"):
            if error.source in _patterns(getattr(record, name, ())):
                at = (*key, name)
                return TaskError(f"{_place(file, at)}: key '{_spell(at)}' ({record.id}), in {where}: {error}")
    return TaskError(f"{file.path}, in {where}: {error}")


def _patterns(alternatives: Any) -> Iterator[str]:
    for part in [alternatives] if isinstance(alternatives, str) else alternatives:
        yield from [part] if isinstance(part, str) else _patterns(part)


def judge_digest(task: Task) -> str:
    """sha256 of what the rule judge uses of a task."""
    return digest([[[item.id, item.effective, item.accept, item.reject] for item in task.items], task.demands])


def exact_digest(task: Task) -> str:
    """sha256 of what scores a task's exact fields or named answers."""
    return digest([record.model_dump(mode="json") for record in (*task.fields, *task.answers)])


def statement_digest(task: Task) -> str:
    """sha256 of what a language-model judge uses of a task."""
    return digest([[item.id, item.effective, item.statement] for item in task.items])


def _paths(folder: Path, spec: _TaskFile) -> dict[str, Path]:
    """The files of a task's texts by file name without `.md`."""
    names = {path.stem for path in folder.glob("*.md") if path.stem.lower() != "readme"}
    needed = {INSTRUCTION, REFERENCE} if spec.kind == "open" else {INSTRUCTION}
    borrowed = Path(spec.coordination) if "/" in spec.coordination else None
    if borrowed is None and not any(name.startswith(COORDINATION) for name in names):
        needed.add(COORDINATION)
    paths = {name: folder / f"{name}.md" for name in sorted(names | needed)}
    if borrowed is not None:
        paths[borrowed.name.removesuffix(".md")] = Path(os.path.normpath(folder / borrowed))
    return paths


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TaskError(
            f"{path}: no such file; a task folder needs {TASK_FILE}, {INSTRUCTION}.md, {REFERENCE}.md and at least one "
            f"{COORDINATION}*.md. Create it as UTF-8 text"
        ) from None
    except OSError as error:
        raise TaskError(f"{path}: cannot be read ({error.strerror}); accepted: a readable file") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TaskError(
            f"{path}: found byte 0x{data[error.start]:02x} at offset {error.start}, which is not UTF-8; accepted: "
            "UTF-8 text. Save the file as UTF-8"
        ) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise TaskError(f"{path}: found no text; accepted: at least one word. Write the text or restore the file")
    for literal in sorted(special_tokens()):
        if literal in text:
            raise TaskError(
                f"{path}:{text[: text.index(literal)].count(chr(10)) + 1}: found the special token '{literal}'; "
                "special tokens are not plain text for models, which would end or confuse the prompt. Accepted: any "
                "other text. Remove it or spell it otherwise"
            )
    return text.strip()


def _task_file(path: Path) -> ConfigFile:
    if not path.is_file():
        raise TaskError(
            f"{path}: no such file; accepted: a description of the task. Copy it from "
            "resources/templates/spec_recall and adapt it"
        )
    try:
        return ConfigFile.read(path)
    except ConfigError as error:
        raise TaskError(str(error)) from None


def _validated(file: ConfigFile) -> _TaskFile:
    try:
        spec = _TaskFile.model_validate(file.content)
    except ValidationError as error:
        # A list whose elements are at fault counts as too short as well, which is no news.
        told = [fault for fault in error.errors() if not (fault["type"] == "too_short" and fault["input"])]
        faults = [_describe(fault, file) for fault in told]
        raise TaskError("\n".join(dict.fromkeys(faults))) from None
    scored, one = ("answers", "answer") if spec.kind == "algorithmic" else ("items", "item")
    if spec.kind != "pack" and not getattr(spec, scored):
        what = "found []" if file.line_of((scored,)) else "is missing"
        raise TaskError(
            f"{_place(file, (scored,))}: key '{scored}' {what}; accepted: a list of at least one {one}. Add one"
        )
    return spec


def _describe(fault: Any, file: ConfigFile) -> str:
    key: KeyPath = fault["loc"]
    record = _record_of(key[:-1])
    place = f"{_place(file, key)}: key '{_spell(key)}'"
    if fault["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(key[-1]), record.model_fields, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else "Remove it or correct its name"
        return f"{place} is unknown; accepted here: {', '.join(record.model_fields)}. {hint}"
    name = next(part for part in reversed(key) if isinstance(part, str))
    described = record.model_fields[name].description if name in record.model_fields else "another value"
    if fault["type"] == "missing":
        return f"{place} is missing; accepted: {described}. Add it"
    why = f", {fault['msg'].removeprefix('Value error, ')}" if fault["type"] == "value_error" else ""
    return f"{place}: found {_shown(fault['input'])}{why}; accepted: {described}. Correct it"


def _record_of(key: KeyPath) -> type[TaskRecord]:
    """The record that a key path lies in."""
    if "evidence" in key:
        return Evidence
    records: dict[Any, type[TaskRecord]] = {"items": Item, "fields": ExactField, "answers": NamedAnswer}
    return records.get(key[0], _TaskFile) if len(key) > 1 else _TaskFile


def _place(file: ConfigFile, key: KeyPath) -> str:
    """`file:line` of a key, or of the nearest key around it."""
    lines = (file.line_of(key[:length]) for length in range(len(key), 0, -1))
    line = next((line for line in lines if line is not None), None)
    return f"{file.path}:{line}" if line else str(file.path)


def _spell(key: KeyPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"


def _faults(task: Task, file: ConfigFile) -> Iterator[str]:
    """What is wrong with a task whose parts are each well formed."""
    if task.coordination not in task.coordinations:
        yield (
            f"{_place(file, ('coordination',))}: key 'coordination': found '{task.coordination}.md', which is not "
            f"there; accepted: {', '.join(f'{name}.md' for name in task.coordinations)}. Name one of them"
        )
    if task.kind == "open" and not any(item.effective for item in task.items):
        yield (
            f"{_place(file, ('items',))}: key 'items': found no item with 'effective: true'; accepted: at least "
            "one. Without it there is no effective score"
        )
    for key, records in (("items", task.items), ("fields", task.fields), ("answers", task.answers)):
        yield from _doubled(key, records, file)
    if task.reference is not None:
        for index, item in enumerate(task.items):
            missing = list(_missing_evidence(task.reference, item, ("items", index), file))
            yield from missing or _unaccepted(task.reference, item, index, file)
        for index, field in enumerate(task.fields):
            missing = list(_missing_evidence(task.reference, field, ("fields", index), file))
            yield from missing or _unanswered(field, index, file)


def _doubled(key: str, records: Sequence[Item | ExactField | NamedAnswer], file: ConfigFile) -> Iterator[str]:
    first: dict[str, int] = {}
    for index, record in enumerate(records):
        if record.id in first:
            yield (
                f"{_place(file, (key, index, 'id'))}: key '{key}[{index}].id': found '{record.id}', which "
                f"{key}[{first[record.id]}] has already; accepted: each id once. Rename one of them"
            )
        first.setdefault(record.id, index)


def _missing_evidence(reference: str, item: Item | ExactField, at_key: KeyPath, file: ConfigFile) -> Iterator[str]:
    text = _flat(reference)
    for strictness in ("strict", "lenient"):
        for position, part in enumerate(getattr(item.evidence, strictness)):
            if _flat(part) not in text:
                key = (*at_key, "evidence", strictness, position)
                at = text.casefold().find(_flat(part).casefold())
                written = f" It stands there as '{text[at : at + len(_flat(part))]}'." if at >= 0 else ""
                yield (
                    f"{_place(file, key)}: key '{_spell(key)}' ({item.id}): found {_shown(part)}, which is not in "
                    f"{REFERENCE}.md; accepted: text copied from it (line breaks count as spaces).{written} "
                    "Copy it again"
                )


def _unaccepted(reference: str, item: Item, index: int, file: ConfigFile) -> Iterator[str]:
    """A reply that quotes the whole reference must be credited, or no reader could reach the ceiling."""
    if judge(reference, [item])[item.id]:
        return
    rejected = judge(reference, [item.model_copy(update={"reject": ()})])[item.id]
    key: KeyPath = ("items", index, "reject" if rejected else "accept")
    what = (
        "a pattern that the passage stating the fact matches" if rejected else "no alternative that the reference meets"
    )
    yield (
        f"{_place(file, key)}: key '{_spell(key)}' ({item.id}): found {what}, so that a reply quoting {REFERENCE}.md "
        f"would be a miss; accepted: patterns that credit it. The judge reads it as: '{_read_as(reference, item)}'"
    )


def _unanswered(field: ExactField, index: int, file: ConfigFile) -> Iterator[str]:
    """An answer that copies the statement of its value from the reference must be right."""
    quoted = " ".join(field.evidence.strict)
    if not right(quoted, field):
        yield (
            f"{_place(file, ('fields', index, 'accept'))}: key 'fields[{index}]' ({field.id}): found rules by which "
            f"its own evidence is a wrong answer; accepted: rules that credit it. It is read as: '{normalise(quoted)}'"
        )


def _read_as(reference: str, item: Item) -> str:
    found = passages(reference)
    values: Sequence[str] = [normalise(part).strip() for part in item.evidence.lenient]
    return max(found, key=lambda passage: sum(value in passage for value in values), default="")


def _flat(text: str) -> str:
    return " ".join(text.split())
