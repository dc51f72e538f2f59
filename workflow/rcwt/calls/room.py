"""A process's own corner of the response cache: where files are written before they get their names, and room on the
disk that is set aside for the calls in flight.

A response that has arrived is paid for. So before its call leaves, bytes and files that it will need are taken from the
disk; once the disk is full they are given back, piece by piece, for what still arrives. What is set aside is random
bytes, really written: file systems promise much of blocks that hold nothing, or compress them away.

A corner is locked while its process lives. What a killed process has left is cleared away by the next run.
"""

import contextlib
import errno
import fcntl
import itertools
import os
import secrets
import shutil
import socket
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

#: In the folder of the response cache.
CORNERS = ".writing"
_LOCK = ".lock"
#: Room for one response beside what grows with its length, in bytes: two files' ends, and their folder.
_FIXED = 24 * 2**10
#: Room for each token that a reply may have: its text and its compressed body, half of it in a model's thoughts.
_PER_TOKEN = 16
#: Files that one response may need: body, record, and the folder of both.
_FILES = 3
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
#: A file of an older version that is being written is younger than this, in seconds.
_WRITTEN_S = 60.0

_mine: set[str] = set()


def room_for(output_cap: int) -> int:
    """Bytes that the response to a call may take on disk, of an output cap in tokens."""
    return _FIXED + _PER_TOKEN * output_cap


class Room:
    """The corner of this process in the cache at `folder`; it is made at its first use. Safe to use from threads.

    `given_back` says that the disk was full, so that nothing more may be sent.
    """

    def __init__(self, folder: Path) -> None:
        self._cache = folder
        self._lock = threading.Lock()  # of the counts: never held while the disk is waited for
        self._changing = threading.Lock()
        self._numbers = itertools.count()
        self._corner: Path | None = None
        self._file = -1
        self._size = self._spares = 0
        self._claimed = self._calls = 0
        self.given_back = False

    def new_file(self) -> Path:
        """A path of its own for a file that is being written; it can be renamed to anywhere in the cache."""
        corner = self._corner or self._enter()
        corner.mkdir(parents=True, exist_ok=True)  # it is cleared away while the interpreter ends
        return corner / f"{next(self._numbers)}.part"

    def claim(self, size: int) -> bool:
        """Count one more call that may need `size` bytes; False where `set_aside` must make room first."""
        with self._lock:
            self._claimed += size
            self._calls += 1
            return self._claimed <= self._size and _FILES * self._calls <= self._spares and not self.given_back

    def release(self, size: int) -> None:
        """The call has ended: its response is on disk, or none will come."""
        with self._lock:
            self._claimed -= size
            self._calls -= 1

    def set_aside(self) -> None:
        """Take room from the disk for all that is claimed. Raises OSError where it has none."""
        corner = self._corner or self._enter()
        with self._changing:
            if self.given_back:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            while self._spares < _FILES * self._calls:
                (corner / f"spare-{self._spares}").touch()
                self._spares += 1
            if self._size < (claimed := self._claimed):
                try:
                    # Twice as much: it is asked for seldom.
                    self._grow(max(claimed, 2 * self._size))
                except OSError:
                    self._grow(claimed)

    def _grow(self, size: int) -> None:
        try:
            at = self._size
            while at < size:
                at += os.pwrite(self._file, os.urandom(min(size - at, 2**20)), at)
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size = size

    def within(self, write: Callable[[], T], size: int) -> T:
        """Do what writes `size` bytes; where the disk is full, in the room that was set aside. Raises OSError."""
        while True:
            try:
                return write()
            except OSError as error:
                if error.errno not in _FULL or not self._give_back(size):
                    raise

    def _give_back(self, size: int) -> bool:
        """Give a part of the room back to the disk; False where there is none left."""
        with self._changing:
            self.given_back = True
            if self._corner is None or not (self._size or self._spares):
                return False
            for _ in range(min(_FILES, self._spares)):
                self._spares -= 1
                (self._corner / f"spare-{self._spares}").unlink(missing_ok=True)
            self._size = max(0, self._size - size - _FIXED)
            os.ftruncate(self._file, self._size)
            # Some file systems give blocks to others only when this is on disk.
            os.fsync(self._file)
            return True

    def _enter(self) -> Path:
        with self._changing:
            if self._corner is None:
                corners = self._cache / CORNERS
                make_folder(corners)
                name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
                _mine.add(name)
                lock = _locked(corners / f"{name}{_LOCK}")
                corner = corners / name
                try:
                    corner.mkdir()
                    self._file = os.open(corner / "room", os.O_RDWR | os.O_CREAT, 0o644)
                finally:
                    weakref.finalize(self, _leave, corner, lock)
                self._corner = corner
            return self._corner


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are not there; their names are on disk when this returns."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that keeps folders in another way
            raise
    finally:
        os.close(handle)


def _locked(path: Path) -> int:
    """A new lock file, locked for as long as this process lives. The file stays open: closing it unlocks it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        with contextlib.suppress(OSError):  # a file system without locks: nothing there is ever cleared away
            fcntl.lockf(file, fcntl.LOCK_EX, 1)
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file).st_ino:
                return file
        os.close(file)  # another process has taken it for one that was left, and removed it


def _leave(corner: Path, lock: int) -> None:
    shutil.rmtree(corner, ignore_errors=True)
    corner.with_name(corner.name + _LOCK).unlink(missing_ok=True)
    os.close(lock)


def clear_left(folder: Path) -> None:
    """Clear away what processes that live no more have left half-written in the cache at `folder`."""
    with contextlib.suppress(OSError):
        for lock in (folder / CORNERS).glob(f"*{_LOCK}"):
            if lock.name.removesuffix(_LOCK) not in _mine:
                _clear(lock)
        for corner in (folder / CORNERS).iterdir():  # made again by a response that came while its process ended
            if corner.is_dir() and not corner.with_name(corner.name + _LOCK).exists():
                shutil.rmtree(corner, ignore_errors=True)
    with contextlib.suppress(OSError):
        now = time.time()
        for part in folder.glob("[0-9a-f][0-9a-f]/.*.part"):  # of versions before corners
            if now - part.stat().st_mtime > _WRITTEN_S:
                part.unlink(missing_ok=True)


def _clear(lock: Path) -> None:
    with contextlib.suppress(OSError):
        file = os.open(lock, os.O_RDWR)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
            shutil.rmtree(lock.with_name(lock.name.removesuffix(_LOCK)), ignore_errors=True)
            lock.unlink(missing_ok=True)
        finally:
            os.close(file)
