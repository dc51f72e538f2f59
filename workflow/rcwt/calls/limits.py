"""How fast one endpoint may be asked: calls at a time, requests a minute, tokens a minute.

A call waits its turn and is never turned away. The limits hold for *any* sixty seconds. aiolimiter's leaky
bucket lets a full minute's amount through at once and as much again while it drains, which a provider that
counts a sliding minute answers with 429; so the window is kept here.
"""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

MINUTE_S = 60.0
# Added to each computed wait, so that a timer that fires a little early does not wake for nothing.
_SLACK_S = 0.002


@dataclass(frozen=True)
class LimiterState:
    """What an endpoint is doing, for a progress line.

    `waiting_on` is None, `concurrency`, `requests_per_minute`, `tokens_per_minute` or `pause`; `why` says it
    in words; `wait_s` is the time until the next call may start, in seconds (0 where it hangs on a reply).
    """

    in_flight: int
    queued: int
    waiting_on: str | None = None
    why: str = ""
    wait_s: float = 0.0


class AnyLimiter(Protocol):
    """The gate to an endpoint: `Limiter` for one process, `rcwt.calls.shared_limits.SharedLimiter` for all of a run."""

    def slot(self, tokens: int = 0) -> AbstractAsyncContextManager[None]:
        """Wait for a turn and hold it for the block; `tokens` is what the request may use in all."""

    def pause(self, seconds: float, why: str) -> None:
        """Let no new call start for `seconds`; a longer pause that already stands is kept."""

    def state(self) -> LimiterState:
        """Return what the endpoint is doing now; may be called from any thread."""


def state_of(in_flight: int, queued: int, waiting: tuple[str, str, float] | None) -> LimiterState:
    """The state of a limiter whose next call is `waiting` on something: what, why, and until when by this clock."""
    if waiting is None or not queued:
        return LimiterState(in_flight, queued)
    on, why, until = waiting
    left = max(0.0, until - time.monotonic()) if math.isfinite(until) else 0.0
    return LimiterState(in_flight, queued, on, why, left)


class SlidingMinute:
    """Amounts spent in the last sixty seconds, held at or below `limit` (None: no limit)."""

    def __init__(self, limit: int | None, period_s: float = MINUTE_S) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f"a limit a minute must be at least 1, found {limit}")
        self._limit = limit
        self._period_s = period_s
        self._spent: deque[tuple[float, int]] = deque()
        self._sum = 0

    def wait_s(self, amount: int, now: float) -> float:
        """Return the seconds until `amount` fits.

        An amount above the whole limit waits until nothing else is in the window, and then goes alone.
        """
        if self._limit is None:
            return 0.0
        self._forget(now)
        over = self._sum + min(amount, self._limit) - self._limit
        if over <= 0:
            return 0.0
        for moment, spent in self._spent:
            over -= spent
            if over <= 0:
                return max(0.0, moment + self._period_s - now)
        return self._period_s

    def spend(self, amount: int, now: float) -> None:
        """Count `amount` as spent now."""
        if self._limit is not None:
            self._spent.append((now, amount))
            self._sum += amount

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0][0] + self._period_s <= now:
            self._sum -= self._spent.popleft()[1]


class MinuteRates:
    """What an endpoint counts by the minute: requests (`rpm`) and tokens (`tpm`); None means no limit.

    Raises ValueError for limits under 1.
    """

    def __init__(self, rpm: int | None, tpm: int | None, period_s: float) -> None:
        self._requests, self._tokens = SlidingMinute(rpm, period_s), SlidingMinute(tpm, period_s)
        self._limits = (f"{rpm} requests a minute", f"{tpm} tokens a minute")
        self.exist = rpm is not None or tpm is not None

    def longest_wait(self, tokens: int, now: float, paused_until: float, paused_why: str) -> tuple[float, str, str]:
        """What a call of so many tokens waits for longest: seconds, the name `LimiterState` gives it, and in words."""
        requests, more = self._limits
        return max(
            (paused_until - now, "pause", paused_why),
            (self._requests.wait_s(1, now), "requests_per_minute", requests),
            (self._tokens.wait_s(tokens, now), "tokens_per_minute", more),
        )

    def spend(self, tokens: int, now: float) -> None:
        """Count a call in."""
        self._requests.spend(1, now)
        self._tokens.spend(tokens, now)


class Limiter:
    """The one gate to an endpoint; first come, first served. Belongs to one event loop.

    `max_concurrency` calls at a time, `rpm` requests and `tpm` tokens in any minute; None means no limit.
    """

    def __init__(
        self,
        max_concurrency: int | None = None,
        rpm: int | None = None,
        tpm: int | None = None,
        *,
        period_s: float = MINUTE_S,
    ) -> None:
        if max_concurrency is not None and max_concurrency < 1:
            raise ValueError(f"max_concurrency must be at least 1, found {max_concurrency}")
        self._rates = MinuteRates(rpm, tpm, period_s)
        self._max = max_concurrency
        self._seats = asyncio.Semaphore(max_concurrency) if max_concurrency else None
        self._turn = asyncio.Lock()
        self._in_flight = 0
        self._queued = 0
        self._paused_until = -math.inf
        self._paused_why = ""
        self._waiting: tuple[str, str, float] | None = None

    @contextlib.asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for a turn and hold it for the block; `tokens` is what the request may use in all."""
        self._queued += 1
        try:
            await self._enter(tokens)
        finally:
            self._queued -= 1
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            if self._seats is not None:
                self._seats.release()

    def pause(self, seconds: float, why: str) -> None:
        """Let no new call start for `seconds`; a longer pause that already stands is kept."""
        until = time.monotonic() + seconds
        if until > self._paused_until:
            self._paused_until, self._paused_why = until, why

    def state(self) -> LimiterState:
        """Return what the endpoint is doing now; may be called from any thread."""
        return state_of(self._in_flight, self._queued, self._waiting)

    async def _enter(self, tokens: int) -> None:
        # One call at a time looks at the limits, in the order of arrival: a small call does not overtake
        # a large one for ever.
        async with self._turn:
            try:
                if self._seats is not None:
                    self._waiting = ("concurrency", f"{self._max} calls in flight", math.inf)
                    await self._seats.acquire()
                try:
                    await self._wait_for_rates(tokens)
                except BaseException:
                    if self._seats is not None:
                        self._seats.release()
                    raise
            finally:
                self._waiting = None

    async def _wait_for_rates(self, tokens: int) -> None:
        while True:
            now = time.monotonic()
            wait, on, why = self._rates.longest_wait(tokens, now, self._paused_until, self._paused_why)
            if wait <= 0:
                break
            self._waiting = (on, why, now + wait)
            # Looked at again after the wait: another 429 may have made the pause longer.
            await asyncio.sleep(wait + _SLACK_S)
        self._rates.spend(tokens, now)
