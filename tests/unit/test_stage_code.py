"""Which stage an edit of which module reruns: no stage misses code that shapes its result, and none has too much.

A stage is a rule, or a digest of code inside the parameters of `calls` and `scores`. What a stage compares by value,
such as the prompts, names no code.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rcwt.base import digests
from rcwt.base.digests import NEUTRAL, PACKAGE, code_digest, code_of
from rcwt.study.study import SCORING

RULES = PACKAGE.parent / "rules"
RULE = re.compile(r"^rule (\w+):\n((?:    .*\n|\n)*)", re.MULTILINE)
BODIES = {name: body for path in sorted(RULES.glob("*.smk")) for name, body in RULE.findall(path.read_text())}
SCRIPTS = {rule: found[1] for rule, body in BODIES.items() if (found := re.search(r'script="(.*?)"', body))}
#: Modules named in a rule's `code_digest`, or imported by the script of its `script_digest`.
NAMED = {
    rule: re.findall(r'"([\w.]+)"', found[1])
    for rule, body in BODIES.items()
    if (found := re.search(r"code_digest\((.*?)\)", body))
} | {
    rule: digests._imported(PACKAGE.parents[1] / found[1])
    for rule, body in BODIES.items()
    if (found := re.search(r'script_digest\("(.*?)"\)', body))
}
STAGES = {
    **NAMED,
    "records": ["calls.requests"],  # of all cells
    "reading": ["wire.reading"],  # of what came over a network
    "reader": ["reader"],  # part of the embedded reader's identity
    "scores": list(SCORING),
}
#: Rules that compare what they make by value, or through the digests above.
BY_VALUE = {"prompt", "packs", "spend_plan", "calls", "scores"}
#: What the `run:` blocks call in `run.jobs`, and the modules whose functions it calls there. A job hands over paths and
#: holds no logic of its own.
JOBS = {
    "tokenize_templates": {"study.manifest"},
    "condition_manifest": {"study.manifest"},
    "trials": {"study.manifest", "trials.aggregation"},
    "spend_table": {"spend.actual"},
    "scores": {"run.score_cell", "scoring.outcomes"},
    "records": {"calls.requests", "base.records"},
}
#: Modules in no digest that are not in NEUTRAL either, because no stage imports them: they send requests, keep and
#: count them, plan a run, or end in values that stages compare.
AROUND = re.compile(
    r"calls\.(?!(requests|ledger|preflights|terms)$).*|run\.(?!score_cell$).*|wire\.(exchange|wire)|config\.(identity|model_ids)"
    r"|base\.cache_folder|packs\.(decks|drop|gsm8k|hub|mmlu_pro|sources)|spend\.(?!actual$).*|study\.preflight"
)


def modules() -> list[str]:
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py") if path.stem != "__init__")
    return sorted(".".join(path.parts) for path in paths)


def test_every_rule_names_its_code_or_compares_values() -> None:
    assert set(BODIES) == set(NAMED) | BY_VALUE
    assert set(SCRIPTS) <= set(NAMED)
    # No rule with a digest is left without a line on what it runs.
    assert set(NAMED) <= set(SCRIPTS) | set(JOBS)


def test_neutral_modules_exist_and_say_why() -> None:
    assert set(NEUTRAL) <= set(modules())
    assert all(NEUTRAL.values())


@pytest.mark.parametrize("rule", SCRIPTS)
def test_a_rule_with_a_script_has_the_digest_of_that_script(rule: str) -> None:
    assert f'code=script_digest("{SCRIPTS[rule]}"),' in BODIES[rule]


@pytest.mark.parametrize("rule", JOBS)
def test_the_code_of_a_job_is_in_the_digest_of_its_stage(rule: str) -> None:
    assert code_of(*JOBS[rule]) <= code_of(*STAGES[rule])


def test_no_script_loads_a_module_that_its_imports_do_not_show(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digests follow written imports: what a process has loaded in the end must be what they find."""
    program = (
        "import runpy, sys; runpy.run_path(sys.argv[1]);"
        "print(*(n for n, m in sys.modules.items() if n.startswith('rcwt.') and not hasattr(m, '__path__')))"
    )
    monkeypatch.setattr(digests, "NEUTRAL", {})
    for script in sorted(set(SCRIPTS.values())):
        named = re.findall(r"^from rcwt\.([\w.]+) import", (root / script).read_text(), re.MULTILINE)
        ran = subprocess.run(
            [sys.executable, "-c", program, script], cwd=root, capture_output=True, text=True, check=True
        )
        loaded = {name.removeprefix("rcwt.") for name in ran.stdout.split()}
        assert loaded >= set(named)
        assert loaded <= code_of(*named), script


def test_every_module_is_in_a_stage_or_said_to_be_in_none() -> None:
    in_a_stage = {module for named in STAGES.values() for module in code_of(*named)}
    around = {module for module in modules() if AROUND.fullmatch(module)}
    assert in_a_stage | around | set(NEUTRAL) == set(modules())
    assert in_a_stage & around == set()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package, which the digests read."""
    copy = tmp_path_factory.mktemp("copy") / "rcwt"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "PACKAGE", copy)
        forget()
        yield copy
    forget()


def forget() -> None:
    digests._imports.cache_clear()
    code_digest.cache_clear()


MANIFEST = {"tokenize_templates", "condition_manifest", "trials", "published", "spend_table"}
FIGURES = {"figure_1", "figure_2", "figure_3"}
TABLES = {"table_a1", "table_1", "table_2", "intact_table"}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        # Of these the values are compared, or nothing that counts is made by them.
        ("config.schema", set()),
        ("config.parameters", set()),
        ("config.thinking", set()),
        ("study.study", set()),
        ("study.tasks", set()),
        ("calls.limits", set()),
        ("run.jobs", set()),
        ("base.errors", set()),
        # The prompts are compared by value; what reads them for the manifest is not.
        ("study.prompts", {*MANIFEST, "intact_table"}),
        ("study.evidence", MANIFEST),
        ("wire.streams", {"reading"}),
        ("wire.reading", {"reading"}),
        ("calls.requests", {"records"}),
        ("run.score_cell", {"scores"}),
        ("report.figures", FIGURES),
        ("report.figure_1", {"figure_1"}),
        ("report.figure_3", {"figure_3"}),
        ("report.scaling", {"table_1", "summary"}),
        ("analysis.accounts", {"window_accounts", "summary"}),
        ("analysis.displacement", {"displacement", "figure_3"}),
    ],
)
def test_an_edit_changes_the_digests_of_these_stages(package: Path, module: str, expected: set[str]) -> None:
    assert changed_by_an_edit(package, module) == expected


@pytest.mark.parametrize(
    ("module", "among", "never"),
    [
        # The rules that score replies also check the paper's own scores.
        ("scoring.rules", {"scores"}, {"reader", "reading", "records", "trials", "intervals"}),
        ("analysis.curves", {"curves", "figure_1"}, {"scores", "trials", "intervals", "table_a1"}),
        ("report.printing", TABLES, {"curves", "intervals", "trials", "scores"}),
        # What is shown of the reader takes its name and label from it.
        ("reader.text", {"reader"}, {"records", "reading", "scores", "trials", "intervals", "curves"}),
        ("base.tokens", {"reader", "tokenize_templates", "condition_manifest"}, {"reading", "intervals", "curves"}),
    ],
)
def test_an_edit_changes_some_digests_and_leaves_others(
    package: Path, module: str, among: set[str], never: set[str]
) -> None:
    changed = changed_by_an_edit(package, module)
    assert among <= changed
    assert not never & changed


def changed_by_an_edit(package: Path, module: str) -> set[str]:
    path = (package / module.replace(".", "/")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    before = {stage: code_digest(*named) for stage, named in STAGES.items()}
    forget()
    try:
        path.write_text(text + "\n# another line\n", encoding="utf-8")
        return {stage for stage, named in STAGES.items() if code_digest(*named) != before[stage]}
    finally:
        path.write_text(text, encoding="utf-8")
        forget()
