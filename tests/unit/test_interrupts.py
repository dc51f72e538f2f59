"""An interrupt on a busy machine: what has reached this machine is kept, however far its reader is behind."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from runtime_helpers import config_of, requests
from servers import Server
from wire_helpers import PROTOCOLS, endpoint, outcome
from wire_helpers import run as run_closing

from rcwt.base.errors import CallError
from rcwt.calls.responses import ResponseCache
from rcwt.calls.runtime import Runtime
from rcwt.wire import exchange
from rcwt.wire.replies import WireReply

pytestmark = pytest.mark.usefixtures("planted_key")
#: More than the event loop reads of a connection at once: 256 kB.
LONG = 400_000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "server", text={"literal": "x" * LONG}, latency_s=0.2)
    yield running
    running.stop()


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_replies_that_wait_in_the_sockets_are_kept(root: Path, server: Server, tmp_path: Path) -> None:
    number = 8
    cache = ResponseCache(tmp_path / "cache")
    runtime = Runtime(config_of(root, server), cache)
    stalled = threading.Event()

    def interrupt() -> None:
        wait_for(lambda: server.stats()["in_flight"] == number)
        loop = runtime._loop
        assert loop is not None
        # Nothing is read while the replies arrive; when the loop goes on, the grace is over.
        loop.call_soon_threadsafe(stalled.wait, 120)
        runtime.interrupt(grace_s=0)
        wait_for(lambda: len(server.stats()["sent_at"]) == number)
        stalled.set()

    runtime.answer(requests(1, max_tokens=LONG), "t", "target", "cell")  # with the preflight
    server.reset()
    server.script(text={"literal": "x" * LONG}, latency_s=1, sequence=["ok"] * number, always="hang")
    hand = threading.Thread(target=interrupt)
    hand.start()
    asked = requests(1 + number + 3, max_tokens=LONG)
    runtime.answer(asked[1 : 1 + number], "t", "target", "cell")
    hand.join()
    assert all(cache.get(request.key) for request in asked[: 1 + number])
    runtime.finish()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reply_that_is_here_whole_outlives_the_cancelling_of_its_call(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = exchange._on_response

    async def cancelled(response: Any) -> None:
        try:
            await read(response)
        except exchange.Settled:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)  # here it ends
            raise

    monkeypatch.setattr(exchange, "_on_response", cancelled)

    async def one() -> Any:
        async with FaultServer() as server:
            return await asyncio.create_task(outcome(endpoint(server, protocol)))

    assert isinstance(run_closing(one()), WireReply)


def test_a_failure_after_an_interrupt_is_not_waited_out(root: Path, server: Server, tmp_path: Path) -> None:
    """Its call would back off for longer than a test may take."""
    server.script(sequence=["ok"], always={"status": 503, "retry_after": 500, "latency_s": 1})
    runtime = Runtime(config_of(root, server), ResponseCache(tmp_path / "cache"))

    def interrupt() -> None:
        wait_for(lambda: server.stats()["received"] == 1 + 3)
        runtime.interrupt(grace_s=100)

    hand = threading.Thread(target=interrupt)
    hand.start()
    with pytest.raises(CallError, match="3 × interrupted before"):
        runtime.answer(requests(3), "t", "target", "cell")
    hand.join()
    assert runtime.progress.retries == 0
    runtime.finish()
