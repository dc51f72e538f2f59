"""Promises about the repository itself: pins that agree, no registry's address, files of a readable size."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement


def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [root / name for name in listed.stdout.splitlines()]


def pins(root: Path, name: str) -> dict[str, str]:
    lines = (root / name).read_text().splitlines()
    return {key.lower(): version for key, _, version in (line.partition("==") for line in lines) if version}


def test_every_direct_dependency_is_pinned_and_the_same_everywhere(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    bounds = {bound.name.lower(): bound.specifier for bound in map(Requirement, project["dependencies"])}
    pinned = {name: version for name, version in pins(root, "requirements.txt").items() if name in bounds}
    assert set(bounds) == set(pinned)
    assert [name for name in pinned if pinned[name] not in bounds[name]] == []
    environment = yaml.safe_load((root / "workflow/envs/rcwt.yaml").read_text())["dependencies"][-1]["pip"]
    assert {line.lower() for line in environment} == {f"{name}=={version}" for name, version in pinned.items()}


def test_every_requirement_has_one_version(root: Path) -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-slurm.txt"):
        lines = [line for line in (root / name).read_text().splitlines() if line and line[0] not in "#-"]
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    assert not set(pins(root, "requirements.txt")) & set(pins(root, "requirements-dev.txt"))


def test_no_file_names_a_registry(root: Path) -> None:
    hosts = re.compile("|".join(["py" + "pi.org", "python" + "hosted", "npm" + "js", "extra-" + "index-url"]))
    found = [path for path in tracked(root) if hosts.search(path.read_bytes().decode("utf-8", "replace"))]
    assert found == []


def test_no_source_file_is_long(root: Path) -> None:
    sources = [path for path in tracked(root) if path.suffix in {".py", ".smk"} and "tests" not in path.parts]
    long = {path.name: lines for path in sources if (lines := len(path.read_text().splitlines())) > 400}
    assert long == {}
