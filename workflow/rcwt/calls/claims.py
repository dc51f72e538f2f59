"""Who is asking for what: two processes that share a cache do not ask the same thing at the same time.

A claim is a lock on one byte of one file, at a place given by the request's key.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from rcwt.calls.byte_locks import ByteLocks
from rcwt.calls.room import make_folder

#: How often a process looks whether another has finished asking, in seconds.
POLL_S = 0.2


class Claims:
    """Claims of this process on request keys, in a file beside the responses. Belongs to one event loop."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        self._locks = ByteLocks(folder / ".claims")
        # They do not keep tasks of one process apart.
        self._here: dict[int, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the claim on a key, waiting while another task or process has it."""
        place = int(key[:12], 16)
        lock = self._here.setdefault(place, asyncio.Lock())
        async with lock:
            while not self._locks.take(place):
                await asyncio.sleep(POLL_S)
            try:
                yield
            finally:
                self._locks.give_back(place)
