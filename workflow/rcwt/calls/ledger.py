"""Money: what tokens cost, and a cap that no number of calls at a time can pass.

Sums are decimal and exact. The worst case of a call is reserved before it leaves and settled at its actual
cost, so that `spent + reserved <= cap` holds at every moment.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Protocol

from rcwt.base.records import Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """A model's dated price, in US dollars per million tokens.

    `batch_discount` is the part taken off for batch calls: 0.5 is half price. `Price.of` makes one from the
    numbers in a file.
    """

    input: Decimal
    cached_input: Decimal
    output: Decimal
    batch_discount: Decimal
    as_of: date

    @classmethod
    def of(cls, input: object, cached_input: object, output: object, batch_discount: object, as_of: date) -> "Price":
        """Return the price whose numbers print as the arguments do: 0.4 means 0.4 exactly."""
        numbers = [Decimal(str(number)) for number in (input, cached_input, output, batch_discount)]
        if any(not number.is_finite() or number < 0 for number in numbers) or numbers[3] > 1:
            raise ValueError("a price is a number of at least 0, and a batch discount at most 1")
        return cls(numbers[0], numbers[1], numbers[2], numbers[3], as_of)


def cost(usage: Usage, price: Price) -> Decimal | None:
    """Return what a call cost, in US dollars; None where the prompt or completion count is missing.

    Cached tokens that are not said count as none: the cost is then the highest it may be.
    """
    if usage.prompt is None or usage.completion is None:
        return None
    cached = min(usage.cached or 0, usage.prompt)
    return (
        (usage.prompt - cached) * price.input + cached * price.cached_input + usage.completion * price.output
    ) / MILLION


def worst_prompt_tokens(prompt_tokens: int, token_factor: float | Decimal) -> int:
    """Return the most tokens a prompt may have as the model counts: cl100k tokens × factor, rounded up."""
    return int((prompt_tokens * Decimal(str(token_factor))).to_integral_value(rounding=ROUND_CEILING))


def worst_case(prompt_tokens: int, token_factor: float | Decimal, output_cap: int, price: Price) -> Decimal:
    """Return the most one call can cost, in US dollars: the whole prompt uncached, the output at its cap.

    `prompt_tokens` are cl100k tokens, `token_factor` the model's own tokens for each of them.
    """
    prompt = worst_prompt_tokens(prompt_tokens, token_factor)
    # A cached token can cost more than a fresh one in a price list of the user's own.
    return (prompt * max(price.input, price.cached_input) + output_cap * price.output) / MILLION


@dataclass(frozen=True)
class Balance:
    """The ledger at one moment, in US dollars. `overrun` is what calls cost beyond their worst case."""

    cap: Decimal | None
    spent: Decimal
    reserved: Decimal
    overrun: Decimal


class Reservation:
    """Money set aside for one call; settle or release it once."""

    def __init__(self, usd: Decimal) -> None:
        self.usd = usd
        self.open = True


class AnyLedger(Protocol):
    """What calls need of a ledger: `Ledger` in one process, `rcwt.calls.shared_ledger.SharedLedger` over many."""

    def balance(self) -> Balance:
        """Return the state of the ledger, consistent in itself."""

    def reserve(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside; None where it does not fit beside what is spent and reserved now."""

    async def reserve_when_free(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside, waiting for calls in flight to settle; None where it could never fit."""

    def settle(self, reservation: Reservation, usd: Decimal | None) -> None:
        """Book what the call cost; None, an unknown cost, is booked at the worst case."""

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that was not billed."""


class Ledger:
    """Spent and reserved US dollars of one run, for all threads and event loops. `cap` None: no cap.

    The invariant `spent + reserved <= cap` can only be broken by a provider that bills more than the worst
    case; then `overrun` says by how much, and no further call is let through beyond the cap.
    """

    def __init__(self, cap: Decimal | None = None) -> None:
        self._cap = cap
        self._spent = Decimal(0)
        self._reserved = Decimal(0)
        self._overrun = Decimal(0)
        self._lock = threading.Lock()
        self._waiters: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    def balance(self) -> Balance:
        """Return the state of the ledger, consistent in itself."""
        with self._lock:
            return Balance(self._cap, self._spent, self._reserved, self._overrun)

    def reserve(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside; None where it does not fit beside what is spent and reserved now."""
        with self._lock:
            return self._reserve(usd)

    async def reserve_when_free(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside, waiting for calls in flight to settle below their worst case.

        None, for good, where it could not fit even if they all cost nothing: what is spent is spent.
        """
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] | None = None
        while True:
            with self._lock:
                found = self._reserve(usd)
                if found is not None or self._is_hopeless(usd):
                    # Whoever waits behind may be smaller, or as hopeless.
                    self._wake_next()
                    return found
                waiter = loop.create_future()
                # One that has had its turn keeps its place.
                (self._waiters.append if turn is None else self._waiters.appendleft)((loop, waiter))
            turn = waiter
            await self._wait(loop, waiter)

    async def _wait(self, loop: asyncio.AbstractEventLoop, waiter: "asyncio.Future[None]") -> None:
        try:
            await waiter
        except asyncio.CancelledError:
            with self._lock:
                if (loop, waiter) in self._waiters:
                    self._waiters.remove((loop, waiter))
                else:
                    # Woken and cancelled at once: the turn passes on.
                    self._wake_next()
            raise

    def settle(self, reservation: Reservation, usd: Decimal | None) -> None:
        """Book what the call cost; None, an unknown cost, is booked at the worst case.

        A call that may have been billed although no reply came is such an unknown cost.
        """
        with self._lock:
            self._close(reservation)
            actual = reservation.usd if usd is None else usd
            self._spent += actual
            self._overrun += max(Decimal(0), actual - reservation.usd)
            self._wake_next()

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that was not billed."""
        with self._lock:
            self._close(reservation)
            self._wake_next()

    def _reserve(self, usd: Decimal) -> Reservation | None:
        if usd < 0:
            raise ValueError(f"cannot reserve {usd} dollars")
        # A free call always fits, also when a local model follows a paid one that used the cap up.
        if usd and self._cap is not None and self._spent + self._reserved + usd > self._cap:
            return None
        self._reserved += usd
        return Reservation(usd)

    def _is_hopeless(self, usd: Decimal) -> bool:
        return self._cap is not None and self._spent + usd > self._cap

    def _close(self, reservation: Reservation) -> None:
        if not reservation.open:
            raise ValueError("this reservation has been settled or released before")
        reservation.open = False
        self._reserved -= reservation.usd

    def _wake_next(self) -> None:
        while self._waiters:
            loop, waiter = self._waiters.popleft()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, waiter)
                return


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


def total(costs: Iterable[Decimal | None]) -> Decimal:
    """Return the exact sum of the costs that are known."""
    return sum((usd for usd in costs if usd is not None), Decimal(0))


def in_full(usd: Decimal) -> str:
    """Return an amount as text with every digit it has: no exponent, no trailing zeros."""
    text = f"{usd:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
