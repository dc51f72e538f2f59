"""Figure 1: accuracy against the realized share of coordination, beside the evidence ceiling."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_cells
from rcwt.base.scripting import exit_on_error
from rcwt.report.figure_1 import NOT_PRINTED, draw, printed_values
from rcwt.report.figures import save
from rcwt.report.selection import add_selection_arguments, read_curves, select_from


@exit_on_error
def main() -> None:
    """Read cells, fits and the paper's values, draw, write three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    parser.add_argument("--curves", required=True, help="curve_fits.csv")
    parser.add_argument("--paper", help="the paper's printed Table A1; without it no hollow marks")
    add_selection_arguments(parser)
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.pdf, PREFIX.png and PREFIX.svg")
    options = parser.parse_args()
    paper = printed_values(options.paper) if options.paper else NOT_PRINTED
    selection = select_from(gather_cells(options.cells, options.planned), options)
    save(draw(selection, read_curves(options.curves), paper), options.out)


if __name__ == "__main__":
    main()
