"""Three accounts of how the cliff moves with the window, fitted to all windows at once, from a cells table."""

import argparse
from pathlib import Path

from rcwt.analysis.accounts import window_accounts
from rcwt.analysis.cells import write_csv
from rcwt.analysis.gathering import add_planned_argument, gather_cells
from rcwt.base.scripting import exit_on_error
from rcwt.base.sealed import seal


@exit_on_error
def main() -> None:
    """Read the cells, fit the accounts of every model and judge, write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    write_csv(window_accounts(gather_cells(options.cells, options.planned)), options.out)
    seal(Path(options.out))


if __name__ == "__main__":
    main()
