"""A copy of the project and the real `snakemake` on it: what it plans, runs and says."""

import atexit
import compileall
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from servers import KEY

PARTS = ("Snakefile", "workflow", "config", "resources", "profiles")
PLANNED = re.compile(r"^(\w+)\s+(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A checkout that a test may edit."""

    folder: Path

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run `snakemake` in the project; `stdout` holds both streams."""
        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=self.environment(environment),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=1800,
            check=False,
        )

    def environment(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """Variables of a run: a cache of its own, a planted key, and no other checkout's package."""
        variables = {**os.environ, "RCWT_CACHE": str(self.folder / ".cache/responses"), "TEST_KEY": KEY, **(more or {})}
        # The project's modules are compiled once, into the copy of the project: a machine may forbid that by default.
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
            variables.pop(name, None)
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


@functools.cache
def _compiled(source: Path) -> Path:
    """The project's parts, their modules compiled: copies begin with them, which saves each command half a second."""
    temporary = tempfile.TemporaryDirectory(prefix="rcwt-parts-")
    atexit.register(temporary.cleanup)
    parts = Path(temporary.name) / "parts"
    parts.mkdir()
    for part in PARTS:
        if (source / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source / part, parts / part, ignore=ignored)
        else:
            shutil.copy2(source / part, parts / part)
    compileall.compile_dir(parts / "workflow", quiet=1)
    return parts


def copy_project(source: Path, target: Path, experiments: str | None = "[fixed_budget]") -> Project:
    """A copy that runs the main experiment alone, or the `experiments` given; None leaves the project's own."""
    shutil.copytree(_compiled(source), target, dirs_exist_ok=True)
    project = Project(target)
    if experiments is not None:
        project.edit(
            "config/config.yaml", lambda text: re.sub(r"(?m)^experiments: .*$", f"experiments: {experiments}", text)
        )
    return project
