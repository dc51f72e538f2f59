"""The process of a job, as Snakemake starts it on a node: without profile and without `onstart`.

What a profile says of threads, groups and going on has to be said again here, or each cell would get a process of its
own, with its own import of litellm. Only speed depends on it: what must be shared is shared by processes as well
(`rcwt.calls.run_state`).
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from rcwt.run import signals
from rcwt.run.snakemake_state import at_start_of_jobs, keep_in_one_process


def settle_in(workflow: Any, logger: logging.Logger, groups: Iterable[str], interrupt: Callable[[], None]) -> None:
    """Let the cells of this job run in threads of one process, and end within seconds when the job is cancelled.

    `groups` are the names of groups of cells; `interrupt` is called on SIGINT and SIGTERM. To be called while the
    Snakefile is read.
    """
    signals.watch(interrupt)
    at_start_of_jobs(logger, lambda: keep_in_one_process(workflow, groups))
