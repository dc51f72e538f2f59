"""Import the paper's per-call CSV files: `trials.parquet`, `scores.parquet` and a report on every file.

All files appear together or not at all: they are written under temporary names and renamed at the end.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from rcwt.base.files import write_together
from rcwt.base.scripting import exit_on_error
from rcwt.base.spreadsheets import as_text
from rcwt.published.artifact import import_artifact, main_task_ceilings, rescore_targets
from rcwt.study.planned import Planned
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, write_table


@exit_on_error
def main() -> None:
    """Read the artifact, write what it holds."""
    parser = argparse.ArgumentParser(description="Import the paper's per-call CSV files.")
    parser.add_argument("--artifact", required=True, type=Path, metavar="DIR", help="folder, searched for *.csv")
    parser.add_argument(
        "--rescore-targets",
        default="{}",
        metavar="JSON",
        help='model ids of rescoring files by folder name or alias, such as {"gpt": "gpt-4.1-mini"}',
    )
    parser.add_argument(
        "--task",
        required=True,
        type=Path,
        metavar="DIR",
        help="task folder whose evidence gives the main task's ceiling",
    )
    for name, what in (
        ("trials", "one row a call"),
        ("scores", "one row an item and judge"),
        ("files", "report"),
    ):
        parser.add_argument(f"--{name}", required=True, type=Path, metavar="OUT", help=what)
    parser.add_argument("--planned", type=Path, metavar="OUT", help="the cells that were read, for the steps below")
    options = parser.parse_args()
    imported = import_artifact(options.artifact, rescore_targets(options.rescore_targets))
    trials = main_task_ceilings(imported.trials, options.task)
    writers: dict[Path, Callable[[Path], object]] = {
        options.trials: lambda path: write_table(trials, TRIAL_SCHEMA, path),
        options.scores: lambda path: write_table(imported.scores, SCORE_SCHEMA, path),
        options.files: lambda path: imported.files.map(as_text).to_csv(path, index=False),
    }
    if options.planned is not None:
        writers[options.planned] = Planned.found(trials, imported.scores).write
    write_together(writers)


if __name__ == "__main__":
    main()
