"""Table of how far the judges of the same responses agree, with Cohen's kappa, from trials and scores."""

import argparse

from rcwt.analysis.agreement import judge_agreement
from rcwt.analysis.cells import write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_scores, gather_trials
from rcwt.base.scripting import exit_on_error


@exit_on_error
def main() -> None:
    """Read the two tables and write the comparison of every two judges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--judges", nargs="*", default=[], help="in their order; without it, headline judges first")
    parser.add_argument("--B", type=int, default=10_000, help="bootstrap draws")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    trials, scores = gather_trials(options.trials, options.planned), gather_scores(options.scores, options.planned)
    write_csv(judge_agreement(trials, scores, options.judges, options.B, options.seed), options.out)


if __name__ == "__main__":
    main()
