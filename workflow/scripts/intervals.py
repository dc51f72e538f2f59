"""Cells table of one kind of experiment: means, bounds and 95 % intervals, from trials and scores."""

import argparse
import sys

from rcwt.errors import RcwtError
from rcwt.statistics import cells, write_csv
from rcwt.trials import read_table


def main() -> int:
    """Read the two tables, keep one kind, write its cells; 1 after an error a user can mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--kind", required=True, help="kind of experiment, as in the trials' column 'kind'")
    parser.add_argument("--B", type=int, default=10_000, help="bootstrap draws")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    try:
        trials = read_table(options.trials)
        trials = trials[trials["kind"] == options.kind]
        write_csv(cells(trials, read_table(options.scores), options.B, options.seed), options.out)
    except (RcwtError, OSError) as error:
        print(f"intervals: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
