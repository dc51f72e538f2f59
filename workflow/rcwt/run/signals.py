"""Ctrl-C, SIGTERM, a closed terminal: replies under way are kept, nothing more is sent, every child process ends.

Snakemake's own handlers wait for the cells that run in its threads; these are called first, so that the cells end
within seconds, and then hand over.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import psutil

#: How long another signal is passed over while a run ends by the first, in seconds.
PATIENCE_S = 5.0


def install(interrupt: Callable[[], None], has_jobs: bool = False) -> None:
    """Call `interrupt` and end all child processes on SIGINT, SIGTERM and SIGHUP, before the handlers of now.

    `has_jobs`: the run has jobs on a cluster. On SIGTERM Snakemake would wait for them: it cancels them as on Ctrl-C.
    """
    # A shell without job control has SIGINT ignored in what it starts with `&`, and Python leaves it so: Snakemake
    # would not hear of it, and its jobs on a cluster would go on.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if has_jobs:
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    is_heard = _Debounce()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _before(signal.getsignal(number), interrupt, is_heard))
    # A closed terminal ends a run as SIGTERM does, unless it was started to outlive it (nohup).
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))


class _Debounce:
    """Lets a run's first signal be heard, and not those that follow at once, from an impatient hand or a scheduler.

    Snakemake's ending, broken off by another one, prints tracebacks in the place of what was kept and what is left.
    """

    def __init__(self) -> None:
        self._until = 0.0

    def __call__(self) -> bool:
        """Whether the signal that comes now is to be heard."""
        now = time.monotonic()
        if now < self._until:
            return False
        self._until = now + PATIENCE_S
        return True


def _before(
    previous: Any, interrupt: Callable[[], None], is_heard: _Debounce
) -> Callable[[int, FrameType | None], Any]:
    def handler(number: int, frame: FrameType | None) -> Any:
        if not is_heard():
            return None
        interrupt()
        end_children()
        if previous is signal.default_int_handler:
            return previous(number, frame)
        if callable(previous):
            # Snakemake's takes a lock, which this thread may hold at this very moment.
            threading.Thread(target=previous, args=(number, None), name="rcwt-signal", daemon=True).start()
        return None

    return handler


def watch(interrupt: Callable[[], None], within_s: float = 10.0) -> None:
    """The same for the process of a job, where Snakemake runs no `onstart` and sets its handlers after the Snakefile.

    Python writes the number of each signal that has a handler, whoever sets it, to a socket; a thread reads it there.
    The process ends `within_s` seconds in any case: Snakemake's own handler waits for a lock that the main thread may
    hold, as when a scheduler sends two signals at once.
    """
    read, write = socket.socketpair()
    write.setblocking(False)
    signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        with write:  # it would be closed with the last reference to it
            while number := read.recv(1):
                if number[0] in (signal.SIGINT, signal.SIGTERM):
                    interrupt()
                    end_children()
                    end = threading.Timer(within_s, os._exit, (128 + number[0],))
                    end.daemon = True
                    end.start()

    threading.Thread(target=wait, name="rcwt-signals", daemon=True).start()


def end_children() -> None:
    """Ask every descendant process to end."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.terminate()
        except psutil.NoSuchProcess:
            continue
