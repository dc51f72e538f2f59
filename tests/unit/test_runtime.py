"""The call runtime against a real server, inside this process."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from servers import KEY, Server, configuration

from rcwt.config import Config
from rcwt.config_check import load
from rcwt.errors import CallError
from rcwt.records import Response
from rcwt.responses import Request, ResponseCache
from rcwt.runtime import Runtime


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
