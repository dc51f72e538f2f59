"""The intact task's table: complete calls beside growing coordination content, in the paper's form and in full."""

import argparse

from rcwt.analysis.gathering import add_planned_argument, gather_cells, gather_conditions, gather_trials
from rcwt.base.scripting import exit_on_error
from rcwt.reader.label import NAME
from rcwt.report.intact import intact_full, write_intact


@exit_on_error
def main() -> None:
    """Read cells, trials and, of a run, its manifest; write the table in four files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", required=True, help="cells table of the kind 'intact'")
    parser.add_argument("--trials", required=True, help="trials.parquet")
    parser.add_argument("--manifest", nargs="*", default=[], help="manifest of the run; none for published data")
    parser.add_argument("--experiment", nargs="?", default="intact", help="which one of the cells (default: intact)")
    parser.add_argument("--models", nargs="*", default=[], help="only these; default: all")
    parser.add_argument("--embedded", nargs="*", default=[NAME], help="models that are the embedded reader")
    add_planned_argument(parser)
    parser.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.csv, .md, .tex and _full.csv")
    options = parser.parse_args()
    rows = [row for path in options.manifest for row in gather_conditions(path, options.planned)]
    sent = {
        (row["window"], row["order"]): row["prompt_tokens"] for row in rows if row["experiment"] == options.experiment
    }
    full = intact_full(
        gather_cells(options.cells, options.planned),
        gather_trials(options.trials, options.planned),
        sent,
        options.experiment,
    )
    shown = full[full["model"].isin(options.models)] if options.models else full
    write_intact(shown, options.embedded, options.out)


if __name__ == "__main__":
    main()
