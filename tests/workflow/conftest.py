"""Projects in the states that tests begin with, and the server they talk to."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from projects import Project, copy_project
from servers import Server


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Project:
    """A fresh checkout in which nothing ran."""
    return copy_project(root, tmp_path / "project")


@pytest.fixture(scope="session")
def fault_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server process for all tests that talk to it."""
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture
def server(fault_server: Server) -> Server:
    """The server without faults and with its counts at zero."""
    fault_server.script()
    fault_server.reset()
    return fault_server


@pytest.fixture(scope="session")
def finished_run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A checkout after `snakemake --cores 8 all`, and what the run said. Not to be edited: see `finished`.

    One for all workers of a test run: whoever needs it first makes it, and the others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    done, said = Project(shared / "finished/project"), shared / "finished.txt"
    with (shared / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            copy_project(root, done.folder)
            said.write_text(done.succeed("--cores", "8", "all"), encoding="utf-8")
    return done, said.read_text(encoding="utf-8")


@pytest.fixture
def finished(finished_run: tuple[Project, str], tmp_path: Path) -> Project:
    """A copy of the finished checkout that a test may edit."""
    shutil.copytree(finished_run[0].folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
