"""The paper's own per-call files as trials and scores, so that one analysis serves them and new runs.

`import_artifact` finds every CSV below a folder, tells its kind by its columns (`published.kinds`), and gives
the rows of `trials.parquet` and `scores.parquet` with source `published`, each with the file and line it came
from, and a report on every file. It only reads: whatever is wrong is raised before anything could be written.

What is one call and what are two: a byte-identical copy of a file counts once; a row that says the same as an
earlier one of the same call counts once; a row that says anything else about it is an error, because no rule
could choose between the two. A rescoring file (`published.rescore`) adds a judge to the main task's calls;
where the main rows are not in the folder, its own `orig_*` scores stand for them.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.base.errors import ConfigError, PublishedDataError
from rcwt.published.files import GIVE_FOLDER, CsvFile, count_rows, read_folder, read_rows, refuse
from rcwt.published.kinds import (
    INTACT_TASK,
    MAIN_TASK,
    PACK,
    READERS,
    RESCORE,
    Call,
    CallKey,
    ItemScore,
    Layout,
    layout_of,
    mark_cut,
    require_columns,
    why_no_layout,
)
from rcwt.published.packs import is_other_study, read_packs
from rcwt.published.rescore import (
    PAPER_TARGETS,
    WINDOW,
    Naming,
    Rescored,
    as_call,
    check_original,
    naming_of,
    read_rescored,
    resolve_pair,
    same_claim,
)
from rcwt.study.manifest import ceiling_of_budgets
from rcwt.study.tasks import load_task
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA

SOURCE = "published"
FILE_COLUMNS = ("file", "sha256", "kind", "rows", "status", "reason")
#: Evidence ceiling of a condition, from experiment, window, c and r (tokens); None where there is none.
CeilingOf = Callable[[str, int, int, int], float | None]


@dataclass(frozen=True)
class Imported:
    """An artifact as tables: trials and scores as `rcwt.trials.schema` has them, and one row for each file found."""

    trials: pd.DataFrame
    scores: pd.DataFrame
    files: pd.DataFrame


@dataclass(frozen=True)
class FileNote:
    """What became of one file: `used`, `skipped` or `duplicate`, and why."""

    file: str
    sha256: str
    kind: str | None
    rows: int | None
    status: str
    reason: str


@dataclass
class _Collected:
    """What has been read so far: calls by what names them, and second judgements by call and judge."""

    calls: dict[CallKey, Call] = field(default_factory=dict)
    judgements: dict[tuple[CallKey, str], Rescored] = field(default_factory=dict)
    notes: list[FileNote] = field(default_factory=list)


def import_artifact(folder: Path, rescore_targets: Mapping[str, str]) -> Imported:
    """Read all per-call files below `folder`.

    Args:
        folder: the artifact, or any part of it; searched with its subfolders.
        rescore_targets: model ids behind the names of rescoring files, by folder name or alias; needed only
            where the ids seen do not settle them.

    Returns:
        trials: one row a call. q is the file's target share, p = c/W, both fractions; tokens are those the
            provider reported; finish reasons, texts and prompts are not in the artifact.
        scores: one row an item and judge: `original` (the paper's judge), a rescoring judge's id, or `rules`.
            The paper scored a judge reply it could not read all zeros; that cannot be told from true zeros.
        files: one row a file, in the order of their names.

    Raises:
        PublishedDataError: no usable file, a damaged file of a known kind, or rows that contradict.
    """
    found = read_folder(folder)
    collected = _Collected()
    rescoring: list[CsvFile] = []
    for file in _without_copies(found, collected):
        layout = layout_of(file.header)
        if layout is None:
            _note(collected, file, None, count_rows(file), "skipped", why_no_layout(file.header))
            continue
        require_columns(file, layout)
        if layout is RESCORE:
            rescoring.append(file)
        else:
            _collect_calls(file, layout, collected)
    _collect_judgements(rescoring, rescore_targets, collected)
    files = pd.DataFrame([vars(note) for note in collected.notes], columns=list(FILE_COLUMNS)).sort_values("file")
    if not collected.calls:
        what = f"found {len(found)} CSV files, none of a per-call kind"
        reasons = "; ".join(f"{note.file}: {note.reason}" for note in collected.notes[:3])
        raise PublishedDataError(f"artifact {folder}: {what} ({reasons}). {GIVE_FOLDER}")
    return Imported(
        trials=_frame((_trial_row(call) for call in collected.calls.values()), TRIAL_SCHEMA),
        scores=_frame(_score_rows(collected), SCORE_SCHEMA),
        files=files.astype({"rows": "Int64"}).reset_index(drop=True),
    )


def with_ceilings(trials: pd.DataFrame, ceiling_of: CeilingOf) -> pd.DataFrame:
    """Give the trials with their `ceiling` filled; each condition is asked for once."""
    known: dict[tuple[str, int, int, int], float | None] = {}
    ceilings: list[float | None] = []
    columns = (trials[name] for name in ("experiment", "window", "c", "r"))
    for experiment, window, c, r in zip(*columns, strict=True):
        condition = (str(experiment), int(window), int(c), int(r))
        if condition not in known:
            known[condition] = ceiling_of(*condition)
        ceilings.append(known[condition])
    return trials.assign(ceiling=pd.Series(ceilings, index=trials.index, dtype="float64"))


def _without_copies(found: list[CsvFile], collected: _Collected) -> list[CsvFile]:
    """Keep one of each set of byte-identical files and note the others.

    Of rescoring files the one whose path names target and judge is kept, because its bytes do not.
    """
    kept: dict[str, CsvFile] = {}
    for file in sorted(found, key=lambda file: (not _names_pair(naming_of(file)), file.name)):
        first = kept.setdefault(file.sha256, file)
        if first is file:
            continue
        layout = layout_of(file.header)
        if layout is RESCORE:
            same_claim(naming_of(first), naming_of(file))
        reason = f"duplicate of {first.name}: the same bytes, counted once"
        _note(collected, file, layout, count_rows(file), "duplicate", reason)
    return sorted(kept.values(), key=lambda file: file.name)


def _names_pair(naming: Naming) -> bool:
    return naming.target is not None and naming.judge is not None


def _collect_calls(file: CsvFile, layout: Layout, collected: _Collected) -> None:
    rows = read_rows(file)
    how = ""
    if layout is PACK:
        if is_other_study(rows):
            found = sorted({row.text("benchmark") for row in rows})
            reason = f"another study: the column benchmark holds {', '.join(found)} and none of the paper's packs"
            _note(collected, file, layout, len(rows), "skipped", reason)
            return
        calls, how = read_packs(rows)
    else:
        calls = [READERS[layout.name](row) for row in rows]
    repeated: list[Call] = []
    for call in mark_cut(calls, layout.cap):
        first = collected.calls.setdefault(call.key, call)
        if first is not call:
            _same_call(first, call)
            repeated.append(first)
    _note(collected, file, layout, len(rows), "used", _said(how, _repeats([first.file for first in repeated])))


def _same_call(first: Call, second: Call) -> None:
    """Refuse a second row for one call that differs from the first in anything."""
    if first.content() == second.content():
        return
    before, after = _flat(first), _flat(second)
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    found = f"another row for the call of {first.place}, different in {', '.join(differing)}"
    raise refuse(second.file, second.line, None, found, "one row a call, or rows that say the same")


def _collect_judgements(files: list[CsvFile], rescore_targets: Mapping[str, str], collected: _Collected) -> None:
    """Add the second judges, once all model ids and all main rows are known."""
    namings = [naming_of(file) for file in files]
    judges = frozenset(naming.judge for naming in namings if naming.judge)
    main = [call for call in collected.calls.values() if call.task == MAIN_TASK]
    seen = (
        frozenset(call.model for call in main if call.budget.window == WINDOW),
        frozenset(call.model for call in main) | PAPER_TARGETS,
        frozenset(call.model for call in collected.calls.values()) | judges | PAPER_TARGETS,
    )
    for file, naming in zip(files, namings, strict=True):
        pair = resolve_pair(naming, seen, rescore_targets)
        rows = [read_rescored(row) for row in read_rows(file)]
        alone, repeated = 0, []
        for row in rows:
            call = as_call(row, pair.target)
            known = collected.calls.setdefault(call.key, call)
            alone += known is call
            check_original(row, known)
            first = collected.judgements.setdefault((call.key, pair.judge), row)
            if first is not row:
                _same_judgement(first, row)
                repeated.append(first.file)
        whose = f"responses of {pair.target} judged by {pair.judge}"
        stands = f"{alone} calls have no main row here: orig_* stands for them" if alone else ""
        _note(collected, file, RESCORE, len(rows), "used", _said(whose, stands, _repeats(repeated)))


def _same_judgement(first: Rescored, second: Rescored) -> None:
    for before, after in zip(first.new, second.new, strict=True):
        if before != after:
            found = f"{after.score}, while call and judge have {before.score} at {first.file}, line {first.line}"
            raise refuse(second.file, second.line, f"new_{after.item}", found, "one score a call and judge")


def _trial_row(call: Call) -> dict[str, Any]:
    effective = [score.score for score in call.scores if score.effective]
    budget = call.budget
    return {
        "source": SOURCE,
        "experiment": call.task.experiment,
        "task": call.task.task,
        "kind": call.task.kind,
        "window": budget.window,
        "model": call.model,
        "order": call.order,
        "pack": call.pack,
        "q": float(budget.q),
        "c": budget.c,
        "u": budget.u,
        "r": budget.r,
        "p": budget.c / budget.window,
        "trial": call.trial,
        "status": call.status,
        "hits": sum(effective),
        "possible": len(effective),
        "raw_hits": sum(score.score for score in call.scores),
        "raw_possible": len(call.scores),
        "headline_judge": call.task.judge,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost_usd": call.cost_usd,
        "latency_s": call.latency_s,
        "task_truncated": call.task_truncated,
        "file": call.file,
        "line": call.line,
    }


def _score_rows(collected: _Collected) -> Iterable[dict[str, Any]]:
    for key, call in collected.calls.items():
        yield from _judged(key, call.task.judge, call.scores)
    for (key, judge), row in collected.judgements.items():
        yield from _judged(key, judge, row.new)


def _judged(key: CallKey, judge: str, scores: tuple[ItemScore, ...]) -> Iterable[dict[str, Any]]:
    experiment, window, model, order, pack, q, trial = key
    for score in scores:
        yield {
            "source": SOURCE,
            "experiment": experiment,
            "window": window,
            "model": model,
            "order": order,
            "pack": pack,
            "q": q,
            "trial": trial,
            "judge": judge,
            "item": score.item,
            "effective": score.effective,
            "score": score.score,
            "score_status": "scored",
        }


def _frame(rows: Iterable[dict[str, Any]], schema: Any) -> pd.DataFrame:
    """Make a table with exactly the schema's columns; whole numbers stay whole beside missing values."""
    dtypes = {"int64": "Int64", "bool": "boolean", "double": "float64"}
    frame = pd.DataFrame(list(rows), columns=schema.names)
    typed = {entry.name: dtypes[str(entry.type)] for entry in schema if str(entry.type) in dtypes}
    return frame.astype(typed)


def _note(
    collected: _Collected, file: CsvFile, layout: Layout | None, rows: int | None, status: str, reason: str
) -> None:
    kind = layout.name if layout else None
    collected.notes.append(FileNote(file.name, file.sha256, kind, rows, status, reason))


def _said(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _repeats(files: list[str]) -> str:
    if not files:
        return ""
    return f"{len(files)} rows say the same as rows of {', '.join(sorted(set(files)))}: counted once"


def _flat(call: Call) -> dict[str, Any]:
    """Give what a row says about a call by name: usage, token budget, and one entry an item."""
    content = {name: value for name, value in vars(call.content()).items() if name not in ("budget", "scores")}
    return {**content, **vars(call.budget), **{score.item: score for score in call.scores}}


def main_task_ceilings(trials: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The trials with the evidence ceiling of the main task, whose texts have the paper's token geometry.

    Of the intact task it is 1 by design: nothing of its reference is ever cut.
    """
    task = load_task(folder)

    def ceiling_of(experiment: str, window: int, c: int, r: int) -> float | None:
        if experiment == INTACT_TASK.experiment:
            return 1.0
        return ceiling_of_budgets(task, "coordination", c, r) if experiment == MAIN_TASK.experiment else None

    return with_ceilings(trials, ceiling_of)


def rescore_targets(text: str) -> dict[str, str]:
    """Read the mapping of the configuration key `rescore_targets`."""
    accepted = 'a JSON object of texts, such as {"gpt": "gpt-4.1-mini"}'
    try:
        found = json.loads(text)
    except ValueError:
        raise ConfigError(f"rescore_targets: found '{text}'; accepted: {accepted}") from None
    if not isinstance(found, dict) or not all(isinstance(model, str) and model for model in found.values()):
        raise ConfigError(f"rescore_targets: found {text}; accepted: {accepted}")
    return found
