"""Which stages an edit of a module runs again: the digests that are parameters of the rules.

The right sets below are what each stage's program uses to make its result, found by reading it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rcwt.base import digests
from rcwt.base.digests import NEUTRAL, code_of
from rcwt.study.study import SCORING

#: Stages that are made in Snakemake's own process; the modules they name.
IN_PROCESS = {
    "reader": ("reader",),
    "reading": ("wire.reading",),
    "scores": SCORING,
    "tokens": ("study.manifest",),
    "trials": ("trials.aggregation",),
    "spend": ("spend.actual",),
}
TABLES = {"table_a1", "table_1", "table_2", "intact_table"}
FIGURES = {"figure_1", "figure_2", "figure_3"}
FROM_CELLS = {"curves", "window_accounts", "displacement", "pack_items", "summary", *TABLES, *FIGURES}


def scripts(root: Path) -> dict[str, Path]:
    """The script of each rule that runs one."""
    rules = "".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    return {
        rule.split(":")[0]: root / found[1]
        for rule in re.split(r"(?m)^rule ", rules)[1:]
        if (found := re.search(r'script="([^"]+)"', rule))
    }


@pytest.fixture(scope="module")
def stages(root: Path) -> dict[str, set[str]]:
    """The modules in the digest of each stage."""
    by_script = {name: code_of(*digests._imported(path)) for name, path in scripts(root).items()}
    return by_script | {name: code_of(*modules) for name, modules in IN_PROCESS.items()}


def test_each_rule_with_a_script_has_the_digest_of_what_the_script_imports(root: Path) -> None:
    rules = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    with_script = [rule for rule in re.split(r"(?m)^rule ", rules)[1:] if 'script="' in rule]
    assert len(with_script) == len(scripts(root)) >= 18
    for rule in with_script:
        assert "code=script_digest," in rule, rule.split(":")[0]


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("config.schema", set()),
        ("study.study", set()),
        ("scoring.items", set()),
        ("wire.streams", {"reading"}),
        ("wire.finishes", {"reading"}),
        ("reader.text", {"reader"}),
        ("scoring.rules", {"scores"}),
        ("packs.grading", {"scores"}),
        ("run.score_cell", {"scores"}),
        ("study.evidence", {"tokens", "published", "spend"}),
        ("trials.aggregation", {"trials", "audit_sample", "audit_scores"}),
        ("analysis.accounts", {"window_accounts", "summary"}),
        ("analysis.refits", {"curves"}),
        ("report.printing", {*TABLES, "summary"}),
        ("report.selection", {*TABLES, *FIGURES, "summary"}),
        ("report.figures", FIGURES),
        ("analysis.intervals", {*FROM_CELLS, "intervals", "judge_agreement"}),
        ("trials.judged", {*FROM_CELLS, "intervals", "judge_agreement", "completeness"}),
        ("published.kinds", {"published"}),
    ],
)
def test_an_edit_of_a_module_is_one_of_these_stages(
    stages: dict[str, set[str]], module: str, expected: set[str]
) -> None:
    assert {name for name, modules in stages.items() if module in modules} == expected


def test_what_a_script_loads_is_in_its_digest_or_is_there_for_a_neutral_module_alone(
    root: Path, stages: dict[str, set[str]]
) -> None:
    """As Python imports it, and not as the digest reads it."""
    only_read = code_of(*(inner for name in NEUTRAL for inner in digests._imports(name)))
    for name, path in scripts(root).items():
        load = (
            "import runpy, sys; runpy.run_path(sys.argv[1]); print(*(n for n in sys.modules if n.startswith('rcwt.')))"
        )
        command = [sys.executable, "-c", load, str(path)]
        loaded = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        modules = {one.removeprefix("rcwt.") for one in loaded if "." in one.removeprefix("rcwt.")}
        assert modules <= stages[name] | NEUTRAL | only_read, name


def test_neutral_modules_are_there(root: Path) -> None:
    """A name that is left from a module that has moved would be in no digest, or hide another one's."""
    assert {
        name for name in NEUTRAL if not (root / "workflow/rcwt" / f"{name.replace('.', '/')}.py").is_file()
    } == set()
    assert all("." in name for name in NEUTRAL)  # a package's name would silence all that is in it
