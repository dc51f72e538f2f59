"""Table 2: p0, reserve and truncation onset of benchmark packs and main task, in the paper's form and in full."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_cells, gather_trials
from rcwt.base.scripting import exit_on_error
from rcwt.report.selection import add_selection_arguments, read_curves, select_from
from rcwt.report.table_2 import table_2_full, write_table_2


@exit_on_error
def main() -> None:
    """Read cells, fits and trials; write the table in four files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--main", required=True, help="cells table of the kind 'fixed_budget'")
    parser.add_argument("--packs", required=True, help="cells table of the kind 'packs'")
    parser.add_argument("--curves", required=True, help="curve_fits.csv")
    parser.add_argument("--trials", required=True, help="trials.parquet")
    add_selection_arguments(parser)
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.csv, .md, .tex and _full.csv")
    options = parser.parse_args()
    shown = select_from(gather_cells(options.main, options.planned), options)
    curves, trials = read_curves(options.curves), gather_trials(options.trials, options.planned)
    write_table_2(
        table_2_full(shown, gather_cells(options.packs, options.planned), curves, trials, options.models),
        options.embedded,
        options.out,
    )


if __name__ == "__main__":
    main()
