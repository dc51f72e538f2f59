"""Agreement of two judges that scored the same responses, item by item (paper, appendix on the judge).

Only items to which both judges gave a score are compared. A response without an answer is a miss by rule under every
judge, which says nothing of the judges and is left out, as are missing scores. The unit of the interval is the call.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rcwt.analysis.intervals import Floats, Ints, generator, percentile_interval
from rcwt.trials.judged import StatisticsError
from rcwt.trials.schema import TRIAL_KEY

#: The name of effective items together, and of all shares together.
ALL = "all"
COUNTS = ["both1", "o1n0", "o0n1", "both0"]
COLUMNS = [
    *("target", "judge", "item", "q", "calls", "orig", "new", "delta", "agree", "kappa", "kappa_low", "kappa_high"),
    *COUNTS,
    # Additions: what the pair is a pair of.
    *("source", "experiment", "window", "orig_judge"),
]
_GROUP = ["source", "experiment", "window", "model"]
_STRATUM = ["q", "order"]
_CALL = ["source", *TRIAL_KEY]


def judge_agreement(
    trials: pd.DataFrame, scores: pd.DataFrame, judges: Sequence[str] = (), B: int = 10_000, seed: int = 0
) -> pd.DataFrame:
    """Compare every two judges of each target, by item and share, and over all of each.

    `trials` and `scores` have the columns of `rcwt.trials.schema`. Of two judges the earlier one in `judges` is the
    original (`orig`, `orig_judge`), the later one the new (`new`, `judge`); without `judges`, headline judges come
    first and the rest by name. `calls` counts calls in which both scored the item; `orig` and `new` are shares of items
    given a 1, `agree` of items given the same. `item` and `q` are `all` for effective items and for shares pooled.

    Cohen's `kappa` is missing where it is not defined: both judges gave all items one and the same score. Its
    interval is the central 95 % of `B` resamplings of calls inside each order and share, of those in which kappa is
    defined. Raises StatisticsError where an item is scored twice.
    """
    scored = _scored(scores)
    order = list(judges) or _order(trials, scored)
    rows: list[dict[str, Any]] = []
    for group, found in scored.groupby(_GROUP):
        present = set(found["judge"])
        for orig, new in itertools.combinations([judge for judge in order if judge in present], 2):
            pairs = _pairs(found, orig, new)
            if not pairs.empty:
                rows += _rows(dict(zip(_GROUP, group, strict=True)), orig, new, pairs, B, seed)
    return pd.DataFrame(rows, columns=COLUMNS)


def kappa(counts: Ints | Floats) -> Floats:
    """Cohen's kappa of counts (both 1, only original 1, only new 1, both 0) along the last axis.

    Not a number where chance alone would agree always. Whole numbers give exactly 0 where agreement is chance's.
    """
    both1, o1n0, o0n1, both0 = np.moveaxis(np.asarray(counts), -1, 0)
    n = both1 + o1n0 + o0n1 + both0
    by_chance = (both1 + o1n0) * (both1 + o0n1) + (both0 + o0n1) * (both0 + o1n0)
    room = (n * n - by_chance).astype(float)
    result: Floats = np.divide(n * (both1 + both0) - by_chance, room, out=np.full(room.shape, np.nan), where=room != 0)
    return result


def _scored(scores: pd.DataFrame) -> pd.DataFrame:
    """Rows with a judge's own 0 or 1; no pack is an empty text, because nulls do not group."""
    own = scores[(scores["score_status"] == "scored") & scores["score"].notna()]
    texts = ("source", "experiment", "model", "order", "pack", "judge", "item")
    own = own.assign(
        **{name: own[name].astype(object).fillna("").astype("str") for name in texts},
        score=own["score"].astype("int64"),
        effective=own["effective"].astype("boolean").fillna(True).astype(bool),
    )
    doubled = own.duplicated([*_CALL, "judge", "item"])
    if doubled.any():
        raise StatisticsError(
            f"scores: {int(doubled.sum())} rows score an item of a call a second time under one judge; accepted: each "
            "once. Delete the table and run again"
        )
    return own


def _order(trials: pd.DataFrame, scored: pd.DataFrame) -> list[str]:
    headlines = sorted(set(trials["headline_judge"].dropna().astype("str")))
    return list(dict.fromkeys([*headlines, *sorted(set(scored["judge"]))]))


def _pairs(scored: pd.DataFrame, orig: str, new: str) -> pd.DataFrame:
    """One row an item that both judges scored, with its four counts, of which one is 1."""
    sides = [scored[scored["judge"] == judge] for judge in (orig, new)]
    both = sides[0].merge(sides[1][[*_CALL, "item", "score"]], on=[*_CALL, "item"], suffixes=("_orig", "_new"))
    o, n = both["score_orig"], both["score_new"]
    counts = dict(zip(COUNTS, (o * n, o * (1 - n), (1 - o) * n, (1 - o) * (1 - n)), strict=True))
    return both.assign(**counts)


def _rows(
    group: dict[str, Any], orig: str, new: str, pairs: pd.DataFrame, B: int, seed: int
) -> Iterator[dict[str, Any]]:
    items = [ALL, *sorted(set(pairs["item"]))]
    tables = _tables(pairs, items)
    name = (*group.values(), orig, new)
    draws = {key: _draws(table, B, generator(seed, "agreement", *name, *key)) for key, table in tables.items()}
    shares = sorted({q for q, _ in tables})
    for position, item in enumerate(items):
        for share in (*shares, ALL):
            strata = [key for key in tables if share in (key[0], ALL)]
            counts = np.concatenate([tables[key][:, position] for key in strata])
            if not counts.any():
                continue
            total: Ints = counts.sum(axis=0)
            drawn: Ints = np.sum([draws[key][:, position] for key in strata], axis=0)
            yield {
                "target": group["model"],
                "judge": new,
                "item": item,
                "q": share,
                "calls": int(counts.any(axis=1).sum()),
                **_shares(total),
                **_interval(total, drawn),
                **dict(zip(COUNTS, total.tolist(), strict=True)),
                **{column: group[column] for column in ("source", "experiment", "window")},
                "orig_judge": orig,
            }


def _tables(pairs: pd.DataFrame, items: Sequence[str]) -> dict[tuple[float, str], Ints]:
    """The counts of each stratum (share and order), of shape (calls, items, 4); `items` begins with ALL."""
    tables: dict[tuple[float, str], Ints] = {}
    groups: Iterable[tuple[Any, pd.DataFrame]] = pairs.groupby(_STRATUM)
    for (q, order), stratum in groups:
        calls = stratum.groupby(_CALL, sort=True).ngroup().to_numpy()
        table = np.zeros((calls.max() + 1, len(items), len(COUNTS)), dtype=np.int64)
        columns = stratum["item"].map({item: number for number, item in enumerate(items)}).to_numpy()
        counts = stratum[COUNTS].to_numpy(dtype=np.int64)
        table[calls, columns] = counts
        np.add.at(table[:, 0], calls, counts * stratum[["effective"]].to_numpy())
        tables[float(q), str(order)] = table
    return tables


def _draws(table: Ints, B: int, random: np.random.Generator) -> Ints:
    """Sums over resampled calls, of shape (B, items, 4).

    Calls that were scored alike are drawn as one kind, as often as they occur: the same as drawing calls, without
    their order or numbering in it.
    """
    calls = table.shape[0]
    kinds, often = np.unique(table.reshape(calls, -1), axis=0, return_counts=True)
    drawn = random.multinomial(calls, often / calls, size=B)
    result: Ints = (drawn @ kinds).reshape(B, *table.shape[1:])
    return result


def _shares(total: Ints) -> dict[str, float]:
    both1, o1n0, o0n1, both0 = (int(count) for count in total)
    n = both1 + o1n0 + o0n1 + both0
    return {
        "orig": (both1 + o1n0) / n,
        "new": (both1 + o0n1) / n,
        "delta": (o0n1 - o1n0) / n,
        "agree": (both1 + both0) / n,
    }


def _interval(total: Ints, drawn: Ints) -> dict[str, float]:
    point = float(kappa(total))
    low = high = float("nan")
    if not np.isnan(point):
        values = kappa(drawn)
        low, high = percentile_interval(values[~np.isnan(values)])
    return {"kappa": point, "kappa_low": low, "kappa_high": high}
