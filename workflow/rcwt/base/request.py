"""One call as it is asked for, and its key: the sha256 of everything that makes a response differ."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from rcwt.base.digests import canonical_json, digest
from rcwt.base.spellings import spellings

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
        """sha256 over everything that makes a response differ; the host of a server is not part of it.

        Equal parameters have one key, however their numbers are spelled, unless `adopt` says otherwise.
        """
        return self.sample_keys([self.sample])[0]

    def adopt(self, key: str) -> None:
        """Go by the key of an equal request, spelled otherwise, whose response is kept; records will hold it too."""
        vars(self)["key"] = key

    def sample_keys(self, samples: Iterable[int], spelled: Mapping[str, Any] | None = None) -> list[str]:
        """The keys of this request under other sample numbers, or those that they had with parameters `spelled` so.

        The same as `key` of each, but what they share, above all the messages, is spelled and hashed once.
        """
        number = f'"sample":{self.sample}'
        params = _spellings(canonical_json(self.params))[0] if spelled is None else spelled
        shared, _, rest = canonical_json(self._identity(params)).rpartition(number)
        begun, keys = hashlib.sha256(shared.encode()), []
        for sample in samples:
            whole = begun.copy()
            whole.update(f'"sample":{sample}{rest}'.encode())
            keys.append(whole.hexdigest())
        return keys

    def earlier_keys(self, samples: Sequence[int]) -> Iterator[list[str]]:
        """The keys that equal requests had whose numbers were spelled otherwise, a list a spelling."""
        return (self.sample_keys(samples, params) for params in _spellings(canonical_json(self.params))[1:])

    def _identity(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "version": KEY_VERSION,
            "endpoint": self.endpoint,
            "model": self.model,
            "messages": self.chat,
            "params": params,
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
def _spellings(params: str) -> tuple[dict[str, Any], ...]:
    """`spellings` of parameters given as JSON: all requests of a cell share them."""
    return tuple(spellings(json.loads(params)))


@lru_cache(maxsize=1024)
def _messages_digest(messages: tuple[tuple[str, str], ...]) -> str:
    return digest([{"role": role, "content": content} for role, content in messages])
