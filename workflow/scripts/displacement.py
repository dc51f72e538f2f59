"""What the fixed budget loses at each amount of coordination content, and what the intact task loses there."""

import argparse
from pathlib import Path

from rcwt.analysis.cells import write_csv
from rcwt.analysis.displacement import displacement
from rcwt.analysis.gathering import add_planned_argument, gather_scores, gather_trials
from rcwt.base.scripting import exit_on_error
from rcwt.base.sealed import seal


@exit_on_error
def main() -> None:
    """Read trials and scores, write the table; only its header where an arm is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--fixed", nargs="?", help="experiment whose reference is cut")
    parser.add_argument("--intact", nargs="?", help="experiment whose reference is whole")
    parser.add_argument("--B", type=int, default=10_000, help="resamples")
    parser.add_argument("--seed", type=int, default=0, help="the configuration's bootstrap seed")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    table = displacement(
        gather_trials(options.trials, options.planned),
        gather_scores(options.scores, options.planned),
        options.fixed,
        options.intact,
        options.B,
        options.seed,
    )
    write_csv(table, options.out)
    seal(Path(options.out))


if __name__ == "__main__":
    main()
