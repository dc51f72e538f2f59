"""Intervals for a proportion whose unit is the call (paper section 4, statistics).

The items of one call come from one answer, so they are not independent observations. Calls are resampled
instead; where that says nothing because every item of a cell is right, or every one wrong, the Wilson
interval of complete-call success stands beside it.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Every interval of the project is a 95 % one; its ends as percentiles of the resampled values.
CONFIDENCE = 0.95
_TAILS = (2.5, 97.5)


def generator(seed: int, *name: object) -> np.random.Generator:
    """Random numbers that belong to one name, so that adding a cell changes no other cell's draws.

    `seed` is the configuration's `bootstrap.seed`; `name` says which cell, for instance its experiment,
    window, model, judge, order and share.
    """
    text = "\x1f".join(str(part) for part in (seed, *name))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def draw_calls(name: tuple[object, ...], hits: Ints, possible: Ints, B: int, seed: int) -> tuple[Ints, Ints]:
    """Draw the calls of one stratum with replacement, `B` times; give the sums of each draw.

    `name` is what tells the stratum from all others: the cell's source, experiment, window, model, judge,
    share and order. A cell's interval and its curve's refits thereby use the same draws. `hits` and
    `possible` have shape (calls,), the two results (B,). A call without any score (possible 0) is left out
    before drawing. Calls are put in order of their values first, so that neither the order of rows nor the
    numbering of trials matters.
    """
    scored = possible > 0
    hits, possible = hits[scored], possible[scored]
    if hits.size == 0:
        return np.zeros(B, dtype=np.int64), np.zeros(B, dtype=np.int64)
    order = np.lexsort((possible, hits))
    drawn = generator(seed, *name).integers(hits.size, size=(B, hits.size))
    return hits[order][drawn].sum(axis=1), possible[order][drawn].sum(axis=1)


def percentile_interval(draws: Floats) -> tuple[float, float]:
    """Give the central 95 % of resampled values of shape (B,); missing where there are none."""
    if draws.size == 0:
        return float("nan"), float("nan")
    low, high = np.percentile(draws, _TAILS)
    return float(low), float(high)


def wilson_interval(successes: int, calls: int) -> tuple[float, float]:
    """Wilson 95 % interval of a share of calls: 10 of 10 gives 0.722 to 1; missing for no calls."""
    if calls == 0:
        return float("nan"), float("nan")
    interval = binomtest(successes, calls).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)
