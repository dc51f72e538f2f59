"""What questions of a pack are worth that stand whole in the prompt, are cut, or are gone (paper, benchmark packs)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from rcwt.packs.layout import VISIBILITIES

COLUMNS = [
    *("source", "experiment", "window", "model", "judge", "q", "visibility", "packs", "questions"),
    *("answers", "hits", "accuracy", "f1_mean", "n_cut_items", "note", "n_abstained_items", "plain_accuracy"),
]


def pack_items(manifest: Sequence[Mapping[str, Any]], scores: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by what the prompt shows of a question, orders pooled; a row a model, share and visibility.

    `manifest` says which questions are whole, cut or gone; `scores` are the score rows. `packs` counts the packs with
    such a question, `questions` the different ones, `answers` those asked for in all calls, each a hit or not.
    `n_cut_items` of them are missing because the output cap cut the reply, `n_abstained_items` because the reply
    declines to answer. `plain_accuracy` is that of answers of spans with typography and articles in plain forms.
    A visibility that no question has is not
    there; neither is anything where the manifest knows no packs (published data).
    """
    seen = pd.DataFrame(list(_seen(manifest)), columns=[*_SEEN, "visibility", "note"])
    if seen.empty:
        return pd.DataFrame(columns=COLUMNS)
    seen["q"] = seen["q"].astype(float)
    joined = scores.merge(seen, on=_SEEN, how="inner", validate="many_to_one")
    joined["cut"] = joined["score_status"] == "truncated"
    joined["abstained"] = joined["score_status"] == "abstained"
    joined["question"] = joined["pack"] + "/" + joined["item"]
    groups = joined.groupby(["source", "experiment", "window", "model", "judge", "q", "visibility"])
    table = groups.agg(
        packs=("pack", "nunique"),
        questions=("question", "nunique"),
        answers=("score", "count"),
        hits=("score", "sum"),
        f1_mean=("f1", "mean"),
        n_cut_items=("cut", "sum"),
        note=("note", _one_note),
        n_abstained_items=("abstained", "sum"),
        plain_accuracy=("plain_score", "mean"),
    ).reset_index()
    table["accuracy"] = table["hits"] / table["answers"]
    order = {name: place for place, name in enumerate(VISIBILITIES)}
    table = table.sort_values(
        ["source", "experiment", "window", "model", "judge", "q", "visibility"],
        key=lambda column: column.map(order) if column.name == "visibility" else column,
        kind="stable",
    )
    return table[COLUMNS]


_SEEN = ["experiment", "window", "order", "pack", "q", "item"]


def _seen(manifest: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for row in manifest:
        if row["kind"] == "packs":
            for visibility in VISIBILITIES:
                for item in (row[f"items_{visibility}"] or "").split():
                    yield (*(row[name] for name in _SEEN[:-1]), item, visibility, row["note"])


def _one_note(notes: "pd.Series[Any]") -> str | None:
    found = notes.dropna()
    return None if found.empty else str(found.iloc[0])
