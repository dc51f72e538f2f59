"""A failure that other calls share, in the middle of a run: they are told so, and cost no request."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from runtime_helpers import config_of, requests
from servers import Server

from rcwt.base.errors import CallError
from rcwt.calls.responses import ResponseCache
from rcwt.calls.run_state import RunState
from rcwt.calls.runtime import Runtime
from rcwt.calls.verdicts import NEWS_S, Verdicts

pytestmark = pytest.mark.usefixtures("planted_key")
AT_A_TIME = 4
ENDING = [
    ("wrong_key", "401"),
    ("quota_exhausted", "402"),
    ("forbidden", "403"),
    ("retired_model", "404"),
    ("quota_exhausted", {"status": 429, "code": "insufficient_quota"}),
    ("location_not_supported", {"status": 400, "message": "User location is not supported for the API use."}),
    ("retries_exhausted", {"status": 429, "retry_after": 86400}),
    ("unsupported_parameter", {"status": 400, "code": "unsupported_parameter"}),
]
OF_ONE_REQUEST = [
    ("bad_request", "400"),
    ("too_large", "413"),
    ("context_window_exceeded", {"status": 400, "code": "context_length_exceeded"}),
    ("above_quota", {"status": 429, "message": "Request too large on tokens per min (TPM): Limit 9, Requested 10"}),
    ("forbidden", {"status": 403, "body": "<html>blocked by a firewall</html>"}),
]


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return ResponseCache(tmp_path / "cache")


def kept(cache: ResponseCache) -> int:
    return len(list(cache.folder.rglob("*.json")))


def failure(runtime: Runtime, number: int, **params: Any) -> str:
    """What a cell of `number` calls fails of; it may not take for ever."""
    with ThreadPoolExecutor(1) as pool:
        answered = pool.submit(runtime.answer, requests(number, **params), "t", "target", "cell")
        with pytest.raises(CallError) as caught:
            answered.result(timeout=200)
    return str(caught.value)


@pytest.mark.parametrize(("kind", "act"), ENDING)
def test_what_others_would_fail_of_costs_no_more_than_the_calls_in_flight(
    root: Path, server: Server, cache: ResponseCache, kind: str, act: Any, caplog: pytest.LogCaptureFixture
) -> None:
    good = 1 + 2  # the preflight and two
    server.script(sequence=["ok"] * good, always=act)
    runtime = Runtime(config_of(root, server, max_concurrency=AT_A_TIME), cache)
    told = failure(runtime, 200)
    assert server.stats()["received"] <= good + AT_A_TIME
    assert kept(cache) == good - 1
    assert kind in told
    assert f"{200 - kept(cache)} of 200 calls failed" in told
    # All of one cause, told once: also by those in flight, which failed of the same.
    assert told.count(kind) == 1
    assert caplog.text.count("No more such calls are sent") == 1
    # Later cells of the same model in this run.
    received = server.stats()["received"]
    assert kind in failure(runtime, 210)
    assert server.stats()["received"] == received
    runtime.finish()
    # A later run begins anew.
    server.script()
    runtime = Runtime(config_of(root, server), cache)
    assert len(runtime.answer(requests(200), "t", "target", "cell")) == 200
    runtime.finish()


@pytest.mark.parametrize(("kind", "act"), OF_ONE_REQUEST)
def test_what_one_request_fails_of_ends_no_other(
    root: Path, server: Server, cache: ResponseCache, kind: str, act: Any
) -> None:
    server.script(sequence=["ok", "ok", act, act])
    runtime = Runtime(config_of(root, server, max_concurrency=AT_A_TIME), cache)
    told = failure(runtime, 20)
    assert f"2 of 20 calls failed: 2 × {kind}" in told
    assert (server.stats()["received"], kept(cache)) == (1 + 20, 18)
    runtime.finish()


def test_a_refused_parameter_ends_the_calls_that_have_it_and_no_others(
    root: Path, server: Server, cache: ResponseCache
) -> None:
    server.script(sequence=["ok", {"status": 400, "code": "unsupported_value"}])
    runtime = Runtime(config_of(root, server, max_concurrency=1), cache)
    assert "5 × unsupported_parameter" in failure(runtime, 5, temperature=0.5)
    assert server.stats()["received"] == 1 + 1
    assert len(runtime.answer(requests(3, temperature=1), "t", "target", "cell")) == 3
    failure(runtime, 5, temperature=0.5)
    assert server.stats()["received"] == 1 + 1 + 3
    runtime.finish()


def test_calls_that_wait_as_the_server_asked_are_told_at_once(root: Path, server: Server, cache: ResponseCache) -> None:
    """One backs off for longer than the test may take, all others wait for its pause, and one in flight is refused."""
    wait = {"status": 429, "retry_after": 500}
    server.script(sequence=["ok", wait, {"status": 401, "latency_s": 1.5}], latency_s=0.5)
    runtime = Runtime(config_of(root, server, max_concurrency=2), cache)
    assert "50 × wrong_key" in failure(runtime, 50)
    assert server.stats()["received"] <= 1 + 2
    runtime.finish()


def test_what_is_in_flight_is_answered_and_kept(root: Path, server: Server, cache: ResponseCache) -> None:
    server.script(sequence=["ok", {"status": 401, "latency_s": 0.5}], latency_s=2)
    runtime = Runtime(config_of(root, server, max_concurrency=3), cache)
    failure(runtime, 9)
    stats = server.stats()
    assert kept(cache) == stats["successes"] - 1 == stats["received"] - 2
    runtime.finish()


def test_money_set_aside_for_calls_that_never_left_is_given_back(
    root: Path, server: Server, cache: ResponseCache
) -> None:
    server.script(sequence=["ok", "ok"], always="401")
    runtime = Runtime(config_of(root, server).model_copy(update={"max_usd": 1.0}), cache)
    failure(runtime, 100)
    assert runtime._remote is not None
    assert runtime._remote.ledger.balance().reserved == 0
    runtime.finish()


def test_other_models_behind_the_same_address_go_on(root: Path, server: Server, cache: ResponseCache) -> None:
    config = config_of(root, server, max_concurrency=2)
    twin = config.registry["t"].model_copy(update={"litellm": "openai/other"})
    config = config.model_copy(
        update={"registry": {**config.registry, "u": twin}, "prices": {**config.prices, "u": config.prices["t"]}}
    )
    server.script(retired=["served"])
    runtime = Runtime(config, cache)
    failure(runtime, 5)
    assert len(runtime.answer(requests(4), "u", "target", "cell")) == 4
    runtime.finish()


def test_another_process_of_the_run_hears_of_it(tmp_path: Path) -> None:
    here, there = (Verdicts(RunState(tmp_path / "run"), lambda _: False) for _ in range(2))

    async def waits() -> None:
        with here.heeded(("t", "t 1")):
            await asyncio.sleep(600)

    async def hears() -> None:
        waiting = asyncio.create_task(waits())
        await asyncio.sleep(0)
        there.tell("t", "wrong_key: HTTP 401, no")
        assert not there.tell("t", "wrong_key: HTTP 401, again")
        here._looked_at -= NEWS_S  # as long ago
        for names in (("t", "t 1"), ("t", "t 2")):
            with pytest.raises(CallError, match="wrong_key: HTTP 401, no"):
                here.require(names)
        here.require(("u", "u 1"))
        with pytest.raises(CallError, match="wrong_key: HTTP 401, no"):
            await waiting

    asyncio.run(hears())


def test_an_interrupt_stays_one(tmp_path: Path) -> None:
    """A call that is cancelled for another reason is not told of a verdict, nor one whose request has left."""
    left: set[Any] = set()
    verdicts = Verdicts(None, left.__contains__)

    async def call(name: str) -> str:
        try:
            with verdicts.heeded((name,)):
                await asyncio.sleep(0.2 if name == "left" else 600)
        except CallError as error:
            return str(error)
        return "done"

    async def three() -> list[Any]:
        tasks = {name: asyncio.create_task(call(name)) for name in ("waiting", "left", "cancelled")}
        await asyncio.sleep(0)
        left.add(tasks["left"])
        for name in ("waiting", "left"):
            verdicts.tell(name, f"{name} can only fail")
        tasks["cancelled"].cancel()
        return await asyncio.gather(*tasks.values(), return_exceptions=True)

    waiting, on_its_way, cancelled = asyncio.run(three())
    assert (waiting, on_its_way) == ("waiting can only fail", "done")
    assert isinstance(cancelled, asyncio.CancelledError)
