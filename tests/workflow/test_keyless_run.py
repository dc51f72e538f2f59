"""`snakemake --cores 8 all` on a fresh checkout, without a key: the reader on the paper's main experiment."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from projects import Project

from rcwt.trials.schema import read_table

#: By window, target share in percent: reference tokens r = W - 337 - floor(q (W - 337)) (at 4 096 the paper's Table A1;
#: at 16 384 the artifact's), and the ceiling there (design: layout of the spec-recall task, for 32 768 by hand from it:
#: of eight facts complete at 235, 250, 290, 312, 370, 408, 467 and 553 tokens, those up to r).
GEOMETRY = {
    4096: {
        **{0: (3759, 1), 25: (2820, 1), 50: (1880, 1), 75: (940, 1), 90: (376, 0.625), 92: (301, 0.375)},
        **{94: (226, 0), 96: (151, 0), 98: (76, 0)},
    },
    8192: {
        **{0: (7855, 1), 25: (5892, 1), 50: (3928, 1), 75: (1964, 1), 90: (786, 1), 92: (629, 1)},
        **{94: (472, 0.875), 96: (315, 0.5), 98: (158, 0)},
    },
    16384: {
        **{0: (16047, 1), 50: (8024, 1), 90: (1605, 1), 97: (482, 0.875), 97.5: (402, 0.625)},
        **{98: (321, 0.5), 98.5: (241, 0.125), 99: (161, 0)},
    },
    32768: {
        **{0: (32431, 1), 50: (16216, 1), 90: (3244, 1), 97.5: (811, 1), 98.5: (487, 0.875)},
        **{99: (325, 0.5), 99.25: (244, 0.125), 99.5: (163, 0)},
    },
}
#: Calls of a cell.
TRIALS = {4096: 20, 8192: 20, 16384: 10, 32768: 10}
CONDITIONS = 2 * (9 + 9 + 8 + 8)
CALLS = 2 * (9 * 20 + 9 * 20 + 8 * 10 + 8 * 10)
LABEL = "extractive reader, not a language model"


@pytest.fixture(scope="module")
def results(finished_run: tuple[Project, str]) -> Path:
    return finished_run[0].folder / "results"


@pytest.fixture(scope="module")
def cells(results: Path) -> pd.DataFrame:
    table = pd.read_csv(results / "tables/fixed_budget_cells.csv")
    table["share"] = (table["q"] * 100).round(4)
    return table


def test_the_manifest_is_the_papers_geometry(results: Path) -> None:
    rows = list(csv.DictReader((results / "manifest.csv").open()))
    assert len(rows) == CONDITIONS
    for row in rows:
        window, share, r = int(row["window"]), round(float(row["q"]) * 100, 4), int(row["r"])
        assert (r, float(row["ceiling_lenient"])) == GEOMETRY[window][share]
        assert (int(row["u"]), int(row["c"])) == (337, window - 337 - r)
        assert float(row["p"]) == int(row["c"]) / window
        assert int(row["trials"]) == TRIALS[window]
        assert abs(int(row["coordination_tokens"]) - int(row["c"])) <= 20
        assert re.fullmatch(r"[0-9a-f]{64}", row["prompt_sha256"])


def test_the_reader_reaches_the_ceiling_and_not_more(cells: pd.DataFrame) -> None:
    assert len(cells) == 3 * CONDITIONS / 2
    for row in cells.itertuples():
        ceiling = GEOMETRY[row.window][row.share][1]
        assert row.ceiling == ceiling
        assert abs(row.effective_mean - ceiling) <= 1 / 8
        if ceiling == 1:
            assert row.effective_mean >= 0.95
        if ceiling == 0:
            assert 0 <= row.effective_mean <= 0.05


def test_every_planned_trial_is_there_once(results: Path, cells: pd.DataFrame) -> None:
    trials = read_table(results / "trials.parquet")
    assert len(trials) == CALLS
    assert set(trials["source"]) == {"run"}
    assert not trials.duplicated(["experiment", "window", "model", "order", "q", "trial"]).any()
    pooled = cells[cells["order"] == "pooled"]
    assert (pooled["n_planned"] == pooled["window"].map(TRIALS) * 2).all()
    scores = read_table(results / "scores.parquet")
    assert len(scores) == CALLS * 10
    key = ["window", "order", "q", "trial"]
    sums = scores[scores["effective"]].groupby(key)["score"].sum()
    assert sums.reindex(pd.MultiIndex.from_frame(trials[key])).tolist() == trials["hits"].tolist()


def test_theta_of_reader_and_ceiling(results: Path) -> None:
    fits = pd.read_csv(results / "tables/curve_fits.csv")
    logistic = fits[fits["family"] == "logistic"].set_index(["window", "fitted_to"])["theta"]
    assert 670 <= logistic[4096, "accuracy"] <= 690
    assert logistic[4096, "ceiling"] == pytest.approx(679.5, abs=0.1)  # design: logistic fitted to the ceiling
    for window in GEOMETRY:
        # Half of the facts are whole between 312 and 370 tokens of reference: theta is 337 more, wherever shares stand.
        assert 337 + 312 - 10 < logistic[window, "accuracy"] < 337 + 370
    assert set(fits["family"]) == {"logistic", "power", "exponential", "quadratic", "piecewise", "truncation"}


def test_the_reader_is_called_and_stored_like_any_model(finished_run: tuple[Project, str]) -> None:
    folder = finished_run[0].folder
    records = [json.loads(line) for path in (folder / "results/calls/reader").glob("*.jsonl") for line in path.open()]
    assert len(records) == CALLS
    assert len({record["request_key"] for record in records}) == CALLS
    kept = {path.stem for path in (folder / ".cache/responses").rglob("*.json")}
    assert kept == {record["request_key"] for record in records}
    assert all(record["response"]["usage"]["completion"] <= 1024 for record in records)
    assert {record["response"]["cost_usd"] for record in records} == {0}


def test_whatever_shows_the_reader_says_what_it_is(finished_run: tuple[Project, str], results: Path) -> None:
    assert LABEL in finished_run[1]  # the summary at the end of the run
    shown = ("tables/table_a1.md", "tables/table_a1.tex", "tables/table_1.md", "tables/table_1.tex")
    for path in (*shown, "figures/figure_1.svg", "figures/figure_2.svg", "summary.txt"):
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (results / path).read_text()))
        assert LABEL in text, path


def test_the_readmes_figure_is_the_one_that_this_run_makes(root: Path, results: Path) -> None:
    committed, made = (folder / "figure_1.png" for folder in (root / "docs", results / "figures"))
    assert committed.read_bytes() == made.read_bytes(), (
        "run: snakemake --cores 8 results/figures/figure_1.png && cp results/figures/figure_1.png docs/"
    )


def test_a_run_ends_by_saying_what_it_found_and_where(finished_run: tuple[Project, str]) -> None:
    output = finished_run[1]
    for part in ("theta", "ceiling", "results/tables/table_a1", "results/figures/figure_1"):
        assert part in output
    # One page for all windows: the base in full, each other one in a line.
    assert output.count("baseline accuracy") == 1
    assert [output.count(f"    W = {window} ") for window in GEOMETRY] == [0, 1, 1, 1]
    assert f"calls               {CALLS}; " in output


def test_table_1_of_the_reader(results: Path) -> None:
    fits = pd.read_csv(results / "tables/curve_fits.csv")
    logistic = fits[(fits["family"] == "logistic") & (fits["fitted_to"] == "accuracy")].set_index("window")["theta"]
    (row,) = csv.DictReader((results / "tables/table_1.csv").open())
    printed = [
        f"{100 * (1 - theta / window):.1f}"
        for theta, window in ((logistic[4096], 8192), (logistic[8192], 8192), (logistic[16384], 16384))
    ]
    assert list(row.values()) == ["reader", f"{logistic[4096]:.0f}", *printed]
    (full,) = csv.DictReader((results / "tables/table_1_full.csv").open())
    assert float(full["observed_p0_32768_percent"]) == pytest.approx(100 * (1 - logistic[32768] / 32768))


def test_one_theta_accounts_for_all_windows_of_the_reader(results: Path) -> None:
    accounts = pd.read_csv(results / "tables/window_accounts.csv")
    whole = accounts[accounts["heldout_window"].isna()].set_index("account")
    assert len(accounts) == 3 * (1 + 4)
    assert (whole["n"] == 9 + 9 + 8 + 8).all()
    # The reader loses exactly what is cut, so it meets its ceiling, which is set by tokens and not by shares.
    assert whole.loc["truncation", ["sse", "heldout_rmse"]].tolist() == [0, 0]
    assert whole.loc["p0", "delta_aic"] > 100
    assert whole.loc["theta", "heldout_rmse"] < 0.1 < 0.3 < whole.loc["p0", "heldout_rmse"]


def test_the_merged_configuration_is_beside_the_results(finished: Project) -> None:
    merged = yaml.safe_load((finished.folder / "results/config.yaml").read_text())
    assert merged["models"] == ["reader"]
    assert merged["designs"]["fixed_budget"]["windows"][0]["trials"] == 20
    # It can be given back: the same run, nothing to do.
    assert finished.plan("--configfile", "results/config.yaml") == {}


def test_two_runs_are_byte_identical_but_for_times(finished_run: tuple[Project, str], project: Project) -> None:
    project.succeed("--cores", "2", "all")
    first, second = finished_run[0].folder / "results", project.folder / "results"
    for path in sorted(first.rglob("*")):
        relative = path.relative_to(first)
        if path.is_dir() or relative.parts[0] in {"calls", "scores", "logs"} or path.suffix == ".parquet":
            continue
        assert path.read_bytes() == (second / relative).read_bytes(), relative
    volatile = ["time_utc", "latency_s"]
    one, two = (read_table(folder / "trials.parquet").drop(columns=volatile) for folder in (first, second))
    pd.testing.assert_frame_equal(one, two)
