"""The response cache: every answer that arrived, named by what was asked, and what was read of it.

Of a request there is a record, `<key>.json`, which says what was read, and beside it the answer itself,
`<key>.body.gz`. A record tells by which reading code it was made: once that is another, the body is read anew. A body
alone is an answer that a crash kept from being recorded, and is read as any other. What is no reply (a failure is
never kept) though it was paid, is `<key>.unread-<n>.gz`; a better reader may read it yet.

Files are written in this process's corner (`rcwt.calls.room`), synced and renamed, then their folder is synced: a
reader sees a whole file or none, and what was put is on disk.
"""

import json
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rcwt.base.cache_folder import cache_folder
from rcwt.base.digests import digest
from rcwt.base.errors import RcwtError
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.room import Room, make_folder, room_for, sync_folder
from rcwt.config.parameters import unthought
from rcwt.config.thinking import THINKING, protocol_of
from rcwt.wire.reading import failure_of, reading_digest

log = logging.getLogger(__name__)

#: Answers to one request that may be paid and not be read, before it is asked no more.
MOST_UNREAD = 3
#: Output cap of a call for which room is there before the first request.
_FIRST_CAP = 2**14
#: What is said of a kept answer that is no reply to the reading code of today, and has no finish word.
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Found:
    """What is on disk for a request.

    `failure` is the finish word of a response that would count as a failure if it came today; it stays as it was read.
    `response` is None where nothing could be read, however often it was paid. One is `stale` that left with another
    meaning about thinking than asked for: it is asked again.
    """

    response: Response | None
    failure: str | None = None
    stale: bool = False


@dataclass(frozen=True)
class _KeptRecord:
    """A record file. `reading` is None where there is no body: of earlier versions, and of the embedded reader."""

    response: Response
    asked: dict[str, Any]
    reading: str | None
    failure: str | None = None

    def fails(self) -> str | None:
        """The finish word of a response that was found to be a failure; by its word alone where it has no body."""
        if self.reading is not None:
            return self.failure
        return failure_of(self.response, str(self.asked["model"]).partition("/")[0])

    def stale(self) -> bool:
        """Whether it left with another meaning about thinking than asked for; not so where that is not known."""
        model, params = self.asked.get("model"), self.asked.get("params")
        if not isinstance(model, str) or not isinstance(params, dict):
            return False
        return bool(unthought(protocol_of(model), params, self.response.sent_params))


class ResponseCache:
    """Responses on disk under a folder, two hexadecimal digits of the key a subfolder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder()
        self.room = Room(self.folder)

    def path(self, key: str) -> Path:
        """Where the record of a request of this key is, or would be."""
        return self.folder / key[:2] / f"{key}.json"

    def body_path(self, key: str) -> Path:
        """Where the answer that the record was read from is, or would be."""
        return self.path(key).with_suffix(".body.gz")

    def get(self, key: str, *, again: bool = False) -> Response | None:
        """The kept response, or None; `again` counts one that would be a failure today as none.

        A body is read anew where the reading code has changed. A cut or changed file is reported, set aside and counts
        as none.
        """
        found = self.look(key, mend=True)
        return None if found is None or found.stale or (again and found.failure) else found.response

    def locate(self, requests: Iterable[Request]) -> None:
        """Let each request go by the key that its response is kept under, should that be an earlier spelling's."""
        for request in requests:
            for [earlier] in request.earlier_keys([request.sample]):
                if self._is_kept(request.key):
                    break
                if self._is_kept(earlier):
                    request.adopt(earlier)

    def _is_kept(self, key: str) -> bool:
        return self.path(key).exists() or self.body_path(key).exists() or any(self._unread_paths(key))

    def look(self, key: str, *, mend: bool = False) -> Found | None:
        """What is kept, read by the code of today; only with `mend` is anything on disk changed, or reported."""
        record = self._record(key, mend)
        failure = record.fails() if record is not None else None
        stale = record is not None and record.stale()
        if record is not None and not failure and not stale and record.reading in (None, reading_digest()):
            return Found(record.response)
        # One that was a failure, or stale, may have been asked again, and its record not been written.
        body = self._body(self.body_path(key), key, mend)
        if body is None:
            return self._look_at_unread(key, mend) if record is None else Found(record.response, failure, stale)
        try:
            response = body[0].response()
        except RcwtError:
            return self._look_at_unread(key, mend) if record is None else self._still(key, record, mend)
        read = _KeptRecord(response, body[1], reading_digest())
        self._note(key, read, mend and read != record)
        return Found(response, stale=read.stale())

    def _still(self, key: str, record: _KeptRecord, mend: bool) -> Found:
        """A response that the code of today reads as none: it stays as it was read."""
        word = record.response.finish_reason or UNREADABLE
        noted = replace(record, reading=reading_digest(), failure=word)
        self._note(key, noted, mend and noted != record)
        return Found(record.response, word, record.stale())

    def _look_at_unread(self, key: str, mend: bool) -> Found | None:
        """A reply among the answers that could not be read before; a Found without one where that was all."""
        paths = self.unread(key)
        for path in paths:
            body = self._body(path, key, mend=False)
            try:
                response = body[0].response() if body else None
            except RcwtError:
                continue
            if body and response:
                if mend:
                    path.replace(self.body_path(key))
                read = _KeptRecord(response, body[1], reading_digest())
                self._note(key, read, mend)
                return Found(response, stale=read.stale())
        return Found(None, UNREADABLE) if len(paths) >= MOST_UNREAD else None

    def unread(self, key: str) -> list[Path]:
        """The answers to a request that were paid and could not be read."""
        return list(self._unread_paths(key))

    def _unread_paths(self, key: str) -> Iterator[Path]:
        number = 1
        while (path := self.path(key).with_suffix(f".unread-{number}.gz")).exists():
            yield path
            number += 1

    def _record(self, key: str, mend: bool) -> _KeptRecord | None:
        path = self.path(key)
        try:
            kept = json.loads(path.read_bytes())
            response = Response.model_validate(kept["response"])
            if kept["key"] == key and kept["checksum"] == digest(kept["response"]):
                return _KeptRecord(response, dict(kept["request"]), kept.get("reading"), kept.get("failure"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, ValidationError):
            pass
        if mend:
            aside = path.with_suffix(f".broken-{os.getpid()}")
            path.replace(aside)
            again = "read again from its body" if self.body_path(key).exists() else "asked again"
            log.warning("%s: not a whole response; set aside as %s and %s", path, aside.name, again)
        return None

    def _body(self, path: Path, key: str, mend: bool) -> tuple[KeptBody, dict[str, Any]] | None:
        try:
            return KeptBody.from_bytes(path.read_bytes(), key)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            if mend:
                aside = path.with_suffix(f".broken-{os.getpid()}")
                path.replace(aside)
                log.warning("%s: not a whole answer (%s); set aside as %s", path, error, aside.name)
            return None

    def _note(self, key: str, record: _KeptRecord, mend: bool) -> None:
        """Write what was read of a body that is on disk; where that cannot be, the next run reads it again."""
        if mend:
            try:
                # A record that a power cut empties is made from its body again, but for one that is none of its body.
                self._write({self.path(key): _record_bytes(key, record)}, synced=record.failure is not None)
            except OSError as error:
                log.warning("%s: what was read anew could not be written (%s)", self.path(key), error.strerror)

    def require_room(self) -> None:
        """Raise OSError where the folder takes no more, as on a full disk."""
        size = room_for(_FIRST_CAP)
        self.room.claim(size)
        try:
            self.room.set_aside()
        finally:
            self.room.release(size)

    def put(self, request: Request, response: Response, body: KeptBody | None = None, *, paid: bool = True) -> None:
        """Keep a response and the answer it was read from; what is paid is on disk when this returns. Raises OSError.

        A response that is there already was asked for again: it is set aside, not lost.
        """
        key, asked = request.key, request.asked()
        record = _KeptRecord(response, asked, reading_digest() if body else None)
        files = {self.body_path(key): body.to_bytes(key, asked)} if body else {}
        if self.path(key).exists():
            self.room.within(lambda: self._set_aside(key), 2**16)
        self._write({**files, self.path(key): _record_bytes(key, record)}, synced=paid)

    def put_unread(self, request: Request, body: KeptBody) -> Path:
        """Keep an answer that cannot be read; it is on disk when this returns. Raises OSError."""
        key = request.key
        path = self.path(key).with_suffix(f".unread-{len(self.unread(key)) + 1}.gz")
        self._write({path: body.to_bytes(key, request.asked())})
        return path

    def _set_aside(self, key: str) -> None:
        """Give what is kept of a request other names beside its own, under which it is still found by hand."""
        number = 1
        while (aside := self.path(key).with_suffix(f".before-{number}")).exists():
            number += 1
        if self.body_path(key).exists():
            shutil.copyfile(self.body_path(key), self.path(key).with_suffix(f".before-{number}.body.gz"))
        shutil.copyfile(self.path(key), aside)

    def _write(self, files: dict[Path, bytes], *, synced: bool = True) -> None:
        """Write files of one folder, in order, where the disk is full in the room that was set aside."""
        size = sum(len(content) + 2**12 for content in files.values())
        self.room.within(lambda: self._write_once(files, synced), size)

    def _write_once(self, files: dict[Path, bytes], synced: bool) -> None:
        written: list[tuple[Path, Path]] = []
        try:
            for path, content in files.items():
                written.append((self.room.new_file(), path))
                _write_whole(written[-1][0], content, synced)
            folder = written[0][1].parent
            make_folder(folder)
            for temporary, path in written:
                temporary.replace(path)
            if synced:
                sync_folder(folder)
        except BaseException:
            for temporary, _ in written:
                temporary.unlink(missing_ok=True)
            raise


def _record_bytes(key: str, record: _KeptRecord) -> bytes:
    response = record.response.model_dump(mode="json")
    kept = {"key": key, "request": record.asked, "response": response, "checksum": digest(response)}
    kept |= {name: value for name in ("reading", "failure") if (value := getattr(record, name)) is not None}
    return json.dumps(kept, ensure_ascii=False).encode()


def _write_whole(path: Path, content: bytes, synced: bool) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        if synced:
            os.fsync(file.fileno())


class KeptResponses:
    """Which responses a cache holds, for plans: seen by listing its folders, so one look serves many keys.

    Nothing is changed, set aside or reported: a file that is there counts, and is read only where its content matters.
    """

    def __init__(self, cache: ResponseCache) -> None:
        self.cache = cache
        self._listed: dict[str, frozenset[str]] = {}

    def __contains__(self, key: str) -> bool:
        names = self._names(key)
        if f"{key}.json" in names:
            return True
        # A body alone, or answers that could not be read: whether a call is made for it their content says.
        alone = f"{key}.body.gz" in names or f"{key}.unread-1.gz" in names
        return alone and self.cache.look(key) is not None

    def _names(self, key: str) -> frozenset[str]:
        folder = key[:2]
        if folder not in self._listed:
            place = self.cache.folder / folder
            # Names alone: paths of a hundred thousand files take longer to make than to list.
            self._listed[folder] = frozenset(os.listdir(place) if place.is_dir() else ())  # noqa: PTH208
        return self._listed[folder]

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
        found = {key: self.look(key) for key in keys}
        return {key: one.response.sent_params for key, one in found.items() if one and one.stale and one.response}

    def read(self, key: str) -> Response | None:
        """The kept response; None where there is none, its file is not whole or it is stale."""
        found = self.look(key)
        return None if found is None or found.stale else found.response

    def look(self, key: str) -> Found | None:
        """What is on disk for a request; None where it would be asked."""
        try:
            return self.cache.look(key) if key in self else None
        except OSError:
            return None

    def failure(self, key: str) -> str | None:
        """The finish word of a kept response that would count as a failure today, `UNREADABLE` where it has none."""
        if key not in self:
            return None
        try:
            kept = json.loads(self.cache.path(key).read_bytes())
            if kept.get("reading") == reading_digest() and "failure" not in kept:
                return None  # as nearly all are
        except (OSError, ValueError, AttributeError):
            pass
        found = self.look(key)
        return None if found is None else found.failure
