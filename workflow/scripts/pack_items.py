"""Accuracy of pack questions that are whole, cut or gone in their prompt, at each share."""

import argparse
from pathlib import Path

from rcwt import manifest
from rcwt.pack_items import pack_items
from rcwt.scripting import exit_on_error
from rcwt.statistics import write_csv
from rcwt.trials import read_table


@exit_on_error
def main() -> None:
    """Read manifest and scores, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", nargs="*", default=[], help="manifest of the run; none for published data")
    parser.add_argument("--scores", required=True, help="scores.parquet")
    parser.add_argument("--out", required=True, help="CSV to write")
    options = parser.parse_args()
    rows = [row for path in options.manifest for row in manifest.read(Path(path))]
    write_csv(pack_items(rows, read_table(options.scores)), options.out)


if __name__ == "__main__":
    main()
