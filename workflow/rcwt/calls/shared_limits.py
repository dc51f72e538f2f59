"""How fast one endpoint may be asked by all processes of a run together: `rcwt.calls.limits.Limiter` over many nodes.

A seat is a byte of a lock file: whoever holds the lock has a call in flight, and the system frees the seat of a process
that dies. One call of the whole run at a time looks at the limits: it holds the turnstile, another byte. So the windows
of a minute, a journal of what was sent, are looked at and added to by one process at a time.
"""

import asyncio
import contextlib
import math
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path

from rcwt.base.digests import digest
from rcwt.calls.limits import MINUTE_S, LimiterState, MinuteRates, state_of
from rcwt.calls.run_state import RunState

#: The byte of the turnstile; seats are 1 to `max_concurrency`.
TURNSTILE = 0
#: First and longest wait between two tries for a seat, and the longest one for the turnstile, in seconds.
FIRST_S, LONGEST_S = 0.01, 0.1
TURN_S = 0.03
#: Added to each computed wait: the file server's clock may tick a hundred times a second.
_SLACK_S = 0.02


class SharedLimiter:
    """The one gate to an endpoint for all processes of a run. Belongs to one event loop.

    `place` names the endpoint; `max_concurrency` calls at a time, `rpm` requests and `tpm` tokens in any minute; None
    means no limit. Inside a process first come, first served; between processes chance decides, so that none starves.
    """

    def __init__(
        self,
        run: RunState,
        place: str,
        max_concurrency: int | None = None,
        rpm: int | None = None,
        tpm: int | None = None,
        *,
        period_s: float = MINUTE_S,
    ) -> None:
        name = f"endpoint-{digest(place)[:16]}"
        self._run = run
        self._locks, self._journal = run.byte_locks(name), run.journal(name)
        self._clock = FileClock(run.folder / f"{name}.clock")
        self._rates = MinuteRates(rpm, tpm, period_s)
        self._max = max_concurrency
        self._seats: set[int] = set()
        self._freed = asyncio.Event()
        self._turn = asyncio.Lock()
        self._in_flight = self._queued = 0
        self._paused_until, self._paused_why = -math.inf, ""
        self._waiting: tuple[str, str, float] | None = None

    @contextlib.asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for a turn and hold it for the block; `tokens` is what the request may use in all."""
        self._queued += 1
        try:
            seat = await self._enter(tokens)
        finally:
            self._queued -= 1
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._leave(seat)

    def pause(self, seconds: float, why: str) -> None:
        """Let no new call of the run start for `seconds`; a longer pause that already stands is kept."""
        until = self._clock.now() + seconds
        with self._journal.turn() as news:
            self._read(news)
            if until > self._paused_until:
                self._paused_until, self._paused_why = until, why
                self._journal.add({"until": until, "why": why})

    def state(self) -> LimiterState:
        """Return what this process does at the endpoint now; may be called from any thread."""
        return state_of(self._in_flight, self._queued, self._waiting)

    async def _enter(self, tokens: int) -> int | None:
        async with self._turn:
            try:
                self._waiting = ("concurrency", f"{self._max} calls of this run in flight", math.inf)
                await self._pass_turnstile()
                try:
                    seat = await self._sit_down()
                    try:
                        await self._wait_for_rates(tokens)
                    except BaseException:
                        self._leave(seat)
                        raise
                    return seat
                finally:
                    self._locks.give_back(TURNSTILE)
            finally:
                self._waiting = None

    async def _pass_turnstile(self) -> None:
        # Whoever has just come through lets the others try first: they only look every now and then.
        if self._run.has_others():
            await asyncio.sleep(random.uniform(0, TURN_S))
        while not self._locks.take(TURNSTILE):
            await asyncio.sleep(random.uniform(TURN_S / 3, TURN_S))

    async def _sit_down(self) -> int | None:
        """A free seat, locked; None where there is no limit."""
        if self._max is None:
            return None
        wait = FIRST_S
        while True:
            self._freed.clear()
            # A lock of this process would be given to it again: its own seats are known by name.
            for seat in random.sample(range(1, self._max + 1), self._max):
                if seat not in self._seats and self._locks.take(seat):
                    self._seats.add(seat)
                    return seat
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._freed.wait(), wait * random.uniform(0.5, 1.5))
            wait = min(1.5 * wait, LONGEST_S)

    def _leave(self, seat: int | None) -> None:
        if seat is not None:
            self._seats.discard(seat)
            self._locks.give_back(seat)
            self._freed.set()

    async def _wait_for_rates(self, tokens: int) -> None:
        """Wait for pauses and windows, and count the call in; only inside the turnstile."""
        while True:
            with self._journal.turn() as news:
                self._read(news)
                if not self._rates.exist and not self._paused_why:
                    return
                now = self._clock.now()
                wait, on, why = self._rates.longest_wait(tokens, now, self._paused_until, self._paused_why)
                if wait <= 0:
                    if self._rates.exist:
                        self._journal.add({"at": now, "tokens": tokens})
                        self._rates.spend(tokens, now)
                    return
            self._waiting = (on, why, time.monotonic() + wait)
            # Not all of a long wait at once: another process may have been told to make the pause longer.
            await asyncio.sleep(min(wait + _SLACK_S, 5.0))

    def _read(self, news: list[dict[str, object]]) -> None:
        for record in news:
            if "until" in record:
                until = float(str(record["until"]))
                if until > self._paused_until:
                    self._paused_until, self._paused_why = until, str(record["why"])
            else:
                self._rates.spend(int(str(record["tokens"])), float(str(record["at"])))


class FileClock:
    """The time by the clock of the file server, in seconds: nodes' own clocks may differ by seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def now(self) -> float:
        """Seconds since 1970, as the server dates a file that is touched now."""
        self._path.touch()
        return self._path.stat().st_mtime
