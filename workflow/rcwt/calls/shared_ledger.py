"""The spend cap of a run whose calls are made by many processes on many nodes.

The same promise as `rcwt.calls.ledger.Ledger`: `spent + reserved <= cap` at every moment, over all of them.
Reservations and settlements are records of one journal (`rcwt.calls.run_state`), and whoever holds it knows the whole
state.

A reservation whose process or node has died can be neither settled nor given back: its call may have been billed. It is
booked as spent at its worst case, so that the cap holds whatever the provider's bill says.
"""

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from rcwt.base.errors import CallError
from rcwt.calls.ledger import Balance, Reservation
from rcwt.calls.run_state import RunState

log = logging.getLogger(__name__)

#: How often a call that waits for money looks again, and how often it looks for the dead, in seconds.
POLL_S, DEAD_S = 0.1, 2.0


class Books:
    """The state that the records of a ledger's journal add up to. Pure: no file, no clock."""

    def __init__(self) -> None:
        self.spent = self.overrun = Decimal(0)
        #: Reserved US dollars by holder and number.
        self.open: dict[tuple[int, int], Decimal] = {}
        #: Number of reservations and US dollars booked for each holder that died.
        self.dead: dict[int, tuple[int, Decimal]] = {}

    @property
    def reserved(self) -> Decimal:
        """US dollars set aside for calls that have not ended."""
        return sum(self.open.values(), Decimal(0))

    def holders(self) -> set[int]:
        """Processes that have money set aside."""
        return {holder for holder, _ in self.open}

    def book(self, record: Mapping[str, Any]) -> None:
        """Apply one record."""
        holder, kind = record["holder"], record["kind"]
        if kind == "reserve":
            self.open[holder, record["number"]] = Decimal(record["usd"])
        elif kind == "dead":
            self._write_off(holder)
        else:
            reserved = self.open.pop((holder, record["number"]), None)
            # One that was taken for dead, and was only cut off, has been booked at its worst case: that stays.
            if reserved is not None and kind == "settle":
                actual = reserved if record["usd"] is None else Decimal(record["usd"])
                self.spent += actual
                self.overrun += max(Decimal(0), actual - reserved)

    def _write_off(self, holder: int) -> None:
        left = [key for key in self.open if key[0] == holder]
        usd = sum((self.open.pop(key) for key in left), Decimal(0))
        calls, before = self.dead.get(holder, (0, Decimal(0)))
        self.dead[holder] = (calls + len(left), before + usd)
        self.spent += usd


class _Numbered(Reservation):
    def __init__(self, usd: Decimal, number: int) -> None:
        super().__init__(usd)
        self.number = number


class SharedLedger:
    """Spent and reserved US dollars of one run, for all its processes. `cap` in US dollars."""

    def __init__(self, run: RunState, cap: Decimal) -> None:
        self._run, self._cap = run, cap
        self._journal = run.journal("ledger")
        self._books = Books()
        self._numbers = 0
        self._buried_at = -1e9
        self._turn: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    def balance(self) -> Balance:
        """Return the state of the ledger, consistent in itself."""
        with self._journal.turn() as news:
            self._read(news)
            return Balance(self._cap, self._books.spent, self._books.reserved, self._books.overrun)

    def reserve(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside; None where it does not fit beside what is spent and reserved now.

        Raises CallError where the journal cannot be written.
        """
        found = self._set_aside(usd)
        if found is not None and usd:
            self._journal.sync()
        return found

    def _set_aside(self, usd: Decimal) -> Reservation | None:
        if usd < 0:
            raise ValueError(f"cannot reserve {usd} dollars")
        # What costs nothing needs no record: a local model's calls do not wait for the disk.
        if not usd:
            return Reservation(usd)
        with self._journal.turn() as news:
            self._read(news)
            if self._books.spent + self._books.reserved + usd > self._cap:
                return None
            self._numbers += 1
            self._write({"kind": "reserve", "number": self._numbers, "usd": str(usd)})
            return _Numbered(usd, self._numbers)

    async def reserve_when_free(self, usd: Decimal) -> Reservation | None:
        """Set `usd` aside, waiting for calls in flight to settle below their worst case.

        None, for good, where it could not fit even if they all cost nothing: what is spent is spent.
        """
        # First come, first served inside a process; between processes chance decides.
        async with self._turn.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            while (found := self._set_aside(usd)) is None:
                if time.monotonic() - self._buried_at > DEAD_S:
                    self.write_off_dead()
                if self._books.spent + usd > self._cap:
                    return None
                await asyncio.sleep(POLL_S * random.uniform(0.5, 1.5))
        if usd:
            try:
                # On disk before the call leaves: a call that nobody knows of could break the cap. A settlement that is
                # lost cannot, and is not waited for.
                await asyncio.to_thread(self._journal.sync)
            except BaseException:
                self.release(found)
                raise
        return found

    def settle(self, reservation: Reservation, usd: Decimal | None) -> None:
        """Book what the call cost; None, an unknown cost, is booked at the worst case."""
        self._close(reservation, {"kind": "settle", "usd": None if usd is None else str(usd)})

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that was not billed."""
        self._close(reservation, {"kind": "release"})

    def write_off_dead(self) -> dict[int, tuple[int, Decimal]]:
        """Book what dead processes had set aside, at its worst case.

        Returns all that was booked so in this run: number of calls and US dollars by holder.
        """
        with self._journal.turn() as news:
            self._buried_at = time.monotonic()
            self._read(news)
            for holder in sorted(self._books.holders()):
                if self._run.is_dead(holder):
                    self._write({"kind": "dead"}, of=holder)
                    calls, usd = self._books.dead[holder]
                    log.warning("%s", died(self._run.describe(holder), calls, usd))
            return dict(self._books.dead)

    def _close(self, reservation: Reservation, record: dict[str, Any]) -> None:
        if not reservation.open:
            raise ValueError("this reservation has been settled or released before")
        reservation.open = False
        if not isinstance(reservation, _Numbered):
            return  # at a price of zero nothing was written, and nothing can have been billed
        try:
            with self._journal.turn() as news:
                self._read(news)
                self._write({**record, "number": reservation.number})
        except CallError as error:
            # The reply is worth more than its record. What was set aside stays so: the cap holds.
            log.warning("%s", error)

    def _read(self, news: Iterable[Mapping[str, Any]]) -> None:
        for record in news:
            self._books.book(record)

    def _write(self, record: Mapping[str, Any], *, of: int | None = None) -> None:
        whole = {"holder": self._run.holder if of is None else of, **record}
        self._journal.add(whole)
        self._books.book(whole)


def died(who: str, calls: int, usd: Decimal) -> str:
    """What a run says of a process that died with money set aside."""
    return (
        f"{who} died with {calls} calls under way, which may have been billed: they count as spent at their worst "
        f"case, ${usd:f}"
    )
