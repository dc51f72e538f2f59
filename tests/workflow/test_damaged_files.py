"""Every step of a finished run, given each of its files damaged: an error that names the file, or the same result.

The commands are those that the real `snakemake` prints; the steps run in this process, which takes a hundredth of the
time. What Snakemake makes of such an error is shown at the end.
"""

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from projects import Project, copy_project

from rcwt.base.errors import RcwtError
from rcwt.calls.responses import ResponseCache
from rcwt.config.check import load
from rcwt.run import jobs
from rcwt.study.planned import planned_of
from rcwt.study.study import Study

SMALL = """\
experiments: [fixed_budget, intact, intact_open, algorithmic, gsm8k]
judges: [rules]
designs:
  fixed_budget:
    windows:
      - {window: 4096, shares: [0, 50, 75, 90, 98], trials: 2}
      - {window: 8192, shares: [0, 50, 75, 90, 98], trials: 2}
  intact: {shares: [0, 95], trials: 2}
  intact_open: {coordination_tokens: [0, 1879], trials: 2}
  algorithmic:
    windows: [{window: 4096, shares: [0, 90], trials: 2}]
  gsm8k:
    windows: [{window: 1024, shares: [0, 75], trials: 1}]
    packs: 2
bootstrap: {B: 100}
"""
#: A name with a space and a letter beyond ASCII, which every rule and script has to quote.
RESULTS = "my résults"
WITH = ("--configfile", "small.yaml", "--config", f"results_dir={RESULTS}")
#: Options of the scripts that name a file to read.
READ = {f"--{name}" for name in ("trials", "scores", "cells", "curves", "manifest", "accounts", "displacement")}
READ |= {"--main", "--packs", "--planned"}
WRITTEN = {"--out", "--sample", "--key"}

SCRIPTS = [
    *("audit", "completeness", "curves", "displacement", "figure_1", "figure_2", "figure_3", "intact", "intervals"),
    *("judge_agreement", "pack_items", "summary", "table_1", "table_2", "table_a1", "window_accounts"),
]

Step = Callable[[], None]


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[list[str]]]:
    """A finished run, and the commands of its scripts."""
    done = copy_project(root, tmp_path_factory.mktemp("damaged") / "project", None)
    (done.folder / "small.yaml").write_text(SMALL)
    agreement = f"{RESULTS}/tables/judge_agreement.csv"  # of one judge `all` leaves it out
    done.succeed("--cores", "4", "all", agreement, *WITH)
    said = done.succeed("-n", "-p", "--forceall", "all", agreement, *WITH)
    printed = re.findall(r"^Shell command: (python workflow/scripts/.*)$", said, re.MULTILINE)
    commands = [shlex.split(line.partition(" 2> ")[0]) for line in printed]
    assert len({command[1] for command in commands}) == len(SCRIPTS)
    return done, commands


@pytest.fixture
def project(run: tuple[Project, list[list[str]]], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the run, in which this process stands; the tests put back what they damage."""
    monkeypatch.chdir(run[0].folder)
    monkeypatch.delenv("RCWT_CACHE", raising=False)
    yield run[0].folder
    planned_of.cache_clear()


@pytest.fixture(scope="module")
def study(run: tuple[Project, list[list[str]]]) -> Study:
    """The configuration of the run."""
    folder = run[0].folder
    merged = yaml.safe_load((folder / f"{RESULTS}/config.yaml").read_text())
    before = Path.cwd()
    os.chdir(folder)
    try:
        study = Study(load(merged, [Path(f"{RESULTS}/config.yaml")]))
        study.check()
    finally:
        os.chdir(before)
    return study


def values(command: list[str], options: set[str]) -> list[str]:
    """The values of some options of a command."""
    found, inside = [], False
    for word in command[2:]:
        if word.startswith("--"):
            inside = word in options
        elif inside:
            found.append(word)
    return found


def script(command: list[str]) -> Step:
    def act() -> None:
        planned_of.cache_clear()
        with contextlib.redirect_stderr(io.StringIO()) as said, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", command[1:])
            try:
                runpy.run_path(command[1], run_name="__main__")
            except SystemExit as end:
                if end.code:
                    raise RcwtError(f"{said.getvalue()}{end.code}") from None

    return act


# -- the damages: each gives the new content, or None where the file has no such form

Damage = Callable[[bytes], bytes | None]


def lines(change: Callable[[list[bytes]], list[bytes] | None]) -> Damage:
    def damage(content: bytes) -> bytes | None:
        if not content.endswith(b"\n") or content.startswith(b"PAR1"):
            return None
        kept = change(content.splitlines(keepends=True))
        return None if kept is None else b"".join(kept)

    return damage


def rows(change: Callable[[pa.Table], pa.Table]) -> Damage:
    def damage(content: bytes) -> bytes | None:
        if not content.startswith(b"PAR1"):
            return None
        table, out = pq.read_table(io.BytesIO(content)), io.BytesIO()
        pq.write_table(change(table).replace_schema_metadata(None), out)
        return out.getvalue()

    return damage


DAMAGES: dict[str, Damage] = {
    "empty": lambda content: b"",
    "blank": lambda content: b"\n",
    "binary": lambda content: bytes(range(256)),
    "of other content": lambda content: b'{"a": 1}\n',
    "of other rows": lambda content: b"a,b\n1,2\n",
    "a list": lambda content: b"[]\n",
    "without its last byte": lambda content: content[:-1],
    "without its last bytes": lambda content: content[:-9],
    "half": lambda content: content[: len(content) // 2],
    "nearly nothing": lambda content: content[:5],
    "without its last line": lines(lambda all_of: all_of[:-1] if len(all_of) > 1 else None),
    "without a middle line": lines(lambda all_of: all_of[:1] + all_of[2:] if len(all_of) > 2 else None),
    "a line twice": lines(lambda all_of: [*all_of, all_of[-1]]),
    "its header alone": lines(lambda all_of: all_of[:1] if len(all_of) > 1 else None),
    "without its last row": rows(lambda table: table.slice(0, table.num_rows - 1)),
    "without its first row": rows(lambda table: table.slice(1)),
    "without rows": rows(lambda table: table.slice(0, 0)),
    "a row twice": rows(lambda table: pa.concat_tables([table, table.slice(0, 1)])),
    "without a column": rows(lambda table: table.drop_columns([table.column_names[-1]])),
}


@contextlib.contextmanager
def damaged(path: Path, damage: Damage) -> Iterator[bool]:
    """The file damaged inside the block; whether it could be."""
    content = path.read_bytes()
    changed = damage(content)
    stamp = path.stat()
    try:
        if changed is not None:
            path.write_bytes(changed)
        yield changed is not None and changed != content
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def outcome(act: Step) -> str | None:
    """The message of a step's own error; None where it did what it does. Any other error fails the test."""
    try:
        act()
    except RcwtError as error:
        return str(error)
    return None


def contents(outputs: list[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in outputs if path.exists()}


def check(act: Step, inputs: list[Path], outputs: list[Path]) -> None:
    """Damage each input of a step in each way: its error, or the same outputs."""
    assert inputs
    assert outcome(act) is None
    right = contents(outputs)
    assert right
    wrong = []
    for path in inputs:
        for name, damage in DAMAGES.items():
            with damaged(path, damage) as changed:
                if not changed:
                    continue
                said = outcome(act)
                named = said is not None and str(path) in said and "Delete" in said
                if not named and not (said is None and contents(outputs) == right):
                    wrong.append(f"{path} {name}: {said or 'another result'}")
        shutil.move(path, f"{path}.aside")
        path.mkdir()
        try:
            said = outcome(act)
            if said is None or str(path) not in said:
                wrong.append(f"{path} a folder: {said}")
        finally:
            path.rmdir()
            shutil.move(f"{path}.aside", path)
    assert outcome(act) is None
    assert contents(outputs) == right
    assert wrong == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_refuses_its_damaged_files(run: tuple[Project, list[list[str]]], project: Path, name: str) -> None:
    [command, *_] = [found for found in run[1] if Path(found[1]).stem == name]
    inputs = [Path(value) for value in values(command, READ)]
    prefixes = [Path(value) for value in values(command, WRITTEN)]
    outputs = [path for prefix in prefixes for path in sorted(prefix.parent.glob(f"{prefix.name}*"))]
    check(script(command), inputs, outputs)


def test_the_manifest_is_made_of_the_planned_prompts_and_tokens(project: Path, study: Study) -> None:
    prompts = [f"{RESULTS}/prompts/{name}.json" for name in study.conditions]
    tokens = [f"{RESULTS}/tokens/{name}.json" for name in study.tasks]

    def act() -> None:
        jobs.describe("log", study, prompts, tokens, f"{RESULTS}/manifest.csv")

    # One of each kind of design.
    kinds = {condition.kind: file for condition, file in zip(study.conditions.values(), prompts, strict=True)}
    check(act, [Path(path) for path in (*kinds.values(), *tokens)], [Path(f"{RESULTS}/manifest.csv")])
    other, first = Path(prompts[-1]).read_bytes(), Path(prompts[0])
    with damaged(first, lambda _: other):
        assert f"{first}: not the prompt of {first.stem}" in (outcome(act) or "")


def test_calls_are_made_of_the_planned_prompt(project: Path, study: Study) -> None:
    name = next(iter(study.conditions))
    prompt, out = f"{RESULTS}/prompts/{name}.json", Path("made.jsonl")

    def act() -> None:
        jobs.make_calls("log", study, name, "reader", prompt, str(out))
        # Times differ from call to call.
        out.write_text(re.sub(r'"(time_utc|latency_s)":[^,]*', "", out.read_text()))

    check(act, [Path(prompt)], [out])


def test_scores_are_made_of_the_planned_calls(project: Path, study: Study) -> None:
    name, other = next(iter(study.conditions)), list(study.conditions)[-1]
    calls, out = Path(f"{RESULTS}/calls/reader/{name}.jsonl"), Path("scored.json")

    def act() -> None:
        jobs.score("log", study, name, "rules", str(calls), [], str(out))

    check(act, [calls], [out])
    foreign = Path(f"{RESULTS}/calls/reader/{other}.jsonl").read_bytes()
    with damaged(calls, lambda _: foreign):
        assert str(calls) in (outcome(act) or "")
    with damaged(calls, lambda content: content.replace(b'"model":"reader"', b'"model":"other"')):
        assert f"{calls}: holds trials of {name} on other" in (outcome(act) or "")


def test_the_tables_of_a_run_are_gathered_from_the_planned_cells(project: Path, study: Study) -> None:
    tokens = [f"{RESULTS}/tokens/{name}.json" for name in study.tasks]
    tables = [Path(f"{RESULTS}/trials.parquet"), Path(f"{RESULTS}/scores.parquet")]

    def act() -> None:
        jobs.gather_cells("log", study, f"{RESULTS}/manifest.csv", tokens, *map(str, tables))

    name = next(iter(study.conditions))
    cell = [Path(f"{RESULTS}/calls/reader/{name}.jsonl"), Path(f"{RESULTS}/scores/rules/reader/{name}.json")]
    check(act, [Path(f"{RESULTS}/manifest.csv"), *map(Path, tokens), *cell], tables)
    foreign = Path(f"{RESULTS}/scores/rules/reader/{list(study.conditions)[-1]}.json").read_bytes()
    with damaged(cell[1], lambda _: foreign):
        assert f"{cell[1]}: holds the scores of" in (outcome(act) or "")

    def fewer(content: bytes) -> bytes:
        scores = json.loads(content)
        return json.dumps({**scores, "scores": scores["scores"][:-1]}).encode()

    with damaged(cell[1], fewer):
        assert f"{cell[1]}: holds the scores of 1 trials, planned are 2" in (outcome(act) or "")


def test_a_condition_that_the_manifest_lost_is_named(project: Path, study: Study) -> None:
    manifest, conditions = Path(f"{RESULTS}/manifest.csv"), list(study.conditions)

    def act() -> None:
        jobs.gather_cells("log", study, str(manifest), [], "trials", "scores")

    missing = f"{manifest}: 1 of {len(conditions)} planned conditions are missing, the first is "
    with damaged(manifest, DAMAGES["without its last line"]):
        assert missing + conditions[-1] in (outcome(act) or "")
    with damaged(manifest, DAMAGES["without a middle line"]):
        assert missing + conditions[0] in (outcome(act) or "")


def test_spend_is_reckoned_from_the_planned_cells(project: Path, study: Study) -> None:
    from rcwt.base.digests import canonical_json
    from rcwt.spend.plan import table_terms

    terms = canonical_json(table_terms(study))

    def table() -> None:
        jobs.tabulate_spend(
            "log",
            study,
            terms,
            f"{RESULTS}/manifest.csv",
            f"{RESULTS}/trials.parquet",
            [],
            f"{RESULTS}/tables/spend.csv",
        )

    def plan() -> None:
        jobs.plan_spend("log", study, f"{RESULTS}/manifest.csv", "plan.csv")

    check(
        table,
        [Path(f"{RESULTS}/manifest.csv"), Path(f"{RESULTS}/trials.parquet")],
        [Path(f"{RESULTS}/tables/spend.csv")],
    )
    check(plan, [Path(f"{RESULTS}/manifest.csv")], [Path("plan.csv")])
    assert not (ResponseCache().folder / "preflights.jsonl").exists()


# -- what Snakemake makes of it


@pytest.mark.parametrize(
    ("path", "rule", "named"),
    [
        ("manifest.csv", "trials", "planned conditions are missing, the first is gsm8k-w1024-q75-pack_2-reason_first"),
        ("tables/fixed_budget_cells.csv", "table_a1", "planned cells are missing, the first is fixed_budget 8192 0.98"),
        ("tables/curve_fits.csv", "summary", "not the file that was written"),
    ],
)
def test_a_file_that_lost_its_last_line_fails_the_step_that_reads_it(
    run: tuple[Project, list[list[str]]], tmp_path: Path, path: str, rule: str, named: str
) -> None:
    shutil.copytree(run[0].folder, tmp_path / "project", symlinks=True)
    project = Project(tmp_path / "project")
    file = project.folder / RESULTS / path
    file.write_bytes(DAMAGES["without its last line"](file.read_bytes()) or b"")
    output = project.refuse("--cores", "2", "all", "--forcerun", rule, "--until", rule, *WITH)
    log = project.folder / RESULTS / f"logs/{rule}.log"
    said = output + (log.read_text() if log.exists() else "")
    assert f"{RESULTS}/{path}" in said
    assert named in said
    assert "Delete it and run the same command again" in said
    assert "Traceback" not in said
    # As told.
    file.unlink()
    project.succeed("--cores", "2", "all", "--until", rule, *WITH)
