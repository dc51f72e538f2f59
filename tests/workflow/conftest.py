"""The real `snakemake` on a copy of the project: what it plans, runs and says."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers import KEY, Server

PARTS = ("Snakefile", "workflow", "config", "resources", "profiles")
PLANNED = re.compile(r"^(\w+)\s+(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A checkout that a test may edit."""

    folder: Path

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run `snakemake` in the project; `output` holds both streams."""
        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=self.environment(environment),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )

    def environment(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """Variables of a run: a cache of its own, a planted key, and no other checkout's package."""
        variables = {**os.environ, "RCWT_CACHE": str(self.folder / ".cache/responses"), "TEST_KEY": KEY, **(more or {})}
        variables.pop("PYTHONPATH", None)
        return variables

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `snakemake` in a process group of its own, its output in `run.log`."""
        with (self.folder / "run.log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments],
                cwd=self.folder,
                env=self.environment(),
                text=True,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def succeed(self, *arguments: str) -> str:
        """Run and require success; the output."""
        result = self.run(*arguments)
        assert result.returncode == 0, result.stdout
        return result.stdout

    def refuse(self, *arguments: str) -> str:
        """Run and require failure; the output."""
        result = self.run(*arguments)
        assert result.returncode != 0, result.stdout
        return result.stdout

    def plan(self, *arguments: str) -> dict[str, int]:
        """Jobs a rule that a dry run of `all` plans."""
        output = self.succeed("all", "-n", *arguments)
        return {rule: int(jobs) for rule, jobs in PLANNED.findall(output) if rule != "total"}

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change a file; the change must change it."""
        file = self.folder / path
        before = file.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"the edit of {path} changed nothing"
        file.write_text(after, encoding="utf-8")


def copy_project(source: Path, target: Path) -> Project:
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / part, target / part)
    return Project(target)


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
    """A checkout after `snakemake --cores 8 all`, and what the run said. Not to be edited: see `finished`."""
    done = copy_project(root, tmp_path_factory.mktemp("finished") / "project")
    return done, done.succeed("--cores", "8", "all")


@pytest.fixture
def finished(finished_run: tuple[Project, str], tmp_path: Path) -> Project:
    """A copy of the finished checkout that a test may edit."""
    shutil.copytree(finished_run[0].folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
