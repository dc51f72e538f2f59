"""The one call runtime of a process: it answers requests from the cache, and asks models for the rest.

Every model goes through `Runtime.answer`, the embedded reader too, so that what is stored, counted and recorded
is the same for all of them. A process has one runtime (`current`), because rate limits, the connection pool and
the spend ledger only mean something when they are shared by all cells of a run. Cells run in Snakemake's threads and
wait here; the network belongs to one event loop in a thread of its own.
"""

import asyncio
import atexit
import threading
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future, wait
from decimal import Decimal
from typing import Any, Literal

from rcwt.base.errors import CallError, RcwtError
from rcwt.base.keys import scrub
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.base.visible import visible
from rcwt.calls import run_state
from rcwt.calls.embedded import ask_reader
from rcwt.calls.progress import Progress
from rcwt.calls.remote import Remote
from rcwt.calls.responses import ResponseCache
from rcwt.calls.shared_ledger import SharedLedger, died
from rcwt.config.schema import Config
from rcwt.study.preflight import Preflight
from rcwt.wire.exchange import close_clients, load_litellm

Role = Literal["target", "judge"]

#: Seconds that jobs wait at most for the preflights to leave; one may wait itself, as for another at its endpoint.
PREFLIGHTS_LEAVE_S = 1.0
#: A preflight that measures nothing: whether the model can be called at all.
PLAIN = Preflight()


class Runtime:
    """Answers the requests of cells, from the response cache first."""

    def __init__(self, config: Config, cache: ResponseCache) -> None:
        self.config = config
        self.cache = cache
        self.progress = Progress()
        self.failures: dict[str, str] = {}
        self._remote: Remote | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._interrupted = False
        self._ending: Future[None] | None = None
        self._lock = threading.Lock()

    def answer(
        self, requests: Sequence[Request], model: str, role: Role, cell: str, preflight: Preflight = PLAIN
    ) -> list[Response]:
        """One response a request, in order; those not in the cache are asked for and kept as they arrive.

        `preflight` is what the model is asked before its first call, where it has not been asked in this run.
        Raises CallError when some could not be had: the others of the cell are in the cache by then.
        """
        self.cache.locate(requests)
        again = self.config.ask_again and not self.config.offline
        kept = {request.key: self.cache.get(request.key, again=again) for request in requests}
        self.progress.cached += sum(response is not None for response in kept.values())
        missing = [request for request in requests if kept[request.key] is None]
        try:
            for request, outcome in zip(missing, self._ask(missing, model, preflight), strict=True):
                kept[request.key] = outcome
        except CallError as error:
            self._tell(f"{cell} ({role})", str(error))
            raise
        self._tell(f"{cell} ({role})", None)
        return [response for request in requests if (response := kept[request.key]) is not None]

    def _tell(self, cell: str, cause: str | None) -> None:
        """Remember why a cell failed; None: it has not, or no more, as where a job was made again."""
        self.failures.pop(cell, None)
        if cause is not None:
            self.failures[cell] = cause
        if self.config.calls_on == "cluster" and run_state.is_named():
            run_state.join(self.cache.folder).tell_failure(cell, cause)

    def _ask(self, missing: Sequence[Request], model: str, preflight: Preflight) -> list[Response]:
        if not missing:
            return []
        entry = self.config.registry[model]
        if entry.embedded:
            return [self._keep(request, ask_reader(request, self.config.prices[model])) for request in missing]
        if self._interrupted:
            raise CallError(
                f"interrupted before its {len(missing)} missing calls were sent; the next run asks for them"
            )
        if self.config.offline:
            raise CallError(
                f"offline: {len(missing)} responses of {model} are not in the cache ({self.cache.folder}): samples "
                f"{_some([str(request.sample) for request in missing])}. Set offline to false, or bring the cache"
            )
        outcomes = self._run(self._remote_calls(missing, model, preflight))
        failed = [(r, o) for r, o in zip(missing, outcomes, strict=True) if isinstance(o, BaseException)]
        if failed:
            raise CallError(_failure_text(failed, len(missing)))
        return [outcome for outcome in outcomes if isinstance(outcome, Response)]

    def _keep(self, request: Request, response: Response) -> Response:
        self.cache.put(request, response, paid=False)
        return response

    async def _remote_calls(
        self, missing: Sequence[Request], model: str, preflight: Preflight
    ) -> list[Response | BaseException]:
        remote = self._network()
        return await asyncio.gather(
            *(remote.fetch(request, model, preflight) for request in missing), return_exceptions=True
        )

    def _network(self) -> Remote:
        """All calls over the network; made on the event loop."""
        if self._remote is None:
            cap = None if self.config.max_usd is None else Decimal(str(self.config.max_usd))
            self._remote = Remote(self.config, self.cache, self.progress, cap, self._run_state(), self._interrupted)
        return self._remote

    def _run_state(self) -> run_state.RunState | None:
        """What the processes of a run share where more than one makes calls."""
        return run_state.join(self.cache.folder) if self.config.calls_on == "cluster" else None

    def _run(self, coroutine: Coroutine[Any, Any, list[Response | BaseException]]) -> list[Response | BaseException]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._event_loop()).result()

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="rcwt-calls", daemon=True)
                self._thread.start()
                self.progress.start()
                # A job's process, and a run that breaks, end without the Snakefile's hooks. Of a loop that is still at
                # work when the interpreter goes, litellm's clients may wait for ever: they import when they are let go.
                atexit.register(self.finish)
            return self._loop

    def warm_up(self, first: Mapping[str, tuple[Request, Preflight]]) -> None:
        """Load litellm and send the preflight of each model, before its first request.

        They are under way while jobs run that need no network. What one fails of is told by the cells of its model.
        """
        load_litellm()
        if first and not self._interrupted:
            sent = asyncio.run_coroutine_threadsafe(self._send_preflights(first), self._event_loop())
            # Jobs computing beside litellm's first call would triple its time, which all other calls wait for.
            wait([sent], timeout=PREFLIGHTS_LEAVE_S)

    async def _send_preflights(self, first: Mapping[str, tuple[Request, Preflight]]) -> None:
        await self._network().send_preflights(first)

    def finish(self) -> None:
        """Show the final state of the calls, close the connections and end the event loop."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None or not loop.is_running():
            return
        self.progress.stop()
        if self._ending is not None:
            # A preflight may be under way that no cell waits for yet.
            wait([self._ending])
        asyncio.run_coroutine_threadsafe(_wind_up(), loop)
        thread.join(timeout=2)

    def failure_summary(self) -> str:
        """Each cell that failed, with its cause and what to do; empty when none of them needed a call.

        In the process that started a run whose calls are made in jobs: the cells of all jobs, and what the jobs that
        died may have cost.
        """
        lost = []
        if self.config.calls_on == "cluster" and run_state.is_named():
            run = run_state.join(self.cache.folder)
            self.failures = run.failures()
            lost = self._lost(run)
        if not self.failures:
            return "".join(f"{line}\n" for line in lost)
        # A job that was ended before it came to a cell has told nothing of it.
        known = "" if self.config.calls_on == "local" else "At least "
        lines = [f"{known}{len(self.failures)} cells are not complete, nor is what is made from them:"]
        lines += [f"  {cell}: {cause}" for cell, cause in sorted(self.failures.items())]
        return "\n".join(
            [*lost, *lines, "What has arrived is kept: the same command asks only for what is missing.", ""]
        )

    def _lost(self, run: run_state.RunState) -> list[str]:
        if self.config.max_usd is None:
            return []
        dead = SharedLedger(run, Decimal(str(self.config.max_usd))).write_off_dead()
        return [died(run.describe(holder), calls, usd) for holder, (calls, usd) in dead.items()]

    def interrupt(self, grace_s: float = 2.0) -> None:
        """Send nothing more; wait `grace_s` seconds for replies under way, then give the rest up. Returns at once."""
        self._interrupted = True
        if self._loop is not None:
            self._ending = asyncio.run_coroutine_threadsafe(self._end(grace_s), self._loop)

    async def _end(self, grace_s: float) -> None:
        # Looked for on the loop: it may just be made, with preflights that would leave next.
        if self._remote is not None:
            await self._remote.interrupt(grace_s)


_lock = threading.Lock()
_runtime: Runtime | None = None


def current(config: Config) -> Runtime:
    """The runtime of this process, made at its first use with the configuration of the run."""
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime(config, ResponseCache())
        return _runtime


async def _wind_up() -> None:
    """Cancel what is left on this loop, close its connections and stop it."""
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await close_clients()
    asyncio.get_running_loop().stop()


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _failure_text(failed: Sequence[tuple[Request, BaseException]], asked: int) -> str:
    """The distinct causes, each with the samples it struck."""
    # What is no fault known here is told with its type: its text alone may say little.
    causes = Counter(
        str(error)
        if isinstance(error, RcwtError) and str(error)
        else visible(f"{type(error).__name__}: {scrub(str(error))}")
        for _, error in failed
    )
    parts = [f"{count} × {cause}" if count > 1 else cause for cause, count in causes.most_common(3)]
    more = "" if len(causes) <= 3 else f" (and {len(causes) - 3} other causes)"
    return f"{len(failed)} of {asked} calls failed: {'; '.join(parts)}{more}"
