"""A Slurm of one node for all tests here, brought up before the first and torn down after the last."""

import fcntl
import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster, missing
from projects import Project, copy_project
from servers import Server

PLUGINS = ("snakemake_executor_plugin_slurm", "snakemake_executor_plugin_cluster_generic")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    absent = [name for name in PLUGINS if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)} (pip install -r requirements-slurm.txt)")
    with Path("/tmp/rcwt-test-cluster.lock").open("w") as lock:
        # One node can be one cluster's at a time: other workers of this test run wait.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if reason := missing():
            pytest.skip(reason)
        # Not among pytest's temporary folders: munge's own user has to reach its socket.
        folder = Path(tempfile.mkdtemp(prefix="rcwt-slurm-"))
        running = Cluster(folder)
        try:
            running.start()
            yield running
        finally:
            running.stop()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def project(root: Path, tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A fresh checkout in which nothing ran, on the login node of the cluster."""
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    return copy_project(root, tmp_path / "project")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "server")
    yield running
    running.stop()
