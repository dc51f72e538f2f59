"""How fast the pipeline makes calls, against the floor that the server's latency sets.

    python benchmarks/calls.py [--latency 2.0 0.2] [--runs 1]

54 cells of 20 calls (3 models x 9 shares x 2 orders), 64 in flight, judge `rules`, target `results/trials.parquet`,
`snakemake --cores 8` as a whole command, from start to exit. The floor is 17 waves of the latency. Beside it, in the
same run: a bare aiohttp client that sends as many requests and does nothing else. CPU a call is the run's CPU minus
that of the same command on a full cache, over 1 080 calls; memory is the Snakemake process's peak.

Nothing here is asserted: machines differ, ratios less so.
"""

import argparse
import asyncio
import compileall
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import yaml

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests/fixtures/fault_server.py"
CALLS, IN_FLIGHT, MODELS = 1080, 64, 3
SHARES = [0, 25, 50, 75, 90, 92, 94, 96, 98]
TARGET = "results/trials.parquet"


def configuration(port: int) -> dict[str, Any]:
    """The main experiment in its first window on three models of the server, priced at nothing."""
    names = [f"m{number}" for number in range(MODELS)]
    entry = {"api_base": f"http://127.0.0.1:{port}/v1", "max_concurrency": IN_FLIGHT}
    return {
        "models": names,
        "experiments": ["fixed_budget"],
        "designs": {"fixed_budget": {"windows": [{"window": 4096, "shares": SHARES, "trials": 20}]}},
        "registry": {name: {**entry, "litellm": f"openai/{name}"} for name in names},
        "prices": {name: {"input": 0, "output": 0, "as_of": "2026-11-29"} for name in names},
    }


def start_server(folder: Path, latency: float) -> tuple[subprocess.Popen[bytes], int]:
    """A server that answers everything after `latency` seconds."""
    (folder / "script.json").write_text(json.dumps({"latency_s": latency, "text": {"literal": "A reply."}}))
    port_file = folder / "port"
    port_file.unlink(missing_ok=True)
    command = [sys.executable, str(SERVER), "--port", "0", "--script", str(folder / "script.json")]
    server = subprocess.Popen([*command, "--port-file", str(port_file)], stdout=subprocess.DEVNULL)
    while not (port_file.exists() and port_file.read_text().strip()):
        time.sleep(0.02)
    return server, int(port_file.read_text())


async def bare(port: int) -> float:
    """Seconds for as many requests from a client that does nothing else."""
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 16_000}], "max_tokens": 1024}
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one(session: aiohttp.ClientSession) -> None:
        async with gate, session.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body) as answer:
            await answer.read()

    started = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        await asyncio.gather(*(one(session) for _ in range(CALLS)))
    return time.perf_counter() - started


def pipeline(folder: Path, port: int) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak MB of one whole command."""
    (folder / "mine.yaml").write_text(yaml.safe_dump(configuration(port)))
    command = [sys.executable, "-m", "snakemake", TARGET, "--cores", "8", "--configfile", "mine.yaml"]
    variables = {**os.environ, "RCWT_CACHE": str(folder / ".cache")}
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
        variables.pop(name, None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status != 0:
        sys.exit((folder / "log").read_text())
    arrived = len(list((folder / ".cache").glob("*/*.json")))
    if arrived != CALLS:
        sys.exit(f"{arrived} responses arrived, not {CALLS}: what is measured is not what is said")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return {"wall": wall, "cpu": cpu, "peak_mb": kilobytes / 1024}


def measure(latency: float) -> None:
    """Print floor, bare client and pipeline at one latency."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("workflow", "config", "resources", "profiles"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy2(ROOT / "Snakefile", folder)
        compileall.compile_dir(folder / "workflow", quiet=1)  # as in a checkout in which anything has run
        server, port = start_server(folder, latency)
        try:
            client = asyncio.run(bare(port))
            run = pipeline(folder, port)
            shutil.rmtree(folder / "results")
            shutil.rmtree(folder / ".snakemake")
            full = pipeline(folder, port)
        finally:
            server.kill()
            server.wait()
    floor = -(-CALLS // IN_FLIGHT) * latency
    print(f"latency {latency} s: floor {floor:.1f} s")
    print(f"  bare client       {client:6.1f} s  {client / floor:.2f} x floor")
    print(f"  pipeline          {run['wall']:6.1f} s  {run['wall'] / floor:.2f} x floor")
    print(f"  on a full cache   {full['wall']:6.1f} s")
    print(f"  CPU a call        {(run['cpu'] - full['cpu']) / CALLS * 1000:6.1f} ms")
    print(f"  peak memory       {run['peak_mb']:6.0f} MB", flush=True)


def main() -> None:
    """Measure at each latency, several times."""
    parser = argparse.ArgumentParser(description="Speed of the calls, beside the floor and a bare client.")
    parser.add_argument("--latency", type=float, nargs="+", default=[2.0, 0.2], help="seconds")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    for latency in options.latency:
        for _ in range(options.runs):
            measure(latency)


if __name__ == "__main__":
    main()
