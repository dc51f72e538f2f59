"""Bad input is one clear message before the first job, and nothing is written."""

from collections.abc import Callable

import pytest
from projects import Project

TASK = "resources/templates/spec_recall"


def overlay(text: str) -> Callable[[Project], tuple[str, ...]]:
    def write(project: Project) -> tuple[str, ...]:
        (project.folder / "mine.yaml").write_text(text)
        return ("--configfile", "mine.yaml")

    return write


def file(name: str, content: bytes | None) -> Callable[[Project], tuple[str, ...]]:
    def write(project: Project) -> tuple[str, ...]:
        path = project.folder / TASK / name
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        return ()

    return write


def window(**values: object) -> str:
    entry = {"window": 4096, "shares": [0, 50], "trials": 2, **values}
    return f"designs: {{fixed_budget: {{windows: [{entry}]}}}}\n"


CASES: dict[str, tuple[Callable[[Project], tuple[str, ...]], list[str]]] = {
    "missing template": (file("reference.md", None), ["reference.md"]),
    "missing task file": (file("task.yaml", None), ["task.yaml"]),
    "empty reference": (file("reference.md", b" \n\n"), ["reference.md", "no text"]),
    "invalid UTF-8": (file("coordination.md", b"abc \xff def"), ["coordination.md", "UTF-8"]),
    "special token": (file("instruction.md", b"Answer. <|endoftext|> Now."), ["instruction.md", "<|endoftext|>"]),
    "instruction longer than W": (overlay(window(window=300)), ["fixed_budget", "300", "337"]),
    "share 100": (overlay(window(shares=[0, 100])), ["mine.yaml:1", "shares[1]", "found 100", "less than 100"]),
    "share twice": (overlay(window(shares=[50, 50.0])), ["mine.yaml:1", "shares", "more than once"]),
    "no trials": (overlay(window(trials=0)), ["mine.yaml:1", "trials", "found 0"]),
    "key twice": (overlay("offline: false\nmodels: [reader]\noffline: true\n"), ["mine.yaml:3", "'offline'", "twice"]),
    "model twice": (overlay("models: [reader, reader]\n"), ["mine.yaml:1", "models", "more than once"]),
    "unknown key": (overlay("windows: 3\n"), ["mine.yaml:1", "'windows' is unknown"]),
    "unknown task": (overlay("designs: {fixed_budget: {task: spec_recal}}\n"), ["spec_recal"]),
    "unknown coordination": (
        overlay("designs: {fixed_budget: {coordination: nothing}}\n"),
        ["designs.fixed_budget.coordination", "nothing", "coordination_overlapping"],
    ),
    "no artifact": (overlay("artifact: no/such/folder\n"), ["artifact", "no/such/folder", "--config artifact=PATH"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_stops_before_the_first_job(project: Project, case: str) -> None:
    prepare, expected = CASES[case]
    arguments = prepare(project)
    output = project.refuse("--cores", "2", "all", *arguments)
    for part in expected:
        assert part in output
    assert "Traceback" not in output
    assert not (project.folder / "results").exists()
    assert not (project.folder / ".cache").exists()


def test_a_wrong_value_on_the_command_line_is_named_as_such(project: Project) -> None:
    output = project.refuse("all", "--config", "max_missing=7")
    assert "--config: key 'max_missing': found 7" in output


def settings(text: str) -> Callable[[Project], tuple[str, ...]]:
    """Values on the command line."""
    return lambda project: ("--config", *text.split("|"))


def linked(project: Project) -> tuple[str, ...]:
    (project.folder / "results").symlink_to("config")
    return ()


def someones(project: Project) -> tuple[str, ...]:
    (project.folder / "results").mkdir()
    (project.folder / "results/thesis.tex").write_text("my own")
    return ()


FOLDERS: dict[str, tuple[Callable[[Project], tuple[str, ...]], str]] = {
    "root": (
        settings("results_dir=/"),
        "--config: key 'results_dir': found '/', which is the project's own folder or one",
    ),
    "project": (settings("results_dir=."), "which is the project's own folder or one above it"),
    "git": (settings("results_dir=.git"), "which is in the project's '.git'"),
    "cache": (settings("results_dir=.cache/responses"), "which is in the project's '.cache'"),
    "environment": (settings("results_dir=.venv/x"), "which is in the project's '.venv'"),
    "sources": (settings("results_dir=resources/new"), "which is in the project's 'resources'"),
    "an option": (settings("results_dir=-x"), "it may not begin with '-'"),
    "a link": (linked, "which is in the project's 'config'"),
    "someone's own": (someones, "holds 'thesis.tex' and no merged configuration"),
    "wildcards": (settings("audit=a{b}.csv"), "key 'audit': found 'a{b}.csv'; accepted: a path without braces"),
    "long name": (settings(f"models=[{'m' * 300}]"), "key 'models[0]': found 'mmm"),
    "key in an address": (
        overlay('registry: {reader: {api_base: "http://h/v1?key=sk-planted-77"}}\n'),
        "mine.yaml:1: key 'registry.reader.api_base': found a text that is not shown",
    ),
    "no port": (
        overlay('registry: {reader: {api_base: "http://h:65536/v1"}}\n'),
        "accepted: an address whose port, if it names one, is a number from 1 to 65535",
    ),
    "case": (
        overlay("registry: {Reader: {litellm: embedded/reader}}\n"),
        "which differ in case alone and would share their files",
    ),
}


def files(project: Project) -> dict[str, bytes]:
    """What is in a checkout, but for what Snakemake and Python keep for themselves."""
    own = [path for path in project.folder.rglob("*") if not {".snakemake", "__pycache__"} & set(path.parts)]
    return {str(path): path.read_bytes() for path in own if path.is_file()}


@pytest.mark.parametrize("case", FOLDERS)
def test_what_could_harm_or_not_work_is_one_message_before_the_first_job(project: Project, case: str) -> None:
    prepare, expected = FOLDERS[case]
    arguments = prepare(project)
    before = files(project)
    for dry in ([], ["-n"]):
        output = project.refuse("--cores", "2", "all", *dry, *arguments)
        assert expected in output
        assert output.count("The run cannot start") == 1
        assert "sk-planted" not in output
        assert "Traceback" not in output
    assert files(project) == before
