"""Fingerprints: of values as canonical JSON, of files, and of the code that a stage's result depends on."""

import ast
import hashlib
import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent

#: Modules that shape no result by themselves: what they read reaches a stage through parameters of its own,
#: so that a reworded error message reruns nothing.
NEUTRAL = frozenset(
    {
        *(
            "errors",
            "config",
            "config_values",
            "config_designs",
            "config_files",
            "config_check",
            "results_folder",
            "sealed",
            "planned",
            "gathering",
        ),
        *("digests", "tasks", "task_items", "tokens", "study", "runtime"),
        *("parameters", "spellings", "thinking"),
    }
)


# Python 3.11 counts the depth of a tree for all threads together, and fails where two of them parse at a time.
_parsing = threading.Lock()


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
    """sha256 of the sources of `modules` of this package and of what they import from it, neutral ones aside."""
    wanted, seen = list(modules), set[Path]()
    while wanted:
        for path in _files(wanted.pop()):
            if path not in seen:
                seen.add(path)
                wanted += _imports(path)
    parts = [f"{path.relative_to(PACKAGE).as_posix()} {file_digest(path)}" for path in sorted(seen)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _files(module: str) -> list[Path]:
    """Source files of a module: itself, or every file of a subpackage."""
    if module.split(".")[0] in NEUTRAL:
        return []
    path = PACKAGE / Path(*module.split("."))
    return sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


@cache
def _imports(path: Path) -> list[str]:
    """Modules of this package that a source file imports, in whichever form."""
    names: list[str] = []
    with _parsing:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # The imported name may itself be a module: `from rcwt import curves`.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    inside = [name.removeprefix("rcwt.") for name in names if name.startswith("rcwt.")]
    return [name for name in inside if _is_module(name)]


def _is_module(name: str) -> bool:
    path = PACKAGE / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()
