"""The logistic fitted to thousands of resamples at once.

An interval of theta takes ten thousand fits of the same nine points. This is the bounded least squares of
`rcwt.analysis.curves`, with every array one axis longer: all rows walk together, and each leaves as it arrives.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rcwt.analysis.curves import (
    PERFECT_RMSE,
    fit,
    logistic,
    logistic_bounds,
    midpoint_grid,
    midpoint_identified,
    steepness_grid,
)
from rcwt.analysis.intervals import Floats

_MAX_STEPS = 150
_GAUSS_NEWTON_STEPS = 6
_LEVEL_TURNS = 3
_EVERY = 3  # one steepness in three is a start whatever its SSE: in ridges the grid hides the minimum
_STILL = 1e-9  # a step this short, in parts of the bounds, ends a walk: under 1e-5 tokens of theta
_DAMPING = (1e-12, 1e12)


def fit_logistic_rows(p: Floats, means: Floats, window: int) -> Floats:
    """Fit the logistic to each row of `means` (rows, n) at shares `p` (n,): (R0, k, p0), shape (rows, 3).

    Same bounds and same minimum as `rcwt.analysis.curves.fit`; rows whose walk does not end are given to it, unless
    their p0 is not identified anyway. W is `window` tokens.
    """
    low, high = logistic_bounds(means, window)
    row, start = _starts(p, means, window, low, high)
    params, sse, arrived = _descend(p, means[row], start, low[row], high[row])
    order = np.lexsort((sse, row))
    lowest = order[np.unique(row[order], return_index=True)[1]]
    best, ended = params[lowest], arrived[lowest]
    # A walk that is still under way where the points do not determine p0 is lost in a valley without end;
    # any other is worth a second, slower attempt.
    for lost in np.flatnonzero(~ended & midpoint_identified(p, best, low, high)):
        best[lost] = list(fit("logistic", p, means[lost], window).params.values())
    return best


def _starts(p: Floats, means: Floats, window: int, low: Floats, high: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Where to walk from: the local minima over k of the best SSE on a grid of p0, and some k between.

    Gives the row of each start and its (R0, k, p0); R0 is the best for that k and p0.
    """
    steepness, midpoint = steepness_grid(window), midpoint_grid(p)
    shapes = expit(steepness[:, None, None] * (midpoint[:, None] - p))  # (k, p0, n)
    lengths = (shapes**2).sum(axis=2)
    profile = np.empty((len(means), steepness.size))
    place = np.empty((len(means), steepness.size), dtype=np.intp)
    for column in range(steepness.size):
        along = means @ shapes[column].T
        scale = np.clip(along / np.maximum(lengths[column], 1e-300), low[:, :1], high[:, :1])
        sse = scale * (scale * lengths[column] - 2 * along)  # up to the row's own constant
        place[:, column] = sse.argmin(axis=1)
        profile[:, column] = np.take_along_axis(sse, place[:, column, None], axis=1)[:, 0]
    before = np.pad(profile, ((0, 0), (1, 0)), constant_values=np.inf)[:, :-1]
    after = np.pad(profile, ((0, 0), (0, 1)), constant_values=np.inf)[:, 1:]
    chosen = (profile <= before) & (profile <= after)
    chosen[:, 1::_EVERY] = True
    row, j = np.nonzero(chosen)
    shape = shapes[j, place[row, j]]
    R0 = (means[row] * shape).sum(axis=1) / np.maximum((shape**2).sum(axis=1), 1e-300)
    return row, np.stack([R0, steepness[j], midpoint[place[row, j]]], axis=1)


def _descend(
    p: Floats, means: Floats, start: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Levenberg-Marquardt with steps cut at the bounds: parameters, SSE and whether each row arrived.

    Gauss-Newton steps find the valley from afar; where residuals are large they creep along it, so after
    a few the second derivatives come in.
    """
    span = high - low
    x = np.clip((start - low) / np.where(span > 0, span, 1), 0, 1)
    sse = _sse(p, means, low + span * x)
    damping = np.full(len(means), 1e-3)
    arrived = np.zeros(len(means), dtype=bool)
    level_turns = np.zeros(len(means), dtype=np.int64)
    rows = np.arange(len(means))
    for turn in range(_MAX_STEPS):
        newton = turn >= _GAUSS_NEWTON_STEPS
        step = _step(p, means[rows], x[rows], damping[rows], low[rows], span[rows], newton)
        trial = np.clip(x[rows] + step, 0, 1)
        trial_sse = _sse(p, means[rows], low[rows] + span[rows] * trial)
        moved = np.abs(trial - x[rows]).max(axis=1)
        gain = sse[rows] - trial_sse
        lower = gain >= 0
        x[rows[lower]], sse[rows[lower]] = trial[lower], trial_sse[lower]
        damping[rows] = np.clip(np.where(lower, damping[rows] / 5, damping[rows] * 4), *_DAMPING)
        # Where the SSE stays the same to the last digit there is nothing left to gain, though steps may
        # wander for ever: in a valley where other parameters fit as well, or in a perfect fit.
        level = np.abs(gain) <= 1e-14 * sse[rows]
        level_turns[rows] = np.where(level, level_turns[rows] + 1, 0)
        perfect = sse[rows] < p.size * PERFECT_RMSE**2
        still = (moved < _STILL) | (level_turns[rows] >= _LEVEL_TURNS) | perfect
        arrived[rows[still]] = True
        rows = rows[~still]
        if rows.size == 0:
            break
    return low + span * x, sse, arrived


def _sse(p: Floats, means: Floats, params: Floats) -> Floats:
    R0, k, p0 = (params[:, i, None] for i in range(3))
    residual: Floats = R0 * expit(k * (p0 - p)) - means
    sse: Floats = np.einsum("ij,ij->i", residual, residual)
    return sse


def _step(p: Floats, means: Floats, x: Floats, damping: Floats, low: Floats, span: Floats, newton: bool) -> Floats:
    """One damped step, in units of the bounds; a parameter pressed against its bound stays there."""
    params = low + span * x
    values, jacobian = logistic(p, params)
    down = np.einsum("ijk,ij->ik", jacobian, means - values) * span
    normal = jacobian.transpose(0, 2, 1) @ jacobian
    scale = np.einsum("ijj->ij", normal) * span**2
    if newton:
        normal += _curvature(p, params, values - means)
    normal *= span[:, :, None] * span[:, None, :]
    held = ((x <= 0) & (down < 0)) | ((x >= 1) & (down > 0))
    down[held] = 0.0
    normal[held] = 0.0
    normal.transpose(0, 2, 1)[held] = 0.0
    diagonal = np.einsum("ijj->ij", normal)
    diagonal += damping[:, None] * (scale + 1e-9) + 1e-15
    diagonal[held] = 1.0
    return np.linalg.solve(normal, down[..., None])[..., 0]


def _curvature(p: Floats, params: Floats, residual: Floats) -> Floats:
    """Second derivatives of the logistic, weighted by the residuals (rows, n) and added: (rows, 3, 3)."""
    R0, k, p0 = (params[:, i, None] for i in range(3))
    distance = p0 - p
    part = expit(k * distance)
    first = part * (1 - part) * residual
    second = first * (1 - 2 * part) * R0
    total = np.empty((len(params), 3, 3))
    total[:, 0, 0] = 0.0
    total[:, 0, 1] = total[:, 1, 0] = (first * distance).sum(axis=1)
    total[:, 0, 2] = total[:, 2, 0] = (first * k).sum(axis=1)
    total[:, 1, 1] = (second * distance**2).sum(axis=1)
    total[:, 1, 2] = total[:, 2, 1] = (first * R0 + second * k * distance).sum(axis=1)
    total[:, 2, 2] = (second * k**2).sum(axis=1)
    return total
