"""Locks on single bytes of a file: what processes, of one node or of many, keep each other from doing at a time.

The system gives a lock back when its process ends in whatever way, and it holds on a network file system that keeps
POSIX locks.
"""

import fcntl
import os
from pathlib import Path


class ByteLocks:
    """Locks held by this process; tasks and threads of it are not kept apart.

    The file stays open for good: closing any descriptor of it would give back all of the process's locks on it.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def take(self, place: int) -> bool:
        """Lock a byte; False where another process has it."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def give_back(self, place: int) -> None:
        """Unlock a byte."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)
