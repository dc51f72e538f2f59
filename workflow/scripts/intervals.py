"""Cells table of one kind of experiment: means, bounds and 95 % intervals, from trials and scores."""

import argparse
from pathlib import Path

from rcwt.analysis.cells import cells, write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_scores, gather_trials
from rcwt.base.scripting import exit_on_error
from rcwt.base.sealed import seal


@exit_on_error
def main() -> None:
    """Read the two tables, keep one kind, write its cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--kind", required=True, help="kind of experiment, as in the trials' column 'kind'")
    parser.add_argument("--B", type=int, default=10_000, help="bootstrap draws")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    add_planned_argument(parser)
    parser.add_argument("--out", type=Path, required=True, help="CSV to write")
    options = parser.parse_args()
    trials = gather_trials(options.trials, options.planned)
    trials = trials[trials["kind"] == options.kind]
    write_csv(cells(trials, gather_scores(options.scores, options.planned), options.B, options.seed), options.out)
    seal(options.out)


if __name__ == "__main__":
    main()
