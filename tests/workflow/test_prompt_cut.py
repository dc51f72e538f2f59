"""A server that cuts prompts, one whose counts are none, and those that only count otherwise: a real run each."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from projects import Project
from servers import JUDGE_PREFLIGHTS, PRICES, Server, api_base, configuration, write

from rcwt.trials.schema import read_table

REPLY = {"literal": "The payload limit of PostgreSQL LISTEN/NOTIFY is 8KB."}
CELLS, SUMMARY = "results/tables/fixed_budget_cells.csv", "results/summary.txt"
TASK = """\
name: east
title: A reference in Chinese
kind: open
coordination: coordination.md
items:
  - id: limit
    statement: The payload limit is 8 KB.
    evidence: {strict: ['8 KB'], lenient: ['8 KB']}
    accept: ['8 KB']
  - id: streams
    statement: Streams take 5 ms.
    evidence: {strict: ['5 ms'], lenient: ['5 ms']}
    accept: ['5 ms']
"""


def overlay(server: Server, **changes: Any) -> dict[str, Any]:
    """Four cells of two calls: with and without coordination content, in both orders."""
    content = configuration(server, **changes)
    content["designs"]["fixed_budget"]["windows"] = [{"window": 4096, "shares": [0, 50], "trials": 2}]
    return content


def cells(project: Project) -> pd.DataFrame:
    table = pd.read_csv(project.folder / CELLS)
    return table[table["order"] == "pooled"].set_index("q")


def preflights(project: Project) -> dict[str, tuple[int, int]]:
    """The tokens of each preflight, and what the server counted."""
    lines = (project.folder / ".cache/responses/preflights.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return {record["asked"]: (record["tokens"], record["usage"]["prompt"]) for record in records}


@pytest.fixture
def chinese(project: Project) -> Project:
    """A project whose main task has a Chinese reference beside English coordination content."""
    templates = project.folder / "resources/templates"
    (templates / "east").mkdir()
    shutil.copy(templates / "spec_recall/coordination.md", templates / "east")
    (templates / "east/task.yaml").write_text(TASK)
    (templates / "east/instruction.md").write_text("Name the payload limit and the latency of streams.\n")
    body = "".join(
        f"第{number}条：文档在编辑之前必须加密，密钥按文档分配，并由团队共同保管。\n" for number in range(40)
    )
    (templates / "east/reference.md").write_text(
        f"通知的上限是 8 KB 。\n{body}流的延迟约为 5 ms 。\n", encoding="utf-8"
    )
    return project


@pytest.fixture
def cut_run(project: Project, server: Server) -> tuple[Project, str, dict[str, Any]]:
    """A run against a server that takes 1 000 tokens of a prompt and says nothing, as Ollama does."""
    server.script(usage={"prompt": {"limit": 1000}}, text=REPLY)
    content = overlay(server)
    return project, project.succeed(CELLS, SUMMARY, "--cores", "2", *write(project.folder, content)), content


def test_trials_of_cut_prompts_are_missing(cut_run: tuple[Project, str, dict[str, Any]], server: Server) -> None:
    project, output, content = cut_run
    # 8 calls; a short preflight, one for each of the two texts, and the largest prompt.
    assert server.stats()["successes"] == 8 + 4
    table = cells(project)
    assert list(table["n_prompt_cut"]) == [4, 4]
    assert list(table["n_answered"]) == list(table["n_unparsed"]) == list(table["n_scored"]) == [0, 0]
    assert table[["hits", "possible"]].to_numpy().sum() == 0
    assert table[["effective_mean", "answered_mean", "ci_low"]].isna().all(axis=None)
    assert list(table["bound_low"]) == [0, 0]
    assert list(table["bound_high"]) == [1, 1]
    trials = read_table(project.folder / "results/trials.parquet")
    assert set(trials["status"]) == {"prompt_cut"}
    assert trials[["hits", "possible"]].isna().all(axis=None)
    assert (trials["prompt_tokens"] == 1000).all()
    scores = read_table(project.folder / "results/scores.parquet")
    assert scores["score"].isna().all()
    assert set(scores["score_status"]) == {"not_scored"}
    # Said once, before the cells, with what to do; and in the summary.
    assert output.count("has cut a prompt") == 1
    assert all(word in output for word in ("num_ctx", "--ctx-size", "max_model_len", "endpoint_id"))
    assert "prompt cut by the server (not scored): 8" in " ".join((project.folder / SUMMARY).read_text().split())
    # `all` fails as for any missing score, says why, and makes all other tables and figures.
    refused = project.refuse("all", "--cores", "2", *write(project.folder, content))
    assert re.findall(r"Error in rule (\w+):", refused) == ["completeness"]
    assert "num_ctx" in (project.folder / "results/logs/completeness.log").read_text()
    assert (project.folder / "results/figures/figure_1.png").exists()
    assert server.stats()["successes"] == 8 + 4


def test_the_verdict_is_on_disk(cut_run: tuple[Project, str, dict[str, Any]], server: Server) -> None:
    project, _, content = cut_run
    before = (project.folder / CELLS).read_bytes()
    for name in ("results", ".snakemake"):
        shutil.rmtree(project.folder / name)
    (project.folder / ".cache/responses/preflights.jsonl").unlink()
    server.reset()
    project.succeed(CELLS, "--cores", "2", *write(project.folder, {**content, "offline": True}))
    assert server.stats()["received"] == 0
    assert (project.folder / CELLS).read_bytes() == before
    # What was read of the body stays as it was read.
    kept = [json.loads(path.read_text()) for path in (project.folder / ".cache/responses").rglob("*.json")]
    assert {one["response"]["status"] for one in kept} == {"ok"}


def test_once_the_server_takes_longer_prompts_another_name_asks_anew(
    cut_run: tuple[Project, str, dict[str, Any]], server: Server
) -> None:
    project, _, content = cut_run
    server.script(text=REPLY)
    server.reset()
    content["registry"]["t"]["endpoint_id"] = "longer"
    output = project.succeed(CELLS, "--cores", "2", *write(project.folder, content))
    assert "has cut a prompt" not in output
    assert server.stats()["successes"] == 8 + 4
    table = cells(project)
    assert list(table["n_prompt_cut"]) == [0, 0]
    assert list(table["effective_mean"]) == [0.125, 0.125]  # one fact of eight


def test_only_what_is_cut_is_missing(project: Project, server: Server) -> None:
    # The instruction, 1 000 tokens of a window and a hidden text fit; those of 4 096 do not.
    server.script(usage={"prompt": {"limit": 1500, "hidden": 70}})
    content = overlay(server)
    content["designs"]["fixed_budget"]["windows"].append({"window": 1024, "shares": [50], "trials": 2})
    project.succeed(CELLS, "--cores", "2", *write(project.folder, content))
    table = pd.read_csv(project.folder / CELLS)
    table = table[table["order"] == "pooled"]
    assert table.groupby("window")["n_prompt_cut"].sum().to_dict() == {1024: 0, 4096: 8}


@pytest.mark.parametrize("limit", [None, 600])
def test_a_script_of_few_tokens_is_not_taken_for_a_cut(chinese: Project, server: Server, limit: int | None) -> None:
    """.21 of cl100k's tokens for Chinese: 900 for a reference of 4 096 is whole, and 600 is not."""
    rule = {"east": 0.21, "west": 1.0, "hidden": 70} | ({"limit": limit} if limit else {})
    server.script(usage={"prompt": rule}, text={"literal": "8 KB"})
    content = overlay(server)
    content["designs"]["fixed_budget"]["task"] = "east"
    output = chinese.succeed(CELLS, "--cores", "2", *write(chinese.folder, content))
    table = cells(chinese)
    trials = read_table(chinese.folder / "results/trials.parquet")
    whole = trials[trials["q"] == 0]["prompt_tokens"]
    assert 1 < 4096 / whole.min() < 8
    assert list(table["n_prompt_cut"]) == ([4, 4] if limit else [0, 0])
    assert ("has cut a prompt" in output) == bool(limit)


def test_a_hidden_text_is_no_part_of_the_ratio(project: Project, server: Server) -> None:
    """Seventy tokens, or a thousand, beside every prompt move neither a whole prompt nor one that is cut."""
    server.script(usage={"prompt": {"hidden": 1000}})
    content = overlay(server)
    output = project.succeed(CELLS, "--cores", "2", *write(project.folder, content))
    assert list(cells(project)["n_prompt_cut"]) == [0, 0]
    assert "has cut a prompt" not in output
    [line, *_] = (project.folder / "results/calls/t/fixed_budget-w4096-q0-coord_first.jsonl").read_text().splitlines()
    size = json.loads(line)["response"]["prompt_size"]
    assert size["ratio"] == pytest.approx(1, abs=0.01)
    assert size["overhead"] == pytest.approx(1000, abs=20)


def test_counts_that_do_not_grow_are_none(project: Project, server: Server) -> None:
    server.script(usage={"prompt": 10}, text=REPLY)
    output = project.succeed(CELLS, SUMMARY, "--cores", "2", *write(project.folder, overlay(server)))
    assert output.count("that is no count") == 1
    assert list(cells(project)["n_prompt_cut"]) == [0, 0]
    assert list(cells(project)["effective_mean"]) == [0.125, 0.125]
    trials = read_table(project.folder / "results/trials.parquet")
    assert trials["prompt_tokens"].isna().all()
    assert trials["cost_usd"].isna().all()
    assert trials["completion_tokens"].notna().all()
    assert "unknown" in (project.folder / SUMMARY).read_text()


def test_prompts_of_unknown_size_are_booked_at_the_worst_case(project: Project, server: Server) -> None:
    """A call may cost 4 100 x 1.3 tokens at 1 000 dollars a million, about 5.3; ten counted tokens would be 0.01."""
    server.script(usage={"prompt": 10}, text={"literal": "8KB"})
    price = {"input": 1000, "cached_input": 1000, "output": 0, "as_of": "2026-11-29"}
    content = overlay(server, prices={"t": price}, max_usd=5.4 * 3.5, on_cap="stop")
    content["registry"]["t"]["max_concurrency"] = 1
    project.refuse(CELLS, "--cores", "2", *write(project.folder, content))
    assert 2 <= server.stats()["successes"] - 4 <= 3


def test_the_preflight_has_the_cells_shape(project: Project, server: Server) -> None:
    server.script(usage={"prompt": {}})
    content = overlay(server)
    project.succeed("results/trials.parquet", "--cores", "2", *write(project.folder, content))
    asked = preflights(project)
    assert set(asked) == {"short", "spec_recall/coordination", "spec_recall/reference", "largest"}
    assert all(tokens >= 1000 for name, (tokens, _) in asked.items() if name != "short")
    assert asked["largest"][0] > 4000
    # Each request had a system and a user message, the preflights too, and what was counted is all that was sent.
    shapes = server.stats()["shapes"]
    assert shapes == {"system,user": 8 + 4}


def test_a_judge_has_a_preflight_too_and_its_cut_questions_are_missing_scores(
    project: Project, server: Server, tmp_path: Path
) -> None:
    judging = Server(tmp_path / "judging", usage={"prompt": {"limit": 1050}})
    try:
        content = overlay(server, judges=["j"], prices=dict.fromkeys("tj", PRICES))
        content["registry"]["j"] = {"litellm": "openai/j", "api_base": api_base(judging, "openai")}
        # Some 1 100 tokens, which make a question of 1 700.
        server.script(text={"literal": "The payload limit is 8KB. " * 160})
        output = project.succeed("results/scores.parquet", "--cores", "2", *write(project.folder, content))
        assert judging.stats()["successes"] == 8 + JUDGE_PREFLIGHTS  # none is asked again: it would be cut again
        assert output.count("j: its server has cut a prompt") == 1
        assert set(read_table(project.folder / "results/scores.parquet")["score_status"]) == {"judge_prompt_cut"}
        # Its preflight is in the table of spend.
        project.succeed("results/tables/spend.csv", "--cores", "2", *write(project.folder, content))
        spend = pd.read_csv(project.folder / "results/tables/spend.csv").set_index(["model", "role"])
        asked = spend.loc[("j", "preflight")]
        assert asked["calls_planned"] == asked["calls_actual"] == JUDGE_PREFLIGHTS
    finally:
        judging.stop()


def test_a_judge_whose_counts_do_not_grow_is_booked_at_its_worst_case(
    project: Project, server: Server, tmp_path: Path
) -> None:
    """Its usage says 10 for each prompt: at that price the run's cap would not hold."""
    judging = Server(tmp_path / "judging", usage={"prompt": 10})
    try:
        price = {"input": 1000, "cached_input": 0, "output": 0, "as_of": "2026-11-29"}
        content = overlay(server, judges=["j"], prices={"t": {**price, "input": 0}, "j": price})
        content |= {"max_usd": 3, "on_cap": "stop"}
        content["registry"]["j"] = {
            "litellm": "openai/j",
            "api_base": api_base(judging, "openai"),
            "max_concurrency": 1,
        }
        server.script(text=REPLY)
        output = project.refuse("results/scores.parquet", "--cores", "2", *write(project.folder, content))
        assert "j: its server counts a prompt of 16 tokens as 10" in output
        # A dollar a thousand tokens: the preflight takes about 1.05, and .6 each of three questions of some 600.
        assert JUDGE_PREFLIGHTS < judging.stats()["received"] <= JUDGE_PREFLIGHTS + 3
    finally:
        judging.stop()


def test_another_model_in_the_judges_place_is_named(project: Project, server: Server, tmp_path: Path) -> None:
    judging = Server(tmp_path / "judging", answers_as="gpt-4.1-nano")
    try:
        content = overlay(server, judges=["j"], prices=dict.fromkeys("tj", PRICES))
        content["registry"]["j"] = {"litellm": "openai/gpt-4.1-mini", "api_base": api_base(judging, "openai")}
        server.script(text=REPLY)
        output = project.succeed("results/scores.parquet", "--cores", "2", *write(project.folder, content))
        assert output.count("j: asked for is openai/gpt-4.1-mini, and 'gpt-4.1-nano-served' answers") == 1
    finally:
        judging.stop()
