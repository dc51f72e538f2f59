"""What the calls of a registry entry are reckoned with: its dated price, its token factor, the output cap of a call.

The ledger, the plan and the spend table all reckon with these, so that none of them knows another worst case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from rcwt.base.request import Request
from rcwt.base.tokens import count
from rcwt.calls import ledger
from rcwt.config.parameters import OUTPUT_CAPS
from rcwt.config.schema import Config
from rcwt.study.prompts import MESSAGE_OVERHEAD


@dataclass(frozen=True)
class Terms:
    """Price in US dollars per million tokens, and the model's own tokens per cl100k token."""

    price: ledger.Price
    token_factor: float

    @classmethod
    def of(cls, config: Config, name: str) -> "Terms":
        """The terms of a registry entry; cached tokens without a price of their own cost as much as others."""
        price = config.prices[name]
        cached = price.input if price.cached_input is None else price.cached_input
        return cls(
            ledger.Price.of(price.input, cached, price.output, price.batch_discount or 0, price.as_of),
            config.registry[name].token_factor,
        )

    def plain(self) -> dict[str, Any]:
        """The terms as JSON types, numbers of the price as text; `Terms.read` reads them."""
        price = {name: str(value) for name, value in vars(self.price).items()}
        # What costs nothing costs nothing at any factor.
        free = not (self.price.input or self.price.cached_input)
        return {"price": price, "token_factor": 1 if free else self.token_factor}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Terms":
        """The terms that `plain` wrote."""
        number = content["price"]
        price = ledger.Price.of(
            number["input"],
            number["cached_input"],
            number["output"],
            number["batch_discount"],
            date.fromisoformat(number["as_of"]),
        )
        return cls(price, content["token_factor"])

    def worst_case(self, prompt_tokens: int, cap: int) -> Decimal:
        """The most one call can cost in US dollars, of a prompt in cl100k tokens and an output cap."""
        return ledger.worst_case(prompt_tokens, self.token_factor, cap, self.price)

    def dollars(self, input_tokens: int, output_tokens: int) -> Decimal:
        """What tokens cost in US dollars, none of them cached."""
        return (input_tokens * self.price.input + output_tokens * self.price.output) / ledger.MILLION


def output_cap(params: Mapping[str, Any]) -> int:
    """The most tokens a reply may have, by the parameters of its call; `parameters.unbounded` has passed them."""
    return next(int(params[name]) for name in OUTPUT_CAPS if name in params)


def request_tokens(request: Request) -> int:
    """Tokens of a request's messages in cl100k_base, with what a chat format adds to each."""
    return _message_tokens(request.messages)


@lru_cache(maxsize=1024)
def _message_tokens(messages: tuple[tuple[str, str], ...]) -> int:
    return sum(count(content) + MESSAGE_OVERHEAD for _, content in messages)
