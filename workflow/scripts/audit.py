"""The audit of the judges: draw a blind sample for a person, or check the sample that a person has scored."""

import argparse
from pathlib import Path

from rcwt.analysis.gathering import add_planned_argument, gather_conditions
from rcwt.base.scripting import exit_on_error
from rcwt.study.tasks import load_task
from rcwt.trials.aggregation import CellFiles
from rcwt.trials.audit import KEY_COLUMNS, SAMPLE_COLUMNS, cells_of, draw, read_scored, write_rows, write_scored


@exit_on_error
def main() -> None:
    """Read every cell of the run, then draw or check."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--manifest", type=Path, required=True)
    common.add_argument("--results", type=Path, required=True, help="folder that holds calls/")
    common.add_argument("--models", nargs="+", required=True)
    common.add_argument("--tasks", type=Path, nargs="+", required=True, help="task folders")
    add_planned_argument(common)
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", parents=[common], help="draw a sample")
    drawing.add_argument("--per-cell", type=int, required=True, help="trials of each cell")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--sample", type=Path, required=True, help="output: what a person scores")
    drawing.add_argument("--key", type=Path, required=True, help="output: which trial each sample is")
    checking = commands.add_parser("check", parents=[common], help="check a scored sample")
    checking.add_argument("--scored", type=Path, required=True)
    checking.add_argument("--out", type=Path, required=True, help="output: the scores by sample and item")
    options = parser.parse_args()
    items = {folder.name: load_task(folder).items for folder in options.tasks}
    cells = cells_of(
        gather_conditions(options.manifest, options.planned), CellFiles(options.results), options.models, items
    )
    if options.command == "draw":
        sample, key = draw(cells, options.per_cell, options.seed)
        write_rows(sample, SAMPLE_COLUMNS, options.sample)
        write_rows(key, KEY_COLUMNS, options.key)
    else:
        write_scored(read_scored(options.scored, cells), options.out)


if __name__ == "__main__":
    main()
