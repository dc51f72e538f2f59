"""What the summary says of replies that are not what was asked for: how they ended, who gave them, what is missing."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from rcwt.trials.caps import Caps, remedy, without_text

#: Different words or ids that are named, and characters of each.
_NAMED, _LONGEST = 5, 60


def remarks(calls: pd.DataFrame, caps: Caps) -> Iterator[tuple[str, str]]:
    """Named lines on `calls`, the rows of `rcwt.trials.schema` of one experiment and model; none where all is well."""
    unknown = calls[calls["status"] == "unknown_finish"]
    if len(unknown):
        words = _named(unknown["finish_reason"])
        yield "unknown finish", f"{len(unknown)} replies ended with a word nobody knows, scored as whole: {words}"
    reasoned = int(calls["reasoning_text"].notna().sum()) if "reasoning_text" in calls else 0
    if reasoned:
        yield "reasoning", f"taken off {reasoned} of {len(calls)} replies before they were scored"
    other = calls[calls["other_model"].astype("boolean").fillna(value=False).astype(bool)]
    if len(other):
        yield "another model", f"{len(other)} of {len(calls)} calls were answered by {_named(other['returned_model'])}"
    cap = caps.get((calls["experiment"].iloc[0], calls["model"].iloc[0])) if len(calls) else None
    if cap is not None and len(cut := without_text(calls, cap)):
        yield "cut before any text", f"{len(cut)} of {len(calls)} calls. {remedy(cut, cap)}"


def _named(values: "pd.Series[str]") -> str:
    """Each value and how often, the most frequent first; no character that a server sent acts on a terminal."""
    counts = Counter(str(value) for value in values).most_common()
    shown = [f"{word[:_LONGEST]!a}{'…' if len(word) > _LONGEST else ''} ({n})" for word, n in counts[:_NAMED]]
    rest = len(counts) - _NAMED
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
