"""The cells that a run has planned, against which every step holds what it gathers.

They are written when a run starts; of the paper's own calls they are those that were read. A step that finds a cell
less, a cell more or another number of calls refuses its file: a table of nine trials of twelve looks like any other.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcwt.base.digests import canonical_json, digest
from rcwt.base.errors import StaleResultError
from rcwt.base.files import write_text
from rcwt.base.sealed import damaged, read_json

if TYPE_CHECKING:
    import pandas as pd

    from rcwt.study.study import Study

PLANNED_FILE = "planned.json"
#: What names a cell in the two tables of a run.
PLACE = ("experiment", "window", "order", "pack", "q", "model")
_SHARE = ("experiment", "window", "q", "model")
_POOLED = "pooled"
#: The text before a model's name in the file name of a cells table is its kind.
_CELLS = "_cells.csv"

Counts = Mapping[tuple[Hashable, ...], int]


@dataclass(frozen=True)
class Planned:
    """Cells with their keys `condition` (empty for published calls), `prompt_sha256`, `kind`, those of PLACE, `trials`
    and `judges`: score rows by judge."""

    cells: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, study: "Study") -> "Planned":
        """The cells that a configuration plans."""
        cells = []
        for name, condition in study.conditions.items():
            items = len(study.item_ids(name))
            shared = {
                **{"condition": name, "prompt_sha256": study.prompts[name].sha256, "kind": condition.kind},
                **{"experiment": condition.experiment, "window": condition.window, "order": condition.order},
                **{"pack": condition.pack or "", "q": float(condition.q), "trials": condition.trials},
                "judges": dict.fromkeys(study.judges_of(name), condition.trials * items),
            }
            cells += [{**shared, "model": model} for model in study.config.models]
        return cls(tuple(cells))

    @classmethod
    def found(cls, trials: "pd.DataFrame", scores: "pd.DataFrame") -> "Planned":
        """The cells of published calls, as they were read."""
        place = list(PLACE)
        rows: dict[Any, dict[str, int]] = {}
        for judged, count in _sizes(scores, [*place, "judge"]).items():
            rows.setdefault(judged[:-1], {})[str(judged[-1])] = count
        kinds = _keyed(trials).groupby([*place, "kind"], dropna=False)
        cells = []
        for (*key, kind), own in kinds:
            headlines = dict.fromkeys(own["headline_judge"].dropna(), 0)
            named = {
                name: value.item() if hasattr(value, "item") else value for name, value in zip(place, key, strict=True)
            }
            judges = {**headlines, **rows.get(tuple(key), {})}
            cells.append(
                {"condition": "", "prompt_sha256": "", "kind": kind, **named, "trials": len(own), "judges": judges}
            )
        return cls(tuple(cells))

    def write(self, path: Path) -> None:
        """Write the cells for the steps of a run to read."""
        write_text(canonical_json({"cells": self.cells, "checksum": digest(self.cells)}) + "\n", path)

    @classmethod
    def read(cls, path: Path) -> "Planned":
        """Read what `write` wrote. Raises StaleResultError for any other file."""
        try:
            content = read_json(path)
            whole = set(content) == {"cells", "checksum"} and digest(content["cells"]) == content["checksum"]
        except StaleResultError:
            whole = False
        if not whole:
            # A run writes it when it starts, an import of published calls with its trials.
            raise StaleResultError(
                f"{path}: not the planned cells of a run; the file is missing, cut or changed. Delete it and "
                f"{path.with_name('trials.parquet')} and run the same command again; kept responses are not asked again"
            )
        return cls(tuple(content["cells"]))

    def require_conditions(self, manifest: Iterable[Mapping[str, Any]], path: Path) -> None:
        """Raise StaleResultError where the rows of a manifest are not the planned conditions and their prompts."""
        found: dict[tuple[Hashable, ...], int] = {}
        prompts: dict[str, tuple[Any, ...]] = {}
        for row in manifest:
            if (row["condition"],) in found:
                raise damaged(path, f"the condition {row['condition']} stands there twice")
            found[row["condition"],] = row["trials"]
            prompts[row["condition"]] = tuple(row[name] for name in _OF_CONDITION)
        _compare({(cell["condition"],): cell["trials"] for cell in self.cells}, found, path, "conditions")
        for cell in self.cells:
            if prompts[cell["condition"]] != (*(cell[name] or None for name in _OF_CONDITION[:-1]), cell["q"]):
                raise damaged(path, f"{cell['condition']} is not the planned condition with its prompt")

    def require_trials(self, trials: "pd.DataFrame", path: str | Path) -> None:
        """Raise StaleResultError where the trials table holds other cells or numbers of trials."""
        _compare({_place(cell): cell["trials"] for cell in self.cells}, _sizes(trials, PLACE), path, "cells")

    def require_scores(self, scores: "pd.DataFrame", path: str | Path) -> None:
        """Raise StaleResultError where a cell has other judges, or other numbers of their scores."""
        planned = {
            (*_place(cell), judge): rows for cell in self.cells for judge, rows in cell["judges"].items() if rows
        }
        _compare(planned, _sizes(scores, (*PLACE, "judge")), path, "judged cells")

    def require_cells(self, cells: "pd.DataFrame", path: str | Path) -> None:
        """Raise StaleResultError where a cells table, named by its kind, holds other cells or numbers of calls."""
        kind = Path(path).name.removesuffix(_CELLS)
        key = ["experiment", "window", "q", "model", "judge", "order"]
        found = {tuple(row[:-1]): int(row[-1]) for row in cells[[*key, "n_planned"]].itertuples(index=False)}
        _compare(self._pooled.get(kind, {}), found, path, "cells")

    @cached_property
    def _pooled(self) -> dict[str, dict[tuple[Hashable, ...], int]]:
        """Calls by kind of design, share, judge and order, packs added; a judge of a share has all calls of it."""
        judges: dict[tuple[Hashable, ...], dict[str, None]] = {}
        for cell in self.cells:
            judges.setdefault(_share(cell), {}).update(dict.fromkeys(cell["judges"]))
        calls: dict[str, dict[tuple[Hashable, ...], int]] = {}
        for cell in self.cells:
            of = calls.setdefault(cell["kind"], {})
            for judge in judges[_share(cell)]:
                for order in (cell["order"], _POOLED):
                    key = (*_share(cell), judge, order)
                    of[key] = of.get(key, 0) + cell["trials"]
        return calls


#: What a row of the manifest shares with the plan, beside the number of trials.
_OF_CONDITION = ("experiment", "kind", "window", "order", "pack", "prompt_sha256", "q")


@lru_cache(maxsize=4)
def planned_of(path: Path | None) -> Planned | None:
    """The planned cells in a file; None where no file is named."""
    return None if path is None else Planned.read(path)


def _place(cell: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return tuple(cell[name] for name in PLACE)


def _share(cell: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return tuple(cell[name] for name in _SHARE)


def _keyed(table: "pd.DataFrame") -> "pd.DataFrame":
    """No pack is an empty text, because nulls do not group."""
    return table.assign(pack=table["pack"].astype(object).fillna("").astype("str"))


def _sizes(table: "pd.DataFrame", key: Sequence[str]) -> Counts:
    if table.empty:
        return {}
    return {place: int(size) for place, size in _keyed(table).groupby(list(key), dropna=False).size().items()}  # type: ignore[misc]


def _compare(planned: Counts, found: Counts, path: str | Path, what: str) -> None:
    """Raise StaleResultError, naming the first cell, where two counts are not the same."""
    lost = [key for key in planned if key not in found]
    more = [key for key in found if key not in planned]
    other = [key for key in planned if key in found and found[key] != planned[key]]
    parts = []
    if lost:
        parts.append(f"{len(lost)} of {len(planned)} planned {what} are missing, the first is {_named(lost[0])}")
    if more:
        parts.append(f"{len(more)} {what} are not planned, the first is {_named(more[0])}")
    if other:
        first = other[0]
        parts.append(
            f"{len(other)} of {len(planned)} {what} have another number of rows than planned, the first is "
            f"{_named(first)} with {found[first]} of {planned[first]}"
        )
    if parts:
        raise damaged(path, "; ".join(parts))


def _named(key: tuple[Hashable, ...]) -> str:
    return " ".join(str(part) for part in key if part != "")
