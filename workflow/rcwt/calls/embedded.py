"""The embedded reader behind the same interface as any model: a request in, a response out."""

import datetime
import time
from functools import lru_cache

from rcwt.base.records import Response, Status, Usage
from rcwt.base.request import Request
from rcwt.config.schema import PriceEntry
from rcwt.reader import reader
from rcwt.reader.label import NAME


@lru_cache(maxsize=1024)
def _read(messages: tuple[tuple[str, str], ...], max_tokens: int) -> reader.ReaderReply:
    """The reader is deterministic: one answer a prompt serves all its trials."""
    return reader.answer([{"role": role, "content": content} for role, content in messages], max_tokens)


def ask_reader(request: Request, price: PriceEntry) -> Response:
    """The reader's response to a request."""
    started = time.perf_counter()
    max_tokens = int(request.params["max_tokens"])
    reply = _read(request.messages, max_tokens)
    status: Status = "truncated" if reply.finish_reason == "length" else "ok" if reply.text.strip() else "empty"
    return Response(
        status=status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        returned_model=NAME,
        response_id=None,
        system_fingerprint=request.endpoint,
        usage=Usage(prompt=reply.prompt_tokens, cached=0, completion=reply.completion_tokens, reasoning=0),
        sent_params={"max_tokens": max_tokens},
        time_utc=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        latency_s=time.perf_counter() - started,
        attempts=1,
        cost_usd=(reply.prompt_tokens * price.input + reply.completion_tokens * price.output) / 1e6,
        price_as_of=price.as_of.isoformat(),
    )
