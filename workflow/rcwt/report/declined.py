"""Items that replies decline to answer: misses that say something else than a wrong answer does.

How many there are is known for calls that a run has made, and missing for the paper's.
"""

from collections.abc import Iterable

import pandas as pd


def declines_all(cells: pd.DataFrame) -> bool:
    """Whether the replies of `cells` (one model's rows of a cells table, by rising share) decline what they are asked.

    They do where every item of the smallest share is declined and none is hit anywhere: at larger shares a question
    may be gone, and nothing is said of it.
    """
    scored = cells[cells["possible"] > 0]
    if scored.empty:
        return False
    declined = scored["n_abstained_items"].fillna(-1) == scored["possible"]
    return bool(declined.iloc[0] and scored["hits"].sum() == 0)


def items_declined(cells: pd.DataFrame) -> str | None:
    """`12 of 1000`: the items that the replies of `cells` decline, of all with a score; None for none or not known."""
    declined = int(cells["n_abstained_items"].fillna(0).sum())
    return f"{declined} of {int(cells['possible'].sum())}" if declined else None


def note(named: Iterable[tuple[str, pd.DataFrame]]) -> list[str]:
    """A sentence for a table's note, on cells by the name that it gives them; none where nothing is declined."""
    found = [f"{name} {declined}" for name, of in named if (declined := items_declined(of))]
    return [f"Items that replies decline to answer (misses): {'; '.join(found)}."] if found else []
