"""Share of missing scores of every model; an error that names the cells where too many are missing or have no text."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_scores, gather_trials
from rcwt.base.scripting import exit_on_error
from rcwt.trials.caps import read_caps
from rcwt.trials.completeness import completeness


@exit_on_error
def main() -> None:
    """Read trials and scores, hold the missing scores against the limit, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--max-missing", required=True, type=float, help="largest share accepted, 0 to 1")
    parser.add_argument("--caps", default="{}", help="output caps by experiment and model, as JSON (default: none)")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="table to write")
    options = parser.parse_args()
    table = completeness(
        gather_trials(options.trials, options.planned),
        gather_scores(options.scores, options.planned),
        options.max_missing,
        read_caps(options.caps),
    )
    table.to_csv(options.out, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
