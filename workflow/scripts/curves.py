"""Table of curve fits: six families and theta with its intervals, from cells tables and their trials."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from rcwt.analysis.cells import CELL_COLUMNS, write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_cells, gather_scores, gather_trials
from rcwt.analysis.refits import curve_fits
from rcwt.base.errors import RcwtError
from rcwt.base.sealed import seal


def main() -> int:
    """Read cells, trials and scores, write the fits; 1 after an error a user can mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, nargs="*", help="cells tables")
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--kind", nargs="+", help="only trials of these kinds; without it, all")
    parser.add_argument("--B", type=int, default=10_000, help="refits of each interval")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    try:
        tables = [gather_cells(path, options.planned) for path in options.cells] or [pd.DataFrame(columns=CELL_COLUMNS)]
        cells = pd.concat(tables, ignore_index=True)
        trials = gather_trials(options.trials, options.planned)
        if options.kind:
            trials = trials[trials["kind"].isin(options.kind)]
        scores = gather_scores(options.scores, options.planned)
        write_csv(curve_fits(cells, trials, scores, options.B, options.seed), options.out)
        seal(Path(options.out))
    except (RcwtError, OSError) as error:
        print(f"curves: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
