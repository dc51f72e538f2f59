"""Fingerprints: of values as canonical JSON, of files, and of the code that a stage's result depends on."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]

#: Modules whose edit reruns nothing, such as a reworded error message, and why no stage depends on their code. Each is
#: named whole: others in its package may shape results.
NEUTRAL = {
    "base.digests": "what it makes is compared itself",
    "base.errors": "words for errors; a stage that fails has no result",
    "base.files": "writes the bytes that a stage gives it",
    "base.scripting": "starts scripts and prints their errors",
    "base.sealed": "reads a file as it was written, or refuses it",
    "base.spellings": "finds kept responses; the parameters that are asked for are compared themselves",
    "config.check": "its result, the configuration, reaches stages as parameters",
    "config.designs": "as config.check",
    "config.parameters": "what is asked for is compared with what was sent: kept responses are then asked again",
    "config.results_folder": "refuses folders",
    "config.schema": "as config.check",
    "config.thinking": "as config.parameters",
    "config.values": "as config.check",
    "config.yaml_files": "as config.check",
    "scoring.items": "what it reads of a task is part of the judges' digests",
    "study.planned": "refuses files that are not the planned ones",
    "study.study": "makes the parameters that stages are given",
    "study.tasks": "the texts and items that it reads are part of the prompts' and judges' digests",
    "analysis.gathering": "reads through modules that the stage before depends on",
    "calls.runtime": "what an answer is depends on its request and on the code that reads it",
}


# Found by their spelling: to parse every module takes a quarter of a second at each start of a run.
_IMPORT = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?P<module>rcwt[\w.]*)(?:[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*))?",
    re.MULTILINE,
)


def canonical_json(value: Any) -> str:
    """One spelling for equal values: sorted keys, no spaces, text as it is. Raises TypeError for other types."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of `value`, as hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, as hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def code_digest(*modules: str) -> str:
    """sha256 of the sources of `modules` of this package and of what they import from it, neutral ones aside.

    A module is named as in `wire.reading`; the name of a package stands for all modules in it.
    """
    parts = [f"{name} {file_digest(_path(name))}" for name in sorted(code_of(*modules))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def script_digest(script: str) -> str:
    """`code_digest` of what a script imports; the script itself is an input of its rule.

    Not a function of that input: Snakemake compares no parameter that follows from an input.
    """
    return code_digest(*_imported(Path(script)))


def code_of(*modules: str) -> set[str]:
    """The modules that `code_digest` covers."""
    wanted = [inner for name in modules for inner in _modules(name)]
    found = set[str]()
    while wanted:
        name = wanted.pop()
        if name not in found and name not in NEUTRAL:
            found.add(name)
            wanted += _imports(name)
    return found


def _modules(name: str) -> list[str]:
    """A module alone, or all modules of a package."""
    folder = PACKAGE / name.replace(".", "/")
    if not folder.is_dir():
        return [name]
    return [f"{name}.{path.stem}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


@cache
def _imports(name: str) -> list[str]:
    """Modules of this package that a module imports."""
    return _imported(_path(name))


def _imported(path: Path) -> list[str]:
    """Modules of this package that a source file imports, wherever in it."""
    found: list[str] = []
    for statement in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        # What is imported may itself be a module: `from rcwt.analysis import curves`.
        named = re.findall(r"\w+", statement["names"] or "")
        found += [statement["module"], *(f"{statement['module']}.{inner}" for inner in named)]
    return [inside for name in found if _path(inside := name.removeprefix("rcwt.")).is_file()]


def _path(name: str) -> Path:
    return (PACKAGE / name.replace(".", "/")).with_suffix(".py")
