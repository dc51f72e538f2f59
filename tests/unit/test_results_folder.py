"""A run writes only where it harms nothing: into a folder that is new, empty or its own."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.config.results_folder import CONFIGURATION, HEADER, PARTS, SOURCES, fault, is_marked, mark


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder in which the process stands, with the parts that a checkout and its use leave there."""
    folder = tmp_path / "project"
    for name in (*SOURCES, ".git", ".cache/responses", ".venv/lib", ".snakemake"):
        (folder / name).mkdir(parents=True)
        (folder / name / "kept").write_text("mine")
    (folder / "Snakefile").touch()
    (folder / ".venv/pyvenv.cfg").touch()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("RCWT_CACHE", raising=False)
    return folder


def test_every_folder_of_the_repository_is_known(root: Path) -> None:
    # From what git tracks, so that a new folder of the project is protected too; `results` is for runs.
    listed = os.popen(f"git -C '{root}' ls-files").read().splitlines()
    if not listed:
        pytest.skip("not a git checkout")
    folders = {name.split("/")[0] for name in listed if "/" in name}
    assert {name for name in folders if not name.startswith(".")} == {*SOURCES, "results"}


@pytest.mark.parametrize(
    "name",
    ["results", "results/mine", "results/published/2026", "my results", "out.d/a+b=c,d@e", "résultats", "x" * 255],
)
def test_a_new_folder_is_fine(project: Path, name: str) -> None:
    assert fault(name) is None
    assert fault(str(project / name)) is None


def test_an_absolute_folder_elsewhere_is_fine(project: Path, tmp_path: Path) -> None:
    assert fault(str(tmp_path / "else where/results")) is None


@pytest.mark.parametrize(
    "name",
    [
        *("/", ".", "/tmp", *SOURCES, *(f"{name}/new" for name in SOURCES), "CONFIG", "Workflow/x"),
        *(".git", ".git/x", ".cache", ".cache/responses/x", ".venv", ".venv/new", ".snakemake/x", ".hidden"),
        *("Snakefile", "Snakefile/x", "../config", "results/../config", "-x", "~/x", "s3://bucket/x", ""),
        *("a{b}", "a'b", 'a"b', "a$b", "a\nb", "a#b", "a\\b", "a*", "a?", " a", "a ", "\x1b[2J", "\x00"),
        *("é" * 200, "a/" * 600),
    ],
)
def test_what_is_not_for_results_is_refused(project: Path, name: str) -> None:
    assert "accepted: a folder" in (fault(name) or "")


def test_the_project_and_what_is_above_is_refused_however_spelled(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    (tmp_path / "up").symlink_to(tmp_path)
    names = [project, tmp_path, tmp_path / "link", tmp_path / "link/config/new", tmp_path / "up/project/.git/x"]
    assert all(fault(str(name)) for name in names)
    assert fault(str(tmp_path / "link/results")) is None


def test_links_are_followed(project: Path, tmp_path: Path) -> None:
    (project / "to_config").symlink_to("config")
    (project / "to_nothing").symlink_to(tmp_path / "nothing")
    (project / "round").symlink_to("round")
    (tmp_path / "far").mkdir()
    (project / "to_far").symlink_to(tmp_path / "far")
    assert "is in the project's 'config'" in (fault("to_config") or "")
    assert "is in the project's 'config'" in (fault("to_config/new") or "")
    assert "a folder that does not exist" in (fault("to_nothing") or "")
    assert "a folder that does not exist" in (fault("to_nothing/new") or "")
    assert "accepted: a folder" in (fault("round") or "")
    assert fault("to_far") is None


def test_sources_that_are_links_are_protected_where_they_are(project: Path, tmp_path: Path) -> None:
    (project / "resources").rename(tmp_path / "texts")
    (project / "resources").symlink_to(tmp_path / "texts")
    assert "is in the project's 'resources'" in (fault(str(tmp_path / "texts/new")) or "")


def test_another_checkout_is_protected_too(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other/workflow/rcwt").mkdir(parents=True)
    assert fault(str(tmp_path / "other"))
    assert fault(str(tmp_path / "other/workflow/new"))
    assert fault(str(tmp_path / "other/results")) is None
    assert fault(str(tmp_path / "third/.git/x"))


def test_cache_environment_and_artifact_are_protected(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cache", "venv", "conda", "artifact"):
        (tmp_path / name).mkdir()
    (tmp_path / "venv/pyvenv.cfg").touch()
    monkeypatch.setenv("RCWT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert "in the response cache" in (fault(str(tmp_path / "cache/new")) or "")
    assert "in a Python environment" in (fault(str(tmp_path / "venv/new")) or "")
    assert "in a Python environment" in (fault(str(tmp_path / "conda/new")) or "")
    # One that stands in the project is refused by its name.
    assert re.search("in a Python environment|in the project's", fault(str(Path(sys.prefix) / "new")) or "")
    assert "in the folder 'artifact'" in (fault(str(tmp_path / "artifact/new"), str(tmp_path / "artifact")) or "")
    assert fault(str(tmp_path / "artifact/new")) is None


def test_an_environment_around_the_project_is_no_reason(project: Path, tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").touch()
    assert fault("results") is None


def test_a_cache_inside_the_results_is_no_foreign_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "results/cache/ab").mkdir(parents=True)
    (project / "results/cache/ab/response.json").touch()
    assert fault("results")
    monkeypatch.setenv("RCWT_CACHE", "results/cache")
    assert fault("results") is None
    assert "in the response cache" in (fault("results/cache/x") or "")


def put(*names: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("text")

    return write


def marked(folder: Path) -> None:
    put("tables/table_a1.csv")(folder)
    mark(folder, "models: [reader]\n")


ACCEPTED: list[Callable[[Path], None]] = [
    lambda folder: folder.mkdir(),
    put("README.md"),
    put(f".{CONFIGURATION}.4242"),  # killed while it wrote its mark
    marked,
    lambda folder: (marked(folder), put("notes.txt")(folder))[0],
    lambda folder: (folder.mkdir(), marked(folder / "published"))[0],  # a preset's run came first
    lambda folder: (folder / "empty/deeper").mkdir(parents=True),
]
REFUSED: list[Callable[[Path], None]] = [
    put("notes.txt"),
    put("README.md", "notes.txt"),
    put("tables/mine.csv"),
    put("README.md/x"),
    put(CONFIGURATION),  # somebody's own
    put(f"{CONFIGURATION}/x"),
    put(".hidden"),
    lambda folder: (put("notes/x")(folder), marked(folder / "published"))[0],
    lambda folder: (folder.mkdir(), marked(folder / "tables"))[0],
    lambda folder: (folder.mkdir(), (folder / "link").symlink_to("/"))[0],
    lambda folder: folder.write_text("a file"),
]


@pytest.mark.parametrize("prepare", ACCEPTED)
def test_an_empty_folder_or_one_of_ours_is_fine(project: Path, prepare: Callable[[Path], None]) -> None:
    prepare(project / "results")
    assert fault("results") is None


@pytest.mark.parametrize("prepare", REFUSED)
def test_a_folder_with_anything_else_is_refused(project: Path, prepare: Callable[[Path], None]) -> None:
    prepare(project / "results")
    before = sorted(project.rglob("*"))
    said = fault("results") or ""
    assert "new, empty (but for a README.md) or that an earlier run has written" in said
    assert sorted(project.rglob("*")) == before


def test_results_do_not_lie_among_the_parts_of_others(project: Path) -> None:
    mark(project / "results", "")
    for part in PARTS:
        assert f"is in '{part}' of the results in" in (fault(f"results/{part}/mine") or "")
    assert fault("results/mine") is None


def test_a_folder_that_cannot_be_written_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "shut").mkdir(mode=0o500)
    if os.access("shut", os.W_OK):  # the superuser may write anywhere
        monkeypatch.setattr("rcwt.config.results_folder.os.access", lambda path, _: Path(path).name != "shut")
    assert "cannot be written" in (fault("shut") or "")
    assert "cannot be made" in (fault("shut/results") or "")


def test_the_mark_is_the_configuration_that_all_versions_write(tmp_path: Path) -> None:
    # The first line of `config.yaml` since version 0.1: results folders of before are known by it.
    assert HEADER == "# The merged configuration of this run.\n"
    mark(tmp_path / "new", "models: []\n")
    assert (tmp_path / "new/config.yaml").read_text() == HEADER + "models: []\n"
    assert is_marked(tmp_path / "new")
    assert not is_marked(tmp_path)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["config.yaml"]


@given(st.text(max_size=40))
def test_any_text_is_judged_without_a_crash(name: str) -> None:
    found = fault(name)
    assert found is None or "accepted: a folder" in found
