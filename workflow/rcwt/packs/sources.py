"""Where the questions of a pack come from: the project's own, a file, or a dataset of the hub at a pinned revision."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rcwt.packs import drop, gsm8k, mmlu_pro
from rcwt.packs.drawing import distinct
from rcwt.packs.items import Benchmark, Question
from rcwt.packs.rows import DataRow, read_rows

#: Questions that the project brings along, one file a benchmark.
BUNDLED = Path("resources/packs")
BUNDLED_LICENCE = "MIT"
_READERS: dict[Benchmark, Callable[[Iterable[DataRow]], Iterator[tuple[DataRow, Question]]]] = {
    "gsm8k": gsm8k.questions,
    "mmlu_pro": mmlu_pro.questions,
    "drop": drop.questions,
}


@dataclass(frozen=True)
class SourceFile:
    """A file of questions and what is known of where it is from; None is unknown."""

    kind: str  # bundled, path or hub
    path: Path
    sha256: str
    repo: str | None = None
    revision: str | None = None
    licence: str | None = None
    file: str | None = None  # name inside the repository


def local_file(kind: str, path: Path, licence: str | None = None) -> SourceFile:
    """A file on this machine. Its questions are read by `questions`, which says what is wrong with it."""
    return SourceFile(kind, path, file_sha256(path), licence=licence)


def file_sha256(path: Path) -> str:
    """sha256 of a file, or an empty text where it cannot be read: reading its questions says why."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def questions(path: Path, benchmark: Benchmark) -> list[Question]:
    """All different questions of a file, in its order. Raises PackError naming file, row and column."""
    return distinct(_READERS[benchmark](read_rows(path)), benchmark)
