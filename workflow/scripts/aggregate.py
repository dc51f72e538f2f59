"""Gather the files of all cells into trials.parquet and scores.parquet."""

import argparse
import json
from pathlib import Path

from rcwt import manifest as manifests
from rcwt.aggregation import CellFiles, gather
from rcwt.scripting import exit_on_error
from rcwt.trials import SCORE_SCHEMA, TRIAL_SCHEMA, write_table


@exit_on_error
def main() -> None:
    """Read the manifest and every cell it plans."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=Path, required=True)
    parser.add_argument("--tokens", type=Path, nargs="+", required=True, help="tokens files of the tasks")
    parser.add_argument("--results", type=Path, required=True, help="folder that holds calls/ and scores/")
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--judges", nargs="+", required=True, help="the first is the headline judge")
    parser.add_argument("--trials", type=Path, required=True, help="output")
    parser.add_argument("--scores", type=Path, required=True, help="output")
    options = parser.parse_args()
    tasks = [json.loads(path.read_text(encoding="utf-8")) for path in options.tokens]
    effective = {task["task"]: {item["id"]: item["effective"] for item in task["items"]} for task in tasks}
    trials, scores = gather(
        manifests.read(options.manifest), CellFiles(options.results), options.models, options.judges, effective
    )
    write_table(trials, TRIAL_SCHEMA, options.trials)
    write_table(scores, SCORE_SCHEMA, options.scores)


if __name__ == "__main__":
    main()
