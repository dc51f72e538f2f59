"""The process of a job, as Snakemake starts it on a node: without profile and without `onstart`.

What a profile says of threads, groups and going on has to be said again here, or each cell would get a process of its
own, with its own import of litellm. Only speed depends on it: what must be shared is shared by processes as well
(`rcwt.calls.run_state`).
"""

import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rcwt.run import signals


def settle_in(workflow: Any, logger: logging.Logger, groups: Iterable[str], interrupt: Callable[[], None]) -> None:
    """Let the cells of this job run in threads of one process, and end within seconds when the job is cancelled.

    `groups` are the names of groups of cells; `interrupt` is called on SIGINT and SIGTERM. To be called while the
    Snakefile is read.
    """
    signals.watch(interrupt)
    logger.addFilter(_OnStart(lambda: _like_the_profile(workflow, groups)))


def _like_the_profile(workflow: Any, groups: Iterable[str]) -> None:
    workflow.execution_settings.use_threads = True
    workflow.execution_settings.keep_going = True
    # The cells that were sent out together stay together.
    workflow.group_settings.group_components = dict.fromkeys(groups, sys.maxsize)


class _OnStart(logging.Filter):
    """Calls a function at Snakemake's event of a workflow that starts: its settings are there, its jobs are not yet."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._call = call

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(getattr(record, "event", None), "name", "") == "WORKFLOW_STARTED":
            self._call()
        return True
