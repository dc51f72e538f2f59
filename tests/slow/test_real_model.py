"""A real language model on CPU, end to end: SmolLM2-135M-Instruct behind an OpenAI-compatible server.

No accuracy is asked of 135 million parameters. What is shown: a server of another make is talked to, its replies are
recorded as they came, and its own counts of tokens are there.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml
from projects import copy_project

from rcwt.trials.schema import read_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port(model_server: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, str(model_server), str(number)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(number, server)
        yield number
    finally:
        server.kill()
        server.wait()


def _wait_until_ready(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while True:
        assert server.poll() is None, "the model server ended"
        assert time.monotonic() < deadline, "the model server is not ready"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                if json.load(answer).get("status") == "ok":
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)


def test_two_cells_end_to_end(root: Path, tmp_path: Path, port: int) -> None:
    project = copy_project(root, tmp_path / "project")
    entry = {"litellm": "openai/smollm2", "api_base": f"http://127.0.0.1:{port}/v1", "max_concurrency": 2}
    entry |= {"attempt_deadline_s": 900, "total_deadline_s": 1800}
    design = {
        "windows": [{"window": 2048, "shares": [0, 90], "trials": 2}],
        "orders": ["coord_first"],
        "params": {"temperature": 0.3, "max_tokens": 64},
    }
    mine = {
        "models": ["smollm2"],
        "registry": {"smollm2": entry},
        "prices": {"smollm2": {"input": 0, "output": 0, "as_of": "2026-11-29"}},
        "designs": {"fixed_budget": design},
    }
    (project.folder / "mine.yaml").write_text(yaml.safe_dump(mine))
    project.succeed("all", "--cores", "2", "--configfile", "mine.yaml")
    trials = read_table(project.folder / "results/trials.parquet")
    assert len(trials) == 4
    assert set(trials["status"]) <= {"ok", "truncated"}
    assert (trials["text"].str.len() > 0).all()
    assert (trials["completion_tokens"] <= 64).all()
    # Its vocabulary is another: about as many tokens as cl100k_base counts, and never none.
    assert trials["prompt_tokens"].between(1500, 3500).all()
    assert trials["returned_model"].str.contains("SmolLM2").all()
    cells = pd.read_csv(project.folder / "results/tables/fixed_budget_cells.csv")
    assert cells.loc[cells["order"] == "pooled", "n_answered"].tolist() == [2, 2]
