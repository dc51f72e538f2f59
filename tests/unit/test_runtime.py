"""The call runtime against a real server, inside this process."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from servers import KEY, Server, configuration

from rcwt import wire
from rcwt.config import Config
from rcwt.config_check import load
from rcwt.errors import CallError
from rcwt.records import Response
from rcwt.responses import Request, ResponseCache
from rcwt.runtime import Runtime
from rcwt.terms import Terms, request_tokens


class FullDisk(ResponseCache):
    """A cache whose disk has room for two responses."""

    def put(self, request: Request, response: Response) -> None:
        if len(list(self.folder.rglob("*.json"))) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().put(request, response)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "server", text={"literal": "A reply."})
    yield running
    running.stop()


def config_of(root: Path, server: Server, **changes: Any) -> Config:
    paths = [root / "config" / f"{name}.yaml" for name in ("models", "prices", "config")]
    merged: dict[str, Any] = {}
    for path in paths:
        merged |= yaml.safe_load(path.read_text())
    overlay = configuration(server)
    overlay["registry"]["t"] |= changes
    for key in ("registry", "prices"):
        merged[key] |= overlay[key]
    return load(merged | {"models": ["t"]}, paths)


def requests(number: int) -> list[Request]:
    messages = (("user", "Question?"),)
    return [
        Request("test-server", "openai/served", messages, {"max_tokens": 9}, "coord_first", sample)
        for sample in range(number)
    ]


def test_a_full_disk_stops_sending(root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    cache = FullDisk(tmp_path / "cache")
    runtime = Runtime(config_of(root, server, max_concurrency=1), cache)
    with pytest.raises(CallError, match="cannot be written") as caught:
        runtime.answer(requests(20), "t", "target", "cell")
    assert "RCWT_CACHE" in str(caught.value)
    # The preflight, two that had room, and the one that had none.
    assert server.stats()["received"] == 1 + 2 + 1
    assert list(cache.folder.rglob("*.part")) == []
    runtime.finish()


def test_what_is_kept_is_not_asked_again(
    root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
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


def test_a_disk_that_is_full_costs_nothing(
    root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    runtime = Runtime(config_of(root, server), Full(tmp_path / "cache"))
    with pytest.raises(CallError, match=r"cannot be written \(No space left"):
        runtime.answer(requests(2), "t", "target", "cell")
    assert server.stats()["received"] == 0
    runtime.finish()


def test_a_mistake_of_ours_keeps_no_money_from_others(
    root: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    config = config_of(root, server, max_concurrency=2)
    worst = Terms.of(config, "t").worst_case(request_tokens(requests(1)[0]), 9)
    runtime = Runtime(config.model_copy(update={"max_usd": float(worst) * 3.5}), ResponseCache(tmp_path / "cache"))
    runtime.answer(requests(1), "t", "target", "cell")  # with the preflight

    async def broken(*_: object) -> None:
        raise LookupError("a fault that nobody foresaw")

    monkeypatch.setattr(wire, "send", broken)
    # None is left waiting for what the others have set aside: those that fit no more are told so.
    with pytest.raises(CallError, match="8 of 8 calls failed") as caught:
        runtime.answer(requests(9)[1:], "t", "target", "cell")
    assert "2 × LookupError: a fault that nobody foresaw" in str(caught.value)
    assert "6 × max_usd" in str(caught.value)
    runtime.finish()
