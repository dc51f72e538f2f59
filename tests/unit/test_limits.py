"""The gate of an endpoint: nobody is turned away, and no window of a minute holds more than its limit."""

import asyncio
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.limits import Limiter, SlidingMinute

PERIOD_S = 0.3


async def starts(limiter: Limiter, amounts: list[int], hold_s: float = 0.0) -> list[tuple[float, int]]:
    """Run one call for each amount; return when each started, in seconds since the first, and its place."""
    began: list[tuple[float, int]] = []

    async def one(place: int, tokens: int) -> None:
        async with limiter.slot(tokens):
            began.append((time.monotonic(), place))
            await asyncio.sleep(hold_s)

    await asyncio.gather(*(one(place, tokens) for place, tokens in enumerate(amounts)))
    first = began[0][0]
    return [(moment - first, place) for moment, place in began]


@given(
    limit=st.integers(1, 50),
    asks=st.lists(st.tuples(st.integers(1, 60), st.floats(0, 40)), max_size=60),
)
def test_no_minute_holds_more_than_the_limit(limit: int, asks: list[tuple[int, float]]) -> None:
    window, now, spent = SlidingMinute(limit), 1000.0, list[tuple[float, int]]()
    for amount, gap in asks:
        now += gap
        # As the limiter does: wait as told, look again.
        for _ in range(100):
            wait = window.wait_s(amount, now)
            if wait == 0:
                break
            now += wait + 1e-6
        window.spend(amount, now)
        spent.append((now, amount))
        recent = [a for moment, a in spent if moment > now - 60.0]
        # An amount above the limit goes alone; all others share the window.
        assert sum(recent) <= limit or recent == [amount]


def test_concurrency_is_kept_in_order_of_arrival() -> None:
    async def run() -> tuple[int, list[int]]:
        limiter, most, order = Limiter(3), 0, list[int]()

        async def one(place: int) -> None:
            nonlocal most
            async with limiter.slot():
                order.append(place)
                most = max(most, limiter.state().in_flight)
                await asyncio.sleep(0.005)

        await asyncio.gather(*(one(place) for place in range(20)))
        assert limiter.state().in_flight == limiter.state().queued == 0
        return most, order

    assert asyncio.run(run()) == (3, list(range(20)))


def test_requests_a_minute_queue_and_are_never_refused() -> None:
    moments = asyncio.run(starts(Limiter(rpm=4, period_s=PERIOD_S), [0] * 10))
    assert [place for _, place in moments] == list(range(10))
    times = [moment for moment, _ in moments]
    assert len(times) == 10
    assert all(later - earlier >= PERIOD_S for earlier, later in zip(times, times[4:], strict=False))
    assert times[-1] < 3 * PERIOD_S


def test_tokens_a_minute_and_a_request_above_the_whole_limit() -> None:
    moments = asyncio.run(starts(Limiter(tpm=100, period_s=PERIOD_S), [60, 60, 500, 10]))
    assert [place for _, place in moments] == [0, 1, 2, 3]
    assert all(later - earlier >= PERIOD_S for (earlier, _), (later, _) in pairwise(moments))


def test_a_pause_holds_the_whole_endpoint_and_a_shorter_one_does_not_end_it() -> None:
    async def run() -> float:
        limiter = Limiter(8)
        limiter.pause(0.2, "retry-after")
        limiter.pause(0.01, "shorter")
        began = time.monotonic()
        await asyncio.gather(*(starts(limiter, [0]) for _ in range(5)))
        return time.monotonic() - began

    assert 0.2 <= asyncio.run(run()) < 0.4


async def _state_while_waiting(limiter: Limiter, before: Any) -> Any:
    await before(limiter)
    waiting = asyncio.create_task(starts(limiter, [50]))
    await asyncio.sleep(0.02)
    state = limiter.state()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert limiter.state().queued == 0
    return state


async def _spend(limiter: Limiter) -> None:
    await starts(limiter, [60])


async def _pause(limiter: Limiter) -> None:
    limiter.pause(5, "retry-after: HTTP 429, slow down")


@pytest.mark.parametrize(
    ("limits", "before", "waiting_on", "words"),
    [
        ({"rpm": 1}, _spend, "requests_per_minute", "1 requests a minute"),
        ({"tpm": 100}, _spend, "tokens_per_minute", "100 tokens a minute"),
        ({"max_concurrency": 9}, _pause, "pause", "slow down"),
    ],
)
def test_state_says_what_is_waited_for(limits: dict[str, int], before: Any, waiting_on: str, words: str) -> None:
    state = asyncio.run(_state_while_waiting(Limiter(**limits), before))
    assert (state.queued, state.in_flight, state.waiting_on) == (1, 0, waiting_on)
    assert words in state.why
    assert 0 < state.wait_s <= 60


def test_state_says_concurrency_and_a_cancelled_wait_loses_no_seat() -> None:
    async def run() -> None:
        limiter = Limiter(1)
        async with limiter.slot():
            waiting = asyncio.create_task(starts(limiter, [0]))
            await asyncio.sleep(0.01)
            assert limiter.state().waiting_on == "concurrency"
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        limiter.pause(0.05, "x")
        cancelled = asyncio.create_task(starts(limiter, [0]))
        await asyncio.sleep(0.01)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        await asyncio.wait_for(starts(limiter, [0, 0, 0]), 1)

    asyncio.run(run())


@pytest.mark.parametrize("limits", [{"max_concurrency": 0}, {"rpm": 0}, {"tpm": -1}])
def test_limits_below_one_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limiter(**limits)
