"""The one place that makes a call again.

litellm and the SDKs beneath it are told to retry nothing, because their retries multiply and take a wrong
key for a passing fault. Here a `TransientFault` is tried again after exponential backoff with full jitter
(tenacity's), or after what `retry-after` asks for, until the call's total deadline.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from rcwt.calls.limits import AnyLimiter
from rcwt.wire.faults import PermanentFault, TransientFault

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How long to go on with one call. All times in seconds.

    `attempt_deadline_s` bounds one request, `total_deadline_s` all of a call's requests and backoffs
    together; waiting for a turn at the limiter does not count, because it is not the call's fault.
    """

    attempt_deadline_s: float = 120.0
    total_deadline_s: float = 600.0
    first_backoff_s: float = 1.0
    longest_backoff_s: float = 60.0


@dataclass(frozen=True)
class Backoff:
    """One wait before another attempt. `retry_after` says that the server asked for it."""

    attempt: int
    wait_s: float
    status: int | None
    cause: str
    retry_after: bool


async def call(
    attempt: Callable[[int, float], Awaitable[T]],
    limiter: AnyLimiter,
    tokens: int,
    policy: RetryPolicy,
    on_backoff: Callable[[Backoff], None],
) -> T:
    """Make a call until it succeeds.

    `attempt(number, deadline_s)` makes one request, the first of number 1, within `deadline_s` seconds;
    `tokens` is what it may use. A `retry-after` pauses the whole endpoint, since its limits are the
    endpoint's. `on_backoff` hears of every wait.

    Raises `PermanentFault`: the attempt's own, or of kind `retries_exhausted` when the next attempt
    would begin after the total deadline. Its `attempts` counts the requests made.
    """
    run = _Run(attempt, limiter, tokens, policy, on_backoff)
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(TransientFault),
        wait=run.wait_s,
        stop=run.is_over,
        before_sleep=run.report,
        sleep=run.sleep,
        reraise=True,
    )
    try:
        return await retrying(run.once)
    except PermanentFault as fault:
        fault.attempts = run.attempts
        raise
    except TransientFault as fault:
        last = fault
    raise _exhausted(last, run)


class _Run(Generic[T]):
    """One call's clock and count, in the shape of tenacity's hooks."""

    def __init__(
        self,
        attempt: Callable[[int, float], Awaitable[T]],
        limiter: AnyLimiter,
        tokens: int,
        policy: RetryPolicy,
        on_backoff: Callable[[Backoff], None],
    ) -> None:
        self.attempts = 0
        self.spent_s = 0.0
        self._attempt = attempt
        self._limiter = limiter
        self._tokens = tokens
        self._policy = policy
        self._on_backoff = on_backoff
        self._jitter = wait_random_exponential(multiplier=policy.first_backoff_s, max=policy.longest_backoff_s)

    async def once(self) -> T:
        async with self._limiter.slot(self._tokens):
            self.attempts += 1
            started = time.monotonic()
            left = self._policy.total_deadline_s - self.spent_s
            try:
                return await self._attempt(self.attempts, min(self._policy.attempt_deadline_s, left))
            except TransientFault as fault:
                self._pause(fault)
                raise
            finally:
                self.spent_s += time.monotonic() - started

    def _pause(self, fault: TransientFault) -> None:
        # A wait longer than a call lives would only let the others hang: they fail with its cause instead.
        if fault.retry_after_s is not None and not self.is_too_long(fault):
            self._limiter.pause(fault.retry_after_s, f"retry-after: {fault}")

    def is_too_long(self, fault: TransientFault) -> bool:
        """Whether the server asks to wait for longer than a call lives."""
        return fault.retry_after_s is not None and fault.retry_after_s >= self._policy.total_deadline_s

    def wait_s(self, state: RetryCallState) -> float:
        fault = _fault(state)
        jitter = float(self._jitter(state))
        # At least what was asked for, and not all at the same moment after it.
        asked = (fault.retry_after_s or 0.0) * random.uniform(1.0, 1.1)
        return max(asked, jitter)

    def is_over(self, state: RetryCallState) -> bool:
        # tenacity has asked for the wait before it asks whether to stop.
        return self.spent_s + state.upcoming_sleep >= self._policy.total_deadline_s

    def report(self, state: RetryCallState) -> None:
        fault = _fault(state)
        asked = fault.retry_after_s is not None
        self._on_backoff(Backoff(self.attempts, state.upcoming_sleep, fault.status, fault.cause, asked))

    async def sleep(self, seconds: float) -> None:
        self.spent_s += seconds
        await asyncio.sleep(seconds)


def _fault(state: RetryCallState) -> TransientFault:
    fault = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(fault, TransientFault)
    return fault


def _exhausted(last: TransientFault, run: "_Run[T]") -> PermanentFault:
    asked = f", which asks to wait {last.retry_after_s:.0f} s" if last.retry_after_s is not None else ""
    fault = PermanentFault(
        "retries_exhausted",
        last.status,
        f"{last.cause}{asked} (after {run.attempts} attempts in {run.spent_s:.0f} s)",
        "Run again later: finished calls are kept",
    )
    fault.attempts = run.attempts
    if run.is_too_long(last):
        # It is the endpoint that asks to wait: any other call would be told the same.
        fault.scope = "model"
    return fault
