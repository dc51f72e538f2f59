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
