"""What has arrived is put on disk by threads here: the event loop answers for all calls and waits for no disk."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from rcwt.base.errors import CallError
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.responses import ResponseCache
from rcwt.calls.room import room_for

T = TypeVar("T")

#: Threads that put responses on disk; many, for a disk that answers late: on Ctrl-C all that has arrived waits for it.
WRITERS = 16
#: Bytes of a preflight's line, at most.
_LINE = 2**12


class Keeper:
    """Keeps responses in the cache; once that fails, nothing more may be sent. Belongs to one event loop."""

    def __init__(self, cache: ResponseCache) -> None:
        self.cache = cache
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="rcwt-writer")
        self._unwritable: CallError | None = None

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Make the folder in this block and see that it takes more; where it does not, `require_disk` says so."""
        try:
            yield
            self.cache.require_room()
        except OSError as error:
            self._unwritable = _cannot_keep(self.cache, error.strerror)

    def require_disk(self) -> None:
        """Raise CallError where a response could not be kept, or only in the room that was set aside for it."""
        if self._unwritable is None and self.cache.room.given_back:
            self._unwritable = _cannot_keep(self.cache, "it is full")
        if self._unwritable is not None:
            raise self._unwritable

    @contextlib.asynccontextmanager
    async def room(self, output_cap: int) -> AsyncIterator[None]:
        """Hold room on the disk for the response to a call, from before it leaves until it is kept.

        Raises CallError where the disk has none.
        """
        size = room_for(output_cap)
        enough = self.cache.room.claim(size)
        try:
            if not enough:
                self.require_disk()
                await self._set_aside()
            yield
        finally:
            self.cache.room.release(size)

    async def _set_aside(self) -> None:
        try:
            try:
                making = asyncio.get_running_loop().run_in_executor(self._writers, self.cache.room.set_aside)
            except RuntimeError:  # the interpreter ends, and no thread takes work any more
                self.cache.room.set_aside()
                return
            await making
        except OSError as error:
            self._unwritable = _cannot_keep(self.cache, error.strerror)
            raise self._unwritable from None

    async def keep(self, request: Request, response: Response, body: KeptBody | None) -> None:
        """Put a response on disk. Raises CallError where that fails."""
        await self._written(functools.partial(self.cache.put, request, response, body))

    async def keep_unread(self, request: Request, body: KeptBody) -> Path:
        """Put an answer on disk that cannot be read, and give its path. Raises CallError where that fails."""
        return await self._written(functools.partial(self.cache.put_unread, request, body))

    async def keep_line(self, write: Callable[[], None]) -> None:
        """Do what adds a line to a file beside the responses. Raises CallError where that fails."""
        await self._written(functools.partial(self.cache.room.within, write, _LINE))

    async def _written(self, write: Callable[[], T]) -> T:
        try:
            try:
                writing = asyncio.get_running_loop().run_in_executor(self._writers, write)
            except RuntimeError:  # the interpreter ends, and no thread takes work any more
                return write()
            while not writing.done():
                # It has arrived: an interrupt now is too late for it.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])
            return writing.result()
        except OSError as error:
            self._unwritable = _cannot_keep(self.cache, error.strerror)
            raise self._unwritable from None


def _cannot_keep(cache: ResponseCache, why: str | None) -> CallError:
    """Whatever is asked for from now on would be paid and lost."""
    return CallError(
        f"the response cache {cache.folder} cannot be written ({why}); nothing more is sent. Make room or "
        "move it with RCWT_CACHE, then run again"
    )
