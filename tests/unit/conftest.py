"""A planted key and a server of the tests, for whatever asks a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
import wire_helpers


@pytest.fixture
def planted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that the tests' endpoints and configurations name hold a key."""
    monkeypatch.setenv(wire_helpers.KEY_ENV, wire_helpers.KEY)
    monkeypatch.setenv("TEST_KEY", servers.KEY)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[servers.Server]:
    """A server of its own for one test, which answers every question alike."""
    running = servers.Server(tmp_path / "server", text={"literal": "A reply."})
    yield running
    running.stop()
