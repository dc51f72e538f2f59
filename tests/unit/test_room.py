"""Room that is set aside on the disk, and what killed processes leave: on a real file system of a few megabytes."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from small_disk import fill, small_disk

from rcwt.base.errors import StaleResultError
from rcwt.base.files import clear_half_written, write_text
from rcwt.base.request import Request
from rcwt.calls import ledger, room
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.preflights import PREFLIGHT_FILE, keep_preflight, read_preflights
from rcwt.calls.responses import ResponseCache
from rcwt.calls.room import CORNERS, Room, clear_left, room_for
from rcwt.study.preflight import SHORT
from rcwt.wire.received import Received

CAP = 1024


def answer(sample: int) -> tuple[Request, KeptBody]:
    request = Request("vendor", "openai/m", (("user", "Question?"),), {"max_tokens": CAP}, "coord_first", sample)
    text = os.urandom(2 * CAP).hex()  # four bytes a token, and hard to compress
    body = f'{{"choices": [{{"message": {{"content": "{text}"}}, "finish_reason": "stop"}}]}}'
    price = ledger.Price.of(0, 0, 0, 0, date(2026, 11, 30))
    return request, KeptBody(Received("openai", 200, {}, body, {}, "2026-11-30T00:00:00+00:00", 0.5), 1, price)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "6m") as folder:
        yield folder


def put(cache: ResponseCache, sample: int) -> None:
    request, body = answer(sample)
    cache.put(request, body.response(), body)


def begin_calls(cache: ResponseCache, number: int) -> None:
    for _ in range(number):
        if not cache.room.claim(room_for(CAP)):
            cache.room.set_aside()


def kept(cache: ResponseCache) -> int:
    return sum(cache.get(answer(sample)[0].key) is not None for sample in range(200))


def test_all_calls_in_flight_are_kept_on_a_disk_that_fills_up(disk: Path) -> None:
    cache = ResponseCache(disk / "cache")
    begin_calls(cache, 64)
    fill(disk)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda sample: put(cache, sample), range(64)))
    assert kept(cache) == 64
    # So that nothing more is sent.
    assert cache.room.given_back
    assert not cache.room.claim(room_for(CAP))
    with pytest.raises(OSError, match="No space left"):
        cache.room.set_aside()


def test_two_processes_keep_what_each_has_in_flight(disk: Path) -> None:
    ours, theirs = ResponseCache(disk / "cache"), ResponseCache(disk / "cache")
    for cache in (ours, theirs):
        begin_calls(cache, 24)
    fill(disk)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda sample: put(ours if sample % 2 else theirs, sample), range(48)))
    assert kept(ours) == 48


def test_files_are_set_aside_as_well_as_bytes(tmp_path: Path) -> None:
    # A small disk runs out of files before it runs out of bytes.
    with small_disk(tmp_path / "disk", "64m", nr_inodes=600) as disk:
        cache = ResponseCache(disk / "cache")
        begin_calls(cache, 64)
        try:
            for number in range(600):
                (disk / f"filler-{number}").touch()
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017 (the loop's end, not what is tested)
        for sample in range(64):
            put(cache, sample)
        assert kept(cache) == 64
        assert cache.room.given_back


def test_a_call_for_which_there_is_no_room_does_not_leave(disk: Path) -> None:
    cache = ResponseCache(disk / "cache")
    begin_calls(cache, 4)
    fill(disk, leave=2**16)
    with pytest.raises(OSError, match="No space left"):
        begin_calls(cache, 200)
    # Those before are kept.
    for sample in range(4):
        put(cache, sample)
    assert kept(cache) == 4


def test_room_is_taken_in_few_steps_and_not_for_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, steps = ResponseCache(tmp_path), []
    grow = Room._grow
    monkeypatch.setattr(Room, "_grow", lambda self, size: (steps.append(size), grow(self, size)))
    cache.require_room()
    for _ in range(20):
        begin_calls(cache, 64)
        for _ in range(64):
            cache.room.release(room_for(CAP))
    assert len(steps) < 8
    assert 64 * room_for(CAP) <= steps[-1] <= 2 * 64 * room_for(CAP)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_quota_is_a_full_disk(tmp_path: Path, number: int) -> None:
    room = Room(tmp_path)
    room.claim(2**20)
    room.set_aside()
    left = [3]

    def write() -> str:
        left[0] -= 1
        if left[0]:
            raise OSError(number, os.strerror(number))
        return "written"

    assert room.within(write, 4096) == "written"
    assert room.given_back


def test_a_preflights_line_is_kept_whole_on_a_full_disk(disk: Path) -> None:
    cache = ResponseCache(disk / "cache")
    begin_calls(cache, 4)
    response = answer(0)[1].response()

    def write() -> None:
        keep_preflight(cache.folder, Path("results"), "m", SHORT, 20, response)

    cache.room.within(write, 4096)
    while (cache.folder / PREFLIGHT_FILE).stat().st_size % 4096 < 4000:  # the next line begins in this block's rest
        write()
    lines = len(read_preflights(cache.folder, Path("results")))
    fill(disk)
    cache.room.within(write, 4096)
    assert cache.room.given_back
    assert len(read_preflights(cache.folder, Path("results"))) == lines + 1


def test_a_line_cut_by_a_crash_takes_no_other_with_it(tmp_path: Path) -> None:
    response = answer(0)[1].response()
    keep_preflight(tmp_path, Path("results"), "m", SHORT, 20, response)
    with (tmp_path / PREFLIGHT_FILE).open("a") as file:
        file.write('{"results_dir": "resu')
    keep_preflight(tmp_path, Path("results"), "m", SHORT, 20, response)
    with pytest.raises(StaleResultError, match=r"preflights\.jsonl:2: .*Delete the line"):
        read_preflights(tmp_path, Path("results"))
    path = tmp_path / PREFLIGHT_FILE
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if line.endswith("}")))
    assert len(read_preflights(tmp_path, Path("results"))) == 2


def test_a_disk_that_is_broken_is_told(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.claim(2**20)
    room.set_aside()

    def write() -> None:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        room.within(write, 4096)
    assert not room.given_back


PROCESS = """
import sys, time
from pathlib import Path
from rcwt.calls.room import Room
room = Room(Path(sys.argv[1]))
room.claim(2 ** 20)
room.set_aside()
room.new_file().write_text("half")
print("ready", flush=True)
sys.stdin.read()
"""


def start(folder: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_a_killed_process_left_is_cleared_away_and_what_a_live_one_writes_is_not(tmp_path: Path) -> None:
    killed, living = start(tmp_path), start(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.rglob("*.part"))) == 2
    clear_left(tmp_path)
    left = sorted(path.name for path in (tmp_path / CORNERS).iterdir())
    assert len(left) == 2  # a folder and its lock
    assert f"-{living.pid}-" in left[0]
    assert [path.read_text() for path in tmp_path.rglob("*.part")] == ["half"]
    # One that ends by itself leaves nothing.
    living.communicate("")
    assert list((tmp_path / CORNERS).iterdir()) == []


def test_a_process_does_not_clear_away_its_own(tmp_path: Path) -> None:
    room = Room(tmp_path)
    path = room.new_file()
    path.write_text("half")
    clear_left(tmp_path)
    assert path.read_text() == "half"
    clear_left(tmp_path / "not there")


def test_parts_of_older_versions_go_once_nobody_can_be_writing_them(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    old, new, other = (tmp_path / "ab" / name for name in (".x1.part", ".x2.part", "ab12.json"))
    for path in (old, new, other):
        path.write_text("")
        os.utime(path, (time.time() - 3600,) * 2)
    os.utime(new)
    clear_left(tmp_path)
    assert sorted(path.name for path in (tmp_path / "ab").iterdir()) == [".x2.part", "ab12.json"]


def test_half_written_results_of_processes_that_ended_are_removed(tmp_path: Path) -> None:
    import socket

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    gone = [f".{ended.pid}-0@{host}.part", f".config.yaml.{ended.pid}"]
    stay = [
        f".{os.getpid()}-0@{host}.part",  # a live process
        f".{ended.pid}-1@elsewhere.part",  # perhaps a live one
        f".mine.{ended.pid}",
        f"config.yaml.{ended.pid}",
        "cell.part",
    ]
    (tmp_path / "calls/m").mkdir(parents=True)
    for name in (*gone, *stay):
        (tmp_path / "calls/m" / name).write_text("half")
        os.utime(tmp_path / "calls/m" / name, (time.time() - 3600,) * 2)
    clear_half_written(tmp_path)
    assert sorted(path.name for path in (tmp_path / "calls/m").iterdir()) == sorted(stay)
    clear_half_written(tmp_path / "not there")


def test_a_file_that_could_not_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_text("text", tmp_path / ("n" * 250))
    assert list(tmp_path.iterdir()) == []


def test_a_bound_holds_what_replies_at_their_cap_take(tmp_path: Path) -> None:
    # Random hexadecimal digits are the worst that a text can be; a cap of 1 024 tokens holds some four bytes each.
    cache = ResponseCache(tmp_path)
    put(cache, 0)
    taken = sum(-(-path.stat().st_size // 4096) * 4096 for path in tmp_path.glob("??/*"))
    assert taken + 4096 <= room.room_for(CAP)
