"""How the cliff moves with the window: three accounts, each fitted to all windows at once (paper section 5, Table 1).

The paper predicts p0 of a larger window from one theta. Whether a task needs so many tokens, or so large a part of the
window, is here asked of the same cells by two accounts that differ in nothing else. Both are a logistic with three
parameters a model:

    theta        R0 / (1 + exp((theta - (W - c)) / width))    theta and width in tokens, the same in every window
    p0           R0 / (1 + exp((p - p0) / width))             p0 and width in shares, the same in every window
    truncation   floor + (top - floor) ceiling                no cliff of its own: facts are lost where they are cut

They are compared by AIC over the same cells, and by the error with which a fit to all other windows predicts a window
that it has not seen. The truncation model has nothing to carry over but its two levels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from rcwt.analysis.cells import POOLED
from rcwt.analysis.curves import MIN_SHIFT, PERFECT_RMSE, Fit, fit, logistic
from rcwt.analysis.intervals import Floats, Ints
from rcwt.base.sealed import read_csv

ACCOUNTS = ("theta", "p0", "truncation")
#: What the midpoint and width of an account are measured in.
UNITS = {"theta": "tokens", "p0": "share"}
ACCOUNT_KEY = ["source", "experiment", "model", "judge"]
_STATISTICS = ("n", "sse", "r2", "rmse", "aic", "aicc", "converged", "at_bound", "identified")
ACCOUNT_COLUMNS = [
    *ACCOUNT_KEY,
    *("account", "windows", "heldout_window", "n", "k", "unit", "R0", "midpoint", "width", "floor", "top"),
    *("sse", "r2", "rmse", "aic", "aicc", "delta_aic", "converged", "at_bound", "identified"),
    *("heldout_n", "heldout_sse", "heldout_rmse"),
]


@dataclass(frozen=True)
class WindowCells:
    """A model's pooled cells in several windows; all arrays have shape (n,), a missing ceiling is NaN."""

    window: Ints  # tokens
    p: Floats  # realized share of the cell's own window
    mean: Floats
    ceiling: Floats

    @property
    def windows(self) -> list[int]:
        """The windows in tokens, each once, the smallest first."""
        return [int(window) for window in np.unique(self.window)]

    def take(self, which: np.ndarray) -> "WindowCells":
        """The cells for which `which` (n,) is true."""
        return WindowCells(self.window[which], self.p[which], self.mean[which], self.ceiling[which])


@dataclass(frozen=True)
class Account:
    """One account fitted to some windows; `largest` is the largest of all measured windows, in tokens."""

    name: str
    largest: int
    fit: Fit
    predicts: bool  # the fitted cells set the curve, and no bound does

    @property
    def params(self) -> Mapping[str, float]:
        """Parameters as the account states them: R0, midpoint and width in its own unit, or floor and top."""
        if self.name == "truncation":
            return self.fit.params
        scale = self.largest if self.name == "theta" else 1
        k, p0 = self.fit.params["k"], self.fit.params["p0"]
        midpoint = scale * (1 - p0) if self.name == "theta" else p0
        return {"R0": self.fit.params["R0"], "midpoint": midpoint, "width": scale / k if k > 0 else np.nan}

    def predict(self, cells: WindowCells) -> Floats:
        """Accuracies (n,) that the account expects in `cells`; NaN where it predicts nothing."""
        if not self.predicts:
            return np.full(cells.p.size, np.nan)
        if self.name == "truncation":
            floor, top = self.fit.params["floor"], self.fit.params["top"]
            return floor + (top - floor) * cells.ceiling
        params = [self.fit.params[name] for name in ("R0", "k", "p0")]
        return logistic(_place(self.name, cells, self.largest), params)[0]


def fit_account(name: str, cells: WindowCells, largest: int) -> Account:
    """Fit one account to all `cells` together, equal weights.

    One theta is one p0 once each cell is put where its residual W - c would stand in one and the same window. So both
    accounts are the logistic of `rcwt.analysis.curves`, with the bounds, starts and flags that it has in the `largest`
    window (tokens): a cliff at least 14 tokens wide there, a reserve of up to 60 % of it.
    """
    if name == "truncation":
        levels = fit("truncation", cells.p, cells.mean, largest, cells.ceiling)
        return Account(name, largest, levels, predicts=levels.identified)
    place = _place(name, cells, largest)
    curve = fit("logistic", place, cells.mean, largest)
    return Account(name, largest, curve, predicts=curve.identified or _set_by(place, curve))


def _set_by(place: Floats, curve: Fit) -> bool:
    """Whether points at `place` (n,) set a logistic fitted to them, though its midpoint may lie outside of them.

    Such a midpoint is no number to rely on; what the curve says inside the points still is, unless a bound set it or
    another R0, midpoint (by a width) and width (by a factor e) would change it at no point.
    """
    if not curve.converged or curve.at_bound:
        return False
    R0, k, p0 = (curve.params[name] for name in ("R0", "k", "p0"))
    _, derivatives = logistic(place, [R0, k, p0])
    weakest = np.linalg.svd(derivatives * [R0, k, 1 / k], compute_uv=False)[-1]
    return bool(weakest >= MIN_SHIFT * R0)


def _place(name: str, cells: WindowCells, largest: int) -> Floats:
    """Where cells stand on the axis that an account says is the same for all windows; shares, 0 to below 1."""
    return cells.p if name == "p0" else 1 - cells.window * (1 - cells.p) / largest


def window_accounts(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit the three accounts to every model with two windows or more: a table with ACCOUNT_COLUMNS.

    `cells` is a table of `rcwt.analysis.cells.cells`; its pooled cells with a score are fitted. For each source,
    experiment, model and judge there is a row an account with `heldout_window` missing, fitted to all windows, whose
    `heldout_*` add up all predictions; then a row for each window held out, fitted to the others, with its error
    there. An error is missing where a bound, and not the cells, would set the prediction. `delta_aic` is the distance
    to the smallest AIC of the same cells; a perfect fit has none. There is no truncation account where the ceiling of
    a cell is not known.
    """
    scored = cells[(cells["order"] == POOLED) & (cells["possible"] > 0)]
    rows: list[dict[str, object]] = []
    for key, points in scored.groupby(ACCOUNT_KEY, sort=False):
        named = dict(zip(ACCOUNT_KEY, key, strict=True))
        rows += [named | row for row in _rows(_window_cells(points))]
    table = pd.DataFrame(rows, columns=ACCOUNT_COLUMNS)
    if table.empty:
        return table
    same = table.groupby([*ACCOUNT_KEY, "heldout_window"], dropna=False)["aic"]
    table["delta_aic"] = table["aic"] - same.transform("min")
    return table.astype(dict.fromkeys(("heldout_window", "heldout_n"), "Int64"))


def read_accounts(path: str | Path) -> pd.DataFrame:
    """Read `window_accounts.csv`; flags become booleans. Raises StaleResultError for any other file."""
    texts, flags = (*ACCOUNT_KEY, "account", "windows", "unit"), ("converged", "at_bound", "identified")
    return read_csv(path, ACCOUNT_COLUMNS, texts, flags)


def _window_cells(points: pd.DataFrame) -> WindowCells:
    ordered = points.sort_values(["window", "q"])
    p, mean, ceiling = (ordered[name].to_numpy(dtype=float) for name in ("p", "effective_mean", "ceiling"))
    return WindowCells(ordered["window"].to_numpy(dtype=np.int64), p, mean, ceiling)


def _rows(cells: WindowCells) -> Iterator[dict[str, object]]:
    """All rows of one model, without its name; none for a single window."""
    windows = cells.windows
    if len(windows) < 2:
        return
    for name in ACCOUNTS:
        if name == "truncation" and not np.isfinite(cells.ceiling).all():
            continue
        predictions = []
        for held in windows:
            inside = cells.window == held
            account = fit_account(name, cells.take(~inside), windows[-1])
            errors = account.predict(cells.take(inside)) - cells.mean[inside]
            others = [window for window in windows if window != held]
            predictions.append((_row(account, others) | {"heldout_window": held}, errors))
        together = np.concatenate([errors for _, errors in predictions])
        yield _row(fit_account(name, cells, windows[-1]), windows) | _error(together)
        for row, errors in predictions:
            yield row | _error(errors)


def _row(account: Account, windows: list[int]) -> dict[str, object]:
    return {
        "account": account.name,
        "windows": " ".join(map(str, windows)),
        "k": len(account.fit.params),
        "unit": UNITS.get(account.name),
        **account.params,
        **{name: getattr(account.fit, name) for name in _STATISTICS},
    }


def _error(errors: Floats) -> dict[str, object]:
    """Count, SSE and RMSE of predictions (n,); the last two are missing where one of them is."""
    sse = float(errors @ errors)
    sse = 0.0 if sse < errors.size * PERFECT_RMSE**2 else sse
    return {"heldout_n": errors.size, "heldout_sse": sse, "heldout_rmse": float(np.sqrt(sse / errors.size))}
