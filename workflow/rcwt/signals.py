"""Ctrl-C, SIGTERM, a closed terminal: replies under way are kept, nothing more is sent, every child process ends.

Snakemake's own handlers wait for the cells that run in its threads; these are called first, so that the cells end
within seconds, and then hand over.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import psutil


def install(interrupt: Callable[[], None]) -> None:
    """Call `interrupt` and end all child processes on SIGINT, SIGTERM and SIGHUP, before the handlers of now."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _before(signal.getsignal(number), interrupt))
    # A closed terminal ends a run as SIGTERM does, unless it was started to outlive it (nohup).
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))


def _before(previous: Any, interrupt: Callable[[], None]) -> Callable[[int, FrameType | None], Any]:
    def handler(number: int, frame: FrameType | None) -> Any:
        interrupt()
        end_children()
        if callable(previous):
            return previous(number, frame)
        return None

    return handler


def cancel_timers() -> None:
    """End the timers with which Snakemake would look for jobs again: at the end of a run it only waits for them."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


def end_children() -> None:
    """Ask every descendant process to end."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.terminate()
        except psutil.NoSuchProcess:
            continue
