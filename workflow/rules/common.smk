# The configuration, checked, and what follows from it before any job: STUDY and RESULTS.
import atexit
import gc
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# What Snakemake has loaded lives as long as the process: searches for garbage pass it over from here on. So does all else
# when the process ends.
gc.freeze()
atexit.register(gc.freeze)

# The package of this checkout, for this process and for the scripts it starts; `python` in a shell command is the
# interpreter that runs Snakemake.
sys.path.insert(0, os.path.join(workflow.basedir, "workflow"))

from rcwt.base import keys
from rcwt.base.cache_folder import cache_folder
from rcwt.base.digests import canonical_json, code_digest
from rcwt.base.errors import FileError, RcwtError
from rcwt.base.files import clear_half_written
from rcwt.base.scripting import prepare_scripts
from rcwt.calls import room, run_state
from rcwt.calls.runtime import current
from rcwt.config.check import load
from rcwt.run import job_process, run_plan, signals
from rcwt.study.planned import PLANNED_FILE, Planned
from rcwt.study.study import Study, write_configuration

prepare_scripts(sys.path[0])

try:
    STUDY = Study(
        load(
            config,
            [
                *map(Path, ("config/models.yaml", "config/prices.yaml", "config/config.yaml")),
                *map(Path, workflow.overwrite_configfiles),
            ],
            workflow.config_settings.config,
        )
    )
    STUDY.check()
except RcwtError as error:
    raise WorkflowError(f"The run cannot start:\n{error}") from None

RESULTS = STUDY.config.results_dir
IN_JOBS = STUDY.config.calls_on == "cluster"  # calls and scores go out as jobs, many cells in each
STARTED = Path(RESULTS) / "config.yaml"  # written when a run starts

keys.guard(logger, [model.api_key_env for model in STUDY.config.registry.values()])
if not workflow.is_main_process:
    job_process.settle_in(workflow, logger, ["calls", "scores"], lambda: current(STUDY.config).interrupt())


def printed(table, *more):
    """The files of a paper-shaped table: values as printed, for Markdown, for LaTeX, and `more`."""
    return multiext(table, ".csv", ".md", ".tex", *more)


def drawn(figure):
    """The files of a figure."""
    return multiext(figure, ".pdf", ".png", ".svg")


wildcard_constraints:
    task="[^/]+",
    experiment="[^/]+",
    condition="[^/]+",
    model="[^/]+",
    judge="[^/]+",
    kind="[a-z_]+?",


onstart:
    signals.install(current(STUDY.config).interrupt, workflow.non_local_exec)
    if not workflow.non_local_exec:
        run_plan.look_for_jobs_once(workflow.scheduler)
    room.clear_left(cache_folder())
    clear_half_written(Path(RESULTS))
    if IN_JOBS:
        run_state.begin(cache_folder())
    try:
        run_plan.begin(workflow, STUDY)
    except RcwtError as error:
        raise WorkflowError(f"The run cannot start:\n{error}") from None
    except KeyboardInterrupt:
        raise WorkflowError("Interrupted before the first job.") from None
    try:
        write_configuration(STUDY.config, Path(RESULTS))
        if not STUDY.config.published:
            Planned.of(STUDY).write(Path(PLANNED))
    except OSError as error:
        raise WorkflowError(f"The run cannot start:\n{FileError(error)}") from None


onsuccess:
    signals.cancel_timers()
    current(STUDY.config).finish()
    if IN_JOBS:
        run_state.join(cache_folder()).remove()
    # Not one that an earlier run, perhaps of another experiment, has left.
    if Path(SUMMARY).exists() and Path(SUMMARY).stat().st_mtime >= STARTED.stat().st_mtime:
        print(Path(SUMMARY).read_text(encoding="utf-8"), end="", file=sys.stderr)


onerror:
    signals.cancel_timers()
    current(STUDY.config).finish()
    print(current(STUDY.config).failure_summary(), end="", file=sys.stderr)
