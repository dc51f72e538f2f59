"""What an edit reruns, seen in the plan of the real `snakemake`.

Right counts: reader, rules, the main experiment in four windows of 9, 9, 8 and 8 shares, both orders. That is 18
conditions at 4 096 tokens, as in the issue of the main experiment, and 68 in all.
"""

import os
import re
from pathlib import Path

import pytest
from projects import Project, cells

TASK = "resources/templates/spec_recall"
CONDITIONS = 2 * (9 + 9 + 8 + 8)


def test_a_second_run_has_nothing_to_do(finished: Project) -> None:
    assert "Nothing to be done" in finished.succeed("--cores", "8", "all")


def test_touching_every_template_reruns_nothing(finished: Project) -> None:
    for path in (finished.folder / TASK).iterdir():
        os.utime(path)
    assert finished.plan() == {}


def test_the_last_sentence_of_the_reference_is_in_the_prompts_that_hold_it(finished: Project) -> None:
    # The whole reference is there where r >= 609 tokens. At 4 096: 0, 25, 50, 75 % (r = 940 there, 376 at 90 %); at
    # 8 192: 0 to 92 % (629; 472 at 94 %); at 16 384: 0, 50, 90 % (1 605; 482 at 97 %); at 32 768: 0, 50, 90, 97.5 %
    # (811; 487 at 98.5 %). Each in both orders.
    holding = 2 * (4 + 6 + 3 + 4)
    finished.edit(f"{TASK}/reference.md", lambda text: text.rstrip()[:-1] + " today.\n")
    assert cells(finished.plan()) == (holding, holding, holding)


def test_the_coordination_text_is_in_every_prompt_but_those_without_any(finished: Project) -> None:
    # Both orders of 0 % in each of four windows have none.
    finished.edit(f"{TASK}/coordination.md", lambda text: "Roundtable. " + text)
    assert cells(finished.plan()) == (CONDITIONS - 8,) * 3


def test_more_trials_make_only_the_new_calls(finished: Project) -> None:
    # 20 trials at 4 096 and at 8 192 tokens, 2 x 9 conditions each; 10 in the others, which stay as they are.
    finished.edit("config/config.yaml", lambda text: text.replace("trials: 20", "trials: 25"))
    assert cells(finished.plan()) == (0, 36, 36)
    responses = finished.folder / ".cache/responses"
    before = {path: path.stat().st_mtime_ns for path in responses.rglob("*.json")}
    assert len(before) == 36 * 20 + 32 * 10
    finished.succeed("--cores", "8", "results/trials.parquet")
    after = {path: path.stat().st_mtime_ns for path in responses.rglob("*.json")}
    assert len(after) == len(before) + 36 * 5
    assert {path: after[path] for path in before} == before


def test_a_second_model_runs_its_own_cells_only(finished: Project) -> None:
    second = finished.folder / "second.yaml"
    second.write_text(
        "models: [reader, reader-2]\n"
        "registry: {reader-2: {litellm: embedded/reader, params: {max_tokens: 2000}}}\n"
        "prices: {reader-2: {input: 0, output: 0, as_of: 2026-11-29}}\n"
    )
    assert cells(finished.plan("--configfile", str(second))) == (0, CONDITIONS, CONDITIONS)


def test_judge_patterns_rerun_scores_only(finished: Project) -> None:
    finished.edit(f"{TASK}/task.yaml", _with_another_pattern)
    assert cells(finished.plan()) == (0, 0, CONDITIONS)


def _with_another_pattern(text: str) -> str:
    """The first `accept:` list with one more pattern in front, at the indentation of its entries."""
    found = re.search(r"accept:\n(\s*)- ", text)
    assert found, "task.yaml has no accept list in block form"
    return text[: found.end(0) - 2] + f'- "added pattern"\n{found.group(1)}' + text[found.end(0) - 2 :]


@pytest.mark.parametrize(
    ("module", "rerun"),
    [
        ("scoring/rules", (0, 0, CONDITIONS)),
        ("run/score_cell", (0, 0, CONDITIONS)),
        ("reader/reader", (0, CONDITIONS, CONDITIONS)),
        ("base/number_words", (0, CONDITIONS, CONDITIONS)),  # the reader and the rules read them
        ("wire/reading", (0, 0, 0)),  # no answer of a server is in these results
    ],
)
def test_an_edit_of_what_cells_are_made_by_reruns_them(
    finished: Project, module: str, rerun: tuple[int, int, int]
) -> None:
    finished.edit(f"workflow/rcwt/{module}.py", lambda text: text + "\n# another line\n")
    assert cells(finished.plan()) == rerun


@pytest.mark.parametrize(
    "module", ["config/parameters", "config/schema", "study/study", "study/tasks", "study/planned", "base/errors"]
)
def test_an_edit_of_what_reaches_stages_as_parameters_reruns_nothing(finished: Project, module: str) -> None:
    finished.edit(f"workflow/rcwt/{module}.py", lambda text: text + "\n# another line\n")
    assert finished.plan() == {}


def test_code_that_changes_prompts_reruns_their_cells(finished: Project) -> None:
    # What stands between two blocks; prompts of 0 % have one block.
    def with_one_line_break(text: str) -> str:
        return text.replace(r'SEPARATOR = "\n\n"', r'SEPARATOR = "\n"')

    finished.edit("workflow/rcwt/study/prompts.py", with_one_line_break)
    plan = finished.plan()
    assert cells(plan) == (CONDITIONS - 8,) * 3
    assert "condition_manifest" in plan


def test_code_that_counts_the_tokens_of_prompts_writes_them_again(finished: Project) -> None:
    finished.edit("workflow/rcwt/study/prompts.py", lambda text: text.replace("OVERHEAD = 2", "OVERHEAD = 3"))
    assert finished.plan()["prompt"] == CONDITIONS


def test_code_that_leaves_the_prompts_as_they_are_reruns_no_cell(finished: Project) -> None:
    finished.edit("workflow/rcwt/study/prompts.py", lambda text: text + "\n# another line\n")
    plan = finished.plan()
    assert cells(plan) == (0, 0, 0)
    assert {"condition_manifest", "trials"} <= set(plan)


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        ("analysis/accounts", {"window_accounts", "summary"}),
        ("report/identified", {"summary", "table_2"}),
        ("report/table_a1", {"table_a1"}),
        ("report/intact", {"intact_table"}),
        ("report/pack_items", {"pack_items"}),
        ("report/printing", {"table_a1", "table_1", "table_2", "intact_table", "summary"}),
        ("analysis/displacement", {"displacement", "figure_3"}),
        # The cells are counted by it.
        ("trials/judged", {"intervals", "curves", "pack_items", "completeness", "displacement"}),
    ],
)
def test_an_edit_of_a_module_reruns_what_reads_or_makes_by_it(finished: Project, module: str, rules: set[str]) -> None:
    finished.edit(f"workflow/rcwt/{module}.py", lambda text: text + "\n# another line\n")
    plan = finished.plan()
    assert cells(plan) == (0, 0, 0)
    assert rules <= set(plan)
    assert not {"trials", "condition_manifest", "tokenize_templates"} & set(plan)
    if module != "trials/judged":
        assert set(plan) - {"all"} == rules


def test_the_seed_reruns_intervals_and_what_is_below(finished: Project) -> None:
    finished.edit("config/config.yaml", lambda text: text.replace("seed: 0", "seed: 1"))
    plan = finished.plan()
    assert cells(plan) == (0, 0, 0)
    assert not {"trials", "condition_manifest", "tokenize_templates"} & set(plan)
    assert {"intervals", "curves", "window_accounts", "table_a1", "table_1", "figure_1", "figure_2"} <= set(plan)


@pytest.mark.parametrize("figure", ["figure_1", "figure_2", "figure_3"])
def test_a_colour_reruns_its_figure_only(finished: Project, figure: str) -> None:
    finished.edit(f"workflow/rcwt/report/{figure}.py", _another_colour)
    plan = finished.plan()
    plan.pop("all", None)
    plan.pop("summary", None)  # it names the figure it stands beside
    assert plan == {figure: 1}


def _another_colour(text: str) -> str:
    found = re.search(r"#[0-9A-Fa-f]{6}", text)
    assert found, "the figure's script names no colour"
    return text[: found.start()] + "#123456" + text[found.end() :]


@pytest.mark.parametrize("name", ["config", "models", "prices"])
def test_a_comment_in_a_config_reruns_nothing(finished: Project, name: str) -> None:
    finished.edit(f"config/{name}.yaml", lambda text: text + "# a comment\n")
    assert finished.plan() == {}


@pytest.mark.parametrize(
    "overlay",
    [
        "offline: true\n",
        "max_usd: 5\non_cap: stop\n",
        "registry: {reader: {max_concurrency: 3, rpm: 5, tpm: 9, token_factor: 2.0}}\n",
    ],
)
def test_limits_and_caps_rerun_nothing(finished: Project, overlay: str) -> None:
    file = finished.folder / "overlay.yaml"
    file.write_text(overlay)
    assert finished.plan("--configfile", str(file)) == {}


def test_a_price_reruns_the_spend_table_only(finished: Project) -> None:
    (finished.folder / "overlay.yaml").write_text("prices: {reader: {input: 1}}\n")
    assert finished.plan("--configfile", "overlay.yaml") == {"all": 1, "spend_table": 1}


def test_results_copied_without_their_history_are_refused_when_stale(finished: Project) -> None:
    import shutil

    shutil.rmtree(finished.folder / ".snakemake")
    finished.edit("config/config.yaml", lambda text: text.replace("trials: 20", "trials: 25"))
    # Without Snakemake's memory nothing above the manifest is rerun; the aggregation notices by itself.
    again = ("--cores", "2", "results/trials.parquet", "--forcerun", "condition_manifest")
    output = finished.refuse(*again)
    assert "holds 20 trials, the manifest plans 25" in output
    assert "Delete results/calls and run the same command again" in output
    shutil.rmtree(finished.folder / "results/calls")
    finished.succeed(*again)


@pytest.mark.parametrize(("table", "others"), [("table_a1", "table_1"), ("table_1", "table_a1")])
def test_a_table_alone_can_be_asked_for(project: Project, table: str, others: str) -> None:
    output = project.succeed(f"results/tables/{table}.csv", "-n")
    assert f"rule {table}:" in output
    for rule in (others, "figure_1", "figure_2", "window_accounts", "summary"):
        assert f"rule {rule}:" not in output
    assert not (project.folder / "results").exists()
    assert Path(project.folder / "Snakefile").exists()


def test_without_a_fixed_budget_nothing_of_window_scaling_is_made(project: Project) -> None:
    design = "{kind: intact, task: spec_recall, shares: [0, 50], trials: 1, params: {max_tokens: 700}}"
    (project.folder / "mine.yaml").write_text(f"experiments: [mine]\ndesigns: {{mine: {design}}}\n")
    plan = project.plan("--configfile", "mine.yaml")
    assert not {"table_1", "figure_2", "window_accounts"} & set(plan)


def test_one_window_alone_has_a_table_1_and_no_accounts(project: Project) -> None:
    window = "{window: 4096, shares: [0, 50, 90, 92, 94], trials: 1}"
    (project.folder / "mine.yaml").write_text(
        f"designs: {{fixed_budget: {{windows: [{window}]}}}}\nbootstrap: {{B: 100}}\n"
    )
    targets = [
        f"results/{name}" for name in ("tables/table_1.csv", "tables/window_accounts.csv", "figures/figure_2.png")
    ]
    project.succeed("--cores", "2", *targets, "--configfile", "mine.yaml")
    header, row = (project.folder / "results/tables/table_1.csv").read_text().splitlines()
    assert header.endswith("observed_p0_16384_percent")
    assert row.startswith("reader,")
    assert row.endswith(",,")  # 8 192 and 16 384 were not measured
    assert len((project.folder / "results/tables/window_accounts.csv").read_text().splitlines()) == 1
    assert (project.folder / "results/figures/figure_2.png").stat().st_size > 10_000
