"""Accuracy of pack questions that are whole, cut or gone in their prompt, at each share."""

import argparse

from rcwt.analysis.cells import write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_conditions, gather_scores
from rcwt.base.scripting import exit_on_error
from rcwt.report.pack_items import pack_items


@exit_on_error
def main() -> None:
    """Read manifest and scores, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", nargs="*", default=[], help="manifest of the run; none for published data")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    rows = [row for path in options.manifest for row in gather_conditions(path, options.planned)]
    write_csv(pack_items(rows, gather_scores(options.scores, options.planned)), options.out)


if __name__ == "__main__":
    main()
