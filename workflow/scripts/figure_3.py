"""Figure 3: what coordination content displaces, told apart from what it disturbs."""

import argparse

from rcwt.analysis.displacement import read_displacement
from rcwt.base.scripting import exit_on_error
from rcwt.reader.label import LABEL, NAME
from rcwt.report.figure_3 import draw
from rcwt.report.figures import save
from rcwt.report.selection import paper_order


@exit_on_error
def main() -> None:
    """Read the displacement table, pick judge and models, draw and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--displacement", required=True, help="displacement table")
    parser.add_argument("--judge", nargs="?", help="default: the first of the table")
    parser.add_argument("--models", nargs="*", default=[], help="which, in this order; default: all")
    parser.add_argument("--embedded", nargs="*", default=[NAME], help=f"models that are the {LABEL} (default: {NAME})")
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.pdf, PREFIX.png and PREFIX.svg")
    options = parser.parse_args()
    table = read_displacement(options.displacement)
    judge = options.judge or next(iter(table["judge"]), None)
    shown = table[table["judge"] == judge]
    save(draw(shown, options.models or paper_order(shown["model"]), options.embedded), options.out)


if __name__ == "__main__":
    main()
