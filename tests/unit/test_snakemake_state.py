"""What the pipeline uses of Snakemake beyond its documentation is as it was, in the Snakemake that is installed.

A test that fails here means that Snakemake has changed: correct the function of `rcwt.run.snakemake_state` that it
names, by what that function's docstring says of Snakemake's files, before the bound in `pyproject.toml` is raised.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from rcwt.run import snakemake_state

#: Two cells and one other job. Each function's answer is kept where a run uses it: while the Snakefile is read, before
#: the first job, and when the process ends. The jobs of calls tell which process they run in.
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
        signals=lambda: signal.getsignal(signal.SIGTERM).__qualname__,
    )

rule all:
    input: "cells/a", "cells/b"

rule calls:
    input: "prompt"
    output: "cells/{cell}"
    group: "calls"
    run:
        if wildcards.cell in config.get("fails", ""):
            raise ValueError("as asked for")
        Path(output[0]).write_text(str(os.getpid()))

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


def changed(found: dict[str, Any], **right: Any) -> None:
    """Fail with the functions of `snakemake_state` whose answer is not the right one."""
    for name, value in right.items():
        assert found[name] == value, f"Snakemake has changed: see rcwt.run.snakemake_state.{name}"


def test_a_run(workflow: Workflow) -> None:
    (workflow.folder / "mine.yaml").write_text("a: 1\n")
    (workflow.folder / "more.yaml").write_text("b: 2\n")
    ended = workflow.run("all", "--configfile", "mine.yaml", "more.yaml", "--config", "c=3", "d=four")
    assert ended.returncode == 0, ended.stderr
    files = [str(workflow.folder / "mine.yaml"), str(workflow.folder / "more.yaml")]
    changed(workflow.found("read"), config_files=files, config_arguments={"c": 3, "d": "four"}, is_job_process=False)
    changed(
        workflow.found("start"),
        submits_jobs=False,
        only_touches=False,
        planned_jobs=["a", "b"],
        look_for_jobs_once=[[100, 1], None],
        # `signals.install` is called in between: the handler that waits for the jobs is there, and gets its turn later.
        signals="JobScheduler.exit_gracefully",
    )
    # Jobs that are done are of the run still, and it was no dry one.
    changed(workflow.found("end"), planned_jobs=["a", "b"], is_planned_dry_run=False)


def test_a_limit_of_ones_own_is_kept(workflow: Workflow) -> None:
    assert workflow.run("all", "--max-jobs-per-timespan", "50/1s").returncode == 0
    changed(workflow.found("start"), look_for_jobs_once=[[50, 1], [50, 1]])


def test_a_run_that_touches_files(workflow: Workflow) -> None:
    assert workflow.run("all").returncode == 0
    assert workflow.run("all", "--touch", "--forceall").returncode == 0
    changed(workflow.found("start"), only_touches=True)


def test_a_run_with_jobs_on_a_cluster(workflow: Workflow) -> None:
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason="see requirements-slurm.txt")
    # Each is run here by the command that would submit it.
    ended = workflow.run("all", "--executor", "cluster-generic", "--jobs", "2", "--cluster-generic-submit-cmd", "sh")
    assert workflow.found("start")["submits_jobs"] is True, ended.stderr


@pytest.mark.parametrize(
    ("command", "is_planned"),
    [(["-n", "all"], True), (["-n", "cells/a"], True), (["--rulegraph"], False), (["-n", "no_such_file"], False)],
)
def test_a_dry_run_whose_jobs_are_known(workflow: Workflow, command: list[str], is_planned: bool) -> None:
    workflow.run(*command)
    changed(workflow.found("end"), is_planned_dry_run=is_planned)
    if is_planned:
        changed(workflow.found("end"), planned_jobs=["a"] if "cells/a" in command else ["a", "b"])


#: How Snakemake starts the process of a job.
JOB = ("--mode", "remote", "--force", "--no-hooks", "--nolock", "--allowed-rules", "calls", "cells/a", "cells/b")


def test_the_cells_of_a_job_share_its_process(workflow: Workflow) -> None:
    assert workflow.run("prompt").returncode == 0
    ended = workflow.run(*JOB)
    assert ended.returncode == 0, ended.stderr
    changed(workflow.found("read"), is_job_process=True)
    processes = {(workflow.folder / "cells" / cell).read_text() for cell in "ab"}
    assert len(processes) == 1, "Snakemake has changed: see rcwt.run.snakemake_state.keep_in_one_process, use_threads"
    groups = [line for line in ended.stderr.splitlines() if "group job" in line]
    assert len(groups) == 1, "Snakemake has changed: see rcwt.run.snakemake_state.keep_in_one_process, group_components"


def test_a_cell_that_fails_ends_no_other(workflow: Workflow) -> None:
    assert workflow.run("prompt").returncode == 0
    ended = workflow.run(*JOB, "--config", "fails=a")
    print(ended.stderr)
    assert ended.returncode == 1


@pytest.fixture
def timer() -> Iterator[Callable[[Callable[[], None]], None]]:
    started: list[threading.Timer] = []
    yield lambda call: started.append(threading.Timer(600, call)) or started[-1].start()
    for one in started:
        one.cancel()


def test_timers_of_snakemake_are_cancelled_and_no_others() -> None:
    others = threading.Timer(600, lambda: None)
    others.start()
    before = set(threading.enumerate())
    scheduler: Any = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    JobScheduler._schedule_reevalutation(scheduler, 600)
    (theirs,) = set(threading.enumerate()) - before
    snakemake_state.cancel_timers()
    theirs.join(60)
    try:
        assert not theirs.is_alive(), "Snakemake has changed: see rcwt.run.snakemake_state.cancel_timers"
        assert others.is_alive()
    finally:
        others.cancel()
