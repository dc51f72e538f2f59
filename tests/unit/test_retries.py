"""The one retry owner: what is tried again, when, how often, and that nothing is lost on the way."""

import asyncio
import time
from typing import Any

import pytest
from fault_server import FaultServer
from wire_helpers import KEY, KEY_ENV, PARAMS, PROTOCOLS, endpoint
from wire_helpers import run as run_closing

from rcwt.calls.limits import Limiter
from rcwt.calls.retries import Backoff, RetryPolicy, call
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.replies import WireReply
from rcwt.wire.wire import send

FAST = RetryPolicy(attempt_deadline_s=5, total_deadline_s=10, first_backoff_s=0.01, longest_backoff_s=0.05)


class Script:
    """An attempt that fails as told, and then succeeds."""

    def __init__(self, *faults: BaseException) -> None:
        self.faults = list(faults)
        self.numbers: list[int] = []
        self.deadlines: list[float] = []

    async def __call__(self, number: int, deadline_s: float) -> str:
        self.numbers.append(number)
        self.deadlines.append(deadline_s)
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


def run(script: Any, policy: RetryPolicy = FAST, limiter: Limiter | None = None) -> tuple[Any, list[Backoff]]:
    heard: list[Backoff] = []

    async def inside() -> Any:
        try:
            return await call(script, limiter or Limiter(4), 10, policy, heard.append)
        except PermanentFault as fault:
            return fault

    return asyncio.run(inside()), heard


def test_transient_faults_are_tried_again_counted_and_reported() -> None:
    script = Script(TransientFault(500, "broken"), TransientFault(None, "connection lost"))
    result, heard = run(script)
    assert (result, script.numbers) == ("answer", [1, 2, 3])
    assert [(b.attempt, b.status, b.cause, b.retry_after) for b in heard] == [
        (1, 500, "broken", False),
        (2, None, "connection lost", False),
    ]
    assert all(0 <= b.wait_s <= FAST.longest_backoff_s for b in heard)


def test_permanent_faults_are_not() -> None:
    fault, heard = run(Script(TransientFault(503, "x"), PermanentFault("wrong_key", 401, "no", "mend")))
    assert (fault.kind, fault.attempts, len(heard)) == ("wrong_key", 2, 1)


def test_other_errors_and_cancellation_pass_through() -> None:
    for error in (ZeroDivisionError(), asyncio.CancelledError()):
        with pytest.raises(type(error)):
            run(Script(error))


def test_full_jitter_stays_under_the_doubling_bound() -> None:
    # 0.02 * 2**(n-1), capped at 0.05: tenacity draws uniformly below it.
    policy = RetryPolicy(5, 10, first_backoff_s=0.02, longest_backoff_s=0.05)
    waits = [[b.wait_s for b in run(Script(*[TransientFault(500, "x")] * 4), policy)[1]] for _ in range(8)]
    for wait in waits:
        assert all(w <= bound for w, bound in zip(wait, (0.02, 0.04, 0.05, 0.05), strict=True))
    assert len({round(wait[0], 6) for wait in waits}) > 1


def test_retry_after_is_obeyed_by_the_call_and_by_the_endpoint() -> None:
    async def inside() -> tuple[float, float]:
        limiter, began = Limiter(4), time.monotonic()
        slowed = Script(TransientFault(429, "slow", 0.3))
        first = asyncio.create_task(call(slowed, limiter, 0, FAST, _ignore))
        await asyncio.sleep(0.05)
        await call(Script(), limiter, 0, FAST, _ignore)
        other = time.monotonic() - began
        assert (await first, slowed.numbers) == ("answer", [1, 2])
        return other, time.monotonic() - began

    other, first = asyncio.run(inside())
    assert min(other, first) >= 0.3


def _ignore(_: Backoff) -> None:
    pass


def test_a_retry_after_beyond_the_deadline_ends_the_call_at_once_and_pauses_nobody() -> None:
    limiter = Limiter(4)
    fault, heard = run(Script(TransientFault(429, "daily limit", 3600.0)), limiter=limiter)
    assert (fault.kind, fault.status, fault.attempts, heard) == ("retries_exhausted", 429, 1, [])
    assert "daily limit" in fault.cause
    assert "3600 s" in fault.cause
    assert fault.scope == "model"
    assert run(other := Script(), limiter=limiter)[0] == "answer"
    assert other.numbers == [1]


def test_total_deadline_ends_the_call_with_its_last_cause() -> None:
    policy = RetryPolicy(5, total_deadline_s=0.3, first_backoff_s=0.02, longest_backoff_s=0.05)
    fault, heard = run(Script(*[TransientFault(503, "still busy")] * 1000), policy)
    assert (fault.kind, fault.status, fault.scope) == ("retries_exhausted", 503, "request")
    assert fault.attempts == len(heard) + 1 > 3
    assert sum(backoff.wait_s for backoff in heard) <= policy.total_deadline_s
    assert "still busy" in fault.cause


def test_each_attempt_gets_what_is_left_of_the_deadline() -> None:
    policy = RetryPolicy(attempt_deadline_s=400, total_deadline_s=400.1, first_backoff_s=0.001)
    deadlines: list[float] = []

    async def slow(number: int, deadline_s: float) -> str:
        deadlines.append(deadline_s)
        await asyncio.sleep(0.2)
        if number == 2:
            return "answer"
        raise TransientFault(None, "no complete reply")

    run(slow, policy)
    assert deadlines[0] == 400
    assert deadlines[1] <= 400.1 - 0.2


def test_waiting_for_a_turn_does_not_count_against_the_deadline() -> None:
    policy = RetryPolicy(attempt_deadline_s=0.1, total_deadline_s=0.15, first_backoff_s=0.001)
    limiter = Limiter(4)
    script = Script()

    async def inside() -> str:
        limiter.pause(0.3, "another call's retry-after")
        return await call(script, limiter, 0, policy, _ignore)

    assert asyncio.run(inside()) == "answer"
    assert script.deadlines == [0.1]


MIXED = {
    "seed": 5,
    "per": "arrival",
    "faults": [
        {"share": 0.10, "act": {"status": 429, "retry_after": 0.05}},
        {"share": 0.10, "act": "429"},
        {"share": 0.10, "act": "500"},
        {"share": 0.05, "act": "drop"},
        {"share": 0.05, "act": "hang"},
        {"share": 0.05, "act": "not_json"},
        {"share": 0.05, "act": "error_200"},
    ],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_under_faults_every_call_is_answered_once_and_the_same(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)

    async def answers(script: dict[str, Any]) -> tuple[list[str | None], dict[str, Any], int]:
        async with FaultServer(script) as server:
            at, limiter = endpoint(server, protocol), Limiter(16)
            policy = RetryPolicy(10, 600, first_backoff_s=0.01, longest_backoff_s=0.1)

            async def one(fact: int) -> tuple[str | None, int]:
                messages = [{"role": "user", "content": f"Fact {fact}. Fact {fact + 1}! What is it?"}]

                async def attempt(number: int, left_s: float) -> tuple[WireReply, int]:
                    return await send(at, messages, PARAMS, left_s), number

                reply, attempts = await call(attempt, limiter, 0, policy, _ignore)
                return reply.text, attempts

            tried = await asyncio.gather(*(one(fact) for fact in range(40)))
            return [text for text, _ in tried], server.stats(), sum(attempts for _, attempts in tried)

    clean, stats, attempts = run_closing(answers({}))
    assert (stats["received"], attempts) == (40, 40)
    faulty, stats, attempts = run_closing(answers(MIXED))
    assert faulty == clean
    assert stats["successes"] == 40
    assert stats["received"] == attempts > 48
    assert stats["in_flight_max"] <= 16
