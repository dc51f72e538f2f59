"""What is sent and what is asked again, through the real `snakemake` against a real server."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from projects import Project
from servers import PREFLIGHTS, PRICES, Server, configuration, write

from rcwt.base.digests import digest

TARGET = "results/trials.parquet"
TRIALS = 8


def kept(project: Project) -> list[Path]:
    return sorted((project.folder / ".cache/responses").rglob("*.json"))


def forget(project: Project) -> None:
    """A fresh checkout with only the cache."""
    for name in ("results", ".snakemake"):
        shutil.rmtree(project.folder / name)


def with_params(server: Server, protocol: str = "openai", **params: Any) -> dict[str, Any]:
    content = configuration(server, protocol)
    content["registry"]["t"]["params"] = params
    return content


@pytest.mark.parametrize("role", ["models", "judges"])
def test_an_id_of_the_responses_api_is_refused_before_the_first_job(
    project: Project, server: Server, role: str
) -> None:
    content = configuration(server)
    content["registry"]["pro"] = {"litellm": "openai/gpt-5-pro", "api_key_env": "TEST_KEY"}
    content["prices"]["pro"] = PRICES
    content[role] = ["pro"]
    for arguments in (["-n"], ["--cores", "2"]):
        said = project.refuse(TARGET, *arguments, *write(project.folder, content))
        assert "key 'registry.pro.litellm': found 'openai/gpt-5-pro'" in said
        assert "/v1/responses" in said
    assert server.stats()["received"] == 0
    assert not (project.folder / "results").exists()


def test_thinking_that_would_leave_otherwise_is_refused_before_anything_is_paid(
    project: Project, server: Server
) -> None:
    content = with_params(server, "gemini", thinking={"type": "disabled"})
    said = project.refuse(TARGET, "--cores", "2", *write(project.folder, content))
    assert server.stats()["received"] == 0
    assert "litellm would not send what was asked for: thinking={'type': 'disabled'}" in said
    assert "thinkingConfig: {thinkingBudget: N}" in said


def test_stale_responses_are_named_in_the_plan_and_asked_again_once(project: Project, server: Server) -> None:
    arguments = write(project.folder, with_params(server, "gemini", reasoning_effort="none"))
    project.succeed(TARGET, "--cores", "2", *arguments)
    assert server.stats()["received"] == PREFLIGHTS + TRIALS
    for path in kept(project)[:3]:  # as an earlier version kept what left with thinking on
        content = json.loads(path.read_text())
        content["response"]["sent_params"]["generationConfig"]["thinkingConfig"] = {"includeThoughts": False}
        content["checksum"] = digest(content["response"])
        path.write_text(json.dumps(content))
        path.with_suffix(".body.gz").unlink(missing_ok=True)
    forget(project)
    server.reset()
    *_, stale, spend = project.succeed(TARGET, "-n", *arguments).splitlines()
    assert stale.startswith("t: 3 kept responses are stale and asked for again")
    assert 'thinkingConfig: {"includeThoughts": false} for reasoning_effort: "none"' in stale
    assert spend.startswith(f"spend: {PREFLIGHTS + 3} calls to make, 5 cached")
    assert server.stats()["received"] == 0
    assert "t: 3 kept responses are stale" in project.succeed(TARGET, "--cores", "2", *arguments)
    assert server.stats()["received"] == PREFLIGHTS + 3
    assert len(kept(project)) == TRIALS
    assert len(list((project.folder / ".cache/responses").rglob("*.before-1"))) == 3
    assert "Nothing to be done" in project.succeed(TARGET, "--cores", "2", *arguments)
    forget(project)
    assert "are stale" not in project.succeed(TARGET, "--cores", "2", *arguments)
    assert server.stats()["received"] == PREFLIGHTS + 3


def test_equal_parameters_are_one_run(project: Project, server: Server) -> None:
    project.succeed(TARGET, "--cores", "2", *write(project.folder, with_params(server, temperature=1, top_p=1.0)))
    content = with_params(server, temperature=1.0, top_p=1)
    content["designs"]["fixed_budget"]["windows"][0]["shares"] = [90.0]
    other = write(project.folder, content, "other.yaml")
    assert "Nothing to be done" in project.succeed(TARGET, "--cores", "2", *other)
    assert server.stats()["received"] == PREFLIGHTS + TRIALS
    # As the responses were kept when a number was spelled as it stood: found, and nothing is asked.
    for path in kept(project):
        content = json.loads(path.read_text())
        asked = content["request"]
        prompt = next(
            json.loads(file.read_text())
            for file in (project.folder / "results/prompts").iterdir()
            if json.loads(file.read_text())["order"] == asked["order"]
        )
        identity = {
            **{"version": 1, "endpoint": asked["endpoint"], "model": asked["model"], "messages": prompt["messages"]},
            **{"params": {**asked["params"], "temperature": 1.0, "top_p": 1.0}},
            **{"order": asked["order"], "sample": asked["sample"]},
        }
        spelled = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        content["key"] = hashlib.sha256(spelled.encode()).hexdigest()
        path.unlink()
        path.with_suffix(".body.gz").unlink(missing_ok=True)
        target = project.folder / ".cache/responses" / content["key"][:2] / f"{content['key']}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(content))
    forget(project)
    assert "spend: 0 calls to make, 8 cached" in project.succeed(TARGET, "-n", *other)
    project.succeed(TARGET, "--cores", "2", *other)
    assert server.stats()["received"] == PREFLIGHTS + TRIALS
