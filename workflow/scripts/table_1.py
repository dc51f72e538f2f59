"""Table 1: theta of the base window, and p0 predicted from it and observed in larger windows."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_cells
from rcwt.base.scripting import exit_on_error
from rcwt.report.scaling import scaling_from, write_table_1
from rcwt.report.selection import add_selection_arguments, read_curves


@exit_on_error
def main() -> None:
    """Read cells and fits, pick those to show, write the table in four forms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    parser.add_argument("--curves", required=True, help="curve_fits.csv")
    add_selection_arguments(parser)
    add_planned_argument(parser)
    parser.add_argument(
        "--out", required=True, metavar="PREFIX", help="writes PREFIX.csv, PREFIX_full.csv, PREFIX.md and PREFIX.tex"
    )
    options = parser.parse_args()
    write_table_1(
        scaling_from(gather_cells(options.cells, options.planned), read_curves(options.curves), options), options.out
    )


if __name__ == "__main__":
    main()
