"""Fingerprints: of values as canonical JSON, of files, and of the code that a stage's result depends on."""

import ast
import contextlib
import hashlib
import itertools
import json
import os
import re
import socket
import threading
import time
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
_numbers = itertools.count()
_HALF_WRITTEN = re.compile(
    r"\.(?P<pid>[0-9]+)-[0-9]+@(?P<host>.+)\.part|\..+\.(json|yaml|log|csv|jsonl|md|tex|txt)\.(?P<old>[0-9]+)"
)
#: A file is written in less, in seconds.
_WRITTEN_S, _DAY_S = 60.0, 86400.0


def canonical_json(value: Any) -> str:
    """One spelling for equal values: sorted keys, no spaces, text as it is. Raises TypeError for other types."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of `value`, as hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, as hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_text(text: str, path: Path) -> None:
    """Write a file whole: beside its place first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{os.getpid()}-{next(_numbers)}@{socket.gethostname()}.part")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def clear_half_written(folder: Path) -> None:
    """Remove what killed processes have left of `write_text` in a folder and below it.

    Another host's process may live: what it left is removed after a day.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            made = _HALF_WRITTEN.fullmatch(name)
            if made is None:
                continue
            path = Path(place) / name
            with contextlib.suppress(OSError):
                age = time.time() - path.stat().st_mtime
                # Of versions that named no host, a name alone may be a user's own.
                here = made["host"] == socket.gethostname() if made["host"] else age > _WRITTEN_S
                if age > _DAY_S or (here and not _lives(int(made["pid"] or made["old"]))):
                    path.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def write_json(value: Any, path: Path) -> None:
    """Write a value as indented JSON."""
    write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", path)


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
