"""All that the pipeline uses of Snakemake beyond its documentation, one function each.

Each says where Snakemake has it and what happens without it. `tests/unit/test_snakemake_state.py` holds each against
the Snakemake that is installed; `pyproject.toml` bounds the version. Elsewhere the package and the rules use only what
Snakemake documents, the exception it prints without a traceback (`WorkflowError`) and its logger.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any


def config_files(workflow: Any) -> list[Path]:
    """The files given with `--configfile`, in the order in which they are merged.

    Relies on `Workflow.overwrite_configfiles` (workflow.py). Without it no command works: messages about the
    configuration could not tell the file and line of a value.
    """
    return [Path(file) for file in workflow.overwrite_configfiles]


def config_arguments(workflow: Any) -> dict[str, Any]:
    """The values given with `--config`.

    Relies on `ConfigSettings.config` (settings/types.py), at `Workflow.config_settings`. Without it no command works:
    Snakemake leaves some of these values as text, and they could not be told from text in a file.
    """
    return dict(workflow.config_settings.config)


def is_job_process(workflow: Any) -> bool:
    """Whether this process was started by Snakemake for a job, and not by a user.

    Relies on `Workflow.is_main_process` (workflow.py). Without it no command works.
    """
    return not workflow.is_main_process


def submits_jobs(workflow: Any) -> bool:
    """Whether jobs of this run go to a cluster.

    Relies on `Workflow.non_local_exec` (workflow.py). Without it no run starts.
    """
    return bool(workflow.non_local_exec)


def only_touches(workflow: Any) -> bool:
    """Whether the run is one of `--touch`, which makes no call.

    Relies on `Workflow.touch` (workflow.py). Without it no run starts.
    """
    return bool(workflow.touch)


def is_planned_dry_run(workflow: Any) -> bool:
    """Whether this is a dry run (`-n`) whose jobs are known; so not `--rulegraph`, nor a plan that failed.

    Relies on `Workflow.dryrun` (workflow.py), and on `Workflow.scheduler`, which is None until the jobs are known.
    Without them a dry run ends with a traceback in the place of the spend line.
    """
    return bool(workflow.dryrun) and workflow.scheduler is not None


def planned_jobs(workflow: Any, rule: str) -> Iterator[Any]:
    """The wildcards of each job of `rule` that the run has to make or has made, once its jobs are known.

    Relies on `DAG.needrun_jobs` (dag.py) at `Workflow.dag`, and on `Job.rule.name` and `Job.wildcards` (jobs.py).
    Without them no run starts, since its cost is not known, and a dry run ends with a traceback.
    """
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        if job.rule.name == rule:
            yield job.wildcards


def look_for_jobs_once(workflow: Any) -> None:
    """Let a run on this machine look for the next jobs when one has ended, and not also every second since.

    With its default limit of 100 jobs a second Snakemake looks again a second after each look that left jobs waiting,
    and again after that one: hundreds of looks a second once hundreds of cells are done. A user's own limit is kept.

    Relies on `JobScheduler.job_rate_limiter` (scheduling/job_scheduler.py), with `max_jobs` and `timespan` in seconds;
    None means no limit. Without it runs of many cells are slower.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def cancel_timers() -> None:
    """End the timers with which Snakemake would look for jobs again: at the end of a run it only waits for them.

    Relies on `JobScheduler` (scheduling/job_scheduler.py) making each as a `threading.Timer` of a function of its own.
    Without it a run ends up to a second later; with a limit of one's own (`--max-jobs-per-timespan`), up to its span.
    """
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer) and thread.function.__module__ == "snakemake.scheduling.job_scheduler":
            thread.cancel()


def at_start_of_jobs(logger: logging.Logger, call: Callable[[], None]) -> None:
    """Have `call` called when Snakemake's settings are there and its jobs are not yet, also in a job's process.

    Relies on the event `WORKFLOW_STARTED`, which `Workflow.execute` (workflow.py) logs first of all. Without it `call`
    is not called. A logger plugin is told of events too, but later, in another thread, and never in a job's process.
    """
    logger.addFilter(_AtStart(call))


class _AtStart(logging.Filter):
    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._call = call

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(getattr(record, "event", None), "name", "") == "WORKFLOW_STARTED":
            self._call()
        return True


def keep_in_one_process(workflow: Any, groups: Iterable[str]) -> None:
    """Let the cells of a job run in threads of its process, each to its end though others fail.

    A profile says so for a run, but Snakemake hands it on to no job. `groups` are the names of groups of cells: those
    that were sent out together stay together.

    Relies on `ExecutionSettings.use_threads` and `keep_going` and on `GroupSettings.group_components`
    (settings/types.py), at `Workflow.execution_settings` and `group_settings`, which `Workflow.execute` reads after it
    has logged its start. Without them each cell of a job has a process of its own, which is slower.
    """
    workflow.execution_settings.use_threads = True
    workflow.execution_settings.keep_going = True
    workflow.group_settings.group_components = dict.fromkeys(groups, sys.maxsize)
