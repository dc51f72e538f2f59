"""`snakemake --cores 8 all` on a fresh checkout, without a key: the reader on the paper's main experiment."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from projects import Project

from rcwt.trials import read_table

#: Paper, Table A1: target share in percent, reference tokens r; c = 4096 − 337 − r.
TABLE_A1 = {0: 3759, 25: 2820, 50: 1880, 75: 940, 90: 376, 92: 301, 94: 226, 96: 151, 98: 76}
CEILING = {0: 1, 25: 1, 50: 1, 75: 1, 90: 0.625, 92: 0.375, 94: 0, 96: 0, 98: 0}
LABEL = "extractive reader, not a language model"


@pytest.fixture(scope="module")
def results(finished_run: tuple[Project, str]) -> Path:
    return finished_run[0].folder / "results"


@pytest.fixture(scope="module")
def cells(results: Path) -> pd.DataFrame:
    table = pd.read_csv(results / "tables/fixed_budget_cells.csv")
    table["share"] = (table["q"] * 100).round().astype(int)
    return table


def test_the_manifest_is_the_papers_geometry(results: Path) -> None:
    rows = list(csv.DictReader((results / "manifest.csv").open()))
    assert len(rows) == 18
    for row in rows:
        share, r = round(float(row["q"]) * 100), int(row["r"])
        assert r == TABLE_A1[share]
        assert (int(row["u"]), int(row["c"])) == (337, 4096 - 337 - r)
        assert float(row["p"]) == int(row["c"]) / 4096
        assert float(row["ceiling_lenient"]) == CEILING[share]
        assert abs(int(row["coordination_tokens"]) - int(row["c"])) <= 20
        assert re.fullmatch(r"[0-9a-f]{64}", row["prompt_sha256"])


def test_the_reader_reaches_the_ceiling_and_not_more(cells: pd.DataFrame) -> None:
    for row in cells.itertuples():
        assert row.ceiling == CEILING[row.share]
        assert abs(row.effective_mean - CEILING[row.share]) <= 1 / 8
        if row.share <= 75:
            assert row.effective_mean >= 0.95
        if row.share >= 94:
            assert 0 <= row.effective_mean <= 0.05


def test_every_planned_trial_is_there_once(results: Path, cells: pd.DataFrame) -> None:
    trials = read_table(results / "trials.parquet")
    assert len(trials) == 18 * 20
    assert set(trials["source"]) == {"run"}
    assert not trials.duplicated(["experiment", "window", "model", "order", "q", "trial"]).any()
    assert (cells.loc[cells["order"] == "pooled", "n_planned"] == 40).all()
    scores = read_table(results / "scores.parquet")
    assert len(scores) == 18 * 20 * 10
    sums = scores[scores["effective"]].groupby(["order", "q", "trial"])["score"].sum()
    assert sums.reindex(pd.MultiIndex.from_frame(trials[["order", "q", "trial"]])).tolist() == trials["hits"].tolist()


def test_theta_of_reader_and_ceiling(results: Path) -> None:
    fits = pd.read_csv(results / "tables/curve_fits.csv")
    logistic = fits[fits["family"] == "logistic"].set_index("fitted_to")["theta"]
    assert 670 <= logistic["accuracy"] <= 690
    assert logistic["ceiling"] == pytest.approx(679.5, abs=0.1)  # design: logistic fitted to the ceiling
    assert set(fits["family"]) == {"logistic", "power", "exponential", "quadratic", "piecewise", "truncation"}


def test_the_reader_is_called_and_stored_like_any_model(finished_run: tuple[Project, str]) -> None:
    folder = finished_run[0].folder
    records = [json.loads(line) for path in (folder / "results/calls/reader").glob("*.jsonl") for line in path.open()]
    assert len(records) == 360
    assert len({record["request_key"] for record in records}) == 360
    kept = {path.stem for path in (folder / ".cache/responses").rglob("*.json")}
    assert kept == {record["request_key"] for record in records}
    assert all(record["response"]["usage"]["completion"] <= 1024 for record in records)
    assert {record["response"]["cost_usd"] for record in records} == {0}


def test_whatever_shows_the_reader_says_what_it_is(finished_run: tuple[Project, str], results: Path) -> None:
    assert LABEL in finished_run[1]  # the summary at the end of the run
    for path in ("tables/table_a1.md", "tables/table_a1.tex", "figures/figure_1.svg", "summary.txt"):
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (results / path).read_text()))
        assert LABEL in text, path


def test_a_run_ends_by_saying_what_it_found_and_where(finished_run: tuple[Project, str]) -> None:
    output = finished_run[1]
    for part in ("theta", "ceiling", "results/tables/table_a1", "results/figures/figure_1"):
        assert part in output


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
