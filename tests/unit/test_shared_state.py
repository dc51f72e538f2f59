"""The ledger, the limits and the verdicts of a run over many processes: real ones, some of them killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.errors import CallError
from rcwt.calls import run_state
from rcwt.calls.run_state import Journal, RunState
from rcwt.calls.shared_ledger import Books, SharedLedger
from rcwt.calls.shared_limits import SharedLimiter

PROCESS = Path(__file__).parents[1] / "fixtures/shared_process.py"
#: Two folders, separated by a colon, at which two nodes see one folder of a shared file system.
MOUNTS = "RCWT_TEST_MOUNTS"
D = Decimal


class Processes:
    """Other processes of the run in `folder`, every second of them on the node that sees it at `elsewhere`."""

    def __init__(self, folder: Path, elsewhere: Path) -> None:
        self.folder, self.elsewhere = folder, elsewhere
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        folder = self.folder if len(self.started) % 2 else self.elsewhere
        command = [sys.executable, str(PROCESS), str(folder), *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def holding(self, *arguments: object) -> subprocess.Popen[str]:
        """Start one that holds something, and wait until it does."""
        process = self.start(*arguments)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    def said(self) -> list[Any]:
        """What each has printed, once all have ended well."""
        outputs = [process.communicate(timeout=600)[0] for process in self.started]
        assert [process.returncode for process in self.started] == [0] * len(self.started)
        return [json.loads(output) for output in outputs]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    mounts = os.environ.get(MOUNTS, f"{tmp_path}:{tmp_path}").split(":")
    made = Processes(*(Path(mount) / f"{tmp_path.name}-{os.getpid()}" for mount in mounts))
    yield made
    for process in made.started:
        process.kill()
        process.wait()


def kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


# -- the ledger


def test_many_processes_keep_one_cap_and_lose_no_cent(processes: Processes) -> None:
    for seed in range(4):
        processes.start("spend", 30, 40, seed)
    paid = sum((D(said["paid"]) for said in processes.said()), D(0))
    balance = SharedLedger(RunState(processes.folder), D(30)).balance()
    assert (balance.spent, balance.reserved, balance.overrun) == (paid, 0, 0)
    # 160 calls of 0.5 on average want 80 dollars: the cap ended the run, with no room left for a worst case.
    assert D(29) < paid <= D(30)


def test_what_a_dead_process_had_set_aside_is_spent_at_its_worst_case(
    processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    holder = processes.holding("hold", 1, "0.75")
    ledger = SharedLedger(RunState(processes.folder), D(1))
    assert ledger.write_off_dead() == {}
    assert (ledger.balance().spent, ledger.balance().reserved) == (0, D("0.75"))
    kill(holder)
    # The call waits for the money of the one that died, until it is known to be gone for good.
    assert asyncio.run(ledger.reserve_when_free(D("0.5"))) is None
    assert (ledger.balance().spent, ledger.balance().reserved) == (D("0.75"), 0)
    assert f"process {holder.pid} on " in caplog.text
    assert "1 calls under way" in caplog.text
    assert asyncio.run(ledger.reserve_when_free(D("0.25"))) is not None
    assert ledger.write_off_dead() == {0: (1, D("0.75"))}


def test_a_waiting_call_gets_the_money_that_another_process_gives_back(processes: Processes) -> None:
    ledger = SharedLedger(RunState(processes.folder), D(5))
    held = ledger.reserve(D(5))
    assert held is not None
    processes.start("spend", 5, 10, 7)
    time.sleep(0.5)
    ledger.settle(held, D(1))
    (said,) = processes.said()
    assert D(said["paid"]) > 2
    assert ledger.balance().spent == D(said["paid"]) + 1


def test_free_calls_write_nothing_and_fit_under_a_cap_that_is_used_up(tmp_path: Path) -> None:
    ledger = SharedLedger(RunState(tmp_path), D(0))
    held = ledger.reserve(D(0))
    assert held is not None
    ledger.settle(held, D(0))
    assert (tmp_path / "ledger.jsonl").read_bytes() == b""


def test_a_line_that_its_writer_left_unfinished_is_taken_away(tmp_path: Path) -> None:
    run = RunState(tmp_path)
    ledger = SharedLedger(run, D(1))
    assert ledger.reserve(D("0.25")) is not None
    journal = tmp_path / "ledger.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"holder": 1, "kind": "rese')
    assert ledger.reserve(D("0.5")) is not None
    assert ledger.balance().reserved == D("0.75")
    assert len([json.loads(line) for line in journal.read_text().splitlines()]) == 2


def test_a_file_system_that_shows_old_content_is_found_out(tmp_path: Path) -> None:
    run = RunState(tmp_path)
    ledger = SharedLedger(run, D(1))
    assert ledger.reserve(D("0.25")) is not None
    assert ledger.reserve(D("0.25")) is not None
    # Another node, that has seen nothing but the first line, adds its own where the second stands, and one more.
    journal = tmp_path / "ledger.jsonl"
    whole = journal.read_bytes()
    first = whole.splitlines(keepends=True)[0]
    journal.write_bytes(first)
    elsewhere = Journal(journal)
    for usd in ("0.75", "0.50"):
        with elsewhere.turn():
            elsewhere.add({"holder": 1, "kind": "reserve", "number": 1, "usd": usd})
    assert len(journal.read_bytes()) > len(whole)
    with pytest.raises(CallError, match=r"written over each other in .*ledger\.jsonl"):
        ledger.reserve(D("0.25"))


def test_a_process_whose_number_is_held_by_another_is_refused(processes: Processes) -> None:
    holder = processes.holding("hold", 1, "0.75")
    (processes.folder / "members.jsonl").write_bytes(b"")  # as a client that does not see it yet would find it
    with pytest.raises(CallError, match=r"written over each other in .*members\.jsonl"):
        RunState(processes.folder)
    kill(holder)
    assert RunState(processes.folder).holder == 0


def test_a_full_disk_refuses_a_call_and_keeps_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = SharedLedger(RunState(tmp_path), D(1))
    held = ledger.reserve(D("0.25"))
    assert held is not None

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(CallError, match="cannot be written"):
        ledger.reserve(D("0.25"))
    ledger.settle(held, D("0.01"))  # does not raise: the reply of the call is kept
    monkeypatch.undo()
    assert (ledger.balance().spent, ledger.balance().reserved) == (0, D("0.25"))


STEP = st.tuples(st.integers(0, 2), st.sampled_from(["reserve", "settle", "unknown", "release", "dead"]))


@given(steps=st.lists(st.tuples(STEP, st.integers(0, 100), st.integers(0, 5)), max_size=80))
def test_the_books_never_pass_the_cap(steps: list[tuple[tuple[int, str], int, int]]) -> None:
    """Any interleaving of three processes that reserve only what fits, and of deaths that come too early or twice."""
    books, cap, numbers, paid = Books(), D(200), 0, D(0)
    asked: list[tuple[int, int, Decimal]] = []
    for (holder, kind), cents, which in steps:
        if kind == "reserve":
            if books.spent + books.reserved + cents > cap:
                continue
            numbers += 1
            asked.append((holder, numbers, D(cents)))
            books.book({"holder": holder, "kind": kind, "number": numbers, "usd": str(cents)})
        elif kind == "dead":
            books.book({"holder": holder, "kind": kind})
        elif asked:
            by, number, worst = asked.pop(which % len(asked))
            usd = None if kind == "unknown" else str(min(D(cents), worst))
            name = "release" if kind == "release" else "settle"
            books.book({"holder": by, "kind": name, "number": number, "usd": usd})
            # What a provider may have billed, whatever the journal has made of it.
            paid += D(0) if name == "release" else worst if usd is None else D(usd)
        assert books.spent + books.reserved <= cap
    assert books.overrun == 0
    # Nothing billed is missing from the books, dead or not.
    assert paid <= books.spent


# -- the limits


def most_at_once(times: list[list[float]]) -> int:
    events = sorted([(began, 1) for began, _ in times] + [(ended, -1) for _, ended in times])
    now = most = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return most


def test_the_seats_of_an_endpoint_are_those_of_all_processes(processes: Processes) -> None:
    for _ in range(4):
        processes.start("call", 15, 0.05, 3, 0, 60, 4)
    by_process = processes.said()
    assert [len(times) for times in by_process] == [15] * 4
    assert most_at_once([one for times in by_process for one in times]) == 3
    # None starves: when the first of them has made all its calls, each has made some.
    first_done = min(max(ended for _, ended in times) for times in by_process)
    assert all(sum(ended <= first_done for _, ended in times) >= 2 for times in by_process)


def test_a_minute_of_an_endpoint_is_that_of_all_processes(processes: Processes) -> None:
    for _ in range(3):
        processes.start("call", 6, 0, 16, 4, 1)
    calls = [call for times in processes.said() for call in times]
    (journal,) = processes.folder.glob("endpoint-*.jsonl")
    let_in = [json.loads(line)["at"] for line in journal.read_text().splitlines()]
    assert len(calls) == len(let_in) == 18
    # When each call was let in, by the clock of the file server, which ticks in hundredths; none began before that.
    assert all(later - earlier > 1 - 0.02 for earlier, later in zip(let_in, let_in[4:], strict=False))
    assert all(began > at - 0.02 for (began, _), at in zip(sorted(calls), sorted(let_in), strict=True))


def test_the_seats_of_a_killed_process_are_free_again(processes: Processes) -> None:
    holder = processes.holding("sit", 2)

    async def waits() -> None:
        limiter = SharedLimiter(RunState(processes.folder), "endpoint", 2)
        waiting = asyncio.create_task(_one(limiter))
        await asyncio.sleep(0.4)
        assert not waiting.done()
        assert limiter.state().waiting_on == "concurrency"
        kill(holder)
        await asyncio.wait_for(waiting, 300)

    asyncio.run(waits())


async def _one(limiter: SharedLimiter) -> None:
    async with limiter.slot():
        pass


def test_a_pause_holds_every_process(processes: Processes) -> None:
    RunState(processes.folder)

    async def pause() -> None:
        SharedLimiter(RunState(processes.folder), "endpoint", 4).pause(4, "retry-after")

    asked = time.time()
    asyncio.run(pause())
    processes.start("call", 1, 0, 4, 0, 60)
    (((began, _),),) = processes.said()
    assert began >= asked + 4 - 0.05


def test_in_one_process_calls_go_in_order_and_cancelling_loses_no_seat(tmp_path: Path) -> None:
    async def run() -> list[int]:
        limiter, order = SharedLimiter(RunState(tmp_path), "endpoint", 2), list[int]()

        async def one(place: int) -> None:
            async with limiter.slot():
                order.append(place)
                await asyncio.sleep(0.005)

        async with limiter.slot(), limiter.slot():
            waiting = [asyncio.create_task(one(place)) for place in range(10)]
            await asyncio.sleep(0.05)
            waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert limiter.state().in_flight == limiter.state().queued == 0
        return order

    assert asyncio.run(run()) == list(range(1, 10))


# -- the run


def test_one_verdict_serves_all_and_a_failed_one_fails_them(processes: Processes) -> None:
    for _ in range(3):
        processes.start("ask", 0.2)
    said = processes.said()
    # Each was asked once by one of three; the others waited for what it learnt.
    assert sorted(name for one in said for name in one["asked"]) == ["bad", "good"]
    assert {one["bad"] for one in said} == {"bad: wrong_key"}


def test_a_job_without_the_environment_is_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(run_state.RUN_VARIABLE, raising=False)
    with pytest.raises(CallError, match="RCWT_RUN is not set in this job"):
        run_state.join(tmp_path)
    name = run_state.begin(tmp_path)
    assert run_state.join(tmp_path) is run_state.join(tmp_path)
    assert (tmp_path / ".runs" / name / "members.jsonl").exists()
    other = run_state.begin(tmp_path)
    assert other != name
    os.utime(tmp_path / ".runs" / name, (0, 0))
    run_state.begin(tmp_path)
    assert not (tmp_path / ".runs" / name).exists()


def test_a_cache_that_cannot_hold_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    monkeypatch.setenv(run_state.RUN_VARIABLE, "one")
    with pytest.raises(CallError, match="RCWT_CACHE moves the response cache"):
        run_state.join(tmp_path / "cache")


def test_members_know_the_dead_from_the_living(processes: Processes) -> None:
    run = RunState(processes.folder)
    assert not run.has_others()
    assert not run.is_dead(run.holder)
    other = processes.holding("hold", 1, 1)
    time.sleep(1.1)
    assert run.has_others()
    assert not run.is_dead(1)
    kill(other)
    assert run.is_dead(1)
