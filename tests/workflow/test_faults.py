"""Faults, caps, kills and interrupts: nothing is paid twice, nothing that arrived is lost, and results are the same."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from projects import Project
from servers import ALL_PREFLIGHTS, JUDGE_PREFLIGHTS, PREFLIGHTS, PRICES, Server, configuration, write

from rcwt.scoring.outcomes import read_scores
from rcwt.trials.schema import read_table

TARGET = "results/trials.parquet"
VOLATILE = ["time_utc", "latency_s", "attempts", "response_id"]
#: 20 % 429 with and without retry-after, 10 % 500, 5 % dropped, 5 % hanging, 5 % of the judge's replies in prose.
FAULTS = [
    {"share": 0.10, "act": {"status": 429, "retry_after": 0.2}},
    {"share": 0.10, "act": "429"},
    {"share": 0.10, "act": "500"},
    {"share": 0.05, "act": "drop"},
    {"share": 0.05, "act": "hang"},
    {"share": 0.05, "act": "judge_prose", "role": "judge"},
]
#: A second ask holds both texts and is told by the first. It is not answered in prose, or its scores would be missing.
ROLES = {"judge_again": "That could not be used:", "judge": "check which statements a reply makes"}
#: Kills of the run: twenty show it well, `.ci/run` has time for five.
KILLS = int(os.environ.get("RCWT_KILLS", "5"))


def larger(server: Server, **changes: Any) -> dict[str, Any]:
    """Eighteen cells of four calls; a hang costs a test some seconds, and a busy machine is not taken for one."""
    content = configuration(server, **changes)
    content["designs"]["fixed_budget"]["windows"][0]["shares"] = [0, 25, 50, 75, 90, 92, 94, 96, 98]
    content["registry"]["t"] |= {"attempt_deadline_s": 10, "total_deadline_s": 600}
    return content


def test_a_run_with_faults_gives_the_results_of_one_without(project: Project, server: Server, tmp_path: Path) -> None:
    content = larger(server, judges=["j", "rules"], prices=dict.fromkeys("tj", PRICES))
    content["registry"]["j"] = {**content["registry"]["t"], "litellm": "openai/judge"}
    arguments = write(project.folder, content)
    told = {"roles": ROLES, "text": {"literal": "ProseMirror serves rich text; the payload limit is 8KB."}}
    server.script(**told)
    # The server takes a piece of the judge's questions for one of them.
    preflights = ALL_PREFLIGHTS + JUDGE_PREFLIGHTS - 1
    project.succeed(TARGET, "--cores", "8", *arguments)
    assert server.stats()["successes_by_role"] == {"target": 72 + preflights, "judge": 72 + 1}
    smooth = [read_table(project.folder / name) for name in (TARGET, "results/scores.parquet")]
    for name in ("results", ".cache", ".snakemake"):
        shutil.rmtree(project.folder / name)
    server.script(faults=FAULTS, per="arrival", seed=5, **told)
    server.reset()
    output = project.succeed(TARGET, "--cores", "8", *arguments)
    stats = server.stats()
    assert stats["received"] > stats["successes"]
    # One success a trial and a call of the preflight; one a judged response, and one more for each that was asked for
    # again.
    asked = [len(trial.judge_keys or ()) for path in judged_cells(project) for trial in read_scores(path).scores]
    assert len(asked) == 72
    assert sum(asked) > 72
    assert stats["successes_by_role"] == {"target": 72 + preflights, "judge": 72 + 1, "judge_again": sum(asked) - 72}
    assert "attempt 1, waiting" in output
    rough = [read_table(project.folder / name) for name in (TARGET, "results/scores.parquet")]
    for one, two in zip(smooth, rough, strict=True):
        drop = [name for name in VOLATILE if name in one.columns]
        pd.testing.assert_frame_equal(one.drop(columns=drop), two.drop(columns=drop))


def test_the_cap_holds_to_the_call(project: Project, server: Server) -> None:
    # Free input; each call may cost 1 024 output tokens at 1 000 dollars a million: 1.024. A call of the
    # preflight may cost 16 of them: 0.016. A cap of the preflight + 3.5 worst cases leaves room for 3 calls.
    price = {"input": 0, "cached_input": 0, "output": 1000, "as_of": "2026-11-29"}
    content = larger(server, prices={"t": price}, max_usd=ALL_PREFLIGHTS * 0.016 + 3.5 * 1.024, on_cap="stop")
    server.script(usage={"completion": "cap"})
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    assert server.stats()["received"] == ALL_PREFLIGHTS + 3
    assert "max_usd" in output
    assert "18 cells are not complete" in output
    assert len(list((project.folder / ".cache/responses").rglob("*.json"))) == 3


def test_cheap_replies_leave_room_for_more_calls(project: Project, server: Server) -> None:
    price = {"input": 0, "cached_input": 0, "output": 1000, "as_of": "2026-11-29"}
    content = larger(server, prices={"t": price}, max_usd=ALL_PREFLIGHTS * 0.016 + 3.5 * 1.024, on_cap="stop")
    server.script(usage={"completion": 100})  # 0.1 dollars a call
    project.refuse(TARGET, "--cores", "8", *write(project.folder, content))
    # Preflight 4 x 0.1 (its replies are billed as any), then calls of 0.1 while 1.024 more still fits below 3.648:
    # spent before the last call <= 3.648 - 1.024 = 2.624, so 23 calls and the preflight are paid.
    assert server.stats()["received"] == 23 + ALL_PREFLIGHTS


def judged_cells(project: Project) -> list[Path]:
    return list((project.folder / "results/scores/j").rglob("*.json"))


def test_kill_9_at_any_moment_loses_at_most_what_was_in_flight(project: Project, server: Server) -> None:
    content = larger(server)
    content["registry"]["t"]["max_concurrency"] = 8
    arguments = write(project.folder, content)
    server.script(latency_s=0.3)
    random.seed(20261129)
    cache = project.folder / ".cache/responses"
    for _ in range(KILLS):
        before = {path: path.stat().st_mtime_ns for path in cache.rglob("*.json")}
        server.reset()
        running = project.start(TARGET, "--cores", "8", *arguments)
        time.sleep(random.uniform(2.5, 6.5))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        while server.stats()["in_flight"]:  # what was under way arrives at a client that is gone
            time.sleep(0.05)
        now = {path: path.stat().st_mtime_ns for path in cache.rglob("*.json")}
        stats = server.stats()
        lost = stats["successes"] - (len(now) - len(before))
        assert 0 <= lost <= 8 + ALL_PREFLIGHTS, "more answers were lost than were in flight (and a preflight)"
        assert {path: now[path] for path in before} == before, "a response that was on disk was asked for again"
        project.run("--unlock", *arguments)
    server.script()
    project.succeed(TARGET, "--cores", "8", *arguments)
    assert len(list(cache.rglob("*.json"))) == 72
    assert len(read_table(project.folder / TARGET)) == 72


@pytest.mark.parametrize(
    ("number", "again"),
    [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, False)],
)
def test_an_interrupt_keeps_what_was_sent_in_two_seconds_and_waits_for_nothing_else(
    project: Project, server: Server, number: signal.Signals, again: bool
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, and in what is started from here")
    content = larger(server)
    content["designs"]["fixed_budget"]["windows"][0]["trials"] = 20
    # The run is over long before one of these would end it.
    content["registry"]["t"] |= {"attempt_deadline_s": 1800, "total_deadline_s": 3600}
    arguments = write(project.folder, content)
    # Forty replies come after two seconds, all others never.
    server.script(latency_s=2, sequence=["ok"] * (1 + 40), always="hang")
    running = project.start(TARGET, "--cores", "8", *arguments)
    deadline = time.monotonic() + 300
    while server.stats()["in_flight"] < 64:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.05)
    asked = time.monotonic()
    os.kill(running.pid, number)
    for _ in range(3 * again):  # by an impatient hand
        time.sleep(0.1)
        os.kill(running.pid, number)
    assert running.wait(timeout=300) != 0
    assert "Traceback" not in (project.folder / "run.log").read_text()
    stats = server.stats()
    kept = len(list((project.folder / ".cache/responses").rglob("*.json")))
    in_time = sum(moment <= asked + 2 for moment in stats["sent_at"])
    assert in_time - ALL_PREFLIGHTS <= kept <= stats["successes"] - ALL_PREFLIGHTS  # all but the preflight
    server.script()
    server.reset()
    project.succeed(TARGET, "--cores", "8", *arguments)  # without --unlock
    assert server.stats()["successes"] == 360 - kept + ALL_PREFLIGHTS


def test_two_runs_that_share_a_cache_do_not_ask_twice(project: Project, server: Server, tmp_path: Path) -> None:
    arguments = write(project.folder, configuration(server))
    twin = Project(tmp_path / "twin")
    shutil.copytree(project.folder, twin.folder)
    server.script(latency_s=1)
    shared = {"RCWT_CACHE": str(tmp_path / "shared")}
    both = [
        subprocess.Popen(
            [*_command(), TARGET, "--cores", "8", *arguments],
            cwd=one.folder,
            env=one.environment(shared),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for one in (project, twin)
    ]
    assert [one.wait(timeout=900) for one in both] == [0, 0]
    assert 8 + PREFLIGHTS <= server.stats()["successes"] <= 8 + 2 * PREFLIGHTS  # each run may make its own preflight
    frames = [read_table(one.folder / TARGET) for one in (project, twin)]
    pd.testing.assert_frame_equal(frames[0], frames[1])


def _command() -> list[str]:
    return [sys.executable, "-m", "snakemake"]
