"""What the processes of one run share when its calls are made in jobs on many nodes: a folder beside the responses.

Everything is files and byte locks of the shared file system: no service has to run, and nothing is lost with a node.
The system gives a lock back when its process ends in whatever way; of a node that is cut off, the file server gives it
back when the node's lease ends (NFSv4: after about a minute and a half).

Locks are asked for again and again rather than waited for, because a waiting NFSv4 client asks once in up to thirty
seconds. Files stay open for good: closing any descriptor of a file gives back all of the process's locks on it.
"""

import contextlib
import functools
import json
import os
import random
import secrets
import shutil
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rcwt.base.errors import CallError
from rcwt.calls.byte_locks import ByteLocks

#: Names the run to the processes of its jobs; set by the process that starts the run.
RUN_VARIABLE = "RCWT_RUN"
#: In the folder of the response cache.
RUNS = ".runs"
#: A run that ended badly leaves its folder for this long, in seconds.
KEPT_S = 30 * 86400
#: The byte that is locked while a journal is read and added to: far behind any line.
_JOURNAL_BYTE = 1 << 60
#: Name of the checksum in a line of a journal.
_AFTER = "after"
#: First and longest wait between two tries for a journal, in seconds.
_FIRST_S, _LONGEST_S = 0.001, 0.05


class Journal:
    """Records that many processes add to one file, a JSON line each; every process reads all of them in one order.

    Each line tells the checksum of all before it. A client of a file system that shows old content under a lock would
    add after lines that others do not have: the next to read it sees that, and no call is made on such books.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file, self._locks = os.open(path, os.O_RDWR | os.O_CREAT, 0o644), ByteLocks(path)
        self._read = self._checksum = 0
        self._here = threading.Lock()

    @contextlib.contextmanager
    def turn(self) -> Iterator[list[dict[str, Any]]]:
        """Hold the journal for the block, and give the records that came since the last turn. Turns do not nest."""
        with self._here:
            wait = _FIRST_S
            while not self._locks.take(_JOURNAL_BYTE):
                time.sleep(wait * random.uniform(0.5, 1.5))
                wait = min(1.5 * wait, _LONGEST_S)
            try:
                yield self._news()
            finally:
                self._locks.give_back(_JOURNAL_BYTE)

    def add(self, record: dict[str, Any]) -> None:
        """Add a record; only inside a turn.

        Raises CallError where it cannot be written; then it is as if it had never been tried.
        """
        line = (json.dumps({_AFTER: self._checksum, **record}) + "\n").encode()
        try:
            if os.pwrite(self._file, line, self._read) < len(line):
                raise OSError(None, "no space left")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._read)
            raise self._unwritable(error) from None
        self._read += len(line)
        self._checksum = zlib.crc32(line, self._checksum)

    def sync(self) -> None:
        """Wait until all that was added is on the disk of the file server; outside of a turn, for it can take long.

        Raises CallError where it cannot be written.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> CallError:
        return CallError(
            f"the shared state of this run cannot be written ({self.path}: {error.strerror}). Make room, or move "
            "the response cache with RCWT_CACHE; then run again"
        )

    def _news(self) -> list[dict[str, Any]]:
        text = b""
        while part := os.pread(self._file, 1 << 20, self._read + len(text)):
            text += part
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            # Its writer died while it wrote. What it was about to do it has not done.
            os.ftruncate(self._file, self._read + whole)
        records = [self._follows(line) for line in text[:whole].splitlines(keepends=True)]
        self._read += whole
        return records

    def _follows(self, line: bytes) -> dict[str, Any]:
        try:
            record: dict[str, Any] = json.loads(line)
            if record.pop(_AFTER) != self._checksum:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise incoherent(self.path) from None
        self._checksum = zlib.crc32(line, self._checksum)
        return record


def incoherent(path: Path) -> CallError:
    """The error of a file system on which a client does not see what another has written under the same lock."""
    return CallError(
        f"processes of this run have written over each other in {path}: its file system shows a node old content "
        "although locks are held, so no limit and no cap can be kept there. Mount it without client caches, or move "
        "the response cache with RCWT_CACHE to a file system that is fit for it (docs/clusters.md)"
    )


class RunState:
    """The folder of one run, and this process's membership in it. One object a process and folder: see `join`.

    `holder` is the number of this process. While it lives it holds the lock on the byte of that number.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._journals: dict[str, Journal] = {}
        self._byte_locks: dict[str, ByteLocks] = {}
        self._members: list[dict[str, Any]] = []
        self._looked_at = -1e9
        self._failures: dict[str, str] = {}
        self.holder = self._enter()

    def journal(self, name: str) -> Journal:
        """The journal of that name."""
        with self._lock:
            if name not in self._journals:
                self._journals[name] = Journal(self.folder / f"{name}.jsonl")
            return self._journals[name]

    def byte_locks(self, name: str) -> ByteLocks:
        """The lock file of that name."""
        with self._lock:
            if name not in self._byte_locks:
                self._byte_locks[name] = ByteLocks(self.folder / f"{name}.locks")
            return self._byte_locks[name]

    def _enter(self) -> int:
        members = self.journal("members")
        with members.turn() as news:
            self._members += news
            holder = len(self._members)
            if not self.byte_locks("members").take(holder):
                raise incoherent(members.path)
            me = {"holder": holder, "host": socket.gethostname(), "pid": os.getpid()}
            me |= {"job": job} if (job := os.environ.get("SLURM_JOB_ID")) else {}
            members.add(me)
            self._members.append(me)
            return holder

    def is_dead(self, holder: int) -> bool:
        """Whether the process of that number has ended, or its node is lost."""
        if holder == self.holder or not self.byte_locks("members").take(holder):
            return False
        self.byte_locks("members").give_back(holder)
        return True

    def has_others(self) -> bool:
        """Whether any other process has ever joined, as known for at most a second."""
        if len(self._members) < 2 and time.monotonic() - self._looked_at > 1:
            self._look()
        return len(self._members) > 1

    def describe(self, holder: int) -> str:
        """A process in words: where it runs or ran."""
        if holder >= len(self._members):
            self._look()
        member = self._members[holder]
        job = f"job {member['job']}, " if "job" in member else ""
        return f"{job}process {member['pid']} on {member['host']}"

    def _look(self) -> None:
        with self.journal("members").turn() as news:
            self._members += news
            self._looked_at = time.monotonic()

    def tell_failure(self, cell: str, cause: str | None) -> None:
        """Let the run know why a cell failed, or with None that it did not."""
        with self.journal("failures").turn() as news:
            self._note_failures(news)
            if cause is not None or cell in self._failures:
                record = {"cell": cell, "cause": cause}
                self.journal("failures").add(record)
                self._note_failures([record])

    def failures(self) -> dict[str, str]:
        """The cells of all processes that failed, and why."""
        with self.journal("failures").turn() as news:
            self._note_failures(news)
        return dict(self._failures)

    def _note_failures(self, records: list[dict[str, Any]]) -> None:
        for record in records:
            self._failures.pop(record["cell"], None)
            if record["cause"] is not None:
                self._failures[record["cell"]] = record["cause"]

    def remove(self) -> None:
        """Remove the folder of a run that has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)


def begin(cache: Path) -> str:
    """Begin a run: give it a name and put that into the environment, which jobs inherit. Old runs are cleared away."""
    for folder in (cache / RUNS).glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
    run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
    os.environ[RUN_VARIABLE] = run
    return run


def is_named() -> bool:
    """Whether the environment names a run."""
    return bool(os.environ.get(RUN_VARIABLE))


def join(cache: Path) -> RunState:
    """This process's place in the run that the environment names. Raises CallError where it names none."""
    run = os.environ.get(RUN_VARIABLE)
    if not run:
        raise CallError(
            f"{RUN_VARIABLE} is not set in this job: its scheduler does not pass on the environment, which carries the "
            "keys too. Submit with the environment (sbatch --export=ALL, qsub -V)"
        )
    folder = cache.absolute() / RUNS / run
    try:
        return _joined(folder)
    except OSError as error:
        raise CallError(
            f"the state that the jobs of this run share cannot be kept in {folder} ({error.strerror}). It needs a file "
            "system that all nodes can write to, with locks that hold across them; RCWT_CACHE moves the response cache"
        ) from None


@functools.cache
def _joined(folder: Path) -> RunState:
    return RunState(folder)
