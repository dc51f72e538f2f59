"""Calls over the network: claimed, probed, limited, paid for, retried and kept. Belongs to one event loop.

The order matters. A request is looked up again once it is claimed, because another process may just have asked for
it; a model is probed before its first calls, so that a wrong key costs one request and not a run; dollars are
reserved before each attempt and settled after it; a response is on disk before its turn at the endpoint is another's.
"""

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from rcwt.base.digests import digest
from rcwt.base.errors import CallError, InterruptedCallError
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.calls import ledger, retries
from rcwt.calls.claims import Claims
from rcwt.calls.gates import Gate, Gates
from rcwt.calls.keeping import Keeper
from rcwt.calls.kept_bodies import KeptBody, believed, response_of
from rcwt.calls.probes import Keep, Probes
from rcwt.calls.progress import Progress
from rcwt.calls.responses import MOST_UNREAD, ResponseCache
from rcwt.calls.run_state import RunState
from rcwt.calls.shared_ledger import SharedLedger
from rcwt.calls.terms import output_cap, request_tokens
from rcwt.calls.verdicts import Verdicts
from rcwt.config.returned_ids import another_model
from rcwt.config.schema import Config
from rcwt.study.preflight import Preflight
from rcwt.wire import wire
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.received import UnreadableFault
from rcwt.wire.replies import FailedReplyFault, WireReply

log = logging.getLogger(__name__)

#: Turns of the event loop in which a body of the longest size is read; one reads 64 kB or more of each connection.
READING_TURNS = 500


#: Replies to one request that end in a failure of the provider, before it is given up: each may have been paid.
MOST_FAILED = 5
#: Attempts of a call that only measures something: the run waits for it.
MOST_IMPATIENT = 3


class CapReachedError(CallError):
    """The spend cap leaves no room for the worst case of another call."""


@dataclass(frozen=True)
class _Call:
    """One request on its way: what it may cost, what keeps its response, and who hears that it leaves.

    `unread` are the answers to it that were paid and cannot be read; None for one that is not kept. `failed` are those
    that ended in a failure of the provider.
    """

    request: Request
    worst: Decimal
    keep: Keep
    on_leave: Callable[[], None]
    unread: list[Path | None]
    failed: list[FailedReplyFault] = field(default_factory=list)


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
        self._tasks: set[asyncio.Task[Any]] = set()
        # Those whose request has left and whose response is not on disk.
        self._sending: set[asyncio.Task[Any]] = set()
        self._odd: set[tuple[str, str]] = set()  # what was said of replies, by registry entry
        self._interrupted = interrupted
        results = Path(config.results_dir)
        self.keeper = Keeper(cache)
        self.probes = Probes(self.keeper, results, self._verdicts, run, self._paid, self._tasks)
        with self.keeper.watching():
            self._claims = Claims(cache.folder)

    async def fetch(self, request: Request, model: str, preflight: Preflight) -> Response:
        """One response, from the cache if another process has put it there meanwhile. Raises CallError.

        One preflight a model goes before its first call; all its calls wait for it, and share its failure.
        """
        task = _this_task()
        self._tasks.add(task)
        self.progress.asked += 1
        try:
            self.keeper.require_disk()
            unread = self._unread(request)
            if len(unread) >= MOST_UNREAD:
                raise _unreadable(None, unread)
            gate = self._gates.of(model)
            response = await self._claimed(gate, request, self.probes.begin(gate, request, preflight))
        except asyncio.CancelledError:
            raise InterruptedCallError("interrupted before it was answered; the next run asks for it") from None
        finally:
            self._tasks.discard(task)
        return response

    async def send_preflights(self, first: Mapping[str, tuple[Request, Preflight]]) -> None:
        """Probe models, each before the first of its requests; returns when the probes have left, or have ended."""
        for model, (request, preflight) in first.items():
            self.probes.begin(self._gates.of(model), request, preflight)
        for model in first:
            await self.probes.left(model)

    async def _claimed(self, gate: Gate, request: Request, probe: "asyncio.Task[None]") -> Response:
        async with self._claims.hold(request.key):
            kept = self.cache.get(request.key, again=self.config.ask_again)
            if kept is not None:
                self.progress.found()
                return kept
            await asyncio.shield(probe)
            keep = functools.partial(self.keeper.keep, request)
            response = await self._paid(gate, request, keep, unread=self._unread(request))
            self.progress.done += 1
            return response

    def _unread(self, request: Request) -> list[Path | None]:
        """What was paid for a request and cannot be read; on request it is asked again as if there were none."""
        return [] if self.config.ask_again else [*self.cache.unread(request.key)]

    async def _paid(
        self,
        gate: Gate,
        request: Request,
        keep: Keep,
        on_leave: Callable[[], None] = lambda: None,
        patient: bool = True,
        unread: list[Path | None] | None = None,
    ) -> Response:
        prompt_tokens, cap = request_tokens(request), output_cap(request.params)
        call = _Call(request, gate.terms.worst_case(prompt_tokens, cap), keep, on_leave, unread or [])
        tokens = ledger.worst_prompt_tokens(prompt_tokens, gate.terms.token_factor) + cap

        names = scopes(gate, request)

        async def attempt(number: int, deadline_s: float) -> Response:
            self._verdicts.require(names)
            async with self.keeper.room(cap):
                return await self._attempt(gate, call, number, deadline_s)

        def on_backoff(backoff: retries.Backoff) -> None:
            self._require_running()
            self._verdicts.require(names)
            if not patient and backoff.attempt >= MOST_IMPATIENT:
                raise PermanentFault("not_answered", backoff.status, backoff.cause, "Run again later")
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
        size, price = self.probes.size(gate.name, call.request), gate.terms.price
        task = _this_task()
        try:
            reply = believed(await self._reply(gate, call, reservation, deadline_s), size)
            size = self.probes.held_to(gate.name, call.request, reply, size)
            self.ledger.settle(reservation, ledger.cost(reply.usage, price))
            response = response_of(reply, number, price, size)
            await call.keep(response, KeptBody(reply.received, number, price, size) if reply.received else None)
            self.probes.warn_of_cut(gate.name, response)
            self._warn_of_odd(gate, call.request, response)
        except UnreadableFault as fault:
            await self._keep_unread(
                call, fault, KeptBody(fault.received, number, price, size) if fault.received else None
            )
            raise
        except FailedReplyFault as fault:
            call.failed.append(fault)
            if len(call.failed) >= MOST_FAILED:
                raise _failed(call.failed) from None
            raise
        finally:
            self._sending.discard(task)
        return response

    async def _keep_unread(self, call: _Call, fault: UnreadableFault, body: KeptBody | None) -> None:
        """Keep an answer that was paid and is no reply; raise PermanentFault where another attempt is one too many."""
        call.unread.append(await self.keeper.keep_unread(call.request, body) if body else None)
        if len(call.unread) >= MOST_UNREAD:
            raise _unreadable(fault, call.unread) from None

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
        except PermanentFault as fault:
            self._settle_or_release(reservation, fault.maybe_billed)
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

    def _warn_of_odd(self, gate: Gate, request: Request, response: Response) -> None:
        """Say it, once a registry entry; of targets the cells count it too, of judges nothing else tells it."""
        odd = {
            "asked for is {asked}, and {answered!a:.60} answers": another_model(request.model, response.returned_model),
            "a reply ended with a word nobody knows, {word!a:.60}; it counts as whole": response.status
            == "unknown_finish",
        }
        words = {"asked": request.model, "answered": response.returned_model, "word": response.finish_reason}
        for text in [text for text, found in odd.items() if found and (gate.name, text) not in self._odd]:
            self._odd.add((gate.name, text))
            log.warning("%s: %s", gate.name, text.format(**words))

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


def _failed(faults: list[FailedReplyFault]) -> PermanentFault:
    return PermanentFault(
        "failed_replies",
        faults[-1].status,
        f"{faults[-1].cause} ({len(faults)} times; each may be billed)",
        "Run again later: finished calls are kept",
    )


def _unreadable(fault: UnreadableFault | None, unread: list[Path | None]) -> PermanentFault:
    kept = [path for path in unread if path is not None]
    where = f"; they are kept, the last as {kept[-1]}" if kept else ""
    return PermanentFault(
        "unreadable",
        fault.status if fault else None,
        f"{len(unread)} paid answers are no replies{where}{f': {fault.cause}' if fault else ''}",
        "Correct the model's `litellm` or `api_base`. This call is not paid again without --config ask_again=true",
    )
