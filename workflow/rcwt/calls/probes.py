"""The preflights of a process on their way, and what they say of the models: all calls of a model wait for them.

The short call has a head start, in which a wrong key is refused; the others do not wait for a slow answer to it, so
that a run waits for one round trip. What the short one fails of, all calls of the model would fail of; another that
fails only leaves something unknown. Belongs to one event loop.
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from rcwt.base.errors import CallError, InterruptedCallError
from rcwt.base.records import PromptSize, Response
from rcwt.base.request import Request
from rcwt.base.statuses import PROMPT_CUT, PROMPT_CUT_REMEDY
from rcwt.calls.gates import Gate
from rcwt.calls.keeping import Keeper
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.preflights import keep_preflight
from rcwt.calls.prompt_counts import Gauge, gauge
from rcwt.calls.run_state import RunState
from rcwt.calls.terms import request_tokens
from rcwt.calls.verdicts import Verdicts
from rcwt.study.preflight import LARGEST, SHORT, Messages, Preflight
from rcwt.wire.faults import PermanentFault
from rcwt.wire.replies import WireReply

log = logging.getLogger(__name__)

#: Seconds that the short call has for itself once it has left: a refusal comes sooner than an answer.
HEAD_START_S = 0.5
#: A smaller part of what is due for the largest prompt looks as if its end or its beginning were missing.
NEARLY_WHOLE = 0.95
#: Keeps a response, and the answer it was read from.
Keep = Callable[[Response, KeptBody | None], Awaitable[None]]
#: Makes one paid call; the third is given the response, the fourth hears when the request has left, and the fifth says
#: whether it is asked again until its deadline.
Pay = Callable[[Gate, Request, Keep, Callable[[], None], bool], Coroutine[Any, Any, Response]]


class Probes:
    """Preflights by registry entry; with a `run`, one of its processes makes each, and all share what it learns."""

    def __init__(
        self,
        keeper: Keeper,
        results: Path,
        verdicts: Verdicts,
        run: RunState | None,
        pay: Pay,
        tasks: set[asyncio.Task[Any]],
    ) -> None:
        """`tasks` are those that an interrupt cancels."""
        self._keeper, self._results, self._verdicts, self._pay, self._tasks = keeper, results, verdicts, pay, tasks
        self._journal = run.journal("preflights") if run else None
        self._waiting: set[asyncio.Task[Any]] = set()  # calls that have not left
        self._sent: dict[str, asyncio.Task[None]] = {}
        self._left: dict[str, asyncio.Event] = {}
        self._gauges: dict[str, Gauge] = {}
        self._asked: dict[str, Preflight] = {}
        self._warned: set[str] = set()
        self._whole: set[tuple[str, Messages]] = set()  # prompts that a model has counted whole

    def begin(self, gate: Gate, request: Request, asked: Preflight) -> "asyncio.Task[None]":
        """The preflight of a registry entry, sent before its first `request`; it fails where all calls would."""
        if gate.name not in self._sent:
            self._left[gate.name], self._asked[gate.name] = asyncio.Event(), asked
            probe = asyncio.ensure_future(self._probe(gate, asked.requests(request, gate.model.api_base)))
            probe.add_done_callback(_heard)
            self._sent[gate.name] = probe
        return self._sent[gate.name]

    async def left(self, model: str) -> None:
        """Wait until the short call has left, or the preflight has ended."""
        await self._left[model].wait()

    async def _probe(self, gate: Gate, requests: Mapping[str, Request]) -> None:
        task, name = asyncio.current_task(), f"{gate.name}: preflight"
        assert task is not None
        self._tasks.add(task)
        try:
            async with self._verdicts.turn(name):
                if self._verdicts.known(name):
                    self._learn()
                    return
                # From here on an interrupt is for the calls: those that have left it spares.
                self._tasks.discard(task)
                try:
                    calls = await self._calls(gate, requests)
                except PermanentFault as fault:
                    self._verdicts.tell(name, f"{name}: {fault}")
                    raise CallError(f"{name}: {fault}") from None
                self._tell(gate.name, requests, calls)
                self._verdicts.tell(name)
        finally:
            self._left[gate.name].set()
            self._tasks.discard(task)

    async def _calls(self, gate: Gate, requests: Mapping[str, Request]) -> dict[str, "asyncio.Task[Response]"]:
        """The calls of a preflight, all of them ended. Raises what the short one fails of, and asks no other then.

        Raises InterruptedCallError where one was given up: what the others say is not all that is to be known.
        """
        short = self._task(gate, SHORT, requests[SHORT])
        left = asyncio.ensure_future(self._left[gate.name].wait())
        await asyncio.wait([short, left], return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
        await asyncio.wait([short], timeout=HEAD_START_S)
        if short.done():
            short.result()
        others = {asked: self._task(gate, asked, request) for asked, request in requests.items() if asked != SHORT}
        await asyncio.wait([short])
        if short.cancelled() or short.exception() is not None:
            for call in others.values():
                if call in self._waiting:  # those that have left end by themselves
                    call.cancel()
            short.result()
        if others:
            await asyncio.wait(others.values())
        for call in others.values():
            if call.cancelled() or isinstance(call.exception(), InterruptedCallError):
                raise InterruptedCallError("interrupted before the preflight was answered; the next run asks again")
        return {SHORT: short, **others}

    def _task(self, gate: Gate, asked: str, request: Request) -> "asyncio.Task[Response]":
        tokens = request_tokens(request)

        async def keep(response: Response, body: KeptBody | None) -> None:
            line = functools.partial(keep_preflight, self._keeper.cache.folder, self._results)
            await self._keeper.keep_line(lambda: line(gate.name, asked, tokens, response))

        def leave() -> None:
            self._waiting.discard(call)
            if asked == SHORT:
                self._left[gate.name].set()

        call: asyncio.Task[Response] = asyncio.ensure_future(self._pay(gate, request, keep, leave, asked == SHORT))
        for tasks in (self._tasks, self._waiting):
            tasks.add(call)
            call.add_done_callback(tasks.discard)
        call.add_done_callback(_heard)
        return call

    def _tell(self, model: str, requests: Mapping[str, Request], calls: Mapping[str, "asyncio.Task[Response]"]) -> None:
        """Note what the calls say of the model's counts, for all processes of the run, and say what is amiss."""
        answered = {asked: call.result() for asked, call in calls.items() if _succeeded(call)}
        sizes = {asked: request_tokens(request) for asked, request in requests.items()}
        found = gauge({asked: (sizes[asked], response.usage.prompt) for asked, response in answered.items()})
        if self._journal is not None:
            with self._journal.turn() as news:
                self._note(news)
                self._journal.add({"model": model, "gauge": found.model_dump()})
        self._gauges[model] = found
        if not found.grows:
            log.warning(
                "%s: its server counts a prompt of %d tokens as %s and one of %d as %s: that is no count. What its "
                "prompts cost is not known, and is booked at the worst case; a prompt that it cuts cannot be told",
                *(model, sizes[SHORT], answered[SHORT].usage.prompt),
                *max((sizes[asked], counted) for asked, one in answered.items() if (counted := one.usage.prompt)),
            )
        if LARGEST in answered:
            size = self.size(model, requests[LARGEST])
            if size is not None:
                self._look_at_largest(model, requests[LARGEST], answered[LARGEST], size)
        elif LARGEST in calls and isinstance(fault := _error(calls[LARGEST]), PermanentFault):
            log.warning("%s: the largest prompt, of %d tokens, is not answered: %s", model, sizes[LARGEST], fault)

    def _look_at_largest(self, model: str, request: Request, response: Response, size: PromptSize) -> None:
        counted = response.usage.prompt
        if size.is_cut(response.usage):
            self.warn_of_cut(model, response.model_copy(update={"prompt_size": size}))
            return
        self._whole.add((model, request.messages))
        if counted is not None and size.ratio and counted < NEARLY_WHOLE * size.expected:
            log.warning(
                "%s: of the largest prompt, %d tokens (cl100k), its server counted %d, where about %d are due: it may "
                "cut the largest prompts by so little that their trials count. %s",
                *(model, size.tokens, counted, size.expected, PROMPT_CUT_REMEDY),
            )

    def held_to(self, model: str, request: Request, reply: WireReply, size: PromptSize | None) -> PromptSize | None:
        """What a reply's count of its prompt is held against: nothing, where the same prompt was counted whole before.

        Some servers count of a prompt only what they had not kept from the last time.
        """
        if size is None or not size.ratio:
            return size
        prompt = (model, request.messages)
        if not size.is_cut(reply.usage):
            if reply.usage.prompt is not None:
                self._whole.add(prompt)
            return size
        return None if prompt in self._whole else size

    def _learn(self) -> None:
        if self._journal is not None:
            with self._journal.turn() as news:
                self._note(news)

    def _note(self, records: list[dict[str, Any]]) -> None:
        self._gauges |= {record["model"]: Gauge.model_validate(record["gauge"]) for record in records}

    def size(self, model: str, request: Request) -> PromptSize | None:
        """What a model's count of a request's prompt is held against; None where that is not known."""
        if model not in self._gauges:
            return None
        parts = self._asked.get(model, Preflight()).parts.get(request.messages, ())
        return self._gauges[model].size(request_tokens(request), parts)

    def warn_of_cut(self, model: str, response: Response) -> None:
        """Say it, once a model, where a response answers a prompt that the server cut."""
        size = response.prompt_size
        if size is None or not response.prompt_cut or model in self._warned:
            return
        self._warned.add(model)
        log.warning(
            "%s: its server has cut a prompt: of %d tokens (cl100k) it counted %s, where at least %d were due. Such "
            "trials are `%s`: missing, not scored. %s",
            *(model, size.tokens, response.usage.prompt, size.expected, PROMPT_CUT, PROMPT_CUT_REMEDY),
        )


def _heard(task: "asyncio.Task[Any]") -> None:
    """Whoever waits for a task is told how it ended; without anybody asyncio would report it as forgotten."""
    if not task.cancelled():
        task.exception()


def _succeeded(call: "asyncio.Task[Response]") -> bool:
    return not call.cancelled() and call.exception() is None


def _error(call: "asyncio.Task[Response]") -> BaseException | None:
    return None if call.cancelled() else call.exception()
