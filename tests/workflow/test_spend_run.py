"""What a run costs, said before and after: the real `snakemake` against a server that counts."""

import csv
import json
import math
import re
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from projects import PLANNED, Project, copy_project
from servers import ALL_PREFLIGHTS, Server

from rcwt.base.tokens import count

#: Two shares x two orders = 4 cells of 2 calls; the server bills the tokens of the texts in, and 20 out.
CONFIG = """\
models: [under-test]
designs:
  fixed_budget:
    windows: [{window: 4096, shares: [0, 50], trials: 2}]
    params: {temperature: 0.3, max_tokens: 64}
registry:
  under-test: {litellm: openai/under-test, api_base: "http://127.0.0.1:PORT/v1", endpoint_id: test, token_factor: 1.1}
prices:
  under-test: {input: 2, output: 8, as_of: 2026-11-01}
bootstrap: {B: 100}
"""
BILLED = {"prompt": {}, "completion": 20}
CELL = "fixed_budget-w4096-q0-coord_first"
#: What `all` makes of calls and money; without curves and figures the tests take half the time.
TABLES = ("results/tables/spend.csv", "results/tables/completeness.csv")
MINE = ("--configfile", "mine.yaml")
SPEND = re.compile(
    r"spend: (\d+) calls to make, (\d+) cached, (\d+)/(\d+) tokens, \$([\d.]+) expected, \$([\d.]+) at most"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"), usage=BILLED)
    yield running
    running.stop()


def configured(project: Project, server: Server) -> Project:
    (project.folder / "mine.yaml").write_text(CONFIG.replace("PORT", str(server.port)))
    return project


@pytest.fixture(scope="module")
def paid_run(root: Path, server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, str]]:
    """The tables of a run, and what was said before it: dry runs of `all` and of one cell, and the plan."""
    project = configured(copy_project(root, tmp_path_factory.mktemp("paid") / "project"), server)
    said = {"all": last_line(project, "all")}
    said["cell"] = last_line(project, f"results/scores/rules/under-test/{CELL}.json", "-q", "rules")
    project.succeed("results/plan/spend.csv", *MINE)
    said["plan"] = (project.folder / "results/plan/spend.csv").read_text()
    assert server.stats()["received"] == 0
    project.succeed("--cores", "2", *TABLES, *MINE)
    lines = (project.folder / ".cache/responses/preflights.jsonl").read_text().splitlines()
    # As the server counted them, and 2 for each of two messages.
    said["preflights"] = " ".join(str(json.loads(line)["usage"]["prompt"] + 4) for line in lines)
    said["again"] = last_line(project, *TABLES)
    return project, said


@pytest.fixture
def paid(paid_run: tuple[Project, dict[str, str]], tmp_path: Path) -> Project:
    shutil.copytree(paid_run[0].folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


def last_line(project: Project, *arguments: str) -> str:
    return project.succeed(*arguments, "-n", *MINE).splitlines()[-1]


def prompt_tokens(project: Project) -> dict[str, int]:
    """Counted anew from the prompt files: cl100k tokens of each message, and 2 a message."""
    files = sorted((project.folder / "results/prompts").iterdir())
    prompts = [json.loads(path.read_text()) for path in files]
    return {
        prompt["condition"]: sum(count(message["content"]) + 2 for message in prompt["messages"]) for prompt in prompts
    }


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def preflights(said: dict[str, str]) -> list[int]:
    """The tokens of each call of the preflight, by what the server has counted."""
    return [int(tokens) for tokens in said["preflights"].split()]


def worst(tokens: int, cap: int) -> Decimal:
    return (math.ceil(Decimal(tokens) * Decimal("1.1")) * Decimal(2) + cap * Decimal(8)) / 1_000_000


def test_the_dry_run_says_what_the_targets_asked_for_cost(paid_run: tuple[Project, dict[str, str]]) -> None:
    project, said = paid_run
    tokens = prompt_tokens(project)
    # 8 calls and those of the preflight, capped at 16; without a kept response the cap is expected.
    before = preflights(said)
    assert len(before) == ALL_PREFLIGHTS
    total = 2 * sum(tokens.values()) + sum(before)
    at_most = 2 * sum(worst(size, 64) for size in tokens.values()) + sum(worst(size, 16) for size in before)
    expected = (Decimal(total) * 2 + (8 * 64 + 4 * 16) * Decimal(8)) / 1_000_000
    found = SPEND.fullmatch(said["all"])
    assert found
    assert [int(number) for number in found.groups()[:4]] == [8 + 4, 0, total, 8 * 64 + 4 * 16]
    assert abs(Decimal(found[5]) - expected) <= Decimal("0.00005")
    assert 0 <= Decimal(found[6]) - at_most < Decimal("0.0001")
    cell = SPEND.fullmatch(said["cell"])
    assert cell
    size = tokens[CELL]
    assert [int(number) for number in cell.groups()[:4]] == [2 + 4, 0, 2 * size + sum(before), 2 * 64 + 4 * 16]


def test_the_plan_file(paid_run: tuple[Project, dict[str, str]]) -> None:
    tokens = prompt_tokens(paid_run[0])
    target, preflight = rows(paid_run[1]["plan"])
    assert (target["experiment"], target["model"], target["role"]) == ("fixed_budget", "under-test", "target")
    assert (target["calls"], target["cached_calls"]) == ("8", "0")
    assert int(target["input_tokens"]) == 2 * sum(tokens.values())
    assert Decimal(target["usd_worst"]) == 2 * sum(worst(size, 64) for size in tokens.values())
    before = preflights(paid_run[1])
    assert (preflight["experiment"], preflight["calls"], preflight["input_tokens"]) == ("", "4", str(sum(before)))
    assert Decimal(preflight["usd_worst"]) == sum(worst(size, 16) for size in before)


def test_the_plan_file_is_never_stale(paid: Project) -> None:
    paid.succeed("results/plan/spend.csv", *MINE)
    [target] = rows((paid.folder / "results/plan/spend.csv").read_text())
    assert (target["calls"], target["cached_calls"], target["usd_worst"]) == ("0", "8", "0")
    assert "Nothing to be done" in paid.succeed("results/plan/spend.csv", *MINE)


def test_nothing_is_left_to_pay_for(paid_run: tuple[Project, dict[str, str]]) -> None:
    nothing = "spend: 0 calls to make, 0 cached, 0/0 tokens, $0.0000 expected, $0.0000 at most"
    assert paid_run[1]["again"] == nothing


def test_more_trials_cost_the_new_calls(paid: Project, paid_run: tuple[Project, dict[str, str]]) -> None:
    paid.edit("mine.yaml", lambda text: text.replace("trials: 2", "trials: 3"))
    found = SPEND.fullmatch(last_line(paid, "all"))
    assert found
    tokens = sum(prompt_tokens(paid).values()) + sum(preflights(paid_run[1]))
    # 4 new calls and a preflight of 4; 8 of the 12 are kept, and say that a reply has 20 tokens.
    assert [int(number) for number in found.groups()[:4]] == [4 + 4, 8, tokens, 4 * 64 + 4 * 16]
    expected = (Decimal(tokens) * 2 + (4 * 20 + 4 * 16) * Decimal(8)) / 1_000_000
    assert abs(Decimal(found[5]) - expected) <= Decimal("0.00005")


def test_the_table_is_the_servers_bill(paid_run: tuple[Project, dict[str, str]], server: Server) -> None:
    target, preflight = rows((paid_run[0].folder / "results/tables/spend.csv").read_text())
    assert (target["calls_planned"], target["calls_actual"], target["calls_without_usage"]) == ("8", "8", "0")
    assert target["output_tokens_actual"] == "160"
    assert (preflight["role"], preflight["calls_planned"], preflight["calls_actual"]) == ("preflight", "4", "4")
    stats = server.stats()
    assert stats["successes"] == 8 + 4
    billed = stats["billed"]
    assert int(target["input_tokens_actual"]) + int(preflight["input_tokens_actual"]) == billed["prompt"]
    assert int(preflight["input_tokens_actual"]) == sum(preflights(paid_run[1])) - 4 * 4
    bill = (Decimal(billed["prompt"]) * 2 + Decimal(billed["completion"]) * 8) / 1_000_000
    assert Decimal(target["usd_actual"]) + Decimal(preflight["usd_actual"]) == bill
    assert {target["price_as_of"], preflight["price_as_of"]} == {"2026-11-01"}


def test_a_price_edit_makes_the_table_again_and_nothing_else(paid: Project) -> None:
    paid.edit("mine.yaml", lambda text: text.replace("{input: 2,", "{input: 3,"))
    output = paid.succeed("--cores", "2", *TABLES, *MINE)
    assert "1 of 1 steps (100%) done" in output
    target, _ = rows((paid.folder / "results/tables/spend.csv").read_text())
    assert Decimal(target["usd_actual"]) == (int(target["input_tokens_actual"]) * 3 + 8 * 20 * Decimal(8)) / 1_000_000


def test_limits_rerun_nothing_and_max_missing_its_own_check(paid: Project) -> None:
    limits = "token_factor: 1.1, max_concurrency: 1, rpm: 7, tpm: 900, total_deadline_s: 9"
    paid.edit("mine.yaml", lambda text: text.replace("token_factor: 1.1", limits))
    output = paid.succeed(*TABLES, "-n", *MINE, "--config", "max_usd=0.001", "on_cap=stop", "max_missing=0.5")
    assert {rule for rule, _ in PLANNED.findall(output)} == {"completeness", "total"}


def test_a_worst_case_above_the_cap_sends_nothing(project: Project, server: Server) -> None:
    before = server.stats()["received"]
    configured(project, server)
    output = project.refuse("--cores", "2", "all", *MINE, "--config", "max_usd=0.07")
    for part in ("max_usd: found 0.07", "under-test (target): 8 calls, $0.07", "on_cap: stop", "Nothing was sent"):
        assert part in output
    assert "Traceback" not in output
    assert server.stats()["received"] == before
    assert not (project.folder / "results").exists()
    assert not (project.folder / ".cache").exists()


def test_the_papers_models_are_priced_without_keys(project: Project) -> None:
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "")
    output = project.run("all", "-n", "--configfile", "config/paper.yaml", environment=keys)
    assert output.returncode == 0
    found = SPEND.fullmatch(output.stdout.splitlines()[-1])
    assert found
    # 3 models x (36 cells x 20 calls at 4 096 and 8 192 tokens, 32 x 10 in the larger windows, 18 x 20 of the open task
    # with its evidence intact; 10 x 5 intact, 10 x 20 algorithmic, 3 benchmarks x 5 packs x 10 x 10); the judge scores
    # all but these. Before each model 8 calls: the short one, three texts of the main task, one of the algorithmic
    # task, three packs. They are vendors: no largest prompt goes first.
    judged = 36 * 20 + 32 * 10 + 18 * 20
    assert int(found[1]) == 3 * (judged + 50 + 200 + 1500) + 3 * judged + 3 * 8
    assert 50 < Decimal(found[5]) <= Decimal(found[6]) < 80
    assert not (project.folder / "results").exists()
    assert not (project.folder / ".cache").exists()


@pytest.mark.parametrize("command", ["--rulegraph", "--lint"])
def test_only_a_dry_run_ends_with_the_line(project: Project, command: str) -> None:
    assert "spend:" not in project.run(command).stdout
