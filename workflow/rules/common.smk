# The configuration, checked, and what follows from it before any job: STUDY and RESULTS.
import os
import sys
from pathlib import Path

# The package of this checkout, for this process and for the scripts it starts; `python` in a shell command is the
# interpreter that runs Snakemake.
sys.path.insert(0, os.path.join(workflow.basedir, "workflow"))

from rcwt.run import process

process.prepare(sys.path[0])

from rcwt.base.digests import canonical_json, code_digest, script_digest
from rcwt.config.check import load
from rcwt.run import hooks
from rcwt.run.snakemake_state import config_arguments, config_files
from rcwt.study.planned import PLANNED_FILE
from rcwt.study.study import Study

with hooks.refusal():
    STUDY = Study(
        load(
            config,
            [
                *map(Path, ("config/models.yaml", "config/prices.yaml", "config/config.yaml")),
                *config_files(workflow),
            ],
            config_arguments(workflow),
        )
    )
    STUDY.check()

RESULTS = STUDY.config.results_dir
IN_JOBS = STUDY.config.calls_on == "cluster"  # calls and scores go out as jobs, many cells in each

hooks.on_configuration(workflow, STUDY.config)


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
    with hooks.refusal():
        hooks.on_start(workflow, STUDY)


onsuccess:
    hooks.on_success(STUDY.config, Path(SUMMARY))


onerror:
    hooks.on_error(STUDY.config)
