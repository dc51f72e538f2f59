"""Figure 2: accuracy in all windows, by share and by residual tokens."""

import argparse
from typing import Any

from rcwt.analysis.gathering import add_planned_argument, gather_cells
from rcwt.base.scripting import exit_on_error
from rcwt.report.figure_2 import draw
from rcwt.report.figures import save
from rcwt.report.selection import add_selection_arguments, select_windows


@exit_on_error
def main() -> None:
    """Read the cells, draw, write three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    add_selection_arguments(parser)
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.pdf, PREFIX.png and PREFIX.svg")
    options = parser.parse_args()
    shown: dict[str, Any] = {name: getattr(options, name) for name in ("judge", "experiment", "models", "embedded")}
    save(draw(select_windows(gather_cells(options.cells, options.planned), **shown)), options.out)


if __name__ == "__main__":
    main()
