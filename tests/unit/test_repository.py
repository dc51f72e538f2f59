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


def test_tests_import_what_they_share_from_the_fixtures_alone(root: Path) -> None:
    """No test imports a test, in a process of its own either; a fixture needs no import."""
    sources = [path for path in tracked(root) if path.suffix == ".py" and root / "tests" in path.parents]
    alone = {path.stem for path in sources if path.parent.name != "fixtures"}
    imports = re.compile(rf"\b(?:from|import) ({'|'.join(alone)})\b")
    assert {path.name: found for path in sources if (found := imports.findall(path.read_text()))} == {}


def test_a_fresh_clone_has_a_results_folder_with_a_readme_and_git_ignores_the_rest(root: Path) -> None:
    results = root / "results"
    assert [path for path in tracked(root) if results in path.parents] == [results / "README.md"]
    paths = ["results/README.md", "results/config.yaml", "results/tables/table_a1.md", "results/published/README.md"]
    ignored = subprocess.run(["git", "check-ignore", *paths], cwd=root, capture_output=True, text=True, check=False)
    assert ignored.stdout.splitlines() == paths[1:]


def test_results_readme_names_what_a_run_leaves(root: Path) -> None:
    """Each file of docs/data.md by its first part, so that the page knows all that appears."""
    files = re.findall(
        r"(?m)^\| `([^`]+)` \|", (root / "docs/data.md").read_text().partition("## Files")[2].partition("\n## ")[0]
    )
    assert len(files) > 30
    page = (root / "results/README.md").read_text()
    named = {name.partition("/")[0] for name in re.findall(r"`([^`\s]+)`", page)}
    assert {name.partition("/")[0] for name in files} - {"published_files.csv"} <= named


def test_the_hooks_before_a_commit_are_the_checks_of_ci(root: Path) -> None:
    [local] = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    checks = (root / ".ci/run").read_text().partition("Style, lint, types")[2].splitlines()[1:]
    assert [hook["entry"] for hook in local["hooks"]] == checks
    for hook in local["hooks"]:  # the whole project by the environment's own tools, whatever is committed
        assert (hook["language"], hook["always_run"], hook["pass_filenames"]) == ("system", True, False)


def test_ci_runs_on_the_oldest_python_that_is_accepted(root: Path) -> None:
    [job] = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}
    accepted = tomllib.loads((root / "pyproject.toml").read_text())["project"]["requires-python"]
    assert accepted == ">=" + job["strategy"]["matrix"]["python-version"][0]


def test_every_link_between_pages_leads_somewhere(root: Path) -> None:
    pages = [path for path in tracked(root) if path.suffix == ".md" and "templates" not in path.parts]
    links = [
        (page, *link.partition("#")[::2])
        for page in pages
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text())
        if "://" not in link
    ]
    assert {page.name for page, *_ in links} >= {"README.md", "guide.md"}
    for page, name, heading in links:
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name}: {name}"
        assert not heading or heading in headings(target), f"{page.name}: {name}#{heading}"


def headings(page: Path) -> set[str]:
    """Where a link can lead within a page: its headings in small letters, hyphens for spaces."""
    found = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_every_file_that_contributing_names_is_there(root: Path) -> None:
    named = re.findall(r"`((?:\w+/)+[\w.]+)`", (root / "CONTRIBUTING.md").read_text())
    files = [name for name in named if "NAME" not in name and "." in name]
    assert len(files) > 30
    places = (root, root / "workflow/rcwt")
    assert [name for name in files if not any((place / name).is_file() for place in places)] == []
