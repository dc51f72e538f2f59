"""Calls over the network, through the real `snakemake` against a real server: what is sent, kept and said."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from projects import Project
from servers import KEY, PREFLIGHTS, Server, configuration, write

from rcwt.trials.schema import read_table

TARGET = "results/trials.parquet"
CELLS, TRIALS = 2, 8


def run(project: Project, arguments: list[str]) -> str:
    return project.succeed(TARGET, "--cores", "8", *arguments)


def kept(project: Project) -> list[Path]:
    return list((project.folder / ".cache/responses").rglob("*.json"))


@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_one_request_a_trial_and_a_preflight(project: Project, server: Server, protocol: str) -> None:
    output = run(project, write(project.folder, configuration(server, protocol)))
    stats = server.stats()
    assert (stats["received"], stats["successes"]) == (TRIALS + PREFLIGHTS, TRIALS + PREFLIGHTS)
    assert stats["by_key"] == {KEY: TRIALS + PREFLIGHTS}
    assert len(kept(project)) == TRIALS
    trials = read_table(project.folder / TARGET)
    assert len(trials) == TRIALS
    assert trials["prompt_tokens"].notna().all()
    assert (trials["cost_usd"] > 0).all()
    assert f"calls {TRIALS}/{TRIALS}" in output


def test_what_is_on_disk_is_never_asked_again(project: Project, server: Server, tmp_path: Path) -> None:
    arguments = write(project.folder, configuration(server))
    run(project, arguments)
    first = read_table(project.folder / TARGET)
    server.reset()
    assert "Nothing to be done" in run(project, arguments)  # a second run
    other = Server(tmp_path / "other")
    try:  # a fresh clone with only the cache, and the server on another host (endpoint_id is the same)
        moved = write(project.folder, configuration(other), "moved.yaml")
        assert project.plan(*moved).get("calls") is None
        for name in ("results", ".snakemake"):
            shutil.rmtree(project.folder / name)
        run(project, moved)
        assert (server.stats()["received"], other.stats()["received"]) == (0, 0)
    finally:
        other.stop()
    pd.testing.assert_frame_equal(read_table(project.folder / TARGET), first)


def test_the_key_is_in_nothing_that_is_written(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server))
    server.script(sequence=[*["ok"] * PREFLIGHTS, "echo_key", "echo_key"])
    output = project.run(TARGET, "--cores", "8", *arguments).stdout
    assert KEY not in output
    for path in project.folder.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("401", "wrong_key"),
        ("403", "forbidden"),
        ("404", "retired_model"),
        ({"status": 429, "code": "insufficient_quota", "message": "You exceeded your quota"}, "quota_exhausted"),
    ],
)
def test_what_every_call_would_fail_of_costs_a_preflight(
    project: Project, server: Server, act: Any, expected: str
) -> None:
    server.script(always=act)
    content = configuration(server)
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    assert 1 <= server.stats()["received"] <= PREFLIGHTS
    assert expected in output
    assert f"{CELLS} cells are not complete" in output
    assert kept(project) == []


def test_a_missing_key_names_its_variable(project: Project, server: Server) -> None:
    content = configuration(server)
    content["registry"]["t"]["api_key_env"] = "NOT_SET_ANYWHERE"
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    assert "NOT_SET_ANYWHERE" in output
    assert server.stats()["received"] == 0
    # Where calls are made in jobs, which take their keys from here, not one of them is sent out.
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content | {"calls_on": "cluster"}))
    assert "'registry.t.api_key_env': the environment variable NOT_SET_ANYWHERE is not set here" in output
    assert not (project.folder / "results/calls").exists()


def test_other_cells_finish_and_the_next_run_asks_only_what_is_missing(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server))
    # The preflight succeeds, then two calls are refused for good, as a filter of the vendor's might.
    server.script(sequence=[*["ok"] * PREFLIGHTS, "400", "400"])
    output = project.refuse(TARGET, "--cores", "8", *arguments)
    assert len(kept(project)) == TRIALS - 2
    failed = re.findall(r"^  (fixed_budget-\S+) \(target\): (.*)$", output, re.MULTILINE)
    assert 1 <= len(failed) <= 2
    assert all("bad_request" in cause for _, cause in failed)
    server.script()
    server.reset()
    run(project, arguments)
    assert server.stats()["received"] == 2 + PREFLIGHTS


def test_offline_refuses_and_says_what_is_missing(project: Project, server: Server) -> None:
    content = configuration(server)
    run(project, write(project.folder, content))
    server.reset()
    content["designs"]["fixed_budget"]["windows"][0]["trials"] = 5
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, {**content, "offline": True}))
    assert "offline: 1 responses of t are not in the cache" in output
    assert "samples 4" in output
    assert server.stats()["received"] == 0


def test_every_outcome_is_recorded_and_never_asked_again(project: Project, server: Server) -> None:
    outcomes = ["null_content", "no_choices", "whitespace", "refusal", "content_filter", "reasoning", "no_usage"]
    # The first requests are the preflight; each outcome then strikes one call, and the eighth is whole.
    server.script(sequence=[*["ok"] * PREFLIGHTS, *outcomes], text={"literal": "A whole reply."})
    run(project, write(project.folder, configuration(server)))
    assert server.stats()["received"] == TRIALS + PREFLIGHTS
    trials = read_table(project.folder / TARGET)
    counts = {"empty": 3, "refused": 1, "filtered": 1, "truncated": 1, "ok": 2}
    assert trials["status"].value_counts().to_dict() == counts
    silent = trials[trials["status"].isin(["empty", "refused", "filtered"])]
    assert (silent["hits"] == 0).all()
    assert (silent["possible"] == 8).all()
    # One reply came without usage: its tokens and cost are missing, not zero.
    assert trials["prompt_tokens"].isna().sum() == trials["cost_usd"].isna().sum() == 1


def test_a_dropped_parameter_is_no_silence(project: Project, server: Server) -> None:
    content = configuration(server, "anthropic")
    content["registry"]["t"]["params"] = {"seed": 7}
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    assert "seed" in output
    assert "unsupported_parameter" in output
    assert server.stats()["received"] == 0


def test_requested_and_sent_parameters_are_recorded(project: Project, server: Server) -> None:
    content = configuration(server)
    content["registry"]["t"]["param_names"] = {"max_tokens": "max_completion_tokens"}
    run(project, write(project.folder, content))
    line = next((project.folder / "results/calls/t").glob("*.jsonl")).open().readline()
    record = json.loads(line)
    assert record["requested_params"] == {"temperature": 0.3, "max_completion_tokens": 1024}
    assert record["response"]["sent_params"]["max_completion_tokens"] == 1024
    assert record["response"]["returned_model"] == "served-served"


def test_a_broken_record_is_read_again_from_its_body_and_asked_again_where_both_are_broken(
    project: Project, server: Server
) -> None:
    arguments = write(project.folder, configuration(server))
    run(project, arguments)
    trials = read_table(project.folder / TARGET)
    first, second = sorted(kept(project))[:2]
    for path in (first, second, second.with_suffix(".body.gz")):
        path.write_bytes(path.read_bytes()[:-30])
    server.reset()
    shutil.rmtree(project.folder / "results")
    output = run(project, arguments)
    assert f"{first.stem}.broken" in output
    assert "read again from its body" in output
    assert f"{second.stem}.body.broken" in output
    assert server.stats()["received"] == 1 + PREFLIGHTS  # the one of which nothing is left
    again = read_table(project.folder / TARGET)
    volatile = ["time_utc", "latency_s", "attempts", "response_id"]
    pd.testing.assert_frame_equal(again.drop(columns=volatile), trials.drop(columns=volatile))


def test_a_key_that_no_header_may_hold_is_refused_before_it_is_sent(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server))
    result = project.run(TARGET, "--cores", "8", *arguments, environment={"TEST_KEY": "sk-one\nsk-two-planted"})
    assert result.returncode != 0
    assert "wrong_key" in result.stdout
    assert "TEST_KEY" in result.stdout
    assert "sk-two-planted" not in result.stdout
    assert server.stats()["received"] == 0


def test_half_a_character_is_kept_as_a_mark(project: Project, server: Server) -> None:
    server.script(text={"literal": "cut emoji \ud83d"})
    run(project, write(project.folder, configuration(server)))
    texts = read_table(project.folder / TARGET)["text"]
    assert set(texts) == {"cut emoji \ufffd"}


def looks(project: Project, *arguments: str) -> int:
    """How often Snakemake looks which jobs to run next, in a run of twelve slow cells, two at a time."""
    shutil.rmtree(project.folder / "results", ignore_errors=True)
    shutil.rmtree(project.folder / ".cache", ignore_errors=True)
    output = project.succeed(TARGET, "--cores", "2", "--verbose", *arguments)
    return output.count("Ready jobs: ")


def test_jobs_are_looked_for_when_one_has_ended(project: Project, server: Server) -> None:
    window = {"window": 4096, "shares": [0, 25, 50, 75, 90, 92], "trials": 1}
    arguments = write(project.folder, configuration(server, designs={"fixed_budget": {"windows": [window]}}))
    server.script(latency_s=0.8)
    steps = 1 + 1 + 3 * 12 + 1  # tokens, manifest; prompt, calls and scores of each cell; trials
    assert looks(project, *arguments) <= steps + 1
    # Snakemake's limiter, here with a number of the user's own, looks again a second after each look.
    assert looks(project, "--max-jobs-per-timespan", "99/1s", *arguments) > steps + 1
