"""Money: exact sums, and a cap that holds at every moment."""

import asyncio
import random
import threading
import time
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.records import Usage
from rcwt.calls.ledger import Balance, Ledger, Price, Reservation, cost, total, worst_case, worst_prompt_tokens

# gpt-4.1-mini's list prices, US dollars per million tokens.
MINI = Price.of(0.40, 0.10, 1.60, 0.5, date(2026, 11, 29))
D = Decimal


def test_cost_is_exact() -> None:
    # 4096 * 0.40 + 1024 * 1.60 = 3276.8 dollars per million.
    assert cost(Usage(prompt=4096, cached=0, completion=1024), MINI) == D("0.0032768")
    # 2096 * 0.40 + 2000 * 0.10 + 1024 * 1.60 = 2676.8.
    assert cost(Usage(prompt=4096, cached=2000, completion=1024), MINI) == D("0.0026768")
    assert total([cost(Usage(prompt=1, cached=None, completion=1), MINI)] * 1_000_000) == D("2")


def test_missing_usage_costs_an_unknown_amount_and_never_nothing() -> None:
    assert cost(Usage(prompt=None, cached=None, completion=5), MINI) is None
    assert cost(Usage(prompt=5, cached=None, completion=None), MINI) is None
    # Cached tokens that are not said are not assumed.
    assert cost(Usage(prompt=1_000_000, cached=None, completion=0), MINI) == D("0.4")


def test_worst_case_rounds_tokens_up() -> None:
    assert worst_prompt_tokens(4096, 1.19) == 4875  # 4874.24
    assert worst_prompt_tokens(100, 1.1) == 110  # and not 111, as with binary floats
    assert worst_case(4096, 1.19, 1024, MINI) == D("0.0035884")  # (4875*0.40 + 1024*1.60) / 1e6


@pytest.mark.parametrize("wrong", [(-1, 0, 0, 0), (1, 1, 1, 1.5), ("nan", 1, 1, 0), ("inf", 1, 1, 0)])
def test_prices_that_are_none_are_refused(wrong: tuple[object, object, object, object]) -> None:
    with pytest.raises(ValueError, match="a price is"):
        Price.of(*wrong, date(2026, 1, 1))


@given(
    usage=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**5)),
    factor=st.decimals("1", "2", places=2),
)
def test_no_call_within_its_limits_costs_more_than_the_worst_case(usage: tuple[int, int, int], factor: Decimal) -> None:
    prompt, cached, completion = usage
    actual = cost(Usage(prompt=prompt, cached=min(cached, prompt), completion=completion), MINI)
    assert actual is not None
    assert actual <= worst_case(prompt, factor, completion, MINI)


def test_reserve_settle_release() -> None:
    ledger = Ledger(D("1"))
    first, second = ledger.reserve(D("0.6")), ledger.reserve(D("0.4"))
    assert first is not None
    assert second is not None
    assert ledger.reserve(D("0.000000001")) is None
    ledger.settle(first, D("0.1"))
    assert ledger.balance() == Balance(D("1"), D("0.1"), D("0.4"), D("0"))
    ledger.release(second)
    assert ledger.balance() == Balance(D("1"), D("0.1"), D("0"), D("0"))
    with pytest.raises(ValueError, match="before"):
        ledger.release(second)


def test_unknown_cost_is_booked_at_the_worst_case() -> None:
    ledger = Ledger(D("1"))
    held = ledger.reserve(D("0.7"))
    assert held is not None
    ledger.settle(held, None)
    assert ledger.balance().spent == D("0.7")


def test_a_bill_above_the_worst_case_is_booked_in_full_and_said() -> None:
    ledger = Ledger(D("1"))
    held = ledger.reserve(D("0.9"))
    assert held is not None
    ledger.settle(held, D("1.25"))
    assert ledger.balance() == Balance(D("1"), D("1.25"), D("0"), D("0.35"))
    assert ledger.reserve(D("0.01")) is None
    # What costs nothing goes on: a local model is not stopped by a paid one's cap.
    assert ledger.reserve(D("0")) is not None


def test_without_a_cap_all_is_booked_and_nothing_refused() -> None:
    ledger = Ledger()
    held = ledger.reserve(D("1e6"))
    assert held is not None
    ledger.settle(held, None)
    assert ledger.balance().spent == D("1e6")


def calls_within(cap: Decimal, calls: int, worst: Decimal, actual: Decimal | None) -> tuple[int, Ledger]:
    """Run `calls` at once as the pipeline does; return how many were let through."""

    async def run() -> tuple[int, Ledger]:
        ledger, sent = Ledger(cap), 0

        async def one() -> None:
            nonlocal sent
            held = await ledger.reserve_when_free(worst)
            if held is None:
                return
            sent += 1
            now = ledger.balance()
            assert now.spent + now.reserved <= cap
            await asyncio.sleep(0.001)
            ledger.settle(held, actual)

        await asyncio.wait_for(asyncio.gather(*(one() for _ in range(calls))), 20)
        return sent, ledger

    return asyncio.run(run())


def test_a_cap_of_three_and_a_half_worst_cases() -> None:
    worst = D("0.002")
    # Billed at the worst case, three calls fit.
    sent, ledger = calls_within(D("3.5") * worst, 160, worst, worst)
    assert (sent, ledger.balance().spent) == (3, D("0.006"))
    # Cheap replies make room: calls wait for it instead of being refused. 26 of a tenth each leave
    # 0.9 of a worst case, and no 27th call can be let go on that.
    sent, ledger = calls_within(D("3.5") * worst, 160, worst, worst / 10)
    assert sent == 26
    # An unknown cost counts as the worst one.
    assert calls_within(D("3.5") * worst, 160, worst, None)[0] == 3


def test_the_refused_do_not_wait_for_ever_and_the_cancelled_lose_no_turn() -> None:
    async def run() -> None:
        ledger = Ledger(D("1"))
        held = ledger.reserve(D("1"))
        assert held is not None
        waiting = [asyncio.create_task(ledger.reserve_when_free(D("0.5"))) for _ in range(4)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()
        await asyncio.sleep(0.01)
        ledger.settle(held, D("0.4"))
        # Woken and cancelled in the same moment: its turn goes to the next.
        waiting[1].cancel()
        got = await asyncio.wait_for(asyncio.gather(*waiting[2:3]), 1)
        assert isinstance(got[0], Reservation)
        assert not waiting[3].done()
        ledger.settle(got[0], D("0.5"))
        assert await asyncio.wait_for(waiting[3], 1) is None

    asyncio.run(run())


def test_threads_and_event_loops_share_one_cap() -> None:
    cap, worst = D("1"), D("0.011")
    ledger, broken, rest = Ledger(cap), list[Balance](), threading.Event()

    def watch() -> None:
        while not rest.is_set():
            now = ledger.balance()
            if now.spent + now.reserved > cap:
                broken.append(now)
            time.sleep(0)

    async def many(seed: int) -> int:
        dice, sent = random.Random(seed), 0

        async def one() -> None:
            nonlocal sent
            held = await ledger.reserve_when_free(worst)
            if held is None:
                return
            sent += 1
            await asyncio.sleep(dice.random() / 1000)
            if dice.random() < 0.2:
                ledger.release(held)
            else:
                ledger.settle(held, worst * dice.randint(1, 10) / 10)

        await asyncio.wait_for(asyncio.gather(*(one() for _ in range(100))), 20)
        return sent

    sent: list[int] = []
    threads = [threading.Thread(target=lambda seed=seed: sent.append(asyncio.run(many(seed)))) for seed in range(8)]
    watcher = threading.Thread(target=watch)
    for thread in (watcher, *threads):
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    rest.set()
    watcher.join()
    assert not broken
    assert len(sent) == 8
    assert sum(sent) > 90
    last = ledger.balance()
    assert last.reserved == 0
    assert cap - worst < last.spent <= cap
