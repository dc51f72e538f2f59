"""The recipe of docs/clusters.md, with a small CPU server in vLLM's place: one job serves a model, others ask it."""

import shlex
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from cluster import Cluster
from projects import Project
from servers import write

from rcwt.trials.schema import read_table

pytestmark = [pytest.mark.slow, pytest.mark.slurm]


def test_a_model_served_by_a_job_is_asked_by_jobs(project: Project, cluster: Cluster, model_server: Path) -> None:
    with socket.socket() as free:
        free.bind(("", 0))
        port = str(free.getsockname()[1])
    served = f"exec {shlex.quote(sys.executable)} {shlex.quote(str(model_server))} {port} 0.0.0.0"
    log = str(project.folder / "model.log")
    job = cluster.ask(
        "sbatch", "--parsable", "--cpus-per-task=2", "--mem=3000", f"--output={log}", f"--wrap={served}"
    ).strip()
    try:
        node = _node(cluster, job)
        _wait_until_healthy(f"http://{node}:{port}/health")
        design = {"orders": ["coord_first"], "params": {"temperature": 0.3, "max_tokens": 32}}
        design["windows"] = [{"window": 1024, "shares": [0, 90], "trials": 1}]
        mine = {"experiments": ["fixed_budget"], "designs": {"fixed_budget": design}, "results_dir": "results"}
        # As the manual has it: the preset, and the node's address on the command line.
        arguments = [
            "--profile",
            "profiles/slurm",
            "--configfile",
            "config/local.yaml",
            *write(project.folder, mine)[1:],
        ]
        address = f"registry={{local: {{api_base: 'http://{node}:{port}/v1', max_concurrency: 2}}}}"
        project.succeed("results/trials.parquet", *arguments, "--config", "calls_on=cluster", address)
        trials = read_table(project.folder / "results/trials.parquet")
        assert len(trials) == 2
        assert (trials["text"].str.len() > 0).all()
        assert trials["returned_model"].str.contains("SmolLM2").all()
        # On another node the responses are the same endpoint's: nothing is left to ask.
        moved = "registry={local: {api_base: 'http://elsewhere:1/v1'}}"
        planned = project.succeed("-n", "results/trials.parquet", *arguments, "--config", "calls_on=cluster", moved)
        assert "spend: 0 calls to make" in planned
    finally:
        cluster.ask("scancel", job)


def _node(cluster: Cluster, job: str) -> str:
    deadline = time.monotonic() + 30
    while not (node := cluster.ask("squeue", "--noheader", f"--job={job}", "--states=RUNNING", "--format=%N").strip()):
        assert time.monotonic() < deadline, "the server's job did not start"
        time.sleep(0.2)
    return node


def _wait_until_healthy(address: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        assert time.monotonic() < deadline, "the model server is not ready"
        try:
            urllib.request.urlopen(address, timeout=5)
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
