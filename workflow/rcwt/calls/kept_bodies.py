"""The file of an answer: its body with all that a response is made from, compressed, so that it can be read again.

JSON in gzip's form, which knows by a checksum whether it is whole.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from rcwt.base.records import PromptSize, Response
from rcwt.calls import ledger
from rcwt.wire import reading
from rcwt.wire.received import Received
from rcwt.wire.replies import WireReply

#: gzip's effort: a higher one takes twice the time for a few percent.
_EFFORT = 4


@dataclass(frozen=True)
class KeptBody:
    """One answer, which attempt of its call it was, the price then, and what its count of the prompt is held to."""

    received: Received
    attempts: int
    price: ledger.Price
    size: PromptSize | None = None

    def response(self) -> Response:
        """The response that the body holds. Raises the fault that it is today (`rcwt.wire.reading.read`)."""
        reply = believed(reading.read(self.received), self.size)
        return response_of(reply, self.attempts, self.price, self.size)

    def to_bytes(self, key: str, asked: Mapping[str, Any]) -> bytes:
        """The file of the answer to a request."""
        price = {name: str(value) for name, value in vars(self.price).items()}
        size = self.size and self.size.model_dump()
        content = {"key": key, "request": asked, **asdict(self.received), "attempts": self.attempts, "price": price}
        content |= {"prompt_size": size}
        # Half of a surrogate pair cannot be written as it is.
        return gzip.compress(json.dumps(content).encode(), _EFFORT, mtime=0)

    @classmethod
    def from_bytes(cls, content: bytes, key: str) -> tuple["KeptBody", dict[str, Any]]:
        """The answer of a file, and what its request asked. Raises ValueError for a file that is not whole."""
        try:
            fields = json.loads(gzip.decompress(content))
            if fields.pop("key") != key:
                raise ValueError("the answer to another request")
            asked, attempts, price = fields.pop("request"), int(fields.pop("attempts")), fields.pop("price")
            size = fields.pop("prompt_size")
            priced = ledger.Price.of(**{**price, "as_of": date.fromisoformat(price["as_of"])})
            return cls(Received(**fields), attempts, priced, size and PromptSize(**size)), asked
        except (OSError, EOFError, zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None


def believed(reply: WireReply, size: PromptSize | None) -> WireReply:
    """A reply without its prompt tokens where its server counts every prompt alike: what it cost is then not known."""
    if size is None or size.ratio or reply.usage.prompt is None:
        return reply
    said = f"the server counts every prompt alike, as {reply.usage.prompt} tokens: that is no count"
    note = "; ".join(part for part in (reply.usage.note, said) if part)
    return replace(reply, usage=reply.usage.model_copy(update={"prompt": None, "note": note}))


def response_of(reply: WireReply, attempts: int, price: ledger.Price, size: PromptSize | None) -> Response:
    """A reply as it is kept: with what it cost, and which attempt of its call it was."""
    cost = ledger.cost(reply.usage, price)
    return Response(
        status=reply.status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        returned_model=reply.returned_model,
        response_id=reply.response_id,
        system_fingerprint=reply.system_fingerprint,
        usage=reply.usage,
        sent_params=dict(reply.sent),
        time_utc=reply.time_utc,
        latency_s=reply.latency_s,
        attempts=attempts,
        cost_usd=None if cost is None else float(cost),
        price_as_of=price.as_of.isoformat(),
        prompt_size=size,
    )
