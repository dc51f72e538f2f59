"""Which cells the tables, figures and summary show, and the curve fits that belong to them (paper, Table A1)."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.analysis.cells import MAIN_WINDOW, POOLED
from rcwt.base.errors import RcwtError
from rcwt.base.sealed import read_csv
from rcwt.reader.label import LABEL as READER_LABEL
from rcwt.reader.label import NAME as READER_NAME

#: The paper's models, in the paper's order; all others follow in the order of the cells.
PAPER_MODELS = ("gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini")
MAIN_EXPERIMENT = "fixed_budget"
ORIGINAL_JUDGE = "original"
SOURCES = {"run": "new calls", "published": "published data", "simulated": "simulated"}
#: Columns of `curve_fits.csv` that are shown.
_FIT_FLAGS = ("converged", "at_bound", "identified")
_FIT_NUMBERS = (
    *("window", "p0", "p0_search_end", "theta", "theta_ci_low", "theta_ci_high", "theta_ci_identified"),
    *("theta_facts_low", "theta_facts_high", "theta_facts_identified"),
)


class TableError(RcwtError):
    """A table that was asked for and cannot be made from the cells there are."""


@dataclass(frozen=True)
class Selection:
    """The pooled cells of one experiment, window and judge, as a table or figure shows them.

    `rows` has the columns of a cells table; `embedded` names the models that are the extractive reader.
    Experiment, window (tokens) and judge are None where the cells table has no rows; so is the window where all
    windows are shown.
    """

    rows: pd.DataFrame
    models: tuple[str, ...]
    experiment: str | None
    window: int | None
    judge: str | None
    embedded: tuple[str, ...] = (READER_NAME,)

    @property
    def source(self) -> str:
        """Where the numbers come from: `new calls`, `published data` or `simulated`; empty without rows."""
        return ", ".join(SOURCES.get(source, source) for source in dict.fromkeys(self.rows["source"]))

    @property
    def published(self) -> bool:
        """Whether the paper's own calls are shown."""
        return bool((self.rows["source"] == "published").any())

    def of(self, model: str) -> pd.DataFrame:
        """The rows of one model, by rising share."""
        return self.rows[self.rows["model"] == model].sort_values("q", kind="stable")

    def explained(self) -> dict[str, str]:
        """What must be said of a model that is shown, by model."""
        return {model: READER_LABEL for model in self.models if model in self.embedded}


def select(
    cells: pd.DataFrame,
    *,
    judge: str | None = None,
    experiment: str | None = None,
    window: int | None = None,
    models: Sequence[str] = (),
    embedded: Sequence[str] = (READER_NAME,),
) -> Selection:
    """Pick the pooled cells to show.

    What is not asked for is chosen: the main experiment or else the first; 4 096 tokens or else the smallest window;
    the paper's own judge or else the only one; the paper's models in its order, then the others as they come. A model
    that is asked for and has no cells is kept, its values missing. Raises TableError for a judge, experiment or
    window that the cells do not hold, where several judges leave the choice open, and for mixed sources.
    """
    rows = cells[cells["order"] == POOLED]
    if rows.empty:
        return Selection(rows, tuple(models), experiment, window, judge, tuple(embedded))
    experiment = _experiment(rows, experiment)
    rows = rows[rows["experiment"] == experiment]
    windows = sorted({int(size) for size in rows["window"]})
    window = _chosen("window", window, windows, MAIN_WINDOW if MAIN_WINDOW in windows else windows[0])
    return _judged(rows[rows["window"] == window], experiment, window, judge, models, embedded)


def select_windows(
    cells: pd.DataFrame,
    *,
    judge: str | None = None,
    experiment: str | None = None,
    models: Sequence[str] = (),
    embedded: Sequence[str] = (READER_NAME,),
) -> Selection:
    """Pick the pooled cells of all windows of one experiment, under one judge; else as `select`."""
    rows = cells[cells["order"] == POOLED]
    if rows.empty:
        return Selection(rows, tuple(models), experiment, None, judge, tuple(embedded))
    experiment = _experiment(rows, experiment)
    return _judged(rows[rows["experiment"] == experiment], experiment, None, judge, models, embedded)


def _experiment(rows: pd.DataFrame, asked: str | None) -> str:
    found = list(dict.fromkeys(rows["experiment"]))
    return str(_chosen("experiment", asked, found, MAIN_EXPERIMENT if MAIN_EXPERIMENT in found else found[0]))


def _judged(
    rows: pd.DataFrame,
    experiment: str,
    window: int | None,
    judge: str | None,
    models: Sequence[str],
    embedded: Sequence[str],
) -> Selection:
    """The rows of one judge and of the models to show, from one source."""
    judges = list(dict.fromkeys(rows["judge"]))
    only = judges[0] if len(judges) == 1 else None
    judge = _chosen("judge", judge, judges, ORIGINAL_JUDGE if ORIGINAL_JUDGE in judges else only)
    rows = rows[rows["judge"] == judge]
    if rows["source"].nunique() > 1:
        raise TableError(
            f"cells of {experiment}: sources {', '.join(sorted(set(rows['source'])))} in one table; accepted: one "
            "source a run. Give each its own results_dir"
        )
    shown = tuple(models) or paper_order(rows["model"])
    return Selection(rows[rows["model"].isin(shown)], shown, experiment, window, judge, tuple(embedded))


def _chosen(what: str, asked: Any, found: Sequence[Any], default: Any) -> Any:
    value = default if asked is None else asked
    if value is None or value not in found:
        which = "none is named" if value is None else f"found {value}"
        raise TableError(f"--{what}: {which}; accepted: {', '.join(map(str, found))}, which the cells hold")
    return value


def paper_order(models: "Sequence[str] | pd.Series[Any]") -> tuple[str, ...]:
    """Each model once: those of the paper in its order, then the others in the order given."""
    given = list(dict.fromkeys(models))
    known = [model for model in PAPER_MODELS if model in given]
    return (*known, *(model for model in given if model not in known))


def add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options by which a script says which cells it shows."""
    parser.add_argument("--experiment", help=f"default: {MAIN_EXPERIMENT}, or else the first of the cells")
    parser.add_argument("--window", type=int, help=f"tokens; default: {MAIN_WINDOW}, or else the smallest")
    parser.add_argument("--judge", help=f"default: {ORIGINAL_JUDGE}, or else the only one")
    parser.add_argument("--models", nargs="*", default=[], help="which, in this order; default: all, the paper's first")
    parser.add_argument(
        "--embedded", nargs="*", default=[READER_NAME], help=f"models that are the {READER_LABEL} (default: reader)"
    )


def select_from(cells: pd.DataFrame, options: argparse.Namespace) -> Selection:
    """Pick the cells that the options of `add_selection_arguments` name."""
    return select(
        cells,
        judge=options.judge,
        experiment=options.experiment,
        window=options.window,
        models=options.models,
        embedded=options.embedded,
    )


def fit_of(
    curves: pd.DataFrame, experiment: str, window: int, judge: str, model: str, fitted_to: str = "accuracy"
) -> "pd.Series[Any] | None":
    """The row of `curve_fits.csv` with a model's logistic fit to its `accuracy` or `ceiling`; None without one."""
    if curves.empty:
        return None
    wanted = {
        "experiment": experiment,
        "window": window,
        "judge": judge,
        "model": model,
        "fitted_to": fitted_to,
        "family": "logistic",
    }
    rows = curves[(curves[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return None if rows.empty else rows.iloc[0]


def read_curves(path: str | Path) -> pd.DataFrame:
    """Read `curve_fits.csv`; `identified`, `converged` and `at_bound` become booleans.

    Raises StaleResultError for any other file.
    """
    texts = ("source", "experiment", "model", "judge", "fitted_to", "family")
    return read_csv(path, (*texts, *_FIT_NUMBERS, *_FIT_FLAGS), texts, _FIT_FLAGS)
