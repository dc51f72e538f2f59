"""The packs of an experiment: its questions found, read and dealt, before any call."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rcwt.config.designs import Packs
from rcwt.packs.drawing import Pack, draw
from rcwt.packs.hub import HubFile, fetch
from rcwt.packs.items import BENCHMARKS, Benchmark, PackError, Question
from rcwt.packs.sources import BUNDLED, BUNDLED_LICENCE, SourceFile, file_sha256, local_file, questions


@dataclass(frozen=True)
class Deck:
    """An experiment's benchmark, where its questions are from, and its packs by name."""

    benchmark: Benchmark
    source: SourceFile
    packs: dict[str, Pack]


def deal(experiment: str, design: Packs, *, offline: bool, bundled: Path = BUNDLED) -> Deck:
    """Find, read and deal the questions of a design.

    Raises PackError that names the experiment and what is wrong with source, file, row or number of questions.
    """
    benchmark = _benchmark(experiment, design)
    try:
        source = _source(design, benchmark, offline, bundled)
        found = _questions(source.path, benchmark, file_sha256(source.path))
        packs = draw(found, design.packs, design.items, design.seed, str(source.path))
    except PackError as error:
        raise PackError(f"designs.{experiment}: {error}") from None
    return Deck(benchmark, source, {pack.name: pack for pack in packs})


def _benchmark(experiment: str, design: Packs) -> Benchmark:
    name = design.benchmark or design.task
    if name not in BENCHMARKS:
        raise PackError(
            f"designs.{experiment}.benchmark: found '{name}', the name of the task; accepted: {', '.join(BENCHMARKS)}. "
            "Say with 'benchmark' which of them the questions are"
        )
    return name


def _source(design: Packs, benchmark: Benchmark, offline: bool, bundled: Path) -> SourceFile:
    if design.source == "path":
        return local_file("path", Path(design.path or ""))
    if design.source == "hub":
        wanted = HubFile(repo=design.repo or "", file=design.file or "", revision=design.revision or "")
        return fetch(wanted, offline=offline)
    return local_file("bundled", bundled / f"{benchmark}.jsonl", BUNDLED_LICENCE)


@lru_cache(maxsize=8)
def _questions(path: Path, benchmark: Benchmark, sha256: str) -> tuple[Question, ...]:
    """The questions of a file; `sha256` is part of the key, so that a changed file is read again."""
    return tuple(questions(path, benchmark))


def record(deck: Deck) -> dict[str, Any]:
    """What was drawn and from where, as it is kept beside the results."""
    source = deck.source
    return {
        "benchmark": deck.benchmark,
        "source": source.kind,
        "file": source.file or source.path.as_posix(),
        "repo": source.repo,
        "revision": source.revision,
        "licence": source.licence,
        "sha256": source.sha256,
        "packs": {name: [question.id for question in pack.questions] for name, pack in deck.packs.items()},
    }
