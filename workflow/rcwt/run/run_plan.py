"""The plan of the jobs that a `snakemake` command runs or would run: the spend line, and the cap before the first job.

Snakemake's own list of jobs to run is read, so the plan is that of the targets asked for and of nothing else.
"""

import contextlib
import sys
from collections.abc import Iterable
from typing import Any

from rcwt.base.errors import RcwtError
from rcwt.base.keys import read_key
from rcwt.calls.responses import ResponseCache
from rcwt.config.schema import Config
from rcwt.run.snakemake_state import is_planned_dry_run, only_touches, planned_jobs, submits_jobs
from rcwt.spend.asked_again import notes
from rcwt.spend.plan import PlannedCells, Planner, line, network_calls, refusal
from rcwt.study.study import Study


class CapError(RcwtError):
    """The worst case of a run is above its spend cap."""


class MissingKeyError(RcwtError):
    """A key is not in the environment that the jobs of a run are given."""


def planned_cells(workflow: Any, study: Study) -> PlannedCells:
    """The cells whose calls or scores a Snakemake workflow has to make, once its jobs are known."""
    judges = study.config.model_judges
    answered = [(cell.condition, cell.model) for cell in planned_jobs(workflow, "calls")]
    judged = [(cell.condition, cell.model, cell.judge) for cell in planned_jobs(workflow, "scores")]
    return PlannedCells(tuple(sorted(answered)), tuple(sorted(cell for cell in judged if cell[2] in judges)))


def stale_lines(planner: Planner) -> list[str]:
    """What a plan asks for again although a response is kept: it left other than asked for."""
    return [
        f"{name}: {count} kept responses are stale and asked for again, because litellm sent {what}. They stay in "
        "the cache, set aside."
        for (name, what), count in sorted(planner.stale.items())
    ]


def print_spend(workflow: Any, study: Study) -> None:
    """At the end of a dry run, its last line on stderr; nothing after any other command or a failed plan."""
    if not is_planned_dry_run(workflow):
        return
    with contextlib.suppress(OSError):  # nobody may be reading any more
        sys.stdout.flush()
    planner = Planner(study, ResponseCache())
    rows = planner.rows(planned_cells(workflow, study))
    print(*notes(planner), *stale_lines(planner), line(rows), sep="\n", file=sys.stderr, flush=True)


def begin(workflow: Any, study: Study) -> None:
    """Before the first job: refuse a run whose worst case is above `max_usd`; else tell the progress line its total,
    load litellm and send the preflights.

    Raises CapError, and MissingKeyError where calls are made in jobs.
    `on_cap: stop` and `offline` do not refuse: the first stops at the cap, the second sends nothing.
    """
    config = study.config
    if config.published or config.offline or only_touches(workflow):
        return
    # Without a cap only the number of calls is wanted: no prompt has to be counted before the first of them.
    counted = dict.fromkeys(study.conditions, 0) if config.max_usd is None else None
    planner = Planner(study, ResponseCache(), counted)
    rows = planner.rows(planned_cells(workflow, study))
    for note in notes(planner):
        print(note, file=sys.stderr, flush=True)
    if config.max_usd is not None and config.on_cap == "refuse":
        reason = refusal(rows, config.max_usd)
        if reason is not None:
            raise CapError(reason)
    for stale in stale_lines(planner):
        print(stale, file=sys.stderr, flush=True)
    calls = network_calls(study, rows)
    if calls and config.calls_on == "cluster":
        _require_keys(config, planner.first)
    if calls and config.calls_on == "cluster" and submits_jobs(workflow):
        # Jobs on the nodes send their own preflight: the model may be out of reach from here.
        print(f"{calls} calls are made in jobs, whose logs tell what they wait for.", file=sys.stderr, flush=True)
    elif calls:
        from rcwt.calls.runtime import current  # a run without calls over the network does not need its code

        current(config).progress.planned = calls
        first = {name: (request, study.preflight_of(name)) for name, request in planner.first.items()}
        current(config).warm_up(first)


def _require_keys(config: Config, models: Iterable[str]) -> None:
    for name in models:
        variable = config.registry[name].api_key_env
        if variable and read_key(variable) is None:
            raise MissingKeyError(
                f"'registry.{name}.api_key_env': the environment variable {variable} is not set here, and jobs get "
                "their keys with the environment of this process. Set it and run again"
            )
