"""What the first call to a model said of all others: it is made once, and whoever comes later shares its outcome."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from rcwt.claims import Claims
from rcwt.digests import digest
from rcwt.errors import CallError
from rcwt.run_state import RunState


class Verdicts:
    """Verdicts by name: an empty text for a model that can be called, else why it cannot. Belongs to one event loop.

    With a `run`, they are those of all its processes: one asks, and the others wait for what it learns.
    """

    def __init__(self, run: RunState | None = None) -> None:
        self._known: dict[str, str] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._journal = run.journal("verdicts") if run else None
        self._claims = Claims(run.folder) if run else None

    def known(self, name: str) -> bool:
        """Whether there is a verdict. Raises CallError where it is that all calls would fail."""
        if name not in self._known and self._journal is not None:
            with self._journal.turn() as news:
                self._known |= {record["name"]: record["failure"] for record in news}
        if self._known.get(name):
            raise CallError(self._known[name])
        return name in self._known

    @contextlib.asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Be the only one in the run that finds out; ask `known` again inside."""
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self._turns.setdefault(name, asyncio.Lock()))
            if self._claims is not None:
                await stack.enter_async_context(self._claims.hold(digest(name)))
            yield

    def tell(self, name: str, failure: str = "") -> None:
        """Give the verdict."""
        if self._journal is not None:
            with self._journal.turn() as news:
                self._known |= {record["name"]: record["failure"] for record in news}
                self._journal.add({"name": name, "failure": failure})
        self._known[name] = failure
