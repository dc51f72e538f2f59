"""Intervals for a proportion whose unit is the call (paper section 4, statistics).

The items of one call come from one answer, so they are not independent observations. Calls are resampled
instead, and benchmark packs before their calls, because ten questions are a sample of a benchmark. Where that
says nothing because every item of a cell is right, or every one wrong, the Wilson interval of complete-call
success stands beside it.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Names = NDArray[np.str_]

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


def draw_packs(
    name: tuple[object, ...], q: object, order: object, calls: tuple[Ints, Ints, Names], B: int, seed: int
) -> tuple[Ints, Ints]:
    """Draw the packs of one stratum with replacement, and of each drawn pack its calls; the sums of each of `B` draws.

    `name` tells a model's curve from all others (source, experiment, window, model, judge). The packs that are drawn
    depend on it alone: a pack is the same questions at every share `q` and in both orders, so they are drawn together.
    The calls are drawn for each share and order. `calls` holds hits, possible hits and packs, each of shape (calls,);
    the results have shape (B,). With calls of one pack only (or of none, the empty name) this is `draw_calls`.
    """
    scored = calls[1] > 0
    hits, possible = calls[0][scored], calls[1][scored]
    named, place = np.unique(calls[2][scored], return_inverse=True)
    if named.size < 2:
        return draw_calls((*name, q, order), hits, possible, B, seed)
    sizes = np.bincount(place)
    values = np.zeros((2, named.size, sizes.max()), dtype=np.int64)
    for pack in range(named.size):
        mine = place == pack
        rising = np.lexsort((possible[mine], hits[mine]))
        values[:, pack, : sizes[pack]] = hits[mine][rising], possible[mine][rising]
    picked = generator(seed, *name, "packs").integers(named.size, size=(B, named.size))
    rng = generator(seed, *name, q, order, "calls")
    total = np.zeros((2, B), dtype=np.int64)
    for pack in picked.T:
        call = (rng.random((B, sizes.max())) * sizes[pack][:, None]).astype(np.int64)
        within = np.arange(sizes.max()) < sizes[pack][:, None]  # as many calls as the pack has
        total += (values[:, pack[:, None], call] * within).sum(axis=2)
    return total[0], total[1]


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
