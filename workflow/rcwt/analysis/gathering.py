"""How the scripts read the tables of a run: whole, and holding the planned cells."""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.analysis.cells import read_cells
from rcwt.base.sealed import require_seal
from rcwt.study import manifest
from rcwt.study.planned import PLANNED_FILE, planned_of
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, read_table


def add_planned_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the planned cells."""
    parser.add_argument(
        "--planned", nargs="?", type=Path, help=f"{PLANNED_FILE}: cells that must all be there, no other"
    )


def gather_trials(path: str | Path, planned: Path | None) -> pd.DataFrame:
    """The trials of a run. Raises StaleResultError where they are not the planned ones."""
    table = read_table(path, TRIAL_SCHEMA)
    if (plan := planned_of(planned)) is not None:
        plan.require_trials(table, path)
    return table


def gather_scores(path: str | Path, planned: Path | None) -> pd.DataFrame:
    """The scores of a run. Raises StaleResultError where they are not the planned ones."""
    table = read_table(path, SCORE_SCHEMA)
    if (plan := planned_of(planned)) is not None:
        plan.require_scores(table, path)
    return table


def gather_cells(path: str | Path, planned: Path | None) -> pd.DataFrame:
    """A cells table of a run. Raises StaleResultError where its cells are not the planned ones."""
    table = read_cells(path, sealed=False)
    if (plan := planned_of(planned)) is not None:
        plan.require_cells(table, path)
    require_seal(Path(path))
    return table


def gather_conditions(path: str | Path, planned: Path | None) -> list[dict[str, Any]]:
    """The manifest of a run. Raises StaleResultError where its conditions are not the planned ones."""
    return manifest.read(Path(path), planned_of(planned))
