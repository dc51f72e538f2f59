"""Why a fit has no p0 that could be a number, in words."""

from typing import Any

import pandas as pd

from rcwt.analysis.curves import MIN_FALL, P0_BOUNDS
from rcwt.report.declined import declines_all

#: A p0 this near to the end of the range that was searched stands at it.
_AT_BOUND = 1e-4


def why_not_identified(fit: "pd.Series[Any] | None", cells: pd.DataFrame, column: str) -> str:
    """In words, why a logistic fit to `column` of `cells` has no p0 that could be a number."""
    if column == "effective_mean" and declines_all(cells):
        return "the replies decline all that is asked"
    values = cells[column].dropna()
    if len(values) < 4:
        return f"a curve needs four shares, {len(values)} have a value"
    if fit is None:
        return "no curve was fitted"
    if values.nunique() == 1:
        return "it is the same at every share"
    if not fit["converged"]:
        return "the fit did not converge" if cells["p"].nunique() > 3 else "a curve needs four different shares"
    low, high = P0_BOUNDS
    end = fit["p0_search_end"]
    if end > high - _AT_BOUND or end < low + _AT_BOUND:
        return f"p0 is at the end of its range, {low:g} to {high:g}"
    if values.iloc[0] - values.iloc[-1] < MIN_FALL * values.iloc[0]:
        return "it hardly falls over the measured shares"
    if not cells["p"].min() <= end <= cells["p"].max():
        return "the cliff lies outside the measured shares"
    return "the measured shares leave the place of the cliff open"
