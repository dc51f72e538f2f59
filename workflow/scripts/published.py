"""Import the paper's per-call CSV files: `trials.parquet`, `scores.parquet` and a report on every file.

    python workflow/scripts/published.py --artifact DIR --task DIR --trials OUT --scores OUT --files OUT.csv
        [--planned OUT.json]

All files appear together or not at all: they are written under temporary names and renamed at the end.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from rcwt.base.errors import ConfigError, RcwtError
from rcwt.published.artifact import import_artifact, with_ceilings
from rcwt.published.kinds import INTACT_TASK, MAIN_TASK
from rcwt.study.manifest import ceiling_of_budgets
from rcwt.study.planned import Planned
from rcwt.study.tasks import load_task
from rcwt.trials.audit import as_text
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, write_table


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
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
    return parser.parse_args(argv)


def rescore_targets(text: str) -> dict[str, str]:
    """Read the mapping of the configuration key `rescore_targets`."""
    accepted = 'a JSON object of texts, such as {"gpt": "gpt-4.1-mini"}'
    try:
        found = json.loads(text)
    except ValueError:
        raise ConfigError(f"rescore_targets: found '{text}'; accepted: {accepted}") from None
    if not isinstance(found, dict) or not all(isinstance(model, str) and model for model in found.values()):
        raise ConfigError(f"rescore_targets: found {text}; accepted: {accepted}")
    return found


def write_together(writers: dict[Path, Callable[[Path], object]]) -> None:
    """Write all files under temporary names beside their targets, then rename them."""
    temporary = {target: target.with_name(f".{target.name}.part") for target in writers}
    try:
        for target, write in writers.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            write(temporary[target])
        for target, part in temporary.items():
            part.replace(target)
    finally:
        for part in temporary.values():
            part.unlink(missing_ok=True)


def main_task_ceilings(trials: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The trials with the evidence ceiling of the main task, whose texts have the paper's token geometry.

    Of the intact task it is 1 by design: nothing of its reference is ever cut.
    """
    task = load_task(folder)

    def ceiling_of(experiment: str, window: int, c: int, r: int) -> float | None:
        if experiment == INTACT_TASK.experiment:
            return 1.0
        return ceiling_of_budgets(task, "coordination", c, r) if experiment == MAIN_TASK.experiment else None

    return with_ceilings(trials, ceiling_of)


def main(argv: list[str] | None = None) -> int:
    """Run the import; an error is one message on stderr and exit code 1."""
    options = arguments(argv)
    try:
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
    except (RcwtError, OSError) as error:
        print(f"published: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
