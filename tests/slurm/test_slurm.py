"""The pipeline on a real Slurm: the same results as without, few jobs, one cap, no key anywhere, nothing paid twice."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cluster import Cluster
from projects import Project
from servers import ALL_PREFLIGHTS, KEY, Server, configuration, write

from rcwt.trials.schema import read_table

pytestmark = pytest.mark.slurm

TRIALS, CELLS = "results/trials.parquet", "results/tables/fixed_budget_cells.csv"
VOLATILE = ["time_utc", "latency_s", "attempts", "response_id"]
SHARES = [0, 25, 50, 75, 90, 92, 94, 96, 98]
SLURM = ["--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "2"]
SLURM += ["--seconds-between-status-checks", "2"]
GENERIC = ["--profile", "profiles/cluster-generic", "--seconds-between-status-checks", "2"]
SUBMITTED = re.compile(r"(?:submitted with SLURM jobid|with external jobid) '?(\d+)")


def content(server: Server | None = None, shares: list[float] | None = None, **changes: Any) -> dict[str, Any]:
    """The main experiment with four trials a cell, on the reader or on the server."""
    windows = [{"window": 4096, "shares": shares or SHARES, "trials": 4}]
    base = {"bootstrap": {"B": 200}} if server is None else configuration(server)
    base |= {"experiments": ["fixed_budget"], "designs": {"fixed_budget": {"windows": windows}}, **changes}
    return base


def on_server(server: Server, max_concurrency: int, **changes: Any) -> dict[str, Any]:
    made = content(server, calls_on="cluster", **changes)
    made["registry"]["t"]["max_concurrency"] = max_concurrency
    return made


def jobs_of(cluster: Cluster, output: str) -> dict[str, str]:
    """Name of rule or group in each job that a run has submitted, as the scheduler knows it by its id."""
    found = {}
    for number in SUBMITTED.findall(output):
        script = cluster.ask("scontrol", "write", "batch_script", number, "-")
        assert "snakemake" in script, f"the scheduler does not know job {number}"
        found[number] = re.findall(r"--allowed-rules '?(\w+)", script)[0]
    return found


def responses(project: Project) -> int:
    return len(list((project.folder / ".cache/responses").glob("*/*.json")))


def wait_for(what: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


# -- the same results


def test_both_profiles_give_the_results_of_a_local_run(project: Project, cluster: Cluster) -> None:
    def run(*arguments: str) -> tuple[str, pd.DataFrame]:
        for name in ("results", ".cache", ".snakemake"):
            shutil.rmtree(project.folder / name, ignore_errors=True)
        output = project.succeed(*arguments)
        return output, read_table(project.folder / TRIALS).drop(columns=VOLATILE)

    inside = write(project.folder, content(calls_on="cluster"), "inside.yaml")
    outside = write(project.folder, content(), "outside.yaml")
    _, trials = run(CELLS, "--cores", "2", *outside)
    cells = (project.folder / CELLS).read_bytes()
    assert len(trials) == 72
    # What goes out: by default the statistics alone; with calls in jobs, all eighteen cells in one and nothing light.
    output, same = run(CELLS, *SLURM, *outside)
    pd.testing.assert_frame_equal(same, trials)
    assert (project.folder / CELLS).read_bytes() == cells
    assert list(jobs_of(cluster, output).values()) == ["intervals"]
    for profile in (SLURM, GENERIC):
        output, same = run(TRIALS, *profile, *inside)
        pd.testing.assert_frame_equal(same, trials)
        assert sorted(jobs_of(cluster, output).values()) == ["calls", "scores"]
        assert not list((project.folder / ".cache/responses/.runs").glob("*"))


def test_a_profile_of_ones_own_is_laid_over(root: Path, project: Project) -> None:
    # As docs/clusters.md shows it: a later profile replaces whole keys.
    shown = (root / "docs/clusters.md").read_text()
    (own,) = re.findall(r"```yaml\n(default-resources:.*?)```", shown, re.DOTALL)
    (project.folder / "mine").mkdir()
    (project.folder / "mine/config.yaml").write_text(own)
    output = project.succeed(CELLS, "-n", *SLURM, "--profile", "mine")
    (resources,) = re.findall(r"rule intervals:.*?resources: ([^\n]*)", output, re.DOTALL)
    for expected in ("mem_mb=2000", "runtime=30", "slurm_partition=short", "slurm_account=mine"):
        assert expected in resources


# -- one cap, one limit, no key


class Watcher(threading.Thread):
    """Everything that anybody on the machine can see of running jobs, collected while they run."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(daemon=True)
        self.cluster, self.seen, self.most, self.over = cluster, set[str](), 0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            shown = self.cluster.ask("scontrol", "show", "job", "--details")
            self.most = max(self.most, shown.count("JobState=RUNNING"))
            self.seen.add(shown)
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(path.read_text().replace("\0", " "))
                except (OSError, UnicodeDecodeError):
                    continue


def test_one_cap_and_one_limit_for_eight_jobs_and_the_key_is_nowhere(
    project: Project, cluster: Cluster, server: Server
) -> None:
    # Free input; a call costs its 1 024 output tokens at 1 000 dollars a million: 1.024, one of the preflight 0.016.
    # The cap leaves room for the preflight and 20 of 32 calls.
    price = {"input": 0, "cached_input": 0, "output": 1000, "as_of": "2026-11-29"}
    made = on_server(
        server, 3, shares=[0, 50, 90, 98], prices={"t": price}, max_usd=ALL_PREFLIGHTS * 0.016 + 20.5 * 1.024
    )
    server.script(usage={"completion": "cap"}, latency_s=1)
    watcher = Watcher(cluster)
    watcher.start()
    alone = ["--group-components", "calls=1", "--resources", "cells=8", "--until", "calls"]
    arguments = [*SLURM, *alone, "--retries", "0", "--verbose", *write(project.folder, made | {"on_cap": "stop"})]
    output = project.refuse(TRIALS, *arguments)
    watcher.over.set()
    watcher.join()
    stats = server.stats()
    jobs = jobs_of(cluster, output)
    assert list(jobs.values()) == ["calls"] * 8
    assert watcher.most == 8
    # One preflight for all jobs; the cap holds to the call, the limit to the request.
    assert (stats["received"], stats["successes"], responses(project)) == (20 + ALL_PREFLIGHTS, 20 + ALL_PREFLIGHTS, 20)
    assert 2 <= stats["in_flight_max"] <= 3
    assert stats["by_key"] == {KEY: 20 + ALL_PREFLIGHTS}
    # The causes that the jobs found are told where the run was started.
    assert "cells are not complete" in output
    assert "max_usd: 20.544000 of 21.056 dollars are spent" in output
    seen = "\n".join(watcher.seen)
    assert "--target-jobs" in seen
    assert KEY not in output + seen
    for number in jobs:
        assert KEY not in cluster.ask("scontrol", "write", "batch_script", number, "-")
    written = [path for path in project.folder.rglob("*") if path.is_file()]
    # With --verbose the plugin prints a job's environment: there is something to find a key in.
    assert any(b"environment: " in path.read_bytes() and b"[key removed]" in path.read_bytes() for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


# -- nothing paid twice


@pytest.fixture
def overlay(project: Project, server: Server) -> list[str]:
    """Eight cells of four calls in two jobs, two calls at a time, slow enough to be in the middle of it."""
    server.script(latency_s=1.5)
    parts = ["--group-components", "calls=4", "--retries", "0", "--until", "calls"]
    return [*parts, *write(project.folder, on_server(server, 2, shares=[0, 50, 90, 98]))]


def start(project: Project, *arguments: str) -> subprocess.Popen[str]:
    """A run of which four responses have arrived."""
    running = project.start(TRIALS, *arguments)
    wait_for(lambda: responses(project) >= 4)
    return running


def finish(project: Project, server: Server, overlay: list[str]) -> None:
    """The run completes, and asks only for what is not on disk."""
    kept = responses(project)
    server.script()
    server.reset()
    project.succeed(TRIALS, *GENERIC, *overlay)
    assert server.stats()["successes"] == 32 - kept + ALL_PREFLIGHTS * (kept < 32)  # and a preflight
    assert responses(project) == answered(project) == 32


def answered(project: Project) -> int:
    return sum(len(path.read_text().splitlines()) for path in (project.folder / "results/calls").rglob("*.jsonl"))


def queue(cluster: Cluster) -> list[str]:
    return cluster.ask("squeue", "--noheader", "--format=%i").split()


def test_ctrl_c_cancels_the_jobs_and_keeps_what_arrived(
    project: Project, cluster: Cluster, server: Server, overlay: list[str]
) -> None:
    running = start(project, *SLURM, *overlay)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) != 0
    wait_for(lambda: not queue(cluster), 30)
    assert server.stats()["successes"] == responses(project) + ALL_PREFLIGHTS  # all but the preflight
    finish(project, server, overlay)


def test_cancelled_jobs_keep_what_arrived(
    project: Project, cluster: Cluster, server: Server, overlay: list[str]
) -> None:
    running = start(project, *GENERIC, *overlay)
    cluster.ask("scancel", *queue(cluster))
    assert running.wait(timeout=60) != 0
    assert queue(cluster) == []
    assert server.stats()["successes"] == responses(project) + ALL_PREFLIGHTS
    assert "interrupted" in (project.folder / "run.log").read_text()
    finish(project, server, overlay)


def test_a_lost_node_pays_nothing_twice(project: Project, cluster: Cluster, server: Server, overlay: list[str]) -> None:
    running = start(project, *GENERIC, *overlay)
    server.script(latency_s=5)  # not all of it while the controller gives the node up
    cluster.kill_node()
    try:
        wait_for(lambda: cluster.ask("sinfo", "--noheader", "--format=%T").startswith("down"))
    finally:
        cluster.start_node()
        cluster.wait_until_idle()
    assert running.wait(timeout=60) != 0
    # The processes of the lost node went on until it came back, and were killed then: two calls were under way.
    assert responses(project) < 32
    assert 0 <= server.stats()["successes"] - responses(project) - ALL_PREFLIGHTS <= 2
    finish(project, server, overlay)


def test_a_killed_snakemake_leaves_jobs_that_the_next_run_does_not_ask_behind(
    project: Project, cluster: Cluster, server: Server, overlay: list[str]
) -> None:
    running = start(project, *SLURM, *overlay)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    project.succeed("--unlock", *overlay[-2:])
    assert len(queue(cluster)) == 2
    # Both runs ask the same questions at the same time; each is claimed by one of them.
    project.succeed(TRIALS, *GENERIC, *overlay)
    wait_for(lambda: not queue(cluster))
    assert responses(project) == answered(project) == 32
    # And a preflight of each run; of the second none where a busy machine let it begin when all was there.
    assert server.stats()["successes"] - 32 in (ALL_PREFLIGHTS, 2 * ALL_PREFLIGHTS)
