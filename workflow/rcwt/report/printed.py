"""The numbers printed in the paper, held against those that its own data give."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from rcwt.report.printing import printed_accuracy, printed_percent
from rcwt.report.selection import Selection


def read_printed(path: str | Path) -> dict[tuple[str, str], str]:
    """Table A1 as printed: (share in percent, model) to accuracy, all as text."""
    table = pd.read_csv(path, dtype=str).set_index("target_q_percent")
    models = [name for name in table.columns if name not in {"realized_p_percent", "reference_tokens"}]
    return {(str(share), model): str(table.loc[share, model]) for share in table.index for model in models}


def comparison(selection: Selection, printed: Mapping[tuple[str, str], str]) -> list[str]:
    """How many cells of `selection` round (half up, from exact counts) to what is printed, and each that does not."""
    same, other = 0, []
    for _, row in selection.rows.iterrows():
        share, model = printed_percent(row["q"]), str(row["model"])
        ours, paper = printed_accuracy(row["hits"], row["possible"]), printed.get((share, model))
        if ours is None or paper is None:
            continue
        if ours == paper:
            same += 1
        else:
            other.append(
                f"{model} at q = {share} %: {ours} here ({row['hits']:.0f} of {row['possible']:.0f}), {paper} printed"
            )
    return [f"{same} of {same + len(other)} cells equal the paper's printed table", *other] if same or other else []
