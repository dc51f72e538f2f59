"""The paper's printed numbers beside those of its data."""

from pathlib import Path

import pandas as pd

from rcwt.report.printed import comparison, read_printed
from rcwt.report.selection import select


def test_a_cell_that_rounds_otherwise_is_named(root: Path) -> None:
    printed = read_printed(root / "resources/published/table_a1.csv")
    assert len(printed) == 27
    model = "gemini-2.0-flash"
    # Counts of the artifact: 307/320 = 0.959375, printed 0.960; 302/320 = 0.94375, printed 0.944.
    rows = [{"q": 0.25, "hits": 307}, {"q": 0.5, "hits": 302}, {"q": 0.97, "hits": 1}]
    shared = {
        "source": "published",
        "experiment": "fixed_budget",
        "window": 4096,
        "judge": "original",
        "order": "pooled",
    }
    cells = pd.DataFrame([{**row, **shared, "model": model, "possible": 320, "p": row["q"], "r": 1} for row in rows])
    assert comparison(select(cells, judge="original"), printed) == [
        "1 of 2 cells equal the paper's printed table",
        f"{model} at q = 25 %: 0.959 here (307 of 320), 0.960 printed",
    ]
