"""Several kinds of design in one run, on the real `snakemake`: every table, and what an edit reruns.

Right counts: two shares (or amounts) and two orders are four conditions of each experiment.
"""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from projects import Project, cells, copy_project

SMALL = """\
experiments: [fixed_budget, intact, intact_open, algorithmic]
designs:
  fixed_budget:
    windows: [{window: 4096, shares: [0, 90], trials: 2}]
  intact: {shares: [0, 95], trials: 2}
  intact_open: {coordination_tokens: [0, 3383], trials: 2}
  algorithmic:
    windows: [{window: 4096, shares: [0, 90], trials: 2}]
bootstrap: {B: 200}
"""
WITH = ("--configfile", "small.yaml")
TASK = "resources/templates/spec_recall"


@pytest.fixture(scope="module")
def small_run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    done = copy_project(root, tmp_path_factory.mktemp("kinds") / "project", None)
    (done.folder / "small.yaml").write_text(SMALL)
    return done, done.succeed("--cores", "4", "all", *WITH)


@pytest.fixture
def small(small_run: tuple[Project, str], tmp_path: Path) -> Project:
    """A copy of the finished run that a test may edit."""
    shutil.copytree(small_run[0].folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


def conditions(project: Project, rule: str) -> set[str]:
    """The experiments whose cells a dry run would make again by `rule`."""
    output = project.succeed("all", "-n", *WITH)
    jobs = [part for part in output.split("rule ") if part.startswith(f"{rule}:")]
    return {
        name for name in ("fixed_budget", "intact", "intact_open", "algorithmic") for job in jobs if f"/{name}-w" in job
    }


def test_the_intact_table_is_the_papers_in_form(small_run: tuple[Project, str], root: Path) -> None:
    ours = pd.read_csv(small_run[0].folder / "results/tables/intact.csv")
    paper = pd.read_csv(root / "resources/published/intact.csv")
    assert list(ours.columns) == list(paper.columns)
    expected = paper[paper["ratio_percent"].isin([0, 95])].reset_index(drop=True)
    names = ["ratio_percent", "coordination_tokens", "estimated_prompt_tokens", "task_tokens"]
    pd.testing.assert_frame_equal(ours[names], expected[names])
    assert list(ours["calls_per_model"]) == [4, 4]
    # The reader quotes; every field of the intact task can be quoted, however much coordination stands beside it.
    assert list(ours["calls_all_correct"]) == [4, 4]
    full = pd.read_csv(small_run[0].folder / "results/tables/intact_full.csv")
    assert set(full["distinct_replies"]) == {1}


def test_each_arm_has_its_ceiling_and_the_reader_reaches_both(small_run: tuple[Project, str]) -> None:
    table = pd.read_csv(small_run[0].folder / "results/tables/displacement.csv")
    assert list(table["c"]) == [0, 3383]
    # 0.625 of the facts are whole at r = 376 (paper's geometry); nothing is cut in the intact arm.
    assert list(table["fixed_ceiling"]) == [1, 0.625]
    assert list(table["intact_ceiling"]) == [1, 1]
    assert list(table["displacement"]) == [0, 0.375]
    assert list(table["interference"]) == [0, 0]


def test_reasoning_is_not_quoting(small_run: tuple[Project, str]) -> None:
    table = pd.read_csv(small_run[0].folder / "results/tables/algorithmic_cells.csv")
    pooled = table[table["order"] == "pooled"]
    assert list(pooled["c"]) == [0, 3235]  # floor(0.9 (4096 - 501))
    # The reader declines: misses, and said to be; no ceiling, as nothing is cut.
    assert (pooled["effective_mean"] == 0).all()
    assert (pooled["n_abstained_items"] == pooled["possible"]).all()
    assert (pooled["n_unparsed"] == 0).all()
    assert pooled["ceiling"].isna().all()
    manifest = pd.read_csv(small_run[0].folder / "results/manifest.csv")
    own = manifest[manifest["experiment"] == "algorithmic"]
    assert (own["prompt_tokens"] < 4096).all()
    assert (own["reference_tokens"] == 0).all()


def test_all_tables_hold_all_experiments(small_run: tuple[Project, str]) -> None:
    tables = small_run[0].folder / "results/tables"
    every = {"fixed_budget", "intact", "intact_open", "algorithmic"}
    assert set(pd.read_csv(tables / "completeness.csv")["experiment"]) == every
    assert set(pd.read_csv(tables / "intact_cells.csv")["experiment"]) == {"intact", "intact_open"}
    # A curve over shares needs one window for all of them.
    assert set(pd.read_csv(tables / "curve_fits.csv")["experiment"]) == {"fixed_budget", "algorithmic"}
    key = pd.read_csv(small_run[0].folder / "results/audit/key.csv")
    assert set(key["experiment"]) == {"fixed_budget", "intact_open"}  # nothing scored by form is for a person
    for part in ("fixed_budget, W", "intact, task intact", "intact_open, task intact", "algorithmic, W"):
        assert part in small_run[1]


def test_a_second_run_has_nothing_to_do(small: Project) -> None:
    assert "Nothing to be done" in small.succeed("--cores", "4", "all", *WITH)


def test_the_exact_question_reruns_the_intact_task_alone(small: Project) -> None:
    small.edit(f"{TASK}/exact_question.md", lambda text: text.rstrip() + " Be brief.\n")
    assert cells(small.plan(*WITH)) == (4, 4, 4)
    assert conditions(small, "calls") == {"intact"}


def test_the_rule_of_a_field_reruns_the_scores_of_the_intact_task_alone(small: Project) -> None:
    small.edit(f"{TASK}/task.yaml", lambda text: text.replace("accept: ['8 KB', ", "accept: ['8 KB', '8 kilo', "))
    assert cells(small.plan(*WITH)) == (0, 0, 4)
    assert conditions(small, "scores") == {"intact"}


def test_a_pattern_of_a_fact_does_not_rerun_exact_fields(small: Project) -> None:
    small.edit(f"{TASK}/task.yaml", lambda text: text.replace("'rfc[ -]?9420'", "'rfc[ -]*9420'"))
    assert cells(small.plan(*WITH)) == (0, 0, 8)
    assert conditions(small, "scores") == {"fixed_budget", "intact_open"}


def test_the_algorithmic_instruction_reruns_its_own_calls_alone(small: Project) -> None:
    small.edit("resources/templates/algorithmic/instruction.md", lambda text: text.replace("Trace the", "Follow the"))
    assert cells(small.plan(*WITH)) == (4, 4, 4)
    assert conditions(small, "calls") == {"algorithmic"}


@pytest.mark.parametrize("target", ["tables/intact.csv", "tables/algorithmic_cells.csv", "figures/figure_3.png"])
def test_a_table_builds_alone(small: Project, target: str) -> None:
    for made in (small.folder / "results").iterdir():
        if made.is_file() and made.name != "config.yaml":  # the mark: without it the folder could be someone's own
            made.unlink()
        elif made.is_dir() and made.name not in {"prompts", "calls", "scores"}:
            shutil.rmtree(made)
    small.succeed("--cores", "4", f"results/{target}", *WITH)
    assert (small.folder / "results" / target).stat().st_size > 0
    assert not (small.folder / "results/tables/curve_fits.csv").exists()


def test_without_the_intact_arm_there_is_a_header_and_no_failure(finished_run: tuple[Project, str]) -> None:
    results = finished_run[0].folder / "results"  # of the fixed budget alone
    assert len((results / "tables/displacement.csv").read_text().splitlines()) == 1
    assert len((results / "tables/intact.csv").read_text().splitlines()) == 1
    assert "nothing to draw" in (results / "figures/figure_3.svg").read_text()
