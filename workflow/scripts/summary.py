"""What a run found, in a few lines: summary.txt, from the trials, the cells tables and the curve fits."""

import argparse
from pathlib import Path

from rcwt.analysis.accounts import read_accounts
from rcwt.analysis.gathering import add_planned_argument, gather_cells, gather_trials
from rcwt.base.files import write_text
from rcwt.base.scripting import exit_on_error
from rcwt.reader.label import LABEL, NAME
from rcwt.report.printed import read_printed
from rcwt.report.selection import read_curves
from rcwt.report.summary import summary
from rcwt.trials.caps import read_caps


@exit_on_error
def main() -> None:
    """Read the results, write the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--cells", nargs="*", default=[], help="cells tables of all kinds")
    parser.add_argument("--curves", required=True, help="curve_fits.csv")
    parser.add_argument("--embedded", nargs="*", default=[NAME], help=f"models that are the {LABEL} (default: {NAME})")
    parser.add_argument("--paper", help="the paper's printed Table A1")
    parser.add_argument("--accounts", nargs="?", help="window_accounts.csv")
    parser.add_argument("--table", nargs="*", default=[], help="where the tables are, each as KIND=PLACE")
    parser.add_argument("--figure", nargs="*", default=[], help="where the figures are, each as KIND=PLACE")
    parser.add_argument("--caps", default="{}", help="output caps by experiment and model, as JSON (default: none)")
    add_planned_argument(parser)
    parser.add_argument("--out", type=Path, required=True, help="text file to write")
    options = parser.parse_args()
    text = summary(
        gather_trials(options.trials, options.planned),
        [gather_cells(path, options.planned) for path in options.cells],
        read_curves(options.curves),
        [_place(text) for text in options.table],
        [_place(text) for text in options.figure],
        options.embedded,
        read_printed(options.paper) if options.paper else None,
        read_accounts(options.accounts) if options.accounts else None,
        read_caps(options.caps),
    )
    write_text(text, options.out)


def _place(text: str) -> tuple[str, str]:
    kind, _, place = text.partition("=")
    return kind, place


if __name__ == "__main__":
    main()
