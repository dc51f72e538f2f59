"""The two files that describe a run before its calls: a task's tokens, and one row a condition.

The manifest's `trials` column is the plan that the results are held against.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rcwt.base.sealed import damaged, read_json, read_rows, require_seal, seal
from rcwt.base.tokens import ENCODING, count
from rcwt.scoring.items import Evidence
from rcwt.study.evidence import ceiling, completes_at, stated
from rcwt.study.planned import Planned
from rcwt.study.prompts import Prompt, block, blocks_of
from rcwt.study.prompts import read as read_prompt
from rcwt.study.tasks import Task

_TEXT = {"condition", "experiment", "task", "kind", "order", "pack", "question", "scored_by", "prompt_sha256", "note"}
_REQUIRED = (
    *("condition", "experiment", "task", "kind", "window", "order", "q", "c", "r", "p"),
    *("prompt_tokens", "prompt_sha256", "trials", "scored_by"),
)
COLUMNS = [
    *("condition", "experiment", "task", "kind", "window", "order", "pack", "q", "c", "u", "r", "p"),
    *("coordination_tokens", "reference_tokens", "prompt_tokens", "prompt_sha256"),
    *("ceiling_strict", "ceiling_lenient", "trials", "facts_in_reference", "facts_in_coordination"),
    *("question", "scored_by"),
    *("pack_tokens", "items_whole", "items_cut", "items_gone", "note"),
]


def task_tokens(task: Task) -> dict[str, Any]:
    """Token counts of a task's blocks, and for each item the token at which the reference completes its fact."""
    texts = {"instruction": task.instruction, "reference": task.reference or "", **task.coordinations}
    texts |= task.questions
    return {
        "task": task.name,
        "encoding": ENCODING,
        "tokens": {name: count(text) for name, text in texts.items()},
        "items": [_facts(task, item.id, item.effective, item.evidence) for item in task.items],
        "fields": [_facts(task, field.id, True, field.evidence) for field in task.fields],
    }


def _facts(task: Task, name: str, effective: bool, evidence: Evidence) -> dict[str, Any]:
    known = {"strict": evidence.strict, "lenient": evidence.lenient}
    return {
        "id": name,
        "effective": effective,
        "evidence": {strictness: list(parts) for strictness, parts in known.items()},
        "completes_at": {strictness: completes_at(task.reference or "", parts) for strictness, parts in known.items()},
    }


def row(prompt: Mapping[str, Any], tokens: Mapping[str, Any], trials: int) -> dict[str, Any]:
    """The manifest row of a condition, from its prompt file and its task's tokens file."""
    if "shown" in prompt:
        return _pack_row(prompt, trials)
    blocks, items = blocks_of(prompt), tokens["fields" if prompt["question"] else "items"]
    return {
        **{name: prompt[name] for name in COLUMNS if name in prompt},
        "ceiling_strict": ceiling(blocks.values(), items, "strict"),
        "ceiling_lenient": ceiling(blocks.values(), items, "lenient"),
        "trials": trials,
        "facts_in_reference": " ".join(stated(blocks["reference"], items, "lenient")),
        "facts_in_coordination": " ".join(stated(blocks["coordination"], items, "lenient")),
    }


def _pack_row(prompt: Mapping[str, Any], trials: int) -> dict[str, Any]:
    """The manifest row of a pack: its ceiling is the share of questions that are whole."""
    shown = prompt["shown"]
    lists = {name: shown[name] for name in ("items_whole", "items_cut", "items_gone")}
    whole = len(shown["items_whole"]) / len(shown["items"])
    return {
        **{name: prompt[name] for name in COLUMNS if name in prompt},
        "ceiling_strict": whole,
        "ceiling_lenient": whole,
        "trials": trials,
        "pack_tokens": shown["pack_tokens"],
        **{name: " ".join(items) for name, items in lists.items()},
        "note": shown["note"],
    }


def ceiling_of_budgets(task: Task, coordination: str, c: int, r: int) -> float | None:
    """Lenient ceiling of a prompt with `c` tokens of coordination and `r` of reference, made of this task's texts."""
    blocks = [block(task.coordinations[coordination], c), block(task.reference or "", r)]
    return ceiling(blocks, task_tokens(task)["items"], "lenient")


def read(path: Path, planned: Planned | None = None) -> list[dict[str, Any]]:
    """Rows of the manifest with numbers as numbers and empty fields as None.

    Raises StaleResultError for a file that is not a whole manifest, or not that of the `planned` conditions.
    """
    try:
        rows = [{name: _value(name, text) for name, text in row.items()} for row in read_rows(path, COLUMNS)]
    except ValueError as error:
        raise damaged(path, f"a text among numbers ({error})") from None
    empty = next((name for row in rows for name in _REQUIRED if row[name] is None), None)
    if empty is not None:
        raise damaged(path, f"a field of the column {empty} is empty")
    if planned is not None:
        planned.require_conditions(rows, path)
    require_seal(path)
    return rows


def _value(name: str, text: str) -> Any:
    if text == "":
        return None
    if name in _TEXT or name.startswith(("facts_", "items_")):
        return text
    return float(text) if name in {"q", "p", "ceiling_strict", "ceiling_lenient"} else int(text)


def write(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write the manifest; a missing value is an empty field."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def build(prompts: Mapping[Path, Prompt], tasks: Mapping[Path, Task], path: Path) -> None:
    """Write the manifest of a run from its prompt files and its tasks' tokens files.

    Raises StaleResultError for a file that does not hold what it is to hold.
    """
    tokens = read_tokens(tasks)
    rows = [
        row(read_prompt(file, prompt), tokens[prompt.condition.task], prompt.condition.trials)
        for file, prompt in prompts.items()
    ]
    write(rows, path)
    seal(path)


def read_tokens(tasks: Mapping[Path, Task]) -> dict[str, dict[str, Any]]:
    """The contents of tokens files by task. Raises StaleResultError for one that is not made of its task."""
    contents = {}
    for path, task in tasks.items():
        contents[task.name] = read_json(path)
        if contents[task.name] != json.loads(json.dumps(task_tokens(task))):
            raise damaged(path, f"not the tokens of {task.name}")
    return contents
