"""One call as it is asked for, and its key: the sha256 of everything that makes a response differ."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from rcwt.digests import canonical_json, digest

#: Part of every key: a change of what a key means must not find responses kept under the old meaning.
KEY_VERSION = 1


@dataclass(frozen=True)
class Request:
    """One call as it is asked for: the sample number and the order make equal prompts separate draws."""

    endpoint: str
    model: str
    messages: tuple[tuple[str, str], ...]
    params: dict[str, Any]
    order: str
    sample: int

    @property
    def chat(self) -> list[dict[str, str]]:
        """The messages as chat dictionaries."""
        return [{"role": role, "content": content} for role, content in self.messages]

    @cached_property
    def key(self) -> str:
        """sha256 over everything that makes a response differ; the host of a server is not part of it."""
        return digest(self._identity())

    def sample_keys(self, samples: Iterable[int]) -> list[str]:
        """The keys of this request under other sample numbers.

        The same as `key` of each, but what they share, above all the messages, is spelled and hashed once.
        """
        number = f'"sample":{self.sample}'
        shared, _, rest = canonical_json(self._identity()).rpartition(number)
        begun, keys = hashlib.sha256(shared.encode()), []
        for sample in samples:
            whole = begun.copy()
            whole.update(f'"sample":{sample}{rest}'.encode())
            keys.append(whole.hexdigest())
        return keys

    def _identity(self) -> dict[str, Any]:
        return {
            "version": KEY_VERSION,
            "endpoint": self.endpoint,
            "model": self.model,
            "messages": self.chat,
            "params": self.params,
            "order": self.order,
            "sample": self.sample,
        }

    def asked(self) -> dict[str, Any]:
        """What a kept response tells of its request; the messages are told by their digest."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "params": self.params,
            "messages_sha256": _messages_digest(self.messages),
            "order": self.order,
            "sample": self.sample,
        }


@lru_cache(maxsize=1024)
def _messages_digest(messages: tuple[tuple[str, str], ...]) -> str:
    return digest([{"role": role, "content": content} for role, content in messages])
