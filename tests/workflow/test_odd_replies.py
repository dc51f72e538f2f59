"""What a server says of a reply, through the real `snakemake`: how it ended, who gave it, and what it used."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from projects import Project
from servers import ALL_PREFLIGHTS, JUDGE_PREFLIGHTS, PREFLIGHTS, PRICES, Server, configuration, write

from rcwt.trials.schema import read_table

TARGET = "results/trials.parquet"
CELLS = "results/tables/fixed_budget_cells.csv"
TRIALS = 8
ITEMS = [
    *("crdt_throughput", "mls_rfc", "three_encryption_options", "recommends_option_b", "pg_limit", "redis_pubsub_rate"),
    *("redis_streams_latency", "prosemirror_richtext", "backend_rampup", "infra_migration_weeks"),
]


def pooled(project: Project) -> "pd.Series[Any]":
    cells = pd.read_csv(project.folder / CELLS)
    return cells[cells["order"] == "pooled"].iloc[0]


@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_failures_are_asked_again_until_a_reply_comes(project: Project, server: Server, protocol: str) -> None:
    words = ["error", "OTHER", "MALFORMED_RESPONSE", "network_error", "insufficient_system_resource"]
    # The first arrivals are the preflight.
    server.script(sequence=["ok"] * PREFLIGHTS + [f"native:{word}" for word in words])
    output = project.succeed(TARGET, "--cores", "8", *write(project.folder, configuration(server, protocol)))
    assert server.stats()["received"] == TRIALS + PREFLIGHTS + len(words)
    trials = read_table(project.folder / TARGET)
    assert set(trials["status"]) <= {"ok", "truncated"}
    assert trials["attempts"].sum() == TRIALS + len(words)
    assert "the reply ended with 'insufficient_system_resource', a failure of the provider" in output


def test_a_failure_that_stays_fails_the_cell_and_keeps_nothing(project: Project, server: Server) -> None:
    content = configuration(server)
    content["registry"]["t"]["total_deadline_s"] = 1
    server.script(sequence=["ok"] * PREFLIGHTS, always="native:network_error")
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    assert "retries_exhausted" in output
    assert "'network_error'" in output
    assert not list((project.folder / ".cache/responses").rglob("*.json"))


def test_unknown_words_and_another_model_are_counted_and_named(project: Project, server: Server) -> None:
    message = {"content": "The payload limit is 8KB.", "role": "assistant"}
    body = {"id": "1", "object": "chat.completion", "model": "other-9b"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "moon"}]
    body["usage"] = {"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}
    server.script(always={"status": 200, "body": json.dumps(body)})
    arguments = write(project.folder, configuration(server))
    project.succeed("results/summary.txt", "results/tables/spend.csv", "--cores", "8", *arguments)
    cell, summary = pooled(project), (project.folder / "results/summary.txt").read_text()
    assert (cell["n_unknown_finish"], cell["n_other_model"], cell["n_answered"]) == (TRIALS, TRIALS, TRIALS)
    assert f"{TRIALS} replies ended with a word nobody knows, scored as whole: 'moon' ({TRIALS})" in summary
    assert f"{TRIALS} of {TRIALS} calls were answered by 'other-9b' ({TRIALS})" in summary
    # What only the total counts is output: 109 - 35. A prompt that is counted as 35 whatever its length is not counted.
    trials = read_table(project.folder / TARGET)
    assert set(trials["completion_tokens"]) == {74}
    assert trials["cost_usd"].isna().all()
    spend = pd.read_csv(project.folder / "results/tables/spend.csv").set_index("role")
    assert spend.loc["target", "calls_without_usage"] == TRIALS


def test_a_cap_eaten_by_reasoning_fails_the_run_and_says_what_to_raise(project: Project, server: Server) -> None:
    content = configuration(server)
    content["registry"]["t"]["param_names"] = {"max_tokens": "max_completion_tokens"}
    server.script(always="reasoning", usage={"completion": "cap"})
    arguments = write(project.folder, content)
    targets = ["results/tables/completeness.csv", "results/tables/table_a1.csv", "results/summary.txt"]
    output = project.refuse(*targets, "--cores", "8", *arguments)
    key = "designs.fixed_budget.params.max_tokens"
    assert f"{key}: found 1024; {TRIALS} of {TRIALS} calls of fixed_budget by t" in output
    assert f"Raise `max_tokens` to 2048 (key {key})" in output
    summary = (project.folder / "results/summary.txt").read_text()
    assert f"cut before any text {TRIALS} of {TRIALS} calls. Raise `max_tokens` to 2048" in " ".join(summary.split())
    # The tables are there to look at, the check is not.
    assert not (project.folder / "results/tables/completeness.csv").exists()
    assert (project.folder / "results/tables/table_a1.csv").exists()


def test_a_cap_eaten_now_and_then_is_told_by_a_run_that_ends_well(
    project: Project, server: Server, tmp_path: Path
) -> None:
    server.script(sequence=["ok"] * ALL_PREFLIGHTS + ["reasoning", "reasoning"])
    targets = ["results/tables/completeness.csv", "results/summary.txt"]
    output = project.succeed(*targets, "--cores", "8", *write(project.folder, configuration(server)))
    assert f"cut before any text 2 of {TRIALS} calls." in " ".join(output.split())


def test_reasoning_that_a_server_leaves_in_a_reply_is_no_answer(project: Project, server: Server) -> None:
    """It is taken off before the rules and the judge see a reply; other tags ask no target again."""
    content = configuration(server, judges=["rules", "j"])
    content["registry"]["j"] = {**content["registry"]["t"], "litellm": "openai/judge"}
    content["prices"]["j"] = PRICES
    server.script(
        items=ITEMS,
        roles={"judge": "check which statements a reply makes"},
        faults=[{"share": 1, "act": "thinks_first", "role": "judge"}],
        sequence=["thinks_first"] * (PREFLIGHTS + TRIALS // 2),
        per="arrival",
        strikes=99,
        always="only_thinks",
    )
    targets = [TARGET, CELLS, "results/summary.txt"]
    arguments = ["--cores", "8", *write(project.folder, content)]
    project.succeed(*targets, *arguments)
    trials, cell = read_table(project.folder / TARGET), pooled(project)
    # Some of the server's replies are longer than the cap.
    thought = trials[trials["text"] == ""]
    assert 0 < len(thought) < TRIALS
    assert set(thought["status"]) <= {"empty", "truncated"}
    assert not trials["text"].str.contains("think>").any()
    assert trials["reasoning_text"].notna().all()
    assert (cell["n_reasoning"], cell["n_empty"]) == (TRIALS, (thought["status"] == "empty").sum())
    summary = (project.folder / "results/summary.txt").read_text()
    assert f"taken off {TRIALS} of {TRIALS} replies before they were scored" in summary
    # The judge's answers are read behind its reasoning, and it is asked of those replies alone that hold an answer.
    scores = read_table(project.folder / "results/scores.parquet")
    assert set(scores.loc[scores["judge"] == "j", "score_status"]) <= {"scored", "abstained", "non_answer"}
    asked = server.stats()
    answers = TRIALS - len(thought)
    assert answers <= asked["by_model"]["judge"] <= answers + JUDGE_PREFLIGHTS

    content["registry"]["t"]["reasoning_tags"] = []
    write(project.folder, content)
    project.succeed(*targets, *arguments)
    trials = read_table(project.folder / TARGET)
    assert trials["text"].str.contains("<think>").all()
    assert trials["reasoning_text"].isna().all()
    assert set(trials["status"]) <= {"ok", "truncated"}
    again = server.stats()
    assert again["by_model"]["served"] == asked["by_model"]["served"]
    # The judge is asked about the eight texts, which it has not seen as they are now.
    assert TRIALS <= again["by_model"]["judge"] - asked["by_model"]["judge"] <= TRIALS + JUDGE_PREFLIGHTS
