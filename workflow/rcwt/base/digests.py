"""Fingerprints: of values as canonical JSON, of files, and of the code that a stage's result depends on."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]

#: Modules that shape no result by themselves: what they read reaches a stage through parameters of its own,
#: so that a reworded error message reruns nothing. Each is named whole: others in its package may shape results.
NEUTRAL = frozenset(
    {
        *(
            "base.digests",
            "base.errors",
            "base.files",
            "base.scripting",
            "base.sealed",
            "base.spellings",
            "base.tokens",
        ),
        *("config.check", "config.designs", "config.parameters", "config.results_folder", "config.schema"),
        *("config.thinking", "config.values", "config.yaml_files"),
        *("scoring.items", "study.planned", "study.study", "study.tasks", "analysis.gathering", "calls.runtime"),
    }
)


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


def script_digest(wildcards: object, input: Any) -> str:
    """`code_digest` of what a rule's script imports, as a Snakemake parameter; the script itself is an input."""
    return code_digest(*_imported(Path(input.script)))


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
