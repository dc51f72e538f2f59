"""`snakemake` commands as forks of one process in which everything they import from outside the project is imported.

A command spends two thirds of its time on imports that are the same in every test. Here it begins behind them: the real
`snakemake.cli.main` in a process of its own, with its own environment, folder, output and exit status, which imports
the modules of the project from the folder it works in. Started as a program, this file is the process that forks.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: No command of a test takes so long.
TIMEOUT_S = 600


class WarmSnakemake:
    """The process that forks, as the tests see it; it is started by the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: Sequence[str], folder: Path, environment: dict[str, str], output: Path) -> int:
        """Run a command in a folder, both its streams written to `output`; its exit status."""
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"arguments": arguments, "folder": str(folder), "environment": environment, "output": str(output)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def _start(self) -> "subprocess.Popen[str]":
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def stop(self) -> None:
        """End the process; it ends with its input in any case."""
        if self._process is not None:
            self._process.communicate()


def import_all() -> None:
    """Import what a run imports, then forget the project's own modules."""
    import snakemake.cli
    import snakemake.report.html_reporter  # noqa: F401

    sys.path.insert(0, str(ROOT / "workflow"))
    from rcwt import aggregation, exchange, jobs, runtime, spend, study, tokens  # noqa: F401

    exchange.load_litellm()
    tokens.count("")
    for name in [name for name in sys.modules if name.partition(".")[0] == "rcwt"]:
        del sys.modules[name]
    sys.path.pop(0)
    gc.collect()
    gc.freeze()


def next_request() -> dict[str, Any]:
    """In a new process, the request that it is for. Does not return in the one that forks."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return dict(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)


def main() -> None:
    import_all()
    request = next_request()
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, output), (2, output)):
        os.dup2(file, stream)
    signal.alarm(TIMEOUT_S)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["folder"]  # as `python -m` has it
    sys.argv[0] = "snakemake"
    from snakemake.cli import main as snakemake

    snakemake(request["arguments"])


if __name__ == "__main__":
    main()
