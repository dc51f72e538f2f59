"""The one call runtime of a process: it answers requests from the cache, and asks models for the rest.

Every model goes through `Runtime.answer`, the embedded reader too, so that what is stored, counted and recorded
is the same for all of them. A process has one runtime (`current`), because rate limits, the connection pool and
the spend ledger only mean something when they are shared by all cells of a run.
"""

import datetime
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from rcwt import reader
from rcwt.config import Model, Price
from rcwt.errors import CallError
from rcwt.records import Response, Status, Usage
from rcwt.responses import Request, ResponseCache

Ask = Callable[[Request], Response]


class Runtime:
    """Answers the requests of cells, from the response cache first."""

    def __init__(self, cache: ResponseCache) -> None:
        self.cache = cache

    def answer(self, requests: Sequence[Request], model: Model, price: Price) -> list[Response]:
        """One response a request, in order; those not in the cache are asked for and kept.

        Raises CallError for a model that cannot be called.
        """
        return [self._one(request, _backend(model, price)) for request in requests]

    def _one(self, request: Request, ask: Ask) -> Response:
        kept = self.cache.get(request.key)
        if kept is not None:
            return kept
        response = ask(request)
        self.cache.put(request, response)
        return response


_lock = threading.Lock()
_runtime: Runtime | None = None


def current() -> Runtime:
    """The runtime of this process, made at its first use."""
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime(ResponseCache())
        return _runtime


def _backend(model: Model, price: Price) -> Ask:
    if model.embedded:
        return lambda request: _ask_reader(request, price)
    raise CallError(f"model '{model.litellm}': calls over the network are not part of this version yet")


@lru_cache(maxsize=1024)
def _read(messages: tuple[tuple[str, str], ...], max_tokens: int) -> reader.ReaderReply:
    """The reader is deterministic: one answer a prompt serves all its trials."""
    return reader.answer([{"role": role, "content": content} for role, content in messages], max_tokens)


def _ask_reader(request: Request, price: Price) -> Response:
    started = time.perf_counter()
    max_tokens = int(request.params["max_tokens"])
    reply = _read(request.messages, max_tokens)
    status: Status = "truncated" if reply.finish_reason == "length" else "ok" if reply.text.strip() else "empty"
    usage = Usage(prompt=reply.prompt_tokens, cached=0, completion=reply.completion_tokens, reasoning=0)
    return Response(
        status=status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        returned_model=reader.NAME,
        response_id=None,
        system_fingerprint=request.endpoint,
        usage=usage,
        sent_params={"max_tokens": max_tokens},
        time_utc=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        latency_s=time.perf_counter() - started,
        attempts=1,
        cost_usd=(reply.prompt_tokens * price.input + reply.completion_tokens * price.output) / 1e6,
        price_as_of=price.as_of.isoformat(),
    )
