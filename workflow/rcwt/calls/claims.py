"""Who is asking for what: two processes that share a cache do not ask the same thing at the same time.

A claim is a lock on one byte of one file, at a place given by the request's key. The system gives it back when the
process ends in whatever way, and it holds on a network file system that keeps POSIX locks.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

from rcwt.calls.room import make_folder

#: How often a process looks whether another has finished asking, in seconds.
POLL_S = 0.2


class Claims:
    """Claims of this process on request keys, in a file beside the responses. Belongs to one event loop."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        # Kept open for good: closing any descriptor of the file would give back all of the process's locks on it.
        self._file = os.open(folder / ".claims", os.O_RDWR | os.O_CREAT, 0o644)
        # POSIX locks do not keep tasks of one process apart.
        self._here: dict[int, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the claim on a key, waiting while another task or process has it."""
        place = int(key[:12], 16)
        lock = self._here.setdefault(place, asyncio.Lock())
        async with lock:
            while not self._try(place):
                await asyncio.sleep(POLL_S)
            try:
                yield
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def _try(self, place: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True
