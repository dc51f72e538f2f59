"""The call runtime against a real server, inside this process."""

import errno
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runtime_helpers import config_of, requests
from servers import Server

from rcwt.base.errors import CallError
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.calls import runtime as runtime_module
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.responses import ResponseCache
from rcwt.calls.runtime import PLAIN, Runtime
from rcwt.calls.terms import Terms, request_tokens
from rcwt.study.preflight import Preflight
from rcwt.wire import wire

pytestmark = pytest.mark.usefixtures("planted_key")
PROCESS = Path(__file__).parents[1] / "fixtures/shared_process.py"


class FullDisk(ResponseCache):
    """A cache whose disk has room for two responses."""

    def put(self, request: Request, response: Response, body: KeptBody | None = None, *, paid: bool = True) -> None:
        if len(list(self.folder.rglob("*.json"))) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().put(request, response, body)


def test_a_full_disk_stops_sending(root: Path, server: Server, tmp_path: Path) -> None:
    cache = FullDisk(tmp_path / "cache")
    runtime = Runtime(config_of(root, server, max_concurrency=1), cache)
    with pytest.raises(CallError, match="cannot be written") as caught:
        runtime.answer(requests(20), "t", "target", "cell")
    assert "RCWT_CACHE" in str(caught.value)
    # The preflight, two that had room, and the one that had none.
    assert server.stats()["received"] == 1 + 2 + 1
    assert list(cache.folder.rglob("*.part")) == []
    runtime.finish()


class SlowDisk(ResponseCache):
    """A cache whose disk takes its time; `seen` holds, at each response, the replies sent and not yet on disk."""

    def __init__(self, folder: Path, server: Server) -> None:
        super().__init__(folder)
        self.server, self.began = server, threading.Event()
        self.seen: list[int] = []

    def put(self, request: Request, response: Response, body: KeptBody | None = None, *, paid: bool = True) -> None:
        self.began.set()
        time.sleep(0.2)
        received = self.server.stats()["received"] - 1  # without the preflight
        self.seen.append(received - len(list(self.folder.rglob("*.json"))))
        super().put(request, response, body)


def on_a_slow_disk(root: Path, server: Server, tmp_path: Path, at_a_time: int) -> tuple[Runtime, SlowDisk]:
    cache = SlowDisk(tmp_path / "cache", server)
    return Runtime(config_of(root, server, max_concurrency=at_a_time), cache), cache


def test_a_call_gives_its_turn_to_another_when_its_response_is_on_disk(
    root: Path, server: Server, tmp_path: Path
) -> None:
    runtime, cache = on_a_slow_disk(root, server, tmp_path, at_a_time=3)
    runtime.answer(requests(12), "t", "target", "cell")
    # What a kill can lose is never more than the calls in flight; and responses are written beside each other.
    assert len(cache.seen) == 12
    assert 2 <= max(cache.seen) <= 3
    runtime.finish()


def test_a_response_that_is_being_written_is_kept_on_an_interrupt(root: Path, server: Server, tmp_path: Path) -> None:
    runtime, cache = on_a_slow_disk(root, server, tmp_path, at_a_time=1)

    def interrupt() -> None:
        cache.began.wait(timeout=300)
        runtime.interrupt(grace_s=0)

    threading.Thread(target=interrupt).start()
    with pytest.raises(CallError, match="2 of 3 calls failed: 2 × interrupted before"):
        runtime.answer(requests(3), "t", "target", "cell")
    # When the cell is told, it is there.
    assert [cache.get(request.key) is not None for request in requests(3)] == [True, False, False]
    runtime.finish()


def test_a_response_that_arrives_while_the_interpreter_ends_is_kept(root: Path, server: Server, tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache")
    runtime = Runtime(config_of(root, server), cache)
    runtime.answer(requests(1), "t", "target", "cell")
    assert runtime._remote is not None
    runtime._remote.keeper._writers.shutdown()  # as Python does with all threads that take work
    runtime.answer(requests(3), "t", "target", "cell")
    assert all(cache.get(request.key) for request in requests(3))
    runtime.finish()


def test_a_preflight_under_way_is_waited_for_on_an_interrupt(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_module, "PREFLIGHTS_LEAVE_S", 300)
    server = Server(tmp_path / "server", text={"literal": "A reply."}, latency_s=0.5)
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))
    runtime.warm_up({"t": (requests(1)[0], PLAIN)})  # returns when it has left; no cell waits for it
    runtime.interrupt(grace_s=300)
    runtime.finish()
    server.stop()
    # It is paid for, and its line says so.
    assert len((tmp_path / "cache" / "preflights.jsonl").read_text().splitlines()) == 1


def test_jobs_do_not_wait_for_a_preflight_that_never_leaves(
    root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    monkeypatch.setattr(runtime_module, "PREFLIGHTS_LEAVE_S", 1000)
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))
    began = time.monotonic()
    runtime.warm_up({"t": (requests(1)[0], PLAIN)})
    assert time.monotonic() - began < 500
    with pytest.raises(CallError, match="TEST_KEY is not set"):
        runtime.answer(requests(2), "t", "target", "cell")
    assert server.stats()["received"] == 0
    runtime.finish()


class Beginning(ResponseCache):
    """A cache that is interrupted while calls get ready to use it."""

    interrupt: Callable[[], None]

    def require_room(self) -> None:
        self.interrupt()
        super().require_room()


def test_an_interrupt_while_the_first_call_gets_ready_sends_nothing(root: Path, server: Server, tmp_path: Path) -> None:
    cache = Beginning(tmp_path / "cache")
    runtime = Runtime(config_of(root, server), cache)
    cache.interrupt = runtime.interrupt
    runtime.warm_up({"t": (requests(1)[0], PLAIN)})
    with pytest.raises(CallError, match="interrupted before"):
        runtime.answer(requests(2), "t", "target", "cell")
    runtime.finish()
    assert server.stats()["received"] == 0


def test_what_the_preflight_of_one_process_learnt_holds_for_the_others_of_its_run(root: Path, tmp_path: Path) -> None:
    """The second makes no preflight, and judges its prompt by the first one's."""
    server = Server(tmp_path / "server", text={"literal": "A reply."}, usage={"prompt": {"limit": 1500}})
    (tmp_path / "config.json").write_text(config_of(root, server).model_dump_json())
    said = []
    for sample in range(2):
        arguments = [tmp_path / "run", "fetch", tmp_path / "config.json", tmp_path / "cache", sample]
        command = [sys.executable, str(PROCESS), *map(str, arguments)]
        said.append(Response.model_validate_json(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
    stats = server.stats()
    server.stop()
    assert stats["successes"] == 2 + 2  # the short one, the text, and two calls
    assert said[0].prompt_size == said[1].prompt_size is not None
    assert [one.prompt_cut for one in said] == [True, True]


def test_a_process_that_ends_without_the_hooks_has_ended_its_calls_first(root: Path, tmp_path: Path) -> None:
    """A job on a cluster hung for ever: litellm's client imports when it is let go, and a thread held that lock."""
    server = Server(tmp_path / "server", text={"literal": "A reply."})
    (tmp_path / "config.json").write_text(config_of(root, server).model_dump_json())
    arguments = [tmp_path / "run", "leave", tmp_path / "config.json", tmp_path / "cache"]
    command = [sys.executable, str(PROCESS), *map(str, arguments)]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=300).stdout
    server.stop()
    assert said.splitlines() == ["ok", "[]"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what other tests left behind
@pytest.mark.parametrize("latency_s", [0, 1])
def test_a_refused_preflight_is_told_once_and_in_order(
    root: Path, tmp_path: Path, latency_s: float, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where the other calls have left before the short one was refused."""
    server = Server(tmp_path / "server", keys=["another"], latency_s=latency_s)
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))
    preflight = Preflight(pieces={"one": "word " * 1000, "other": "more " * 1000})
    with pytest.raises(CallError, match="2 of 2 calls failed: 2 × t: preflight: wrong_key"):
        runtime.answer(requests(2), "t", "target", "cell", preflight)
    runtime.finish()
    assert 1 <= server.stats()["received"] <= 3
    server.stop()
    gc.collect()
    assert "never retrieved" not in capfd.readouterr().err


def test_a_preflight_that_was_given_up_in_part_tells_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run knows of a model's counts is all of it or nothing: an interrupt leaves no half of a reference."""
    monkeypatch.setattr(runtime_module, "PREFLIGHTS_LEAVE_S", 60)
    server = Server(tmp_path / "server", text={"literal": "A reply."}, latency_s=0.5)
    runtime = Runtime(config_of(root, server, max_concurrency=1), ResponseCache(tmp_path / "cache"))
    runtime.warm_up({"t": (requests(1)[0], Preflight(pieces={"text": "word " * 1000}))})
    runtime.interrupt()
    runtime.finish()
    server.stop()
    assert runtime._remote is not None
    assert not runtime._remote._verdicts.known("t: preflight")
    # The short one was answered, and its line says so; the text's was never sent.
    assert len((tmp_path / "cache" / "preflights.jsonl").read_text().splitlines()) == 1


class Brought(ResponseCache):
    """A cache into which another process puts each response between the first look and the second."""

    def __init__(self, folder: Path, other: ResponseCache) -> None:
        super().__init__(folder)
        self.other, self.looked = other, set[str]()

    def get(self, key: str, *, again: bool = False) -> Response | None:
        if key in self.looked:
            return self.other.get(key)
        self.looked.add(key)
        return None


def test_what_another_process_brought_meanwhile_counts_as_cached(root: Path, server: Server, tmp_path: Path) -> None:
    config, other = config_of(root, server), ResponseCache(tmp_path / "other")
    first = Runtime(config, other)
    answered = first.answer(requests(3), "t", "target", "cell")
    first.finish()
    runtime = Runtime(config, Brought(tmp_path / "cache", other))
    runtime.progress.planned = 4
    assert runtime.answer(requests(4)[:3], "t", "target", "cell") == answered
    assert runtime.progress.line().startswith("calls 0/1 · 3 cached")
    runtime.finish()


def test_a_cache_that_cannot_be_made_is_told_with_its_remedy(root: Path, server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache" / "responses"))
    with pytest.raises(CallError, match=r"cannot be written .* move it with RCWT_CACHE") as caught:
        runtime.answer(requests(2), "t", "target", "cell")
    assert "2 × the response cache" in str(caught.value)
    assert server.stats()["received"] == 0
    runtime.finish()


def test_a_cap_that_bills_have_passed_names_the_token_factor(root: Path, tmp_path: Path) -> None:
    server = Server(tmp_path / "server", text={"literal": "A reply."}, usage={"prompt": 100_000})
    runtime = Runtime(config_of(root, server).model_copy(update={"max_usd": 0.001}), ResponseCache(tmp_path / "cache"))
    with pytest.raises(CallError, match="billed above their worst case: raise the `token_factor`"):
        runtime.answer(requests(2), "t", "target", "cell")
    assert server.stats()["received"] == 1  # the preflight alone
    runtime.finish()
    server.stop()


def test_what_is_kept_is_not_asked_again(root: Path, server: Server, tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache")
    runtime = Runtime(config_of(root, server), cache)
    first = runtime.answer(requests(5), "t", "target", "cell")
    assert runtime.answer(requests(6), "t", "target", "cell")[:5] == first
    assert server.stats()["received"] == 1 + 6
    runtime.finish()


class Full(ResponseCache):
    """A cache on a disk that is full from the beginning."""

    def require_room(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_is_full_costs_nothing(root: Path, server: Server, tmp_path: Path) -> None:
    runtime = Runtime(config_of(root, server), Full(tmp_path / "cache"))
    with pytest.raises(CallError, match=r"cannot be written \(No space left"):
        runtime.answer(requests(2), "t", "target", "cell")
    assert server.stats()["received"] == 0
    runtime.finish()


def test_a_mistake_of_ours_keeps_no_money_from_others(
    root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(root, server, max_concurrency=2)
    worst = Terms.of(config, "t").worst_case(request_tokens(requests(1)[0]), 9)
    runtime = Runtime(config.model_copy(update={"max_usd": float(worst) * 3.5}), ResponseCache(tmp_path / "cache"))
    runtime.answer(requests(1), "t", "target", "cell")  # with the preflight

    async def broken(*given: Any) -> None:
        given[-1]()  # the request has left
        raise LookupError("a fault that nobody foresaw")

    monkeypatch.setattr(wire, "send", broken)
    # None is left waiting for what the others have set aside: those that fit no more are told so.
    with pytest.raises(CallError, match="8 of 8 calls failed") as caught:
        runtime.answer(requests(9)[1:], "t", "target", "cell")
    assert "2 × LookupError: a fault that nobody foresaw" in str(caught.value)
    assert "6 × max_usd" in str(caught.value)
    runtime.finish()


def test_replies_that_end_in_a_failure_are_bought_five_times_at_most(root: Path, tmp_path: Path) -> None:
    """Each may be billed; what passes has passed by then, and a later run asks again."""
    server = Server(tmp_path / "server")
    server.script(sequence=["ok"], always="native:error")
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))
    with pytest.raises(CallError, match=r"failed_replies: .*'error'.*5 times"):
        runtime.answer(requests(1), "t", "target", "cell")
    assert server.stats()["received"] == 1 + 5
    server.script()
    assert len(runtime.answer(requests(1), "t", "target", "cell")) == 1
    runtime.finish()
    server.stop()


def test_no_run_waits_for_what_only_measures(root: Path, tmp_path: Path) -> None:
    """A piece that the server fails of is tried three times; then the calls go on without what it would have told."""
    server = Server(tmp_path / "server")
    server.script(sequence=["ok", "500", "500", "500"])
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))
    preflight = Preflight(pieces={"text": "A piece of some length. " * 50})
    assert len(runtime.answer(requests(2), "t", "target", "cell", preflight)) == 2
    assert server.stats()["received"] == 1 + 3 + 2
    runtime.finish()
    server.stop()
