"""What the pipeline uses of Snakemake beyond its documentation is as it was, in the Snakemake that is installed.

A test that fails here means that Snakemake has changed: correct the function of `rcwt.run.snakemake_state` that it
names, by what that function's docstring says of Snakemake's files, before the bound in `pyproject.toml` is raised.
"""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.scheduling.job_scheduler import JobRateLimiter, JobScheduler
from snakemake.settings.types import MaxJobsPerTimespan

from rcwt.run import snakemake_state

CHANGED = "Snakemake has changed: see rcwt.run.snakemake_state"

#: Two cells and a job before them. What each function returns is kept where a run calls it: while the Snakefile is
#: read, before the first job, and when the process ends. With `--config fail=yes` each cell fails and tells its
#: process.
SNAKEFILE = """
import atexit, json, os, signal
from pathlib import Path
from snakemake.logging import logger
from rcwt.run import snakemake_state as state

def keep(when, **functions):
    found = {}
    for name, function in functions.items():
        try:
            found[name] = function()
        except Exception as error:
            found[name] = repr(error)
    Path(f"{when}.json").write_text(json.dumps(found))

def limits():
    limiter = workflow.scheduler.job_rate_limiter
    return None if limiter is None else [limiter.max_jobs, limiter.timespan]

def looks():
    before = limits()
    state.look_for_jobs_once(workflow)
    return [before, limits()]

def cells():
    return sorted(cell.cell for cell in state.planned_jobs(workflow, "calls"))

keep("read",
    config_files=lambda: list(map(str, state.config_files(workflow))),
    config_arguments=lambda: state.config_arguments(workflow),
    is_job_process=lambda: state.is_job_process(workflow),
)
if state.is_job_process(workflow):
    state.at_start_of_jobs(logger, lambda: state.keep_in_one_process(workflow, ["calls"]))
atexit.register(lambda: keep("end", is_planned_dry_run=lambda: state.is_planned_dry_run(workflow), planned_jobs=cells))

onstart:
    keep("start",
        submits_jobs=lambda: state.submits_jobs(workflow),
        only_touches=lambda: state.only_touches(workflow),
        planned_jobs=cells,
        look_for_jobs_once=looks,
        handler=lambda: signal.getsignal(signal.SIGTERM).__qualname__,
    )

rule all:
    input: "cells/a", "cells/b"

rule calls:
    input: "prompt"
    output: "cells/{cell}"
    group: "calls"
    run:
        if config.get("fail"):
            raise ValueError(f"cell in process {os.getpid()}")
        Path(output[0]).touch()

rule prompt:
    output: "prompt"
    shell: "touch {output}"
"""


class Workflow:
    """The workflow above in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "Snakefile").write_text(SNAKEFILE)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `snakemake` with `arguments`."""
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        path = os.pathsep.join(filter(None, [str(Path("workflow").resolve()), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def found(self, when: str) -> dict[str, Any]:
        """What the functions of `snakemake_state` said then."""
        said = json.loads((self.folder / f"{when}.json").read_text())
        assert isinstance(said, dict)
        return said


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    return Workflow(tmp_path)


def hold(found: dict[str, Any], **right: Any) -> None:
    """Hold what functions of `snakemake_state` said against what is right, by the name of each function."""
    for name, value in right.items():
        assert found[name] == value, f"{CHANGED}.{name}"


def test_only_one_module_knows_snakemakes_workflow(root: Path) -> None:
    sources = [*(root / "workflow").rglob("*.py"), *(root / "workflow").rglob("*.smk"), root / "Snakefile"]
    # `workflow.basedir` is documented.
    users = {path.name for path in sources if re.search(r"\bworkflow\.(?!basedir\b)[a-z]", path.read_text())}
    assert users == {"snakemake_state.py"}


def test_a_run(workflow: Workflow) -> None:
    (workflow.folder / "mine.yaml").write_text("a: 1\n")
    (workflow.folder / "more.yaml").write_text("b: 2\n")
    ended = workflow.run(
        "all", "--force-use-threads", "--configfile", "mine.yaml", "more.yaml", "--config", "three=3", "four=IV"
    )
    assert ended.returncode == 0, ended.stderr
    files = [str(workflow.folder / name) for name in ("mine.yaml", "more.yaml")]
    arguments = {"three": 3, "four": "IV"}
    hold(workflow.found("read"), config_files=files, config_arguments=arguments, is_job_process=False)
    hold(
        workflow.found("start"),
        submits_jobs=False,
        only_touches=False,
        planned_jobs=["a", "b"],
        look_for_jobs_once=[[100, 1], None],
    )
    # `signals.install` puts its own before this one, which takes the scheduler's lock and waits for jobs.
    handler = workflow.found("start")["handler"]
    assert handler == "JobScheduler.exit_gracefully", "Snakemake has changed: see rcwt.run.signals.install"
    # Cells that are done are still of the run; and it was no dry one.
    hold(workflow.found("end"), planned_jobs=["a", "b"], is_planned_dry_run=False)


def test_a_limit_of_ones_own_is_kept() -> None:
    limiter = JobRateLimiter(MaxJobsPerTimespan.parse_choice("50/1s"))
    workflow = SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limiter))
    snakemake_state.look_for_jobs_once(workflow)
    assert workflow.scheduler.job_rate_limiter is limiter


def test_a_run_that_touches_files(workflow: Workflow) -> None:
    (workflow.folder / "cells").mkdir()
    for made in ("prompt", "cells/a", "cells/b"):
        (workflow.folder / made).touch()
    assert workflow.run("all", "--touch", "--forceall").returncode == 0
    hold(workflow.found("start"), only_touches=True)


@pytest.mark.parametrize(
    ("command", "is_planned"), [(["-n", "cells/a"], True), (["-n", "no_such_file"], False), (["--rulegraph"], False)]
)
def test_a_dry_run_whose_jobs_are_known(workflow: Workflow, command: list[str], is_planned: bool) -> None:
    workflow.run(*command)
    hold(workflow.found("end"), is_planned_dry_run=is_planned)
    if is_planned:
        hold(workflow.found("end"), planned_jobs=["a"])


#: How Snakemake starts the process of a job with two cells.
JOB = ("--mode", "remote", "--force", "--no-hooks", "--nolock", "--allowed-rules", "calls", "--", "cells/a", "cells/b")
#: Jobs are submitted to this machine, by the plugin for any scheduler.
CLUSTER = ("--executor", "cluster-generic", "--jobs", "2", "--seconds-between-status-checks", "1")
#: Prints the id of a job once it has ended.
SUBMIT = """#!/bin/sh
sh "$1" > job.log 2>&1
echo 1
"""


@pytest.fixture
def cluster(workflow: Workflow) -> tuple[str, ...]:
    """The arguments for jobs on a cluster."""
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason="install requirements-slurm.txt")
    (workflow.folder / "submit.sh").write_text(SUBMIT)
    (workflow.folder / "prompt").touch()
    return (*CLUSTER, "--cluster-generic-submit-cmd", "sh submit.sh")


def test_a_run_with_jobs_on_a_cluster(workflow: Workflow, cluster: tuple[str, ...]) -> None:
    ended = workflow.run(*cluster, "cells/a")
    assert ended.returncode == 0, ended.stderr
    hold(workflow.found("start"), submits_jobs=True)


def test_cells_of_a_job_share_its_process_and_fail_alone(workflow: Workflow) -> None:
    (workflow.folder / "prompt").touch()
    ended = workflow.run("--cores", "1", "--config", "fail=yes", *JOB)
    hold(workflow.found("read"), is_job_process=True)
    processes = re.findall(r"cell in process (\d+)", ended.stderr)
    assert len(processes) == 2, f"{CHANGED}.keep_in_one_process: the second cell did not run (keep_going)"
    assert len(set(processes)) == 1, f"{CHANGED}.keep_in_one_process: cells ran in processes of their own (use_threads)"


def test_cells_of_a_job_stay_together(workflow: Workflow, cluster: tuple[str, ...]) -> None:
    # As on Slurm, where the process of a job starts one more for each group.
    ended = workflow.run(*cluster, *JOB)
    assert ended.returncode == 0, ended.stderr
    groups = ended.stderr.count("Group job calls")
    assert groups == 1, f"{CHANGED}.keep_in_one_process: a group of its own for each cell (group_components)"


def test_timers_of_snakemake_are_cancelled_and_no_others() -> None:
    before = set(threading.enumerate())
    scheduler: Any = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    JobScheduler._schedule_reevalutation(scheduler, 600)
    (theirs,) = set(threading.enumerate()) - before
    other = threading.Timer(600, lambda: None)
    other.start()
    snakemake_state.cancel_timers()
    theirs.join(60)
    still_wait = (theirs.is_alive(), other.is_alive())
    for timer in (theirs, other):
        assert isinstance(timer, threading.Timer), f"{CHANGED}.cancel_timers"
        timer.cancel()
    assert still_wait == (False, True), f"{CHANGED}.cancel_timers"
