"""The table of curve fits, and how sure theta is (paper section 5, Table 1).

Theta's interval is computed twice, because "sure" means two things. Resampling the calls of each share asks
what another run of the same model on the same facts would give. Resampling the facts, calls kept, asks what
another document with other facts at other places would give; it is much the wider of the two.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import pandas as pd

from rcwt.analysis.batched_logistic import fit_logistic_rows
from rcwt.analysis.cells import POOLED, hits_of
from rcwt.analysis.curves import FAMILIES, Fit, fit, logistic_bounds, midpoint_identified
from rcwt.analysis.intervals import Floats, draw_packs, generator, percentile_interval
from rcwt.base.statuses import NON_ANSWERS
from rcwt.trials.judged import StatisticsError, item_scores, judged_calls

CURVE_KEY = ["source", "experiment", "window", "model", "judge"]
_STATISTICS = [field.name for field in fields(Fit) if field.name not in ("family", "params")]
CURVE_COLUMNS = [
    *CURVE_KEY,
    *("fitted_to", "family", "R0", "k", "p0", "alpha", "lambda", "a", "b", "p_star", "beta", "floor", "top"),
    *_STATISTICS,
    *("theta", "theta_ci_low", "theta_ci_high", "theta_facts_low", "theta_facts_high"),
    # Additions: share of the refits of each kind whose p0 is identified; where the search for p0 ended, also where that
    # is no p0.
    *("theta_ci_identified", "theta_facts_identified", "p0_search_end"),
]
#: With more refits than this without a midpoint, an end of the interval may be anywhere.
MAX_UNIDENTIFIED = 0.025


@dataclass(frozen=True)
class ThetaInterval:
    """Ends of a 95 % interval in tokens, missing where too many refits have no midpoint."""

    low: float
    high: float
    identified: float  # share of refits with an identified p0


NO_INTERVAL = ThetaInterval(np.nan, np.nan, np.nan)


def curve_fits(
    cells: pd.DataFrame, trials: pd.DataFrame, scores: pd.DataFrame, B: int = 10_000, seed: int = 0
) -> pd.DataFrame:
    """Fit every family to every model's pooled cells, and to the evidence ceiling of the same cells.

    `cells` is a table of `rcwt.analysis.cells.cells` made from the same `trials` and `scores`; `B` is the number
    of refits for each interval of theta. The result has the columns CURVE_COLUMNS, one row a source,
    experiment, window, model, judge, `fitted_to` (`accuracy`, `ceiling`) and family; theta in tokens. There
    are no rows where the ceiling of a share is not known. Raises StatisticsError where cells and trials
    disagree and for a `B` below 1.
    """
    if B < 1:
        raise StatisticsError(f"bootstrap.B is {B}; accepted: a whole number of refits from 1 on")
    calls = dict(iter(judged_calls(trials, scores).groupby(CURVE_KEY)))
    items = dict(iter(item_scores(trials, scores).groupby(CURVE_KEY)))
    rows: list[dict[str, object]] = []
    for key, points in cells[cells["order"] == POOLED].groupby(CURVE_KEY):
        named = dict(zip(CURVE_KEY, key, strict=True))
        points = points.sort_values("q")
        if key not in calls or not _agree(points, calls[key]):
            raise StatisticsError(
                f"cells: the hits of {', '.join(map(str, key))} are not those of the trials; accepted: a "
                "cells table made from the same trials. Run the step 'intervals' again"
            )
        window = int(points["window"].iloc[0])
        for one in _accuracy_fits(points[points["possible"] > 0], window):
            row = {**named, "fitted_to": "accuracy", **_row(one, window)}
            if one.family == "logistic" and one.identified:
                row |= _intervals(points, calls[key], items[key], B, generator(seed, *key, "facts"), seed)
            rows.append(row)
        if points["ceiling"].notna().all():
            p, ceiling = (points[name].to_numpy(dtype=float) for name in ("p", "ceiling"))
            fits = (_fit(family, p, ceiling, window) for family in FAMILIES[:-1])
            rows += [{**named, "fitted_to": "ceiling", **_row(one, window)} for one in fits]
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def theta_interval(p: Floats, means: Floats, window: int) -> ThetaInterval:
    """Refit the logistic to each row of `means` (refits, n) at shares `p` (n,); W is `window` tokens.

    Equal rows are fitted once. A row with a missing mean has no midpoint. Where more than 2.5 % of the
    refits have none, the interval is missing; otherwise they are left out of it.
    """
    distinct, place = np.unique(means, axis=0, return_inverse=True)
    whole = np.isfinite(distinct).all(axis=1)
    identified = np.zeros(len(distinct), dtype=bool)
    theta = np.full(len(distinct), np.nan)
    if whole.any():
        # A reader without variation gives one row; it gets exactly the point's own fit.
        one = len(distinct) == 1
        params = _alone(p, distinct[0], window) if one else fit_logistic_rows(p, distinct[whole], window)
        varies = np.ptp(distinct[whole], axis=1) > 0
        bounds = logistic_bounds(distinct[whole], window)
        identified[whole] = varies & midpoint_identified(p, params, *bounds)
        theta[whole] = window * (1 - params[:, 2])
    known = identified[place.ravel()]
    share = float(known.mean())
    if share < 1 - MAX_UNIDENTIFIED:
        return ThetaInterval(np.nan, np.nan, share)
    return ThetaInterval(*percentile_interval(theta[place.ravel()][known]), share)


def _alone(p: Floats, means: Floats, window: int) -> Floats:
    return np.array([list(_fit("logistic", p, means, window).params.values())])


def _fit(family: str, p: Floats, means: Floats, window: int, ceiling: Floats | None = None) -> Fit:
    """`rcwt.analysis.curves.fit`, once for equal points: a ceiling is shared by all models, and the reader meets it."""
    return _fit_once(family, tuple(p), tuple(means), window, None if ceiling is None else tuple(ceiling))


@lru_cache(maxsize=1024)
def _fit_once(
    family: str,
    p: tuple[float, ...],
    means: tuple[float, ...],
    window: int,
    ceiling: tuple[float, ...] | None,
) -> Fit:
    return fit(family, p, means, window, ceiling)


def call_means(calls: pd.DataFrame, B: int, seed: int) -> Floats:
    """Pooled means of each share (B, n) with the calls of each order resampled (of packs: packs, then their calls).

    `calls` are one model's rows of `rcwt.trials.judged.judged_calls` under one judge. The draws are those of the
    cells' own intervals. Shares stand in rising order; those where nothing is scored are left out.
    """
    columns = []
    for q, share in calls.groupby("q"):
        drawn = np.zeros((2, B), dtype=np.int64)
        for order, stratum in share.groupby("order"):
            name = tuple(stratum[CURVE_KEY].iloc[0])
            drawn += np.stack(draw_packs(name, q, order, hits_of(stratum), B, seed))
        if drawn[1].any():
            columns.append(drawn[0] / drawn[1])
    return np.stack(columns, axis=1)


def fact_means(calls: pd.DataFrame, items: pd.DataFrame, B: int, rng: np.random.Generator) -> Floats | None:
    """Pooled means of each share (B, n) with the effective facts resampled and the calls kept.

    `items` are the rows of `rcwt.trials.judged.item_scores` that belong to `calls`. None where the calls do not
    share one set of facts, as benchmark packs do not, and for fewer than two facts. A draw of facts of which
    a share has no score gives a missing mean there.
    """
    effective = items[items["effective"]]
    facts = sorted(effective["item"].unique())
    same = (effective.groupby("call").size() == len(facts)).all() and (calls["pack"] == "").all()
    if not same or len(facts) < 2:
        return None
    shares = sorted(calls.loc[calls["possible"] > 0, "q"].unique())
    every = pd.MultiIndex.from_product([shares, facts], names=["q", "item"])
    table = effective.groupby(["q", "item"])["score"].agg(["sum", "count"]).reindex(every, fill_value=0)
    hits, possible = (table[name].to_numpy(dtype=float).reshape(-1, len(facts)) for name in ("sum", "count"))
    # Calls without an answer are misses of every fact, also where no judge left a row for them.
    silent = calls[calls["status"].isin(NON_ANSWERS) & ~calls["call"].isin(items["call"])]
    possible += silent.groupby("q").size().reindex(shares, fill_value=0).to_numpy(dtype=float)[:, None]
    drawn = rng.integers(len(facts), size=(B, len(facts)))
    with np.errstate(invalid="ignore"):
        means: Floats = hits[:, drawn].sum(axis=2) / possible[:, drawn].sum(axis=2)
    return means.T


def _agree(points: pd.DataFrame, calls: pd.DataFrame) -> bool:
    sums = calls.groupby("q")[["hits", "possible"]].sum().reset_index()
    both = points[["q", "hits", "possible"]]
    return bool(len(sums) == len(both) and (sums.to_numpy(dtype=float) == both.to_numpy(dtype=float)).all())


def _accuracy_fits(points: pd.DataFrame, window: int) -> Iterator[Fit]:
    p, means, ceiling = (points[name].to_numpy(dtype=float) for name in ("p", "effective_mean", "ceiling"))
    for family in FAMILIES:
        if family != "truncation" or np.isfinite(ceiling).all():
            yield _fit(family, p, means, window, ceiling if family == "truncation" else None)


def _intervals(
    points: pd.DataFrame,
    calls: pd.DataFrame,
    items: pd.DataFrame,
    B: int,
    rng: np.random.Generator,
    seed: int,
) -> dict[str, object]:
    window = int(points["window"].iloc[0])
    p = points.loc[points["possible"] > 0, "p"].to_numpy(dtype=float)
    by_calls = theta_interval(p, call_means(calls, B, seed), window)
    facts = fact_means(calls, items, B, rng)
    by_facts = NO_INTERVAL if facts is None else theta_interval(p, facts, window)
    return {
        "theta_ci_low": by_calls.low,
        "theta_ci_high": by_calls.high,
        "theta_ci_identified": by_calls.identified,
        "theta_facts_low": by_facts.low,
        "theta_facts_high": by_facts.high,
        "theta_facts_identified": by_facts.identified,
    }


def _row(one: Fit, window: int) -> dict[str, object]:
    row: dict[str, object] = {"family": one.family, **one.params}
    if one.family == "logistic":
        row |= {"p0_search_end": one.params["p0"], "p0": one.params["p0"] if one.identified else np.nan}
    return row | {name: getattr(one, name) for name in _STATISTICS} | {"theta": one.theta(window)}
