"""Three accounts of how the cliff moves with the window, fitted to all windows at once, from a cells table."""

import argparse

from rcwt.accounts import window_accounts
from rcwt.scripting import exit_on_error
from rcwt.statistics import read_cells, write_csv


@exit_on_error
def main() -> None:
    """Read the cells, fit the accounts of every model and judge, write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table")
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    write_csv(window_accounts(read_cells(options.cells)), options.out)


if __name__ == "__main__":
    main()
