"""Intervals of theta, the batched logistic behind them, and the table of curve fits."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper_rows import CEILING, EFFECTIVE_ITEMS, SHARES, C, tables

from rcwt.analysis.batched_logistic import fit_logistic_rows
from rcwt.analysis.cells import POOLED, cells, write_csv
from rcwt.analysis.curves import FAMILIES, fit, logistic_bounds, midpoint_identified
from rcwt.analysis.intervals import generator
from rcwt.analysis.refits import CURVE_COLUMNS, call_means, curve_fits, fact_means, theta_interval
from rcwt.trials.judged import StatisticsError, item_scores, judged_calls
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, write_table

P = np.array(C) / 4096
SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "curves.py"
#: Facts whole in the cut reference, as the ceiling counts them: three of eight go at 90 %, and so on.
SEEN = {q: round(8 * share) for q, share in CEILING.items()}


def reading(trials=4, noise=0, **more):
    """Calls of a reader that finds the facts it sees; `noise` facts of every other call are lost."""
    return [
        {
            "q": q,
            "trial": trial,
            "order": order,
            "scores": {item: int(place < SEEN[q] - noise * (trial % 2)) for place, item in enumerate(EFFECTIVE_ITEMS)},
            **more,
        }
        for q in SHARES
        for order in ("coord_first", "reason_first")
        for trial in range(trials)
    ]


def fits(trials, scores, **options):
    return curve_fits(cells(trials, scores, B=20), trials, scores, **options)


def logistic_row(table, fitted_to="accuracy"):
    chosen = table[(table["family"] == "logistic") & (table["fitted_to"] == fitted_to)]
    assert len(chosen) == 1
    return chosen.iloc[0]


# The batched logistic


def random_means(p, rng):
    """Rows of three kinds: falling curves with noise, sorted noise, and steps of eighths."""
    k, p0 = rng.uniform(5, 250, (40, 1)), rng.uniform(0.5, 0.97, (40, 1))
    curves = np.clip(1 / (1 + np.exp(k * (p - p0))) + rng.normal(0, 0.03, (40, p.size)), 0, 1)
    falling = -np.sort(-rng.random((20, p.size)), axis=1)
    return np.concatenate([curves, falling, np.round(falling * 8) / 8])


DESIGNS = [
    (4096, P),
    (4096, np.array([0, 1024, 2048, 3072, 3686]) / 4096),
    (16384, np.array([0, 8023, 14442, 15565, 15645, 15726, 15806, 15886]) / 16384),
]


@pytest.mark.parametrize(("window", "p"), DESIGNS)
def test_batched_fits_are_scipys_many_start_fits(window, p):
    means = random_means(p, np.random.default_rng(7))[::2]  # scipy takes a tenth of a second each
    params = fit_logistic_rows(p, means, window)
    identified = midpoint_identified(p, params, *logistic_bounds(means, window))
    right = [fit("logistic", p, row, window) for row in means]
    assert identified.sum() > 12
    assert [one.identified for one in right] == list(identified)
    for one, (_, _, p0) in zip(right, params, strict=True):
        if one.identified:
            assert window * (1 - p0) == pytest.approx(one.theta(window), abs=0.05)


@pytest.mark.parametrize(("window", "p"), DESIGNS)
def test_no_grid_point_beats_the_batched_fit(window, p):
    means = random_means(p, np.random.default_rng(8))
    low, _ = logistic_bounds(means, window)
    R0, k, p0 = (column[:, None] for column in fit_logistic_rows(p, means, window).T)
    sse = ((R0 / (1 + np.exp(k * (p - p0))) - means) ** 2).sum(axis=1)
    gaps = [np.linspace(a, b, 10) for a, b in pairwise(p)]
    midpoints = np.unique(np.concatenate([np.linspace(0.4, 1, 60), *gaps]))
    for steepness in np.geomspace(0.1, 300 * window / 4096, 40):
        shapes = 1 / (1 + np.exp(steepness * (p - midpoints[midpoints >= 0.4][:, None])))
        scale = np.clip(means @ shapes.T / (shapes**2).sum(axis=1), low[:, :1], 1.2)
        grid = ((scale[:, :, None] * shapes - means[:, None, :]) ** 2).sum(axis=2)
        assert (sse <= grid.min(axis=1) + 1e-9).all()


# Intervals of theta


def test_a_reader_without_variation_has_one_refit_and_no_width(monkeypatch):
    trials, scores = tables(reading())
    monkeypatch.setattr("rcwt.analysis.refits.fit_logistic_rows", None)  # not needed for a single row
    means = call_means(judged_calls(trials, scores), 10_000, 0)
    assert len(np.unique(means, axis=0)) == 1
    interval = theta_interval(P, means, 4096)
    theta = fit("logistic", P, list(CEILING.values()), 4096).theta(4096)
    assert (interval.low, interval.high, interval.identified) == (theta, theta, 1)


def test_equal_rows_are_fitted_once(monkeypatch):
    sizes = []

    def counted(p, means, window):
        sizes.append(len(means))
        return fit_logistic_rows(p, means, window)

    monkeypatch.setattr("rcwt.analysis.refits.fit_logistic_rows", counted)
    two = np.array([[1, 1, 1, 1, 0.6, 0.4, 0, 0, 0], [1, 1, 1, 1, 0.7, 0.4, 0, 0, 0]])
    theta_interval(P, np.tile(two, (500, 1)), 4096)
    assert sizes == [2]


def test_unidentified_refits_are_left_out_up_to_2_5_percent():
    good = np.array([1, 1, 1, 1, 0.6, 0.4, 0, 0, 0])
    flat = np.full(9, 0.9)
    some = theta_interval(P, np.array([good] * 98 + [flat] * 2), 4096)
    theta = fit("logistic", P, good, 4096).theta(4096)
    assert some.identified == 0.98
    assert (some.low, some.high) == pytest.approx((theta, theta), abs=1e-4)
    many = theta_interval(P, np.array([good] * 97 + [flat] * 3), 4096)
    assert many.identified == 0.97
    assert np.isnan([many.low, many.high]).all()
    missing = theta_interval(P, np.array([good] * 97 + [[np.nan] * 9] * 3), 4096)
    assert missing.identified == 0.97
    assert np.isnan(missing.low)


def test_call_resampling_uses_the_cells_own_draws():
    trials, scores = tables(reading(noise=1))
    table = cells(trials, scores, B=300, seed=4)
    means = call_means(judged_calls(trials, scores), 300, 4)
    pooled = table[table["order"] == POOLED]
    assert np.percentile(means, 2.5, axis=0) == pytest.approx(pooled["ci_low"].to_numpy())
    assert np.percentile(means, 97.5, axis=0) == pytest.approx(pooled["ci_high"].to_numpy())


def test_fact_resampling_keeps_the_calls():
    trials, scores = tables(reading(noise=1))
    calls, items = judged_calls(trials, scores), item_scores(trials, scores)
    means = fact_means(calls, items, 4000, generator(0, "facts"))
    assert means.shape == (4000, 9)
    # Eight facts drawn with replacement leave the mean where it is, and spread as a binomial share does
    # where each fact is always right or always wrong: q = 90 %, 5 of 8 in half the calls, 4 in the others.
    assert means.mean(axis=0) == pytest.approx(calls.groupby("q")["hits"].mean() / 8, abs=0.01)
    assert (means[:, 0] <= 1).all()
    per_fact = np.array([1, 1, 1, 1, 0.5, 0, 0, 0])
    assert means[:, 4].std() == pytest.approx(per_fact.std() / np.sqrt(8), rel=0.05)


def test_fact_resampling_takes_silent_calls_as_misses_and_leaves_missing_scores_out():
    calls = reading(trials=2)
    calls[0] |= {"scores": {}, "status": "empty"}
    calls[1] |= {"scores": {**dict.fromkeys(EFFECTIVE_ITEMS, 1), "pg_limit": None}}
    trials, scores = tables(calls)
    judged = judged_calls(trials, scores)
    means = fact_means(judged, item_scores(trials, scores), 2000, generator(0, "facts"))
    # q = 0: four calls; every fact is right in three of four, and one of them in two of three.
    assert np.unique(means[:, 0]).min() >= 2 / 3
    assert means[:, 0].max() == 0.75
    assert judged.loc[judged["q"] == 0, ["hits", "possible"]].sum().tolist() == [23, 31]


def test_facts_that_differ_between_trials_are_not_resampled():
    calls = [
        {"q": q, "trial": t, "pack": pack, "scores": {f"{pack}{i}": int(i < SEEN[q]) for i in range(8)}}
        for q in SHARES
        for t in range(2)
        for pack in ("a", "b")
    ]
    row = logistic_row(fits(*tables(calls), B=50))
    assert row["theta"] == pytest.approx(679.5, abs=0.1)
    assert row["theta_ci_low"] == row["theta"]
    assert row[["theta_facts_low", "theta_facts_high", "theta_facts_identified"]].isna().all()


# The table


def test_rows_and_columns_of_the_table():
    table = fits(*tables(reading(noise=1)), B=50)
    assert list(table.columns) == CURVE_COLUMNS
    assert list(table["family"]) == [*FAMILIES, *FAMILIES[:5]]
    assert list(table["fitted_to"]) == ["accuracy"] * 6 + ["ceiling"] * 5
    row = logistic_row(table)
    assert row["theta"] == 4096 * (1 - row["p0"])
    assert row["theta_facts_low"] < row["theta_ci_low"] < row["theta"] < row["theta_ci_high"]
    assert row[["alpha", "lambda", "a", "b", "p_star", "beta", "floor", "top"]].isna().all()
    others = table[table["family"] != "logistic"]
    assert others[[name for name in CURVE_COLUMNS if name.startswith("theta")]].isna().all(axis=None)
    ceiling = logistic_row(table, "ceiling")
    assert ceiling["theta"] == pytest.approx(679.5, abs=0.1)
    assert np.isnan(ceiling["theta_ci_low"])


def test_without_a_known_ceiling_nothing_is_said_about_it():
    table = fits(*tables(reading(ceiling=None)), B=20)
    assert list(table["family"]) == list(FAMILIES[:5])
    calls = reading()
    calls[0]["ceiling"] = None
    assert len(fits(*tables(calls), B=20)) == 5


def test_a_model_does_not_depend_on_another():
    mine, other = reading(noise=1), reading(noise=2, model="another")
    alone = fits(*tables(mine), B=100)
    among = fits(*tables(other + mine), B=100)
    among = among[among["model"] == "m"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among)


def test_a_share_without_scores_is_no_point():
    calls = reading(noise=1)
    for call in calls:
        if call["q"] == 0.25:
            call["scores"] = dict.fromkeys(call["scores"])
    row = logistic_row(fits(*tables(calls), B=50))
    assert row["n"] == 8
    assert row["theta"] == pytest.approx(679, abs=30)
    assert row["theta_ci_identified"] == 1
    assert row["theta_facts_identified"] > 0.97


def test_a_model_that_never_falls_has_no_theta():
    calls = [{**call, "scores": dict.fromkeys(call["scores"], 1)} for call in reading()]
    row = logistic_row(fits(*tables(calls), B=20))
    assert not row["identified"]
    assert row[[name for name in CURVE_COLUMNS if name.startswith("theta")]].isna().all()


def test_too_few_shares_give_rows_with_missing_numbers():
    calls = [call for call in reading() if call["q"] in (0.0, 0.9)]
    table = fits(*tables(calls), B=20)
    row = logistic_row(table)
    assert (row["n"], row["converged"], row["identified"]) == (2, False, False)
    assert row[["R0", "sse", "aic", "theta"]].isna().all()


def test_cells_of_other_trials_are_refused():
    trials, scores = tables(reading())
    table = cells(trials, scores, B=10)
    with pytest.raises(StatisticsError, match="hits of simulated, fixed_budget, 4096, m, rules are not"):
        curve_fits(table, *tables(reading(noise=1)), B=10)
    with pytest.raises(StatisticsError, match="Run the step 'intervals' again"):
        curve_fits(table, trials[:0], scores, B=10)
    with pytest.raises(StatisticsError, match=r"bootstrap\.B is 0"):
        curve_fits(table, trials, scores, B=0)


def run_script(folder, *cells_files, out):
    command = [sys.executable, str(SCRIPT), "--trials", str(folder / "trials.parquet")]
    command += ["--scores", str(folder / "scores.parquet"), "--B", "50", "--seed", "3"]
    command += ["--cells", *map(str, cells_files), "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_writes_the_same_bytes_twice_and_takes_several_cells_files(tmp_path):
    trials, scores = tables(reading(noise=1) + reading(experiment="another"))
    write_table(trials, TRIAL_SCHEMA, tmp_path / "trials.parquet")
    write_table(scores, SCORE_SCHEMA, tmp_path / "scores.parquet")
    table = cells(trials, scores, B=50, seed=3)
    parts = []
    for experiment, part in table.groupby("experiment"):
        parts.append(tmp_path / f"{experiment}.csv")
        write_csv(part, parts[-1])
    for name in ("one.csv", "two.csv"):
        done = run_script(tmp_path, *parts, out=tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    write_csv(curve_fits(table, trials, scores, B=50, seed=3), tmp_path / "direct.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "direct.csv").read_bytes()
    text = (tmp_path / "one.csv").read_text()
    assert text.startswith(",".join(CURVE_COLUMNS) + "\n")
    assert ",true,false,true," in text
    assert "nan" not in text.lower()


def test_the_script_says_what_is_wrong_in_one_message(tmp_path):
    trials, scores = tables(reading())
    write_table(trials, TRIAL_SCHEMA, tmp_path / "trials.parquet")
    write_table(scores, SCORE_SCHEMA, tmp_path / "scores.parquet")
    write_csv(cells(trials, scores, B=10).assign(hits=1), tmp_path / "cells.csv")
    done = run_script(tmp_path, tmp_path / "cells.csv", out=tmp_path / "fits.csv")
    assert done.returncode == 1
    assert done.stderr.startswith("error: cells: the hits of")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "fits.csv").exists()
