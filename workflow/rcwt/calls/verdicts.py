"""What one call said of others: it is found out once, and whoever comes later shares the outcome.

A model's first call says whether it can be called at all. Any later one may find that all that are like it can only
fail: those that have not left are then told so at once, and none of them costs a request.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from rcwt.base.digests import digest
from rcwt.base.errors import CallError
from rcwt.calls.claims import Claims
from rcwt.calls.run_state import RunState

#: What other processes of the run have told is known after so many seconds.
NEWS_S = 1.0


class Verdicts:
    """Verdicts by name: an empty text for what can be called, else why it cannot. Belongs to one event loop.

    With a `run`, they are those of all its processes: one asks, and the others wait for what it learns. `has_left` says
    of a task whether its request is on its way: such a one is let finish whatever the verdict.
    """

    def __init__(self, run: RunState | None = None, has_left: Callable[["asyncio.Task[Any]"], bool] = bool) -> None:
        self._known: dict[str, str] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._journal = run.journal("verdicts") if run else None
        self._claims = Claims(run.folder) if run else None
        self._looked_at = time.monotonic()
        self._has_left = has_left
        self._heeding: dict[asyncio.Task[Any], tuple[str, ...]] = {}

    def known(self, name: str) -> bool:
        """Whether there is a verdict. Raises CallError where it is that all calls would fail."""
        if name not in self._known:
            self._look()
        if self._known.get(name):
            raise CallError(self._known[name])
        return name in self._known

    def require(self, names: tuple[str, ...]) -> None:
        """Raise CallError where one of `names` can only fail, as far as is known here."""
        if time.monotonic() - self._looked_at > NEWS_S:
            self._look()
        if failure := self._failure(names):
            raise CallError(failure)

    def _failure(self, names: tuple[str, ...]) -> str:
        return next((failure for name in names if (failure := self._known.get(name))), "")

    def _look(self) -> None:
        if self._journal is not None:
            with self._journal.turn() as news:
                self._note(news)
        self._looked_at = time.monotonic()

    def _note(self, records: list[dict[str, Any]]) -> None:
        """Take verdicts in; calls that heed one to fail and have not left end by it."""
        for record in records:
            self._known[record["name"]] = record["failure"]
            for task, names in self._heeding.items() if record["failure"] else ():
                if record["name"] in names and task is not asyncio.current_task() and not self._has_left(task):
                    task.cancel()

    @contextlib.contextmanager
    def heeded(self, names: tuple[str, ...]) -> Iterator[None]:
        """A block that ends with CallError as soon as one of `names` is told to fail, unless its request has left."""
        self.require(names)
        task = asyncio.current_task()
        assert task is not None
        self._heeding[task] = names
        try:
            yield
        except asyncio.CancelledError:
            if failure := self._failure(names):
                raise CallError(failure) from None
            raise
        finally:
            del self._heeding[task]

    @contextlib.asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Be the only one in the run that finds out; ask `known` again inside."""
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self._turns.setdefault(name, asyncio.Lock()))
            if self._claims is not None:
                await stack.enter_async_context(self._claims.hold(digest(name)))
            yield

    def tell(self, name: str, failure: str = "") -> bool:
        """Give the verdict. Returns whether it was not known yet."""
        if failure and self._known.get(name):
            return False
        verdict = {"name": name, "failure": failure}
        if self._journal is not None:
            with self._journal.turn() as news:
                self._note(news)
                self._journal.add(verdict)
        self._note([verdict])
        return True
