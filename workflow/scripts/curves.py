"""Table of curve fits: six families and theta with its intervals, from cells tables and their trials."""

import argparse
from pathlib import Path

import pandas as pd

from rcwt.analysis.cells import CELL_COLUMNS, write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_cells, gather_scores, gather_trials
from rcwt.analysis.refits import curve_fits
from rcwt.base.scripting import exit_on_error
from rcwt.base.sealed import seal


@exit_on_error
def main() -> None:
    """Read cells, trials and scores, write the fits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, nargs="*", help="cells tables")
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--B", type=int, default=10_000, help="refits of each interval")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    add_planned_argument(parser)
    parser.add_argument("--out", type=Path, required=True, help="CSV to write")
    options = parser.parse_args()
    tables = [gather_cells(path, options.planned) for path in options.cells] or [pd.DataFrame(columns=CELL_COLUMNS)]
    cells = pd.concat(tables, ignore_index=True)
    trials, scores = gather_trials(options.trials, options.planned), gather_scores(options.scores, options.planned)
    write_csv(curve_fits(cells, trials, scores, options.B, options.seed), options.out)
    seal(options.out)


if __name__ == "__main__":
    main()
