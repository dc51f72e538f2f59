"""What a run does outside its jobs: when its configuration is read, before the first job, and at its end."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from rcwt.base import keys
from rcwt.base.cache_folder import cache_folder
from rcwt.base.errors import FileError, RcwtError
from rcwt.base.files import clear_half_written
from rcwt.calls import room, run_state
from rcwt.calls.runtime import current
from rcwt.config.results_folder import CONFIGURATION
from rcwt.config.schema import Config
from rcwt.run import job_process, run_plan, signals
from rcwt.run.snakemake_state import cancel_timers, is_job_process, look_for_jobs_once, submits_jobs
from rcwt.study.planned import PLANNED_FILE, Planned
from rcwt.study.study import Study, write_configuration

#: The names of the groups of cells that `calls.smk` and `scores.smk` send out together.
GROUPS = ("calls", "scores")


@contextlib.contextmanager
def refusal() -> Iterator[None]:
    """Have Snakemake end with the message of what keeps a run from starting, without a traceback."""
    try:
        yield
    except RcwtError as error:
        raise WorkflowError(f"The run cannot start:\n{error}") from None


def on_configuration(workflow: Any, config: Config) -> None:
    """When the configuration is read, in any process: keep keys out of what Snakemake logs, and settle in a job's."""
    keys.guard(logger, [model.api_key_env for model in config.registry.values()])
    if is_job_process(workflow):
        job_process.settle_in(workflow, logger, GROUPS, lambda: current(config).interrupt())


def on_start(workflow: Any, study: Study) -> None:
    """Before the first job: signals, what other runs left, the plan against the cap, and what was configured."""
    config, results = study.config, Path(study.config.results_dir)
    signals.install(current(config).interrupt, submits_jobs(workflow))
    if not submits_jobs(workflow):
        look_for_jobs_once(workflow)
    room.clear_left(cache_folder())
    clear_half_written(results)
    if config.calls_on == "cluster":
        run_state.begin(cache_folder())
    try:
        run_plan.begin(workflow, study)
    except KeyboardInterrupt:
        raise WorkflowError("Interrupted before the first job.") from None
    try:
        write_configuration(config, results)
        if not config.published:
            Planned.of(study).write(results / PLANNED_FILE)
    except OSError as error:
        raise FileError(error) from None


def on_success(config: Config, summary: Path) -> None:
    """At the end of a run without failures: print the summary, where this run is the one that wrote it."""
    _finish(config)
    if config.calls_on == "cluster":
        run_state.join(cache_folder()).remove()
    started = Path(config.results_dir, CONFIGURATION)  # written by `on_start`
    # Not one that an earlier run, perhaps of another experiment, has left.
    if summary.exists() and summary.stat().st_mtime >= started.stat().st_mtime:
        print(summary.read_text(encoding="utf-8"), end="", file=sys.stderr)


def on_error(config: Config) -> None:
    """At the end of any other run: print what failed."""
    _finish(config)
    print(current(config).failure_summary(), end="", file=sys.stderr)


def _finish(config: Config) -> None:
    cancel_timers()
    current(config).finish()
