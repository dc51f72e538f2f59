"""The summary: what a run found, said with its uncertainty, and nothing missing said as zero."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from main_task import main_rows, make_cells, make_trials, reader_cells
from paper_rows import GEMINI

from rcwt.analysis.cells import write_csv
from rcwt.report.identified import why_not_identified
from rcwt.report.summary import WIDTH, baseline, cost, fewest_tokens_whole, summary, theta

READER = "reader (extractive reader, not a language model)"


def fit(**values: Any) -> "pd.Series[Any]":
    row = {"experiment": "fixed_budget", "window": 4096, "judge": "rules", "model": "reader", "family": "logistic"}
    row |= {
        "fitted_to": "accuracy",
        "p0": 0.83,
        "p0_search_end": 0.83,
        "converged": True,
        "identified": True,
        "theta": 679.45,
    }
    row |= {"theta_ci_low": 677.0, "theta_ci_high": 682.04, "theta_facts_low": 590.0, "theta_facts_high": 741.25}
    return pd.Series(row | {"theta_ci_identified": 1.0, "theta_facts_identified": 1.0} | values)


def fits(*rows: "pd.Series[Any]") -> pd.DataFrame:
    return pd.DataFrame(list(rows)).reset_index(drop=True)


def test_the_keyless_run_is_told_in_a_few_lines(tmp_path: Path) -> None:
    trials = make_trials(tmp_path, "reader")
    text = summary(
        trials,
        [reader_cells()],
        fits(fit(), fit(fitted_to="ceiling")),
        [("fixed_budget", "t.csv"), ("packs", "p.csv")],
        [("fixed_budget", "f.png")],
    )
    assert text.splitlines() == [
        "fixed_budget, W = 4096 tokens, judge rules (new calls)",
        f"  {READER}",
        "    baseline accuracy   1.000 at q = 0 %",
        # The design's geometry: u = 337, c = 2 819 at 75 % and 3 383 at 90 %.
        "    whole down to       1277 tokens kept (q = 75 %); at 713 tokens 0.625",
        "    theta               679.5 tokens (95 % over calls: 677.0 to 682.0, 95 % over facts: 590.0 to 741.3)",
        "    theta of ceiling    679.5 tokens",
        "    calls               360; without an answer: empty 0, refused 0, filtered 0; cut at the output cap: 0",
        "    cost                $0.00",
        "",
        "Tables              t.csv",
        "Figures             f.png",
    ]


def test_answers_that_are_none_are_counted_apart(tmp_path: Path) -> None:
    trials = make_trials(tmp_path, "reader")
    trials.loc[:9, "status"] = ["empty", "refused", "refused", "filtered", *["truncated"] * 6]
    trials.loc[300:, ["finish_reason", "completion_tokens"]] = pd.NA
    trials.loc[358:, ["hits", "possible"]] = pd.NA
    text = " ".join(summary(trials, [reader_cells()], pd.DataFrame()).split())
    assert "360; without an answer: empty 1, refused 2, filtered 1; cut at the output cap: 6, not known for 60" in text
    assert "; without a score: 2" in text


@pytest.mark.parametrize(
    ("costs", "source", "expected"),
    [
        ([None] * 4, "run", "unknown"),
        ([None] * 4, "published", "unknown"),
        ([0.0] * 4, "run", "$0.00"),
        ([0.1, 0.2, 0.3, 0.4], "run", "$1.00"),
        ([0.1, 0.2, None, None], "run", "$0.3000, and unknown for 2 of 4 calls"),
        ([0.00125] * 4, "published", "$0.0050 as published"),
        ([1.005, 1, 0, 0], "published", "$2.01 as published"),  # half up by decimal arithmetic
        ([0.00001, 0, 0, 0], "run", "less than $0.0001"),
        ([1.0, 0, 0, 0], "simulated", "$1.00 (simulated)"),
    ],
)
def test_a_cost_that_is_not_known_is_never_zero(costs: list[float | None], source: str, expected: str) -> None:
    calls = pd.DataFrame({"cost_usd": pd.Series(costs, dtype="float64"), "source": source})
    assert cost(calls) == expected


def test_theta_comes_with_what_its_interval_resamples() -> None:
    cells = reader_cells()
    none = {"theta_ci_low": np.nan, "theta_ci_high": np.nan, "theta_facts_low": np.nan, "theta_facts_high": np.nan}
    packs = none | {"theta_ci_low": 500.0, "theta_ci_high": 600.0, "theta_facts_identified": np.nan}
    assert theta(fit(**packs), cells) == "679.5 tokens (95 % over calls: 500.0 to 600.0)"
    assert theta(fit(**none, theta_ci_identified=0.871), cells) == (
        "679.5 tokens (over calls: identified in only 87 % of refits, over facts: identified in only 100 % of refits)"
    )
    same = fit(theta_ci_low=679.45, theta_ci_high=679.45)
    assert theta(same, cells).startswith("679.5 tokens (over calls: they do not vary, ")
    unknown = none | {"theta_ci_identified": np.nan, "theta_facts_identified": np.nan}
    assert theta(fit(**unknown), cells) == "679.5 tokens (no interval)"


@pytest.mark.parametrize(
    ("means", "row", "reason"),
    [
        ([1, 1, 0], None, "a curve needs four shares, 3 have a value"),
        ([1, None, None, None, 0], fit(identified=False), "a curve needs four shares, 2 have a value"),
        ([1, 1, 0, 0], None, "no curve was fitted"),
        ([1, 1, 1, 1], fit(identified=False), "it is the same at every share"),
        ([1, 0.9, 0.5, 0], fit(identified=False, converged=False), "the fit did not converge"),
        (
            [1, 0.9, 0.5, 0],
            fit(identified=False, p0=np.nan, p0_search_end=0.95),
            "the cliff lies outside the measured shares",
        ),
        (
            [1, 0.9, 0.9, 0.7],
            fit(identified=False, p0=np.nan, p0_search_end=1.0),
            "p0 is at the end of its range, 0.4 to 1",
        ),
        ([1, 0.9, 0.9, 0.9], fit(identified=False), "it hardly falls over the measured shares"),
        ([1, 1, 0, 0.01], fit(identified=False), "the measured shares leave the place of the cliff open"),
    ],
)
def test_a_theta_that_is_not_identified_is_no_number_and_has_a_reason(
    means: list[float | None], row: "pd.Series[Any] | None", reason: str
) -> None:
    p = [0.9 * place / len(means) for place in range(1, len(means) + 1)]
    cells = pd.DataFrame({"effective_mean": pd.Series(means, dtype="float64"), "p": p})
    cells = cells.assign(possible=8, hits=8, n_abstained_items=0)
    assert why_not_identified(row, cells, "effective_mean") == reason
    if row is None or not row["identified"]:
        assert theta(row, cells) == f"not identified: {reason}"


def test_the_baseline_is_the_smallest_share_that_was_measured() -> None:
    cells = make_cells(main_rows("a", [300, None, *[0] * 7]))
    assert baseline(cells) == "0.938 at q = 0 %"  # 300 of 320 = 0.9375
    assert baseline(cells.iloc[1:]) == "not scored at q = 25 %"


def test_published_data_are_called_so_and_no_line_is_too_long(tmp_path: Path) -> None:
    trials = make_trials(tmp_path, GEMINI, source="published", cost_usd=0.5, headline_judge="original")
    trials.loc[200:, ["finish_reason", "completion_tokens", "cost_usd"]] = pd.NA
    cells = reader_cells(GEMINI).assign(source="published", judge="original")
    long = {"theta": 12345.6, "theta_ci_low": 11111.1, "theta_ci_high": 13333.3}
    long |= {"theta_facts_low": 10000.1, "theta_facts_high": 20000.2}
    text = summary(trials, [cells], fits(fit(model=GEMINI, judge="original", **long)))
    assert text.startswith("fixed_budget, W = 4096 tokens, judge original (published data)\n  gemini-2.0-flash\n")
    assert "$100.00 as published, and unknown for 160 of 360 calls" in " ".join(text.split())
    assert "extractive" not in text
    assert max(map(len, text.splitlines())) <= WIDTH == 110


def test_only_the_headline_judge_and_pooled_orders_are_spoken_of(tmp_path: Path) -> None:
    trials = make_trials(tmp_path, "reader")
    others = [reader_cells().assign(judge="second", hits=1), reader_cells().assign(order="coord_first", hits=1)]
    text = summary(trials, [pd.concat([reader_cells(), *others])], fits(fit()))
    assert text.count("baseline") == 1
    assert "1.000 at q = 0 %" in text


def test_larger_windows_take_a_line_each(tmp_path: Path) -> None:
    cells, calls, found = [], [], []
    for window, p0, theta_there in ((4096, 0.8341, 679.45), (8192, 0.92, 655.36), (16384, 0.96, None)):
        cells.append(reader_cells().assign(window=window))
        calls.append(make_trials(tmp_path, "reader").assign(window=window))
        known: dict[str, Any] = (
            {"identified": False, "p0": np.nan, "p0_search_end": 0.95}
            if theta_there is None
            else {"theta": theta_there}
        )
        found += [fit(window=window, **{"p0": p0, **known}), fit(window=window, fitted_to="ceiling")]
    text = summary(pd.concat(calls), [pd.concat(cells)], fits(*found))
    lines = text.splitlines()
    assert lines[0] == "fixed_budget, W = 4096, 8192 and 16384 tokens, judge rules (new calls)"
    assert lines[4].startswith("    theta               679.5 tokens (")
    # 1 - 655.36 / 8192 = 0.92 observed; 1 - 679.45 / 8192 = 0.91706 predicted.
    found_there = "theta 655.4 (677.0 to 682.0 over calls), of ceiling 679.5; p0 92.0 %, 91.7 % predicted"
    assert lines[6] == f"    W = 8192            {found_there}"
    rest = " ".join(" ".join(lines[7:]).split())
    assert "W = 16384 theta not identified: the cliff lies outside the measured shares, of ceiling 679.5; " in rest
    assert "p0 95.9 % predicted calls 1080; without an answer" in rest
    assert text.count("baseline") == 1


def test_a_model_without_calls_in_the_base_window(tmp_path: Path) -> None:
    cells = pd.concat([reader_cells(), reader_cells("large").assign(window=8192)])
    trials = [make_trials(tmp_path, "reader"), make_trials(tmp_path, "large").assign(window=8192)]
    text = summary(pd.concat(trials), [cells], fits(fit(), fit(model="large", window=8192)))
    assert "  large\n    baseline accuracy   no calls at W = 4096\n    W = 8192            theta 679.5 (" in text


def test_the_accounts_of_all_windows(tmp_path: Path) -> None:
    row = {"source": "run", "experiment": "fixed_budget", "model": "reader", "judge": "rules", "heldout_window": np.nan}
    accounts = pd.DataFrame(
        [
            {
                "account": "theta",
                "midpoint": 676.25,
                "identified": True,
                "sse": 0.1,
                "aic": -109.24,
                "heldout_rmse": 0.05,
            },
            {"account": "theta", "midpoint": 1.0, "identified": True, "sse": 1, "aic": 1, "heldout_window": 4096},
            {"account": "p0", "midpoint": 0.99, "identified": False, "sse": 3, "aic": 24.46, "heldout_rmse": np.nan},
            {"account": "truncation", "identified": True, "sse": 0, "aic": np.nan, "heldout_rmse": 0},
        ]
    )
    accounts = accounts.assign(**{name: value for name, value in row.items() if name != "heldout_window"})
    text = summary(make_trials(tmp_path, "reader"), [reader_cells()], fits(fit()), accounts=accounts)
    assert "    one theta           676.3 tokens; AIC -109.2; RMSE in a window left out 0.050\n" in text
    assert "    one p0              not identified; AIC 24.5; predicts no window\n" in text
    assert "    truncation          fits exactly; RMSE in a window left out 0.000\n" in text
    assert text.count("one theta") == 1


def test_replies_in_another_form_explain_a_zero(tmp_path: Path) -> None:
    """A reader that abstains gives no answer line: all its replies are misses, and why is said."""
    cells = reader_cells().assign(hits=0, n_unparsed=[40] * 9)
    text = " ".join(summary(make_trials(tmp_path, "reader"), [cells], pd.DataFrame()).split())
    assert "not in the form asked for (misses): 360" in text


def test_no_calls_are_said(tmp_path: Path) -> None:
    nothing = make_trials(tmp_path, "reader").iloc[:0]
    assert summary(nothing, [reader_cells().iloc[:0]], pd.DataFrame()) == "No calls: nothing was measured.\n"


def test_the_script_reads_what_the_pipeline_writes(tmp_path: Path, root: Path) -> None:
    make_trials(tmp_path, "mine")
    write_csv(reader_cells("mine"), tmp_path / "cells.csv")
    write_csv(reader_cells().iloc[:0], tmp_path / "packs.csv")
    curves = fits(fit(model="mine", at_bound=False), fit(model="mine", at_bound=False, fitted_to="ceiling"))
    write_csv(curves.assign(source="run").infer_objects(), tmp_path / "curves.csv")
    command = [sys.executable, str(root / "workflow/scripts/summary.py"), "--trials", str(tmp_path / "mine.parquet")]
    command += ["--cells", str(tmp_path / "cells.csv"), str(tmp_path / "packs.csv"), "--embedded", "mine"]
    command += ["--curves", str(tmp_path / "curves.csv"), "--out", str(tmp_path / "summary.txt")]
    subprocess.run([*command, "--table", "--figure", "fixed_budget=f.png"], check=True)
    text = (tmp_path / "summary.txt").read_text()
    assert "  mine (extractive reader, not a language model)\n" in text
    assert "    theta               679.5 tokens (95 %" in text
    assert text.endswith("Figures             f.png\n")
    assert "Table" not in text


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        ([320] * 9, "413 tokens kept (q = 98 %), the fewest that were measured"),
        ([300, 300, 270, 269, *[0] * 5], "2217 tokens kept (q = 50 %); at 1277 tokens 0.841"),  # 270 is 90 % of 300
        ([300, 300, None, *[300] * 6], "3157 tokens kept (q = 25 %); at 2217 tokens not scored"),
        ([320, 100, *[320] * 7], "4096 tokens kept (q = 0 %); at 3157 tokens 0.313"),
        ([0] * 9, "unknown: there is no accuracy to lose"),
        ([None, *[320] * 8], "unknown: there is no accuracy to lose"),
    ],
)
def test_down_to_where_a_task_stayed_whole_is_what_was_measured(hits: list[int | None], said: str) -> None:
    # W - c by the design: 4 096 less 0, 939, 1 879, 2 819, … 3 683.
    cells = make_cells(main_rows("m", hits))
    assert fewest_tokens_whole(cells[cells["order"] == "pooled"]) == said
