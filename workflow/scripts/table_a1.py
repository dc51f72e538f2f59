"""Table A1: effective accuracy of every model at every share, as printed values, from a cells table."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_cells
from rcwt.base.scripting import exit_on_error
from rcwt.report.selection import add_selection_arguments, select_from
from rcwt.report.table_a1 import write_table_a1


@exit_on_error
def main() -> None:
    """Read the cells, pick those to show, write the table in three forms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    add_selection_arguments(parser)
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.csv, PREFIX.md and PREFIX.tex")
    options = parser.parse_args()
    write_table_a1(select_from(gather_cells(options.cells, options.planned), options), options.out)


if __name__ == "__main__":
    main()
