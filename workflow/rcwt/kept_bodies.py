"""The file of an answer: its body with all that a response is made from, compressed, so that it can be read again.

JSON in gzip's form, which knows by a checksum whether it is whole.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from rcwt import ledger, reading
from rcwt.received import Received
from rcwt.records import Response, Usage
from rcwt.replies import WireReply

#: gzip's effort: a higher one takes twice the time for a few percent.
_EFFORT = 4


@dataclass(frozen=True)
class KeptBody:
    """One answer, which attempt of its call it was, and the price of its moment."""

    received: Received
    attempts: int
    price: ledger.Price

    def response(self) -> Response:
        """The response that the body holds. Raises the fault that it is today (`rcwt.reading.read`)."""
        return response_of(reading.read(self.received), self.attempts, self.price)

    def to_bytes(self, key: str, asked: Mapping[str, Any]) -> bytes:
        """The file of the answer to a request."""
        price = {name: str(value) for name, value in vars(self.price).items()}
        content = {"key": key, "request": asked, **asdict(self.received), "attempts": self.attempts, "price": price}
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
            priced = ledger.Price.of(**{**price, "as_of": date.fromisoformat(price["as_of"])})
            return cls(Received(**fields), attempts, priced), asked
        except (OSError, EOFError, zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None


def response_of(reply: WireReply, attempts: int, price: ledger.Price) -> Response:
    """A reply as it is kept: with what it cost, and which attempt of its call it was."""
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
