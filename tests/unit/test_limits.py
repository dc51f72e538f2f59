"""The gate of an endpoint: nobody is turned away, and no window of a minute holds more than its limit."""

import asyncio
import selectors
from collections.abc import Coroutine
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.calls import limits
from rcwt.calls.limits import Limiter, SlidingMinute


class Clock(asyncio.SelectorEventLoop):
    """An event loop in which nothing takes time but waiting, and waiting takes no time to run."""

    def __init__(self) -> None:
        super().__init__(_NoWait(self))
        self.now = 1000.0

    def time(self) -> float:
        return self.now


class _NoWait(selectors.SelectSelector):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self._clock.now += timeout
        return ready


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=made.time))
    return made


def run(clock: Clock, coroutine: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=lambda: clock) as runner:
        return runner.run(coroutine)


async def starts(limiter: Limiter, amounts: list[int], hold_s: float = 0.0) -> list[tuple[float, int]]:
    """Run one call for each amount; return when each started, in seconds since the first, and its place."""
    began: list[tuple[float, int]] = []

    async def one(place: int, tokens: int) -> None:
        async with limiter.slot(tokens):
            began.append((asyncio.get_running_loop().time(), place))
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


def test_requests_a_minute_queue_and_are_never_refused(clock: Clock) -> None:
    moments = run(clock, starts(Limiter(rpm=4), [0] * 10))
    assert [place for _, place in moments] == list(range(10))
    # Four at once, four a minute later, two a minute after that; the slack is a millisecond or so a wait.
    assert [moment for moment, _ in moments] == pytest.approx([0] * 4 + [60] * 4 + [120] * 2, abs=0.2)
    times = [moment for moment, _ in moments]
    assert all(later - earlier >= 60 for earlier, later in zip(times, times[4:], strict=False))


def test_tokens_a_minute_and_a_request_above_the_whole_limit(clock: Clock) -> None:
    moments = run(clock, starts(Limiter(tpm=100), [60, 60, 500, 10]))
    assert [place for _, place in moments] == [0, 1, 2, 3]
    assert all(later - earlier >= 60 for (earlier, _), (later, _) in pairwise(moments))
    assert moments[-1][0] == pytest.approx(180, abs=0.2)


def test_a_pause_holds_the_whole_endpoint_and_a_shorter_one_does_not_end_it(clock: Clock) -> None:
    async def waited() -> float:
        limiter = Limiter(8)
        limiter.pause(20, "retry-after")
        limiter.pause(1, "shorter")
        began = clock.now
        await asyncio.gather(*(starts(limiter, [0]) for _ in range(5)))
        return clock.now - began

    assert run(clock, waited()) == pytest.approx(20, abs=0.2)


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
        await asyncio.wait_for(starts(limiter, [0, 0, 0]), 300)

    asyncio.run(run())


@pytest.mark.parametrize("limits", [{"max_concurrency": 0}, {"rpm": 0}, {"tpm": -1}])
def test_limits_below_one_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limiter(**limits)
