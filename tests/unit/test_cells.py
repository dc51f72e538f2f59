"""The cells table: counts, missing scores, bounds and intervals."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_rows import RESULTS, SHARED, SHARES, needs_artifact, paper_tables, tables

from rcwt.analysis.cells import CELL_COLUMNS, POOLED, cells, read_cells, write_csv
from rcwt.analysis.intervals import wilson_interval
from rcwt.base.errors import StaleResultError
from rcwt.trials.judged import StatisticsError
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, write_table

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "intervals.py"


def one_call(trial=0, hits=(1, 1, 0, 0), q=0.0, **more):
    return {"q": q, "trial": trial, "scores": {f"fact_{i}": hit for i, hit in enumerate(hits)}, **more}


def only(table, **where):
    """The one row of `table` whose columns have the values given."""
    chosen = table
    for name, value in where.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def pooled(calls, **options):
    return only(cells(*tables(calls), **options), order=POOLED)


# The paper's own calls


@needs_artifact
def test_table_a1_from_the_papers_calls():
    reference = pd.read_csv(SHARED / "reference" / "fixed_budget_4096_cells.csv")
    found = cells(*paper_tables())
    both = reference.merge(found[found["order"] == POOLED], on=["model", "q"], suffixes=("_ref", ""))
    assert len(both) == 27
    for name in ("hits", "possible", "p", "c", "r", "u", "effective_mean"):
        assert (both[name] == both[f"{name}_ref"]).all(), name
    assert (both["n_planned"] == both["n_calls"]).all()
    # Two bootstraps of 10 000 draws with other seeds.
    assert (both["ci_low"] - both["ci_low_ref"]).abs().max() <= 0.008
    assert (both["ci_high"] - both["ci_high_ref"]).abs().max() <= 0.008
    for order in ("coord_first", "reason_first"):
        single = reference.merge(found[found["order"] == order], on=["model", "q"], suffixes=("_ref", ""))
        assert (single["hits"] == single[f"hits_{order}"]).all()


@needs_artifact
def test_raw_score_of_the_paper_is_the_mean_over_ten_items():
    rows = pd.read_csv(RESULTS / "rcwt_controlled.csv")
    printed = rows.groupby("proportion")["mean_score_raw"].mean()
    found = cells(*paper_tables())
    gemini = found[(found["model"] == "gemini-2.0-flash") & (found["order"] == POOLED)].set_index("q")
    for q, raw in printed.items():
        assert gemini.loc[q, "raw_mean"] == pytest.approx(raw)


# Counting


def test_columns_and_rows_of_the_table():
    calls = [one_call(q=q, order=o) for q in SHARES for o in ("coord_first", "reason_first")]
    table = cells(*tables(calls), B=10)
    assert list(table.columns) == CELL_COLUMNS
    assert list(table["order"].drop_duplicates()) == ["coord_first", "reason_first", POOLED]
    assert len(table) == 3 * len(SHARES)


def test_effective_and_raw_means_differ_by_the_floor_items():
    row = pooled([one_call(hits=(1, 1, 1, 0), floor={"floor": 0})])
    assert (row.hits, row.possible, row.effective_mean) == (3, 4, 0.75)
    assert (row.raw_hits, row.raw_possible, row.raw_mean) == (3, 5, 0.6)


def test_missing_scores_leave_the_mean_and_open_the_bounds():
    # 2 of 4, and a call with one hit, one miss and two items without a score.
    row = pooled([one_call(0), one_call(1, hits=(1, 0, None, None))])
    assert (row.hits, row.possible, row.n_unparsed, row.n_scored) == (3, 6, 1, 2)
    assert row.effective_mean == 0.5
    assert row.bound_low == 3 / 8
    assert row.bound_high == 5 / 8


def test_a_cell_without_any_score_is_empty_and_not_zero():
    row = pooled([one_call(hits=(None, None, None, None))])
    assert (row.n_planned, row.n_answered, row.n_unparsed, row.possible) == (1, 1, 1, 0)
    assert row[["effective_mean", "raw_mean", "answered_mean", "ci_low", "ci_high"]].isna().all()
    assert row[["ci_method", "wilson_low"]].isna().all()
    assert (row.bound_low, row.bound_high) == (0, 1)


def test_a_score_beside_an_unparsed_status_does_not_count():
    trials, scores = tables([one_call(0)])
    scores["score_status"] = "judge_truncated"
    row = only(cells(trials, scores, B=10), order=POOLED)
    assert row.possible == 0
    assert np.isnan(row.effective_mean)


def test_calls_without_an_answer_are_misses_and_counted_apart():
    calls = [one_call(0), one_call(1, status="truncated")]
    calls += [
        one_call(2, hits=(None,) * 4, status="empty"),
        one_call(3, hits=(0,) * 4, status="refused"),
        one_call(4, hits=(), status="filtered"),
    ]
    row = pooled(calls)
    assert (row.n_planned, row.n_answered, row.n_truncated) == (5, 2, 1)
    assert (row.n_empty, row.n_refused, row.n_filtered, row.n_unparsed) == (1, 1, 1, 0)
    assert (row.hits, row.possible) == (4, 20)
    assert (row.effective_mean, row.answered_mean) == (0.2, 0.5)
    assert (row.bound_low, row.bound_high) == (0.2, 0.2)


def test_an_unknown_end_is_scored_like_any_and_counted_apart():
    row = pooled([one_call(0), one_call(1, status="unknown_finish"), one_call(2, status="unknown_finish")])
    assert (row.n_unknown_finish, row.n_answered, row.n_truncated, row.n_unparsed) == (2, 3, 0, 0)
    assert (row.hits, row.possible) == (6, 12)


def test_calls_of_another_model_are_counted_where_replies_name_one(tmp_path):
    trials, scores = tables([one_call(trial, q=q) for q in (0.0, 0.25) for trial in range(3)])
    assert cells(trials, scores, B=10)["n_other_model"].isna().all()
    # At q = 0 one other, one as asked, one that names none; at 25 % no reply names one.
    trials["other_model"] = [True, False, None, None, None, None]
    found = cells(trials, scores, B=10)
    assert only(found, order=POOLED, q=0.0).n_other_model == 1
    assert pd.isna(only(found, order=POOLED, q=0.25).n_other_model)
    write_csv(found, tmp_path / "cells.csv")
    assert set(pd.read_csv(tmp_path / "cells.csv", dtype=str)["n_other_model"].fillna("")) == {"1", ""}


def test_misses_of_a_reply_without_its_form_or_behind_the_cap_are_counted_apart_and_not_missing():
    trials, scores = tables(
        [one_call(0), one_call(1, (0, 0, 0, 0)), one_call(2, (1, 1, 0, 0)), one_call(3, (1, 1, 1, 1))]
    )
    scores.loc[scores["trial"] == 1, "score_status"] = "unparsed"
    scores.loc[(scores["trial"] == 2) & scores["item"].isin(["fact_2", "fact_3"]), "score_status"] = "truncated"
    row = only(cells(trials, scores), order=POOLED)
    # Hits 2 + 0 + 2 + 4 of 16: the misses stay among the possible hits, and the bounds closed.
    assert (row["hits"], row["possible"], row["effective_mean"]) == (8, 16, 0.5)
    assert (row["bound_low"], row["bound_high"]) == (0.5, 0.5)
    assert (row["n_unparsed"], row["n_cut_items"], row["n_complete"], row["n_scored"]) == (1, 2, 1, 4)


def test_a_trial_its_judge_never_saw_is_unparsed():
    trials, scores = tables([one_call(0), one_call(1)])
    row = only(cells(trials, scores[scores["trial"] == 0], B=10), order=POOLED)
    assert (row.n_planned, row.n_unparsed, row.possible) == (2, 1, 4)
    assert (row.bound_low, row.bound_high) == (2 / 8, 6 / 8)


def test_a_second_judge_has_rows_only_where_it_scored():
    calls = [one_call(0, q=0.0), one_call(0, q=0.98)]
    trials, scores = tables(calls)
    second = scores[scores["q"] == 0].assign(judge="second", score=1)
    table = cells(trials, pd.concat([scores, second]), B=10)
    table = table[table["order"] == POOLED]
    assert sorted(zip(table["judge"], table["q"], strict=True)) == [
        ("rules", 0.0),
        ("rules", 0.98),
        ("second", 0.0),
    ]
    assert only(table, judge="second").effective_mean == 1


def test_the_headline_judge_has_a_row_even_where_it_left_no_score():
    trials, scores = tables([one_call(0), one_call(0, q=0.25)])
    table = cells(trials, scores[scores["q"] == 0], B=10)
    row = only(table, order=POOLED, q=0.25)
    assert (row.n_unparsed, row.possible) == (1, 0)


def test_packs_are_pooled_into_their_share():
    row = pooled([one_call(0, pack="a"), one_call(0, hits=(1, 1, 1, 1), pack="b")])
    assert (row.n_planned, row.hits, row.possible) == (2, 6, 8)


def test_the_ceiling_is_the_mean_of_its_trials_and_missing_where_one_is():
    assert pooled([one_call(0, ceiling=1.0), one_call(1, ceiling=0.5)]).ceiling == 0.75
    assert np.isnan(pooled([one_call(0, ceiling=1.0), one_call(1, ceiling=None)]).ceiling)


def test_no_trials_give_an_empty_table_with_its_columns():
    trials, scores = tables([one_call()])
    table = cells(trials[:0], scores)
    assert table.empty
    assert list(table.columns) == CELL_COLUMNS


# Intervals


def test_wilson_interval_of_ten_in_ten():
    # The paper's intact task: 10 of 10 calls right.
    low, high = wilson_interval(10, 10)
    assert low == pytest.approx(0.722, abs=0.0005)
    assert high == 1.0


def test_wilson_stands_beside_all_right_and_none_right_only():
    right = pooled([one_call(i, hits=(1,) * 4) for i in range(10)])
    assert right.wilson_low == pytest.approx(0.7225, abs=0.0005)
    assert (right.wilson_high, right.ci_low, right.ci_high, right.ci_method) == (1, 1, 1, "bootstrap")
    wrong = pooled([one_call(i, hits=(0,) * 4) for i in range(10)])
    assert wrong.wilson_low == 0
    assert wrong.wilson_high == pytest.approx(1 - 0.7225, abs=0.0005)
    between = pooled([one_call(0, hits=(1, 0, 0, 0)), one_call(1, hits=(0,) * 4)])
    assert np.isnan(between.wilson_low)


def test_a_call_with_a_missing_score_is_no_complete_call():
    row = pooled([one_call(0, hits=(1,) * 4), one_call(1, hits=(1, 1, 1, None))])
    assert row.n_complete == 1
    # Whether the second was complete is not known: one call of one.
    assert (row.wilson_low, row.wilson_high) == wilson_interval(1, 1)


def test_identical_calls_have_no_variation():
    row = pooled([one_call(i) for i in range(5)])
    assert (row.ci_low, row.ci_high, row.ci_method) == (0.5, 0.5, "no_variation")
    orders = [one_call(i, hits=(1, 0, 0, order == "a"), order=name) for i in range(3)
              for order, name in (("a", "coord_first"), ("b", "reason_first"))]  # fmt: skip
    # Resampling inside each order leaves each order's mean as it is.
    assert pooled(orders).ci_method == "no_variation"


def test_bootstrap_agrees_with_the_exact_distribution():
    # 20 calls of one item, 10 right: the draws are binomial(20, 1/2), whose 2.5 % points are 6/20 and 14/20.
    row = pooled([one_call(i, hits=(i % 2,)) for i in range(20)])
    assert (row.ci_low, row.ci_high) == (0.3, 0.7)


def test_the_items_of_a_call_are_not_taken_as_independent():
    # Ten calls all right, ten all wrong: 0.5 ± 0.22 by calls, where 80 independent items would give ± 0.11.
    row = pooled([one_call(i, hits=(i % 2,) * 4) for i in range(20)])
    assert row.ci_low == pytest.approx(0.3, abs=0.05)


def test_the_seed_is_the_configurations():
    calls = [one_call(i, hits=[int(j < i % 5) for j in range(4)], q=q) for i in range(9) for q in SHARES]
    first, again, other = (cells(*tables(calls), B=50, seed=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert (first["ci_low"] != other["ci_low"]).any()


hits = st.sampled_from([0, 1, 1, None])
call_lists = st.lists(
    st.tuples(st.sampled_from(["coord_first", "reason_first"]), st.lists(hits, min_size=4, max_size=4)),
    min_size=1,
    max_size=12,
)


def numbered(call_list, **more):
    return [one_call(i, hits=scored, order=order, **more) for i, (order, scored) in enumerate(call_list)]


@settings(max_examples=25)
@given(call_lists)
def test_intervals_hold_the_mean_and_stay_between_0_and_1(call_list):
    table = cells(*tables(numbered(call_list)), B=400)
    table = table[table["possible"] > 0]
    for low, high in (("ci_low", "ci_high"), ("bound_low", "bound_high")):
        assert (table[low] >= 0).all()
        assert (table[low] <= table["effective_mean"]).all()
        assert (table["effective_mean"] <= table[high]).all()
        assert (table[high] <= 1).all()


@settings(max_examples=15)
@given(call_lists, st.randoms(use_true_random=False))
def test_permuting_trials_changes_nothing(call_list, random):
    shuffled = call_list.copy()
    random.shuffle(shuffled)  # other trial numbers and another order of rows
    pd.testing.assert_frame_equal(cells(*tables(numbered(call_list)), B=30), cells(*tables(numbered(shuffled)), B=30))


@settings(max_examples=15)
@given(call_lists, call_lists)
def test_a_cell_does_not_depend_on_other_cells(call_list, others):
    mine = numbered(call_list, q=0.5)
    more = numbered(others, q=0.9) + numbered(others, q=0.5, model="another")
    alone = cells(*tables(mine), B=30)
    among = cells(*tables(more + mine), B=30)
    among = among[(among["q"] == 0.5) & (among["model"] == "m")].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among)


@settings(max_examples=25)
@given(call_lists)
def test_a_missing_score_never_acts_as_a_zero(call_list):
    flat = [hit for _, scored in call_list for hit in scored if hit is not None]
    row = pooled(numbered(call_list), B=10)
    assert (row.hits, row.possible) == (sum(flat), len(flat))
    if flat:
        assert row.effective_mean == sum(flat) / len(flat)


# What is refused


def test_a_trial_that_stands_twice_is_refused():
    with pytest.raises(StatisticsError, match=r"trials: 1 rows stand twice.*trial 0"):
        cells(*tables([one_call(0), one_call(0)]))


def test_an_item_scored_twice_is_refused():
    trials, scores = tables([one_call(0)])
    with pytest.raises(StatisticsError, match=r"scores: 4 rows stand twice.*item fact_0"):
        cells(trials, pd.concat([scores, scores]))


def test_two_budgets_in_one_cell_are_refused():
    with pytest.raises(StatisticsError, match=r"more than one p in the cell .*0\.5"):
        cells(*tables([one_call(0, q=0.5), one_call(1, q=0.5, c=7)]))


def test_an_unknown_status_and_no_draws_are_refused():
    with pytest.raises(StatisticsError, match="status lost; accepted: ok"):
        cells(*tables([one_call(0, status="lost")]))
    with pytest.raises(StatisticsError, match=r"bootstrap\.B is 0"):
        cells(*tables([one_call(0)]), B=0)


# Files


def test_csv_is_exact_and_says_missing_with_an_empty_field(tmp_path):
    path = tmp_path / "new" / "cells.csv"
    table = pd.DataFrame({"x": [1 / 3, np.nan], "yes": [True, False], "n": pd.array([1, None], dtype="Int64")})
    write_csv(table, path)
    assert path.read_bytes() == b"x,yes,n\n0.3333333333333333,true,1\n,false,\n"
    assert list(path.parent.iterdir()) == [path]


def test_cells_come_back_from_their_file_as_they_were(tmp_path):
    table = cells(*tables([one_call(i, hits=(i % 2, 0, 0, None), q=q) for i in range(6) for q in SHARES]), B=50)
    write_csv(table, tmp_path / "cells.csv")
    back = read_cells(tmp_path / "cells.csv")
    pd.testing.assert_frame_equal(table, back, check_dtype=False)
    write_csv(table.drop(columns="ceiling"), tmp_path / "old.csv")
    with pytest.raises(StaleResultError, match=r"old\.csv: columns ceiling are missing.* Delete it and run"):
        read_cells(tmp_path / "old.csv")


def run_script(folder, kind="fixed_budget", **files):
    options = {"trials": folder / "trials.parquet", "scores": folder / "scores.parquet", **files}
    command = [sys.executable, str(SCRIPT), "--kind", kind, "--B", "50", "--seed", "3"]
    command += [text for name, path in options.items() for text in (f"--{name}", str(path))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_writes_the_same_bytes_twice(tmp_path):
    trials, scores = tables([one_call(i, hits=(i % 2, 0, 0, 1), q=q) for i in range(6) for q in SHARES])
    write_table(trials, TRIAL_SCHEMA, tmp_path / "trials.parquet")
    write_table(scores, SCORE_SCHEMA, tmp_path / "scores.parquet")
    for name in ("a.csv", "b.csv"):
        done = run_script(tmp_path, out=tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    pd.testing.assert_frame_equal(
        read_cells(tmp_path / "a.csv"), cells(trials, scores, B=50, seed=3), check_dtype=False
    )
    assert run_script(tmp_path, kind="intact", out=tmp_path / "c.csv").returncode == 0
    assert (tmp_path / "c.csv").read_text() == ",".join(CELL_COLUMNS) + "\n"


def test_the_script_says_what_is_wrong_in_one_message(tmp_path):
    trials, scores = tables([one_call(0, status="lost")])
    write_table(trials, TRIAL_SCHEMA, tmp_path / "trials.parquet")
    write_table(scores, SCORE_SCHEMA, tmp_path / "scores.parquet")
    done = run_script(tmp_path, out=tmp_path / "a.csv")
    assert done.returncode == 1
    assert done.stderr.startswith("error: trials: status lost")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a.csv").exists()
