"""The packages of `workflow/rcwt` build on each other, and a share crosses them, as `docs/architecture.md` says.

That page's table names them from the ground up: it is the one source of their order.
"""

import ast
import contextlib
import inspect
import os
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml

from rcwt.calls import runtime
from rcwt.config.check import load
from rcwt.run import jobs
from rcwt.study.planned import Planned
from rcwt.study.study import Study, write_configuration

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow/rcwt"
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
#: Each package with what the page says of it.
SAID = dict(re.findall(r"^\| \[`(\w+)`\]\(\S+\) \| (.*) \|$", PAGE, re.MULTILINE))
ORDER = list(SAID)
#: The life of a trial on that page: by step, the modules in the order of their first calls, and the files it leaves.
LIFE = {
    step: (
        ["/".join(module) for module in re.findall(r"/rcwt/(\w+)/(\w+)\.py\)", modules)],
        re.findall(r"`(.+?)`", files),
    )
    for step, modules, files in re.findall(r"^\| (\w+) \| [^|]* \| (\[[^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)
}


def imported(path: Path) -> set[str]:
    """The packages that a module imports, wherever it does: at its top, in a function, for types alone."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("rcwt.")} - {path.parent.name}


IMPORTED = {name: set[str]().union(*map(imported, (PACKAGE / name).glob("*.py"))) for name in ORDER}


def below(package: str) -> set[str]:
    """What a package builds on, itself or through others."""
    return IMPORTED[package].union(*map(below, IMPORTED[package]))


def test_the_page_names_every_package() -> None:
    assert sorted(ORDER) == sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_every_import_points_down() -> None:
    """So no two packages import each other."""
    up = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for place, package in enumerate(ORDER)
        for path in (PACKAGE / package).glob("*.py")
        for name in imported(path)
        if name not in ORDER[:place]
    ]
    assert up == []


def test_the_picture_is_that_of_the_imports() -> None:
    """An arrow that a longer way implies is left out: it would say nothing new."""
    arrows = {
        (package, name)
        for package in ORDER
        for name in IMPORTED[package]
        if not any(name in below(other) for other in IMPORTED[package])
    }
    drawn = [
        (left, right) for left, names in re.findall(r"^ +(\w+) --> (.*)$", PAGE, re.M) for right in names.split(" & ")
    ]
    assert sorted(drawn) == sorted(arrows)


@pytest.mark.parametrize("package", ORDER)
def test_a_package_says_what_it_holds_and_imports(package: str) -> None:
    said = " ".join(
        (ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text("utf-8"))) or "").split()
    )
    assert said.startswith(SAID[package])
    allowed = re.search(r"May import: ([^.]*)\.", said)
    assert allowed
    assert set(re.findall(r"`(\w+)`", allowed[1])) == IMPORTED[package]


def test_every_module_that_a_page_names_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "config/README.md", *ROOT.glob("docs/*.md")]
    named = [name for page in pages for name in re.findall(r"`rcwt\.([a-z_0-9.]+)`", page.read_text("utf-8"))]
    assert "calls.terms" in named
    assert [name for name in named if not (PACKAGE / f"{name.replace('.', '/')}.py").exists()] == []


def entered(work: Callable[[], object]) -> list[str]:
    """The modules of the package whose functions `work` calls, in the order of their first calls."""
    found: dict[str, None] = {}
    inside = f"{PACKAGE}{os.sep}"

    def heed(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # The body of a module or of a class, and what is computed in it, runs when it is imported: that is no call.
        is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
        if event == "call" and is_function and code.co_filename.startswith(inside):
            found[code.co_filename] = None

    sys.setprofile(heed)
    try:
        work()
    finally:
        sys.setprofile(None)
    return [Path(name).relative_to(PACKAGE).with_suffix("").as_posix() for name in found]


def run_script(name: str, *arguments: object) -> None:
    """One of the programs that the rules start, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *map(str, arguments)])
        with contextlib.suppress(SystemExit):  # one that failed has left no file, which the next step misses
            runpy.run_path(str(ROOT / f"workflow/scripts/{name}.py"), run_name="__main__")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name in ("calls/reader", "scores/rules/reader"):  # as Snakemake makes them
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def crossed(results: Path) -> dict[str, list[str]]:
    """A share of 90 %, one trial in each order, from the configuration to Table A1: by step, the modules entered.

    A step has nothing of the one before but its files, so their order is that of the DAG.
    """
    merged: dict[str, Any] = {}
    for name in ("models", "prices", "config"):
        merged |= yaml.safe_load((ROOT / f"config/{name}.yaml").read_text("utf-8"))
    merged |= {"experiments": ["fixed_budget"], "results_dir": str(results)}
    merged["designs"]["fixed_budget"]["windows"] = [{"window": 4096, "shares": [90], "trials": 1}]
    study = Study(load(merged, []))
    log, name = os.devnull, "fixed_budget-w4096-q90-{}".format
    prompts, calls, scores = (
        {name(order): results / folder / f"{name(order)}.{ending}" for order in ("coord_first", "reason_first")}
        for folder, ending in (("prompts", "json"), ("calls/reader", "jsonl"), ("scores/rules/reader", "json"))
    )
    tokens, manifest, planned = (results / file for file in ("tokens/spec_recall.json", "manifest.csv", "planned.json"))
    trials, all_scores = results / "trials.parquet", results / "scores.parquet"
    cells, table = results / "tables/fixed_budget_cells.csv", results / "tables/table_a1"

    def conditions() -> None:
        study.check()
        write_configuration(study.config, results)
        Planned.of(study).write(planned)

    def write_prompts() -> None:
        for name in study.conditions:
            jobs.write_prompt(log, study, name, str(prompts[name]))

    def describe() -> None:
        jobs.tokenize(log, study, "spec_recall", str(tokens))
        jobs.describe(log, study, [str(prompts[name]) for name in study.conditions], [str(tokens)], str(manifest))

    def make_calls() -> None:
        for name in study.conditions:
            jobs.make_calls(log, study, name, "reader", str(prompts[name]), str(calls[name]))

    def score() -> None:
        for name in study.conditions:
            jobs.score(log, study, name, "rules", str(calls[name]), [], str(scores[name]))

    steps: dict[str, Callable[[], object]] = {
        "configuration": lambda: load(merged, []),
        "conditions": conditions,
        "prompt": write_prompts,
        "manifest": describe,
        "calls": make_calls,
        "scores": score,
        "trials": lambda: jobs.gather_cells(log, study, str(manifest), [str(tokens)], str(trials), str(all_scores)),
        "intervals": lambda: run_script(
            *("intervals", "--trials", trials, "--scores", all_scores, "--kind", "fixed_budget"),
            *("--planned", planned, "--out", cells),
        ),
        "table_a1": lambda: run_script("table_a1", "--cells", cells, "--planned", planned, "--out", table),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("RCWT_CACHE", str(results / "cache"))
        patch.setattr(runtime, "_runtime", None)
        return {step: entered(work) for step, work in steps.items()}


def test_a_share_crosses_the_packages_in_their_order(crossed: dict[str, list[str]]) -> None:
    """The highest package that a step enters, `run` aside, which calls all of them, is never below the last one's.

    Scores are beside the way: a judge is given a reply and its items, and no share; what they are the study says.
    """
    packages = {step: {module.partition("/")[0] for module in modules} - {"run"} for step, modules in crossed.items()}
    highest = {step: max(names, key=ORDER.index) for step, names in packages.items()}
    assert highest == {
        "configuration": "config",
        **dict.fromkeys(("conditions", "prompt", "manifest", "scores"), "study"),
        **{"calls": "calls", "trials": "trials", "intervals": "analysis", "table_a1": "report"},
    }
    way = [ORDER.index(highest[step]) for step in crossed if step != "scores"]
    assert way == sorted(way)


def test_the_life_of_a_trial_is_as_the_page_tells_it(crossed: dict[str, list[str]], results: Path) -> None:
    assert list(LIFE) == list(crossed)
    assert {step: modules for step, (modules, _) in LIFE.items()} == {
        step: [module for module in modules if module in LIFE[step][0]] for step, modules in crossed.items()
    }
    for step, (_, files) in LIFE.items():
        assert all(any(results.glob(re.sub(r"<\w+>", "*", file))) for file in files), step
    # Both replies hold the 5 of 8 facts that are left in r = 376 tokens of reference: c / W = 3383 / 4096, 10 of 16.
    assert (results / "tables/table_a1.csv").read_text().splitlines()[1] == "90,82.6,376,0.625"
