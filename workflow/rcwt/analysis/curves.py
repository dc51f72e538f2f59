"""Curves of accuracy over the realized share p = c/W, and the reserve theta (paper section 5).

Six families, fitted to the means of the shares with equal weights:

    logistic     R0 / (1 + exp(k (p - p0)))
    power        R0 (1 - p)^alpha
    exponential  R0 exp(-lambda p)
    quadratic    R0 - a p - b p^2
    piecewise    R0 max(0, 1 - beta max(0, p - p_star) / (1 - p_star))
    truncation   floor + (top - floor) ceiling

The first five are the paper's. The last has no share in it: it says that a reader loses exactly the facts
that were cut away. The midpoint p0 of the logistic gives theta = W (1 - p0), the tokens to keep free.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, least_squares
from scipy.special import expit

from rcwt.analysis.intervals import Floats

#: Parameters of each family, in the order of the columns of `curve_fits.csv`.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "logistic": ("R0", "k", "p0"),
    "power": ("R0", "alpha"),
    "exponential": ("R0", "lambda"),
    "quadratic": ("R0", "a", "b"),
    "piecewise": ("R0", "p_star", "beta"),
    "truncation": ("floor", "top"),
}
FAMILIES = tuple(PARAMETERS)

P0_BOUNDS = (0.4, 1.0)
R0_BOUNDS = (0.5, 1.2)
K_MAX = 300.0  # at W = 4096
#: Below this root mean square residual a fit is perfect and its likelihood has no maximum. One item of a
#: thousand moves a mean by 1e-3.
PERFECT_RMSE = 1e-7
#: A parameter this close to its bound, in parts of the distance between its bounds, is at it.
BOUND_TOLERANCE = 1e-6
#: A point lies on the slope of a logistic when the curve is between these parts of R0 there.
SLOPE = (0.1, 0.9)
#: A midpoint is identified when the curve falls by this part of R0 between the outermost points ...
MIN_FALL = 0.25
#: ... and when shifting it by 0.01 moves the curve by this part of R0, however R0 and k make up for it.
MIN_SHIFT = 1e-3


@dataclass(frozen=True)
class Fit:
    """One family fitted to n points; a number that is not known is NaN.

    `aic` = 2k + n ln(2 pi SSE / n) + n for k parameters; `aicc` also counts the variance as one. Both are
    missing for a perfect fit, where they would be minus infinity. `r2` is missing for constant data.
    """

    family: str
    params: Mapping[str, float]
    n: int
    sse: float
    r2: float
    rmse: float
    aic: float
    aicc: float
    converged: bool
    at_bound: bool  # a parameter stands at its bound
    identified: bool  # the points determine the parameters; False where the data are constant

    def theta(self, window: int) -> float:
        """Tokens to keep free, W (1 - p0); NaN for another family and where p0 is not identified."""
        return window * (1 - self.params["p0"]) if self.family == "logistic" and self.identified else np.nan


def logistic_bounds(means: Floats, window: int) -> tuple[Floats, Floats]:
    """Lower and upper bounds of (R0, k, p0), for points of shape (..., n): two arrays (..., 3).

    The paper's, with the steepness scaled to the window, so that a cliff may be as many tokens wide in
    each, and with room below R0 = 0.5 for readers whose baseline is weak.
    """
    low = np.zeros((*means.shape[:-1], 3))
    low[..., 0] = np.minimum(R0_BOUNDS[0], means.max(axis=-1) / 2)
    low[..., 2] = P0_BOUNDS[0]
    high = np.broadcast_to([R0_BOUNDS[1], K_MAX * window / 4096, P0_BOUNDS[1]], low.shape)
    return low, high.copy()


def logistic(p: ArrayLike, params: ArrayLike) -> tuple[Floats, Floats]:
    """Value (..., n) and derivatives (..., n, 3) of the logistic at `p` (n,) for `params` (..., 3)."""
    share = np.asarray(p, dtype=float)
    R0, k, p0 = _columns(params)
    part = expit(k * (p0 - share))
    slope = R0 * part * (1 - part)
    return R0 * part, np.stack([part, slope * (p0 - share), slope * k], axis=-1)


def _columns(params: ArrayLike) -> list[Floats]:
    """Each parameter of `params` (..., k) with one axis more, for the points."""
    whole = np.asarray(params, dtype=float)
    return [whole[..., place, None] for place in range(whole.shape[-1])]


def midpoint_identified(p: Floats, params: Floats, low: Floats, high: Floats) -> np.ndarray:
    """Say for which logistic fits the points determine p0; all of `params`, `low`, `high` are (..., 3).

    They do not when p0 stands at a bound or outside the measured p (an extrapolation); when the curve hardly falls
    between the smallest and the largest p; when k is at its upper bound and no point lies on the slope (the cliff
    is somewhere in a gap between two points, and the bound would set the place); or when another p0 with another
    R0 and k fits as well.
    """
    p0 = params[..., 2]
    edge = BOUND_TOLERANCE * (high - low)
    inside = (p0 > low[..., 2] + edge[..., 2]) & (p0 < high[..., 2] - edge[..., 2])
    inside &= (p0 >= p.min()) & (p0 <= p.max())
    values, derivatives = logistic(p, params)
    height = values / params[..., 0:1]
    on_slope = ((height > SLOPE[0]) & (height < SLOPE[1])).any(axis=-1)
    inside &= on_slope | (params[..., 1] < high[..., 1] - edge[..., 1])
    falls = values[..., p.argmin()] - values[..., p.argmax()] >= MIN_FALL * params[..., 0]
    others = _unit(derivatives[..., 0])
    steepness = _unit(_without(derivatives[..., 1], others))
    shift = _without(_without(derivatives[..., 2], others), steepness)
    determined = 0.01 * np.linalg.norm(shift, axis=-1) >= MIN_SHIFT * params[..., 0]
    return np.asarray(inside & falls & determined)


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 1e-12, length, np.inf)


def _without(vectors: Floats, direction: Floats) -> Floats:
    """Take the part along a unit vector out of `vectors`."""
    along: Floats = np.sum(vectors * direction, axis=-1, keepdims=True)
    return vectors - along * direction


def midpoint_grid(p: Floats) -> Floats:
    """Midpoints to start from: even over the bounds, and five steps in every gap between two points."""
    inner = np.unique(np.clip(p, *P0_BOUNDS))
    gaps = [np.linspace(left, right, 5, endpoint=False) for left, right in pairwise(inner)]
    return np.unique(np.concatenate([np.linspace(*P0_BOUNDS, 25), inner, *gaps]))


def steepness_grid(window: int) -> Floats:
    """Steepnesses to start from: 0.5 up to the bound, in equal ratios."""
    return np.geomspace(0.5, K_MAX * window / 4096, 16)


def fit(family: str, p: ArrayLike, means: ArrayLike, window: int, ceiling: ArrayLike | None = None) -> Fit:
    """Fit one family by least squares to `means` (n,) at realized shares `p` (n,); W = `window` tokens.

    `ceiling` (n,) is what the truncation model rests on. The non-linear families are fitted from many fixed
    starts by scipy's bounded least squares, the best of which is kept; the others are linear. With fewer
    points than one more than the parameters nothing is fitted: `converged` is False, the numbers are NaN.
    """
    share, target = np.asarray(p, dtype=float), np.asarray(means, dtype=float)
    names = PARAMETERS[family]
    x = np.asarray(ceiling, dtype=float) if family == "truncation" else share
    usable = np.isfinite(x).all() and np.isfinite(target).all() and (share < 1).all()
    if not usable or np.unique(share).size < len(names) + 1:
        return _unfitted(family, target.size)
    if family in ("quadratic", "truncation"):
        columns = [np.ones_like(x), -x, -x * x] if family == "quadratic" else [1 - x, x]
        matrix = np.stack(columns, axis=1)
        solution, _, rank, _ = np.linalg.lstsq(matrix, target)
        residual = matrix @ solution - target
        determined = int(rank) == len(names)
        # Without enough different points other parameters fit as well.
        told = solution if determined else np.full_like(solution, np.nan)
        return _result(family, told, residual, target, determined=determined)
    low, high = _bounds(family, target, window)
    best = _many_starts(family, share, target, window, low, high)
    if family == "logistic":
        determined = bool(midpoint_identified(share, best.x, low, high))
    else:
        determined = best.x[-1] > BOUND_TOLERANCE and _full_rank(best.jac * (high - low))
    edge = BOUND_TOLERANCE * (high - low)
    return _result(
        family,
        best.x,
        best.fun,
        target,
        determined=determined,
        converged=bool(best.success),
        at_bound=bool(((best.x <= low + edge) | (best.x >= high - edge)).any()),
    )


def _unfitted(family: str, n: int) -> Fit:
    params = dict.fromkeys(PARAMETERS[family], np.nan)
    return Fit(family, params, n, np.nan, np.nan, np.nan, np.nan, np.nan, False, False, False)


def _result(
    family: str,
    solution: Floats,
    residual: Floats,
    target: Floats,
    *,
    determined: bool,
    converged: bool = True,
    at_bound: bool = False,
) -> Fit:
    n, k = target.size, solution.size
    sse = float(residual @ residual)
    spread = float(((target - target.mean()) ** 2).sum())
    varies = np.sqrt(spread / n) > PERFECT_RMSE
    perfect = np.sqrt(sse / n) < PERFECT_RMSE
    sse = 0.0 if perfect else sse
    aic = np.nan if perfect else float(2 * k + n * np.log(2 * np.pi * sse / n) + n)
    return Fit(
        family=family,
        params=dict(zip(PARAMETERS[family], map(float, solution), strict=True)),
        n=n,
        sse=sse,
        r2=1 - sse / spread if varies else np.nan,
        rmse=float(np.sqrt(sse / n)),
        aic=aic,
        aicc=aic + 2 + 2 * (k + 1) * (k + 2) / (n - k - 2) if n > k + 2 else np.nan,
        converged=converged,
        at_bound=at_bound,
        identified=bool(converged and determined and varies),
    )


def _full_rank(jacobian: Floats) -> bool:
    return bool(np.linalg.matrix_rank(jacobian, rtol=1e-6) == jacobian.shape[1])


# The non-linear families are all R0 times a shape; given the shape's parameters, the best R0 is known. Like `logistic`
# each gives values (..., n) and derivatives (..., n, k) at p (n,) for parameters (..., k).
_Shape = Callable[[Floats, Floats], tuple[Floats, Floats]]


def _power(p: Floats, params: Floats) -> tuple[Floats, Floats]:
    R0, alpha = _columns(params)
    part = (1 - p) ** alpha
    return R0 * part, np.stack([part, R0 * part * np.log1p(-p)], axis=-1)


def _exponential(p: Floats, params: Floats) -> tuple[Floats, Floats]:
    R0, rate = _columns(params)
    part = np.exp(-rate * p)
    return R0 * part, np.stack([part, -R0 * part * p], axis=-1)


def _piecewise(p: Floats, params: Floats) -> tuple[Floats, Floats]:
    R0, p_star, beta = _columns(params)
    past = np.maximum(0, p - p_star) / (1 - p_star)
    part = np.maximum(0, 1 - beta * past)
    sloped = (past > 0) & (part > 0)
    by_start = np.where(sloped, R0 * beta * (1 - p) / (1 - p_star) ** 2, 0.0)
    by_slope = np.where(sloped, -R0 * past, 0.0)
    return R0 * part, np.stack([part, by_start, by_slope], axis=-1)


_SHAPES: dict[str, _Shape] = {
    "logistic": logistic,
    "power": _power,
    "exponential": _exponential,
    "piecewise": _piecewise,
}


def _bounds(family: str, target: Floats, window: int) -> tuple[Floats, Floats]:
    if family == "logistic":
        return logistic_bounds(target, window)
    # Wide enough to hold every curve that passes near accuracies; only a rate of 0 has a meaning.
    high = np.array([2, 0.9999, 1000] if family == "piecewise" else [2, 50], dtype=float)
    return np.zeros_like(high), high


def _shape_grid(family: str, p: Floats, window: int) -> list[tuple[float, ...]]:
    if family == "logistic":
        return list(product(steepness_grid(window), midpoint_grid(p)))
    if family == "piecewise":
        points = np.unique(np.clip(p, 0, 0.999))
        gaps = [np.linspace(a, b, 4, endpoint=False) for a, b in pairwise(points)]
        return list(product(np.concatenate(gaps), np.geomspace(0.05, 500, 20)))
    return [(rate,) for rate in np.geomspace(1e-3, 20, 30)]


def _many_starts(family: str, p: Floats, target: Floats, window: int, low: Floats, high: Floats) -> OptimizeResult:
    shape = _SHAPES[family]
    grid = np.array(_shape_grid(family, p, window))
    parts, _ = shape(p, np.column_stack([np.ones(len(grid)), grid]))
    scales = np.clip(parts @ target / np.maximum((parts**2).sum(axis=1), 1e-300), low[0], high[0])
    sse = ((scales[:, None] * parts - target) ** 2).sum(axis=1)
    starts = [tuple(start) for start in np.column_stack([sse, scales, grid]).tolist()]
    starts.sort()
    # The best starts of all, and the best for each value of k, or of p_star and of beta.
    axes = {"logistic": (2,), "piecewise": (2, 3)}.get(family, ())
    best_of = {(axis, start[axis]): start for start in reversed(starts) for axis in axes}
    chosen = dict.fromkeys([*starts[:6], *best_of.values()])
    ends = [_descend(shape, p, target, np.array(start[1:]), low, high) for start in chosen]
    best = min(ends, key=_cost)
    # Then to the last digit; the second method ends exactly on a bound, which the first only approaches.
    for method in ("trf", "dogbox"):
        last = _descend(shape, p, target, best.x, low, high, method, tolerance=1e-14)
        best = last if _cost(last) <= _cost(best) else best
    return best


def _cost(end: OptimizeResult) -> float:
    return float(end.cost)


def _descend(
    shape: _Shape,
    p: Floats,
    target: Floats,
    start: Floats,
    low: Floats,
    high: Floats,
    method: Literal["trf", "dogbox"] = "trf",
    tolerance: float = 1e-10,
) -> OptimizeResult:
    def residual(params: Floats) -> Floats:
        return shape(p, params)[0] - target

    def jacobian(params: Floats) -> Floats:
        return shape(p, params)[1]

    return least_squares(
        residual,
        np.clip(start, low, high),
        jac=jacobian,
        bounds=(low, high),
        method=method,
        x_scale=high - low,
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
        max_nfev=200,
    )
