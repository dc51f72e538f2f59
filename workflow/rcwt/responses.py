"""The response cache: every response that arrived, one file each, named by what was asked.

A file's name is the sha256 of everything that makes a response differ. Only complete responses are kept, never an
error. Files are written beside their place, synced and renamed, so a reader sees a whole file or none.
"""

import json
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rcwt.digests import digest
from rcwt.records import Response

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

    @property
    def key(self) -> str:
        """sha256 over everything that makes a response differ; the host of a server is not part of it."""
        return digest(
            {
                "version": KEY_VERSION,
                "endpoint": self.endpoint,
                "model": self.model,
                "messages": self.chat,
                "params": self.params,
                "order": self.order,
                "sample": self.sample,
            }
        )


class ResponseCache:
    """Responses on disk under a folder, two hexadecimal digits of the key a subfolder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(os.environ.get(CACHE_VARIABLE) or DEFAULT_FOLDER)

    def path(self, key: str) -> Path:
        """Where the response to a request of this key is, or would be."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Response | None:
        """The kept response, or None. A cut or changed file is reported, set aside and counts as none."""
        path = self.path(key)
        try:
            kept = json.loads(path.read_bytes())
            response = Response.model_validate(kept["response"])
            if kept["key"] == key and kept["checksum"] == digest(kept["response"]):
                return response
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, ValidationError):
            pass
        aside = path.with_suffix(f".broken-{os.getpid()}")
        path.replace(aside)
        log.warning("%s: not a whole response; set aside as %s and asked again", path, aside.name)
        return None

    def put(self, request: Request, response: Response) -> None:
        """Keep a response; it is on disk when this returns."""
        path, body = self.path(request.key), response.model_dump(mode="json")
        asked: dict[str, Any] = {"endpoint": request.endpoint, "model": request.model, "params": request.params}
        asked |= {"messages_sha256": digest(request.chat), "order": request.order, "sample": request.sample}
        kept = {"key": request.key, "request": asked, "response": body, "checksum": digest(body)}
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
