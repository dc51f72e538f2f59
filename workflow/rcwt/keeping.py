"""What has arrived is put on disk by threads here: the event loop answers for all calls and waits for no disk."""

import asyncio
import contextlib
import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from rcwt.errors import CallError
from rcwt.records import Response
from rcwt.responses import Request, ResponseCache

#: Threads that put responses on disk; many, for a disk that answers late: on Ctrl-C all that has arrived waits for it.
WRITERS = 16


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
            self._unwritable = _cannot_keep(self.cache, error)

    def require_disk(self) -> None:
        """Raise CallError where a response could not be kept."""
        if self._unwritable is not None:
            raise self._unwritable

    async def keep(self, request: Request, response: Response) -> None:
        """Put a response on disk. Raises CallError where that fails."""
        put = functools.partial(self.cache.put, request, response)
        try:
            try:
                writing = asyncio.get_running_loop().run_in_executor(self._writers, put)
            except RuntimeError:  # the interpreter ends, and no thread takes work any more
                put()
                return
            while not writing.done():
                # It has arrived: an interrupt now is too late for it.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])
            writing.result()
        except OSError as error:
            self._unwritable = _cannot_keep(self.cache, error)
            raise self._unwritable from None


def _cannot_keep(cache: ResponseCache, error: OSError) -> CallError:
    """Whatever is asked for from now on would be paid and lost."""
    return CallError(
        f"the response cache {cache.folder} cannot be written ({error.strerror}); nothing more is sent. Make room or "
        "move it with RCWT_CACHE, then run again"
    )
