"""Three accounts of window scaling, on cells made from each of them and on the paper's own in three windows."""

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit
from window_cells import DESIGN, ceiling, gpt_cells, paper_cells, window_cells

from rcwt.analysis.accounts import ACCOUNT_COLUMNS, ACCOUNTS, read_accounts, window_accounts
from rcwt.analysis.cells import write_csv

#: Shares around one cliff at p = 0.86, the same in every window.
ONE_SHARE = dict.fromkeys(DESIGN, (0.0, 50, 75, 82, 86, 90, 92, 94, 96, 98))


def one_theta(R0: float, theta: float, width: float) -> Callable[[int, int, int], float]:
    return lambda window, c, r: R0 / (1 + math.exp((theta - (window - c)) / width))


def one_p0(R0: float, p0: float, width: float) -> Callable[[int, int, int], float]:
    return lambda window, c, r: R0 / (1 + math.exp((c / window - p0) / width))


def truncation(floor: float, top: float) -> Callable[[int, int, int], float]:
    return lambda window, c, r: floor + (top - floor) * ceiling(r)


def noisy(accuracy: Callable[[int, int, int], float]) -> Callable[[int, int, int], float]:
    """Every cell off by 0.012, up or down in a pattern that is neither one of window nor of share."""
    signs = itertools.cycle([1, -1, -1, 1, 1, -1, 1])
    return lambda window, c, r: accuracy(window, c, r) + 0.012 * next(signs)


def together(table: pd.DataFrame) -> pd.DataFrame:
    """The rows fitted to all windows, by account."""
    return table[table["heldout_window"].isna()].set_index("account")


def test_cells_of_one_theta_are_accounted_for_by_one_theta() -> None:
    fits = together(window_accounts(window_cells(noisy(one_theta(0.95, 640, 45)))))
    assert list(fits.index) == list(ACCOUNTS)
    best = fits.loc["theta"]
    assert best["delta_aic"] == 0
    assert fits["delta_aic"].drop("theta").min() > 30
    # 34 cells, off by 0.012 each: the parameters are known to about a standard error.
    assert best[["R0", "midpoint", "width"]].tolist() == pytest.approx([0.95, 640, 45], rel=0.05)
    assert (best["unit"], best["k"], best["n"], best["identified"]) == ("tokens", 3, 34, True)
    assert best["heldout_rmse"] < 0.02 < 0.2 < fits.loc["p0", "heldout_rmse"]


def test_cells_of_one_p0_are_accounted_for_by_one_p0() -> None:
    fits = together(window_accounts(window_cells(noisy(one_p0(0.9, 0.86, 0.02)), ONE_SHARE)))
    best = fits.loc["p0"]
    assert best["delta_aic"] == 0
    assert fits["delta_aic"].drop("p0").min() > 30
    assert best[["R0", "midpoint", "width"]].tolist() == pytest.approx([0.9, 0.86, 0.02], rel=0.02)
    assert best["unit"] == "share"
    assert best["heldout_rmse"] < 0.02 < 0.2 < fits.loc["theta", "heldout_rmse"]


def test_cells_of_a_cut_reference_are_accounted_for_by_truncation() -> None:
    fits = together(window_accounts(window_cells(noisy(truncation(0.1, 0.93)))))
    best = fits.loc["truncation"]
    assert best["delta_aic"] == 0
    assert fits["delta_aic"].drop("truncation").min() > 10
    assert best[["floor", "top"]].tolist() == pytest.approx([0.1, 0.93], abs=0.01)
    assert best["k"] == 2
    assert fits["heldout_rmse"].idxmin() == "truncation"


@settings(max_examples=4)
@given(R0=st.floats(0.5, 1), theta=st.floats(480, 800), width=st.floats(20, 120))
def test_a_known_theta_is_recovered_and_predicts_every_window(R0: float, theta: float, width: float) -> None:
    table = window_accounts(window_cells(one_theta(R0, theta, width)))
    own = table[table["account"] == "theta"]
    assert own["midpoint"].to_numpy() == pytest.approx(theta, abs=0.1)
    assert own["width"].to_numpy() == pytest.approx(width, rel=0.01)
    assert own["heldout_rmse"].max() < 1e-4


@settings(max_examples=3)
@given(p0=st.floats(0.78, 0.93), width=st.floats(0.01, 0.05))
def test_a_known_p0_is_recovered_and_predicts_every_window(p0: float, width: float) -> None:
    table = window_accounts(window_cells(one_p0(1, p0, width), ONE_SHARE))
    own = table[table["account"] == "p0"]
    assert own["midpoint"].to_numpy() == pytest.approx(p0, abs=1e-4)
    assert own["heldout_rmse"].max() < 1e-4


def test_aic_by_hand() -> None:
    # Truncation with two windows of three cells: ceilings 1, 1, 0 in each, so the fit is the mean of each level.
    # Level 1: 0.9, 0.8, 1.0, 0.9 around 0.9, SSE 0.02; level 0: 0.1, 0.3 around 0.2, SSE 0.02. n = 6, k = 2.
    found = iter([0.9, 0.8, 0.1, 1.0, 0.9, 0.3])
    cells = window_cells(lambda *_: next(found), {4096: (0, 50, 98), 8192: (0, 50, 98)})
    fit = together(window_accounts(cells)).loc["truncation"]
    assert fit[["floor", "top", "sse"]].tolist() == pytest.approx([0.2, 0.9, 0.04])
    assert fit["rmse"] == pytest.approx(math.sqrt(0.04 / 6))
    assert fit["aic"] == pytest.approx(2 * 2 + 6 * math.log(2 * math.pi * 0.04 / 6) + 6)
    assert fit["aicc"] == pytest.approx(fit["aic"] + 2 + 2 * 3 * 4 / (6 - 2 - 2))
    # Left out, the first window is predicted by the second's levels 0.95 and 0.3, the second by 0.85 and 0.1.
    errors = [0.05**2 + 0.15**2 + 0.2**2, 0.15**2 + 0.05**2 + 0.2**2]
    table = window_accounts(cells)
    held = table[(table["account"] == "truncation") & table["heldout_window"].notna()]
    assert held["heldout_window"].tolist() == [4096, 8192]
    assert held["windows"].tolist() == ["8192", "4096"]
    assert held["heldout_sse"].tolist() == pytest.approx(errors)
    assert held["heldout_rmse"].tolist() == pytest.approx([math.sqrt(error / 3) for error in errors])
    assert fit["heldout_rmse"] == pytest.approx(math.sqrt(sum(errors) / 6))


def _independent(x: Any, y: Any, starts: Any) -> tuple[Any, float]:
    """Parameters (R0, midpoint, 1 / width) and SSE of the best of many scipy fits, decreasing in x."""

    def curve(x: Any, R0: float, midpoint: float, steep: float) -> Any:
        return R0 / (1 + np.exp(np.clip((x - midpoint) * steep, -700, 700)))

    ends = []
    for start in starts:
        try:
            params, _ = curve_fit(curve, x, y, start, maxfev=20_000, bounds=([0.49, -np.inf, 0], [1.2, np.inf, np.inf]))
        except RuntimeError:
            continue
        ends.append((float(((curve(x, *params) - y) ** 2).sum()), tuple(params)))
    sse, params = min(ends)
    return params, sse


LARGER = {
    "gemini-2.0-flash": ("w8192/gemini-2.0-flash_w8192.csv", "w16384/gemini/rcwt_controlled.csv"),
    "claude-haiku-4-5-20251001": (
        "w8192/claude-haiku-4-5-20251001_w8192.csv",
        *("w16384/haiku/rcwt_controlled.csv", "w32768/haiku/rcwt_controlled.csv"),
    ),
    "gpt-4.1-mini": (
        "w8192/gpt-4.1-mini_w8192.csv",
        *("w16384/gpt/rcwt_controlled.csv", "w32768/gpt/rcwt_controlled.csv"),
    ),
}


@pytest.mark.parametrize(
    ("model", "n", "theta", "truncation"),
    [
        ("gemini-2.0-flash", 22, (669.1, -63.46), -80.81),
        ("claude-haiku-4-5-20251001", 30, (650.9, -93.95), -95.36),
        ("gpt-4.1-mini", 30, (573.3, -99.24), -108.94),
    ],
)
def test_each_model_in_all_its_windows(
    shared: Path, model: str, n: int, theta: tuple[float, float], truncation: float
) -> None:
    cells = paper_cells(shared, model, *LARGER[model])
    assert len(cells) == n
    y, p, window, ceiling = (cells[name].to_numpy(dtype=float) for name in ("effective_mean", "p", "window", "ceiling"))
    starts = [(0.95, -start, 1 / width) for start in (400, 600, 900) for width in (20, 80, 200)]
    (_, midpoint, _), sse = _independent(-window * (1 - p), y, starts)
    fits = together(window_accounts(cells))
    assert fits.loc["theta", "midpoint"] == pytest.approx(-midpoint, rel=1e-3)
    assert fits.loc["theta", "aic"] == pytest.approx(2 * 3 + n * math.log(2 * math.pi * sse / n) + n, abs=0.01)
    # floor + (top - floor) ceiling is a straight line in the ceiling.
    _, (sse,), *_ = np.linalg.lstsq(np.column_stack([ceiling, np.ones(n)]), y)
    assert fits.loc["truncation", "aic"] == pytest.approx(2 * 2 + n * math.log(2 * math.pi * sse / n) + n, abs=0.01)
    # The values that the published run shows.
    assert (fits.loc["theta", "midpoint"], fits.loc["theta", "aic"]) == pytest.approx(theta, abs=0.05)
    assert fits.loc["truncation", "aic"] == pytest.approx(truncation, abs=0.05)


def test_the_papers_gpt_in_three_windows(shared: Path) -> None:
    # Right values: scipy's curve_fit on the artifact's own means, in tokens and in shares as they are.
    cells = gpt_cells(shared)
    assert cells.groupby("window").size().to_dict() == {4096: 9, 8192: 5, 16384: 8}
    y, p, window = (cells[name].to_numpy(dtype=float) for name in ("effective_mean", "p", "window"))
    tokens = -window * (1 - p)
    table = window_accounts(cells)
    scales = {
        "theta": (tokens, [(0.95, -theta, 1 / width) for theta in (400, 600, 900) for width in (20, 80, 200)]),
        "p0": (p, [(0.95, p0, 1 / width) for p0 in (0.8, 0.9, 0.95, 0.98) for width in (0.01, 0.05, 0.2)]),
    }
    for account, (x, starts) in scales.items():
        fit = together(table).loc[account]
        (_, midpoint, steep), sse = _independent(x, y, starts)
        assert fit["sse"] == pytest.approx(sse, rel=1e-4)
        assert fit["aic"] == pytest.approx(2 * 3 + 22 * math.log(2 * math.pi * sse / 22) + 22, abs=0.01)
        assert fit["midpoint"] == pytest.approx(abs(midpoint), rel=1e-3)
        assert fit["width"] == pytest.approx(1 / steep, rel=1e-2)
        for held in (4096, 8192, 16384):
            inside = window == held
            params, _ = _independent(x[~inside], y[~inside], starts)
            R0, midpoint, steep = params
            error = R0 / (1 + np.exp((x[inside] - midpoint) * steep)) - y[inside]
            row = table[(table["account"] == account) & (table["heldout_window"] == held)].iloc[0]
            assert row["heldout_rmse"] == pytest.approx(math.sqrt(float(error @ error) / inside.sum()), rel=0.02)
    # One theta of 576 tokens; one p0 fits worse than a constant would need to, and lies where nothing was measured.
    assert together(table).loc["theta", "midpoint"] == pytest.approx(576.3, abs=0.3)
    assert not together(table).loc["p0", "identified"]
    matrix = np.column_stack([1 - cells["ceiling"], cells["ceiling"]])
    (floor, top), (sse,), *_ = np.linalg.lstsq(matrix, y)
    fit = together(table).loc["truncation"]
    assert fit[["floor", "top", "sse"]].tolist() == pytest.approx([floor, top, sse])
    assert fit["delta_aic"] == 0


def test_a_perfect_fit_has_no_aic_and_the_others_keep_theirs() -> None:
    fits = together(window_accounts(window_cells(truncation(0, 1))))
    assert fits.loc["truncation", ["sse", "heldout_sse", "heldout_rmse"]].tolist() == [0, 0, 0]
    assert np.isnan(fits.loc["truncation", "aic"])
    assert np.isnan(fits.loc["truncation", "delta_aic"])
    assert fits.loc["theta", "delta_aic"] == 0
    assert fits.loc["p0", "delta_aic"] == pytest.approx(fits.loc["p0", "aic"] - fits.loc["theta", "aic"])


def test_where_the_other_windows_show_no_cliff_none_is_predicted() -> None:
    # All of 8 192 up to 90 % is whole, as in the paper's GPT file: without 4 096 no cliff is seen.
    cells = window_cells(one_theta(1, 640, 30), {4096: DESIGN[4096], 8192: (0, 25, 50, 75)})
    table = window_accounts(cells)
    blind = table[table["heldout_window"] == 4096].set_index("account")
    assert not blind["identified"].any()
    assert blind["heldout_rmse"].isna().all()
    assert (blind["heldout_n"] == 9).all()
    seeing = table[table["heldout_window"] == 8192].set_index("account")
    assert seeing.loc["theta", "heldout_rmse"] < 1e-4
    # What is not predicted everywhere has no error over all windows.
    assert together(table)["heldout_rmse"].isna().all()


def test_constant_accuracy_identifies_nothing() -> None:
    fits = together(window_accounts(window_cells(lambda *_: 0.9)))
    assert not fits["identified"].any()


@pytest.mark.parametrize("window", DESIGN)
def test_one_window_gives_the_header_and_no_rows(window: int, tmp_path: Path) -> None:
    table = window_accounts(window_cells(one_theta(1, 640, 40), {window: DESIGN[window]}))
    assert table.empty
    write_csv(table, tmp_path / "accounts.csv")
    assert (tmp_path / "accounts.csv").read_text() == ",".join(ACCOUNT_COLUMNS) + "\n"
    assert read_accounts(tmp_path / "accounts.csv").empty
    assert list(window_accounts(window_cells(one_theta(1, 640, 40)).iloc[:0]).columns) == ACCOUNT_COLUMNS


def test_models_and_judges_are_fitted_apart_and_orders_left_out() -> None:
    one = window_cells(one_theta(0.95, 640, 45))
    other = window_cells(one_theta(0.95, 560, 45), model="other", judge="second")
    half = window_cells(one_p0(0.9, 0.86, 0.02)).assign(order="coord_first")
    table = together(window_accounts(pd.concat([one, other, half]))).loc["theta"]
    assert table[["model", "judge"]].to_numpy().tolist() == [["m", "rules"], ["other", "second"]]
    assert table["midpoint"].tolist() == pytest.approx([640, 560], abs=0.1)


def test_a_cell_without_a_score_is_left_out_and_a_ceiling_not_known_ends_one_account() -> None:
    cells = window_cells(lambda window, c, r: None if (window, c) == (4096, 0) else one_theta(1, 640, 45)(window, c, r))
    assert (together(window_accounts(cells))["n"] == 33).all()
    cells["ceiling"] = cells["ceiling"].mask(cells["window"] == 8192)
    assert list(together(window_accounts(cells)).index) == ["theta", "p0"]


def test_the_script_writes_what_is_read_back(tmp_path: Path, root: Path) -> None:
    write_csv(window_cells(noisy(one_theta(0.95, 640, 45))), tmp_path / "cells.csv")
    script = [sys.executable, str(root / "workflow/scripts/window_accounts.py"), "--cells", str(tmp_path / "cells.csv")]
    subprocess.run([*script, "--out", str(tmp_path / "accounts.csv")], check=True)
    table = read_accounts(tmp_path / "accounts.csv")
    assert list(table.columns) == ACCOUNT_COLUMNS
    assert len(table) == 3 * (1 + 4)
    assert table["identified"].dtype == bool
    header, first, second, *_ = (tmp_path / "accounts.csv").read_text().splitlines()
    assert first.split(",")[header.split(",").index("heldout_window")] == ""
    assert second.split(",")[header.split(",").index("heldout_window")] == "4096"
