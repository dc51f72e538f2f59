"""The response cache: every response that arrived, one file each, named by what was asked.

A file's name is the sha256 of everything that makes a response differ. Only complete responses are kept, never an
error. Files are written beside their place, synced and renamed, so a reader sees a whole file or none.
"""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rcwt.digests import canonical_json, digest
from rcwt.parameters import unthought
from rcwt.records import Response
from rcwt.spellings import spellings
from rcwt.thinking import THINKING, protocol_of

#: Part of every key: a change of what a key means must not find responses kept under the old meaning.
KEY_VERSION = 1
#: Moves the cache, for instance to a disk that several checkouts share.
CACHE_VARIABLE = "RCWT_CACHE"
DEFAULT_FOLDER = Path(".cache/responses")

log = logging.getLogger(__name__)


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


@lru_cache(maxsize=1024)
def _spellings(params: str) -> tuple[dict[str, Any], ...]:
    """`spellings` of parameters given as JSON: all requests of a cell share them."""
    return tuple(spellings(json.loads(params)))


@lru_cache(maxsize=1024)
def _messages_digest(messages: tuple[tuple[str, str], ...]) -> str:
    return digest([{"role": role, "content": content} for role, content in messages])


#: Bytes that must be free before the first request: some replies.
_ROOM = 2**18


class ResponseCache:
    """Responses on disk under a folder, two hexadecimal digits of the key a subfolder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(os.environ.get(CACHE_VARIABLE) or DEFAULT_FOLDER)

    def path(self, key: str) -> Path:
        """Where the response to a request of this key is, or would be."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Response | None:
        """The kept response, or None where there is none or it is stale. A cut or changed file is set aside."""
        path = self.path(key)
        try:
            kept = json.loads(path.read_bytes())
            response = Response.model_validate(kept["response"])
            if kept["key"] == key and kept["checksum"] == digest(kept["response"]):
                return None if stale(kept) else response
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, ValidationError):
            pass
        aside = path.with_suffix(f".broken-{os.getpid()}")
        path.replace(aside)
        log.warning("%s: not a whole response; set aside as %s and asked again", path, aside.name)
        return None

    def locate(self, requests: Iterable[Request]) -> None:
        """Let each request go by the key that its response is kept under, should that be an earlier spelling's."""
        for request in requests:
            for [earlier] in request.earlier_keys([request.sample]):
                if self.path(request.key).exists():
                    break
                if self.path(earlier).exists():
                    request.adopt(earlier)

    def require_room(self) -> None:
        """Raise OSError where the folder takes no more, as on a full disk."""
        with tempfile.TemporaryFile(dir=self.folder) as file:  # without a name: nothing is left of it after a kill
            file.write(bytes(_ROOM))
            file.flush()
            os.fsync(file.fileno())

    def put(self, request: Request, response: Response) -> None:
        """Keep a response; it is on disk when this returns."""
        path, body = self.path(request.key), response.model_dump(mode="json")
        asked: dict[str, Any] = {"endpoint": request.endpoint, "model": request.model, "params": request.params}
        asked |= {
            "messages_sha256": _messages_digest(request.messages),
            "order": request.order,
            "sample": request.sample,
        }
        kept = {"key": request.key, "request": asked, "response": body, "checksum": digest(body)}
        handle, temporary = _beside(path)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(kept, ensure_ascii=False).encode())
                file.flush()
                os.fsync(file.fileno())
            if path.exists():  # a stale one was paid for too
                path.replace(path.with_suffix(f".stale-{os.getpid()}"))
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _beside(path: Path) -> tuple[int, str]:
    """A new file in a path's folder, which most often is there."""
    try:
        return tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")


def stale(kept: Mapping[str, Any]) -> list[str]:
    """Name the parameters about thinking with which a kept response, as in its file, left other than asked for."""
    try:
        asked, sent = kept["request"], kept["response"]["sent_params"]
        return unthought(protocol_of(asked["model"]), asked["params"], sent)
    except (KeyError, TypeError, AttributeError):  # of another form: what was asked and sent is not known
        return []


class KeptResponses:
    """Which responses a cache holds, for plans: seen by listing its folders, so one look serves many keys.

    Nothing is changed, set aside or reported: a file that is there counts, and is read only where its content matters.
    """

    def __init__(self, cache: ResponseCache) -> None:
        self.cache = cache
        self._listed: dict[str, frozenset[str]] = {}

    def __contains__(self, key: str) -> bool:
        folder = key[:2]
        if folder not in self._listed:
            place = self.cache.folder / folder
            # Names alone: paths of a hundred thousand files take longer to make than to list.
            self._listed[folder] = frozenset(os.listdir(place) if place.is_dir() else ())  # noqa: PTH208
        return f"{key}.json" in self._listed[folder]

    def keys(self, request: Request, samples: Sequence[int], keys: list[str]) -> list[str]:
        """The keys of a request under sample numbers: where a response is kept under an earlier spelling, that one."""
        if any(key not in self for key in keys):
            for earlier in request.earlier_keys(samples):
                keys = [old if key not in self and old in self else key for key, old in zip(keys, earlier, strict=True)]
        return keys

    def stale(self, params: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Of keys asked with `params` those whose kept responses are stale, each with the parameters that were sent."""
        if not params.keys() & THINKING:  # nothing has to be read
            return {}
        files = {key: self._file(key) for key in keys}
        return {key: kept["response"]["sent_params"] for key, kept in files.items() if kept and stale(kept)}

    def read(self, key: str) -> Response | None:
        """The kept response; None where there is none, its file is not whole or it is stale."""
        kept = self._file(key)
        try:
            return None if kept is None or stale(kept) else Response.model_validate(kept["response"])
        except (ValueError, KeyError, TypeError):
            return None

    def _file(self, key: str) -> dict[str, Any] | None:
        try:
            kept = json.loads(self.cache.path(key).read_bytes()) if key in self else None
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) else None
