"""Where a run may write: a folder that is new, empty or one of ours, and in which it harms nothing else.

The merged configuration that a run writes before anything else is the mark of a results folder. Folders are compared as
they are on disk, links followed, because a link or another spelling leads to the same files.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rcwt.base.cache_folder import cache_folder
from rcwt.base.digests import PACKAGE

#: The mark: this file, beginning with this line.
CONFIGURATION, HEADER = "config.yaml", "# The merged configuration of this run.\n"
#: The project's own folders beside the hidden ones.
SOURCES = ("benchmarks", "config", "docs", "profiles", "resources", "tests", "workflow")
#: What a run makes in its folder; another results folder in there would be mixed up with it.
PARTS = ("audit", "calls", "figures", "logs", "packs", "plan", "prompts", "scores", "tables", "tokens")
#: What works in patterns with wildcards, in a shell and on every file system.
_NAME = re.compile(r"[\w .+=,@/-]+")
_LONGEST_PART, _LONGEST = 255, 1024  # bytes
_ACCEPTED = "a folder that is new, empty (but for a README.md) or that an earlier run has written"


def fault(name: str, artifact: str | None = None) -> str | None:
    """Why a run may not write its results into the folder `name`, with what is accepted; None where it may.

    `artifact` is the folder of published data that is read.
    """
    if not _is_plain(name):
        return (
            "is no plain path; accepted: a folder of letters, digits, spaces and '._-+=,@/' without '..', no part of "
            f"which begins or ends with a space or has more than {_LONGEST_PART} bytes; it may not begin with '-'"
        )
    try:
        folder = Path(name).resolve()
        reason = _of_others(folder, artifact) or _unusable(folder, Path(name).absolute())
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError up to Python 3.12
        reason = f"cannot be used ({getattr(error, 'strerror', None) or 'its links lead nowhere'})"
    return None if reason is None else f"{reason}; accepted: {_ACCEPTED}, such as 'results' or a folder below it"


def is_marked(folder: Path) -> bool:
    """Whether a run has written its merged configuration here."""
    try:
        with (folder / CONFIGURATION).open("rb") as file:
            return file.read(len(HEADER)) == HEADER.encode()
    except OSError:
        return False


def mark(folder: Path, configuration: str) -> None:
    """Write the merged configuration, whole and on disk: a folder with results is refused without it."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{CONFIGURATION}.{os.getpid()}"
    with partial.open("w", encoding="utf-8") as file:
        file.write(HEADER + configuration)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / CONFIGURATION)


def _is_plain(name: str) -> bool:
    parts = Path(name).parts
    return (
        bool(_NAME.fullmatch(name))
        and not name.startswith("-")
        and ".." not in parts
        and all(part == part.strip() and len(part.encode()) <= _LONGEST_PART for part in parts)
        and len(os.path.abspath(name).encode()) <= _LONGEST  # noqa: PTH100  # links are not to be followed here
    )


def _of_others(folder: Path, artifact: str | None) -> str | None:
    """What the folder belongs to, if it is not for results."""
    for project in _projects(folder):
        below = _below(folder, project)
        if _below(project, folder) is not None:
            return "is the project's own folder or one above it"
        if below and below[0].startswith("."):
            return f"is in the project's '{below[0]}'"
        for source in SOURCES:
            if (below and below[0].casefold() == source) or _below(folder, project / source) is not None:
                return f"is in the project's '{source}'"
    if ".git" in map(str.casefold, folder.parts):
        return "is in a git repository's own folder"
    if any(_below(folder, environment) is not None for environment in _environments(folder)):
        return "is in a Python environment"
    if _below(folder, cache_folder().resolve()) is not None:
        return "is in the response cache"
    if artifact is not None and _below(folder, Path(artifact).resolve()) is not None:
        return "is in the folder 'artifact', whose CSV files are read"
    for above in folder.parents:
        part = _below(folder, above)
        if part and part[0] in PARTS and is_marked(above):
            return f"is in '{part[0]}' of the results in {above}"
    return None


def _projects(folder: Path) -> Iterator[Path]:
    """This checkout, the folder the run is started in, and any other checkout that holds the folder."""
    yield from dict.fromkeys((Path.cwd().resolve(), PACKAGE.parents[1].resolve()))
    yield from (above for above in (folder, *folder.parents) if (above / "workflow/rcwt").is_dir())


def _environments(folder: Path) -> Iterator[Path]:
    """Python environments that could hold the folder; one that holds the project as well is no reason."""
    named = [sys.prefix, *filter(None, map(os.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX")))]
    found = [above for above in (folder, *folder.parents) if (above / "pyvenv.cfg").is_file()]
    for environment in {*map(Path, named), *found}:
        if _below(Path.cwd().resolve(), environment.resolve()) is None:
            yield environment.resolve()


def _below(path: Path, above: Path) -> tuple[str, ...] | None:
    """The parts of `path` below `above`, none where they are the same folder; None where it lies elsewhere."""
    wanted = _identity(above)
    for folder in (path, *path.parents):
        if folder == above or (wanted is not None and _identity(folder) == wanted):
            return path.parts[len(folder.parts) :]
    return None


def _identity(path: Path) -> tuple[int, int] | None:
    """What a folder is on disk: one file system may take two spellings for the same."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _unusable(folder: Path, spelled: Path) -> str | None:
    """Why nothing can be written into a folder, or nothing without mixing it with what is there."""
    for place in (spelled, *spelled.parents):
        if place.is_symlink() and not place.exists():
            return f"leads over the link {place} to a folder that does not exist"
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir():
        return "is a file" if there == folder else f"lies below {there}, which is a file"
    if not os.access(there, os.W_OK | os.X_OK):
        return "cannot be written" if there == folder else f"cannot be made: {there} cannot be written"
    if there != folder or is_marked(folder):
        return None
    other = _other_file(folder)
    if other is None:
        return None
    return (
        f"holds {other} and no merged configuration ({CONFIGURATION}) of a run, so that it may be someone's own folder"
    )


def _other_file(folder: Path) -> str | None:
    """Something in a folder without a mark that no run has written; results in folders below stand for themselves."""
    cache = cache_folder().resolve()
    for entry in sorted(folder.iterdir()):
        left = entry.name.startswith(f".{CONFIGURATION}.")  # a run ended while it wrote its mark
        link = entry.is_symlink()
        if left or (entry.name == "README.md" and entry.is_file()) or (not link and _below(cache, entry) is not None):
            continue
        if link or not entry.is_dir() or (entry.name in PARTS and is_marked(entry)):
            return f"'{entry.name}'"
        if not is_marked(entry) and (inside := _other_file(entry)):
            return f"'{entry.name}/{inside[1:]}"
    return None
