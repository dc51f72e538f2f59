"""Calls over the network: claimed, probed, limited, paid for, retried and kept. Belongs to one event loop.

The order matters. A request is looked up again once it is claimed, because another process may just have asked for
it; a model is probed before its first calls, so that a wrong key costs one request and not a run; dollars are
reserved before each attempt and settled after it; a response is on disk before its turn at the endpoint is another's.
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from rcwt import ledger, retries, wire
from rcwt.claims import Claims
from rcwt.config import Config
from rcwt.digests import digest
from rcwt.errors import CallError
from rcwt.faults import PermanentFault, TransientFault
from rcwt.gates import Gate, Gates
from rcwt.keeping import Keeper
from rcwt.preflights import keep_preflight, preflight_request
from rcwt.progress import Progress
from rcwt.records import Response, Usage
from rcwt.replies import WireReply
from rcwt.responses import Request, ResponseCache
from rcwt.run_state import RunState
from rcwt.shared_ledger import SharedLedger
from rcwt.terms import output_cap, request_tokens
from rcwt.verdicts import Verdicts

log = logging.getLogger(__name__)

#: Turns of the event loop in which a body of the longest size is read; one reads 64 kB or more of each connection.
READING_TURNS = 500


class CapReachedError(CallError):
    """The spend cap leaves no room for the worst case of another call."""


class InterruptedCallError(CallError):
    """The run was interrupted before this call was answered."""


@dataclass(frozen=True)
class _Call:
    """One request on its way: what it may cost, what keeps its response, and who hears that it leaves."""

    request: Request
    worst: Decimal
    keep: Callable[[Response], Awaitable[None]]
    on_leave: Callable[[], None]


class Remote:
    """All calls over the network of one process.

    `run` is the state that it shares with the other processes of its run; None where it is the only one.
    """

    def __init__(
        self,
        config: Config,
        cache: ResponseCache,
        progress: Progress,
        cap: Decimal | None,
        run: RunState | None = None,
        interrupted: bool = False,
    ) -> None:
        self.config, self.cache, self.progress, self.run = config, cache, progress, run
        # Without a cap there is nothing for the processes to keep together.
        self.ledger: ledger.AnyLedger = SharedLedger(run, cap) if run and cap is not None else ledger.Ledger(cap)
        progress.dollars = lambda: self.ledger.balance().spent
        self._verdicts = Verdicts(run, lambda task: task in self._sending)
        self._gates = Gates(config, progress, run)
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._probes_left: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        # Those whose request has left and whose response is not on disk.
        self._sending: set[asyncio.Task[Any]] = set()
        self._interrupted = interrupted
        self.keeper = Keeper(cache)
        with self.keeper.watching():
            self._claims = Claims(cache.folder)

    async def fetch(self, request: Request, model: str, role: str) -> Response:
        """One response, from the cache if another process has put it there meanwhile. Raises CallError."""
        task = _this_task()
        self._tasks.add(task)
        self.progress.asked += 1
        try:
            self.keeper.require_disk()
            gate = self._gates.of(model)
            if role == "judge" and gate.name not in self._probes:
                response = await self._as_judge(gate, request)
            else:
                response = await self._claimed(gate, request, self.probe(model, request))
        except asyncio.CancelledError:
            raise InterruptedCallError("interrupted before it was answered; the next run asks for it") from None
        finally:
            self._tasks.discard(task)
        return response

    def probe(self, model: str, request: Request) -> "asyncio.Task[None]":
        """One short call a model before its first; all its calls wait for it, and share its failure."""
        if model not in self._probes:
            self._probes_left[model] = asyncio.Event()
            probe = asyncio.ensure_future(self._preflight(self._gates.of(model), preflight_request(request)))
            # Whoever waits for it is told; without anybody asyncio would report it as forgotten.
            probe.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._probes[model] = probe
        return self._probes[model]

    async def send_preflights(self, first: Mapping[str, Request]) -> None:
        """Probe models, each before the first of its requests; returns when the probes have left, or have ended."""
        for model, request in first.items():
            self.probe(model, request)
        for model in first:
            await self._probes_left[model].wait()

    async def _preflight(self, gate: Gate, short: Request) -> None:
        task = _this_task()
        self._tasks.add(task)
        name, left = f"{gate.name}: preflight", self._probes_left[gate.name]

        async def keep(response: Response) -> None:
            keep_preflight(self.cache.folder, Path(self.config.results_dir), gate.name, response)

        try:
            async with self._verdicts.turn(name):
                if self._verdicts.known(name):
                    return
                try:
                    await self._paid(gate, short, keep, left.set)
                except PermanentFault as fault:
                    self._verdicts.tell(name, f"{name}: {fault}")
                    raise CallError(f"{name}: {fault}") from None
                self._verdicts.tell(name)
        finally:
            left.set()
            self._tasks.discard(task)

    async def _as_judge(self, gate: Gate, request: Request) -> Response:
        """A judge's first call goes alone, in the place of a preflight; what it fails of, all would fail of."""
        name = f"{gate.name} as judge"
        if not self._verdicts.known(name):
            async with self._verdicts.turn(name):
                if not self._verdicts.known(name):
                    response = await self._claimed(gate, request)
                    self._verdicts.tell(name)
                    return response
        return await self._claimed(gate, request)

    async def _claimed(self, gate: Gate, request: Request, probe: "asyncio.Task[None] | None" = None) -> Response:
        async with self._claims.hold(request.key):
            kept = self.cache.get(request.key)
            if kept is not None:
                self.progress.found()
                return kept
            if probe is not None:
                await asyncio.shield(probe)
            response = await self._paid(gate, request, functools.partial(self.keeper.keep, request))
            self.progress.done += 1
            return response

    async def _paid(
        self,
        gate: Gate,
        request: Request,
        keep: Callable[[Response], Awaitable[None]],
        on_leave: Callable[[], None] = lambda: None,
    ) -> Response:
        prompt_tokens, cap = request_tokens(request), output_cap(request.params)
        call = _Call(request, gate.terms.worst_case(prompt_tokens, cap), keep, on_leave)
        tokens = ledger.worst_prompt_tokens(prompt_tokens, gate.terms.token_factor) + cap

        names = scopes(gate, request)

        async def attempt(number: int, deadline_s: float) -> Response:
            self._verdicts.require(names)
            return await self._attempt(gate, call, number, deadline_s)

        def on_backoff(backoff: retries.Backoff) -> None:
            self._require_running()
            self._verdicts.require(names)
            self._report(gate, backoff)

        with self._verdicts.heeded(names):
            try:
                return await retries.call(attempt, gate.limiter, tokens, gate.policy, on_backoff)
            except PermanentFault as fault:
                self._end(gate, request, fault)
                raise

    def _end(self, gate: Gate, request: Request, fault: PermanentFault) -> None:
        """Let no other call leave that would fail of the same; those in flight may be answered yet."""
        name = dict(zip(("model", "parameters"), scopes(gate, request), strict=True)).get(fault.scope)
        if name is not None and self._verdicts.tell(name, str(fault)):
            log.error("%s: %s. No more such calls are sent in this run", gate.name, str(fault).rstrip("."))

    async def _attempt(self, gate: Gate, call: _Call, number: int, deadline_s: float) -> Response:
        self._require_running()
        self.keeper.require_disk()
        reservation = await self.ledger.reserve_when_free(call.worst)
        if reservation is None:
            raise _cap_reached(self.ledger.balance(), call.worst)
        try:
            reply = await self._reply(gate, call, reservation, deadline_s)
            self.ledger.settle(reservation, ledger.cost(reply.usage, gate.terms.price))
            response = _response(reply, number, gate.terms.price)
            await call.keep(response)
        finally:
            self._sending.discard(_this_task())
        return response

    async def _reply(self, gate: Gate, call: _Call, reservation: ledger.Reservation, deadline_s: float) -> WireReply:
        """The reply to one request; where none comes, what was set aside for it is booked or given back."""
        task, request = _this_task(), call.request

        def leave() -> None:
            self._sending.add(task)
            call.on_leave()

        try:
            return await wire.send(gate.endpoint, request.chat, request.params, deadline_s, leave)
        except TransientFault as fault:
            self._settle_or_release(reservation, fault.maybe_billed)
            raise
        except PermanentFault:
            self.ledger.release(reservation)
            raise
        except BaseException:  # cancelled, or a mistake of ours: others may wait for what is set aside
            self._settle_or_release(reservation, task in self._sending)
            raise

    def _settle_or_release(self, reservation: ledger.Reservation, maybe_billed: bool) -> None:
        if maybe_billed:
            self.ledger.settle(reservation, None)
        else:
            self.ledger.release(reservation)

    def _report(self, gate: Gate, backoff: retries.Backoff) -> None:
        self.progress.retries += 1
        asked = " as the server asked" if backoff.retry_after else ""
        log.warning(
            "%s: %s; attempt %d, waiting %.1f s%s", gate.name, backoff.cause, backoff.attempt, backoff.wait_s, asked
        )

    def _require_running(self) -> None:
        if self._interrupted:
            raise InterruptedCallError("interrupted before it was sent; the next run asks for it")

    async def interrupt(self, grace_s: float) -> None:
        """No new request; `grace_s` seconds for replies under way, then what has not come is cancelled."""
        self._interrupted = True
        for task in self._tasks - self._sending:
            task.cancel()
        under_way = set(self._sending)
        if under_way:
            await asyncio.wait(under_way, timeout=grace_s)
        # On a busy machine this loop may be far behind its sockets: what has reached them by now is read to its end.
        for _ in range(READING_TURNS):
            if not self._sending:
                break
            await asyncio.sleep(0)
        for task in set(self._tasks):
            task.cancel()


def scopes(gate: Gate, request: Request) -> tuple[str, str]:
    """What a verdict may strike beside this call: all of its registry entry's, and those with its parameters too."""
    return gate.name, f"{gate.name} {digest(dict(request.params))}"


def _this_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert task is not None
    return task


def _cap_reached(balance: ledger.Balance, worst: Decimal) -> CapReachedError:
    above = (
        ". Replies were billed above their worst case: raise the `token_factor` of their model"
        if balance.overrun
        else ""
    )
    return CapReachedError(
        f"max_usd: {balance.spent:.6f} of {balance.cap} dollars are spent, and this call may cost {worst:.6f}. Raise "
        f"max_usd to go on; what has arrived is kept{above}"
    )


def _response(reply: WireReply, attempts: int, price: ledger.Price) -> Response:
    cost = ledger.cost(reply.usage, price)
    usage = reply.usage
    return Response(
        status=reply.status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        returned_model=reply.returned_model,
        response_id=reply.response_id,
        system_fingerprint=reply.system_fingerprint,
        usage=Usage(
            prompt=usage.prompt_tokens,
            cached=usage.cached_tokens,
            completion=usage.completion_tokens,
            reasoning=usage.reasoning_tokens,
            note=usage.note,
        ),
        sent_params=dict(reply.sent),
        time_utc=reply.time_utc,
        latency_s=reply.latency_s,
        attempts=attempts,
        cost_usd=None if cost is None else float(cost),
        price_as_of=price.as_of.isoformat(),
    )
