"""Table 1: theta of one window against p0 of others; right values are the paper's and hand arithmetic."""

import csv
import io
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from paper_rows import GEMINI, GPT, HAIKU
from window_cells import DESIGN, window_cells

from rcwt.analysis.cells import write_csv
from rcwt.analysis.refits import CURVE_COLUMNS
from rcwt.report.printing import PrintedTable, as_csv
from rcwt.report.scaling import (
    Scaling,
    caption_1,
    note_1,
    scaling,
    table_1,
    table_1_for_people,
    table_1_full,
    write_table_1,
)
from rcwt.report.selection import TableError, select, select_windows

NO_INTERVAL = dict.fromkeys(("theta_ci_low", "theta_ci_high", "theta_facts_low", "theta_facts_high"), math.nan)
PAPER = Path(__file__).parents[2] / "resources" / "published" / "table_1.csv"


def fit(model: str, window: int, theta: float | None, **values: Any) -> dict[str, Any]:
    """A logistic fit to accuracy; theta None: not identified."""
    row = {"source": "run", "experiment": "fixed_budget", "window": window, "model": model, "judge": "rules"}
    row |= {"fitted_to": "accuracy", "family": "logistic", "converged": True, "at_bound": False}
    known = {"theta": math.nan, "identified": False} if theta is None else {"theta": theta, "identified": True}
    return row | known | NO_INTERVAL | values


def measured(*models: str, windows: tuple[int, ...] = (4096, 8192, 16384)) -> pd.DataFrame:
    design = {window: DESIGN[window] for window in windows}
    return pd.concat([window_cells(lambda *_: 0.5, design, model) for model in models], ignore_index=True)


def found(cells: pd.DataFrame, *fits: dict[str, Any], base: int | None = None, **select: Any) -> Scaling:
    return scaling(select_windows(cells, **select), pd.DataFrame(list(fits)), base)


def rows(table: PrintedTable) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(table))))


def test_the_printed_table_of_the_paper_in_its_shape() -> None:
    # theta of Table A1 in full digits (shared/reference/logistic_4096.csv); observed p0 as the paper prints it.
    thetas = {GEMINI: 665.34, HAIKU: 650.16, GPT: 568.30}
    observed = {GEMINI: (92.1, 95.9), HAIKU: (92.2, 96.0), GPT: (93.1, 96.4)}
    fits = [fit(model, 4096, theta) for model, theta in thetas.items()]
    for model, shares in observed.items():
        fits += [fit(model, w, w * (1 - p0 / 100)) for w, p0 in zip((8192, 16384), shares, strict=True)]
    assert as_csv(table_1(found(measured(GPT, HAIKU, GEMINI), *fits))) == PAPER.read_text()


def test_halves_are_rounded_up() -> None:
    # 1 - 512 / 8192 = 0.9375 exactly; 512.5 tokens.
    (row,) = rows(table_1(found(measured("m"), fit("m", 4096, 512.0), fit("m", 8192, 512.5))))
    assert (row["theta_tokens"], row["predicted_p0_8192_percent"]) == ("512", "93.8")
    (row,) = rows(table_1(found(measured("m"), fit("m", 4096, 512.5))))
    assert row["theta_tokens"] == "513"


def test_not_identified_is_said_where_there_are_cells_and_nothing_where_there_are_none() -> None:
    cells = measured("m", windows=(4096, 8192))
    (row,) = rows(table_1(found(cells, fit("m", 4096, 600.0), fit("m", 8192, None))))
    assert list(row.values()) == ["m", "600", "92.7", "not identified", ""]
    (row,) = rows(table_1(found(cells, fit("m", 4096, None))))
    assert list(row.values()) == ["m", "not identified", "not identified", "not identified", ""]
    unscored = cells.assign(possible=cells["possible"].where(cells["window"] == 4096, 0))
    (row,) = rows(table_1(found(unscored, fit("m", 4096, 600.0))))
    assert list(row.values()) == ["m", "600", "92.7", "", ""]


def test_one_window_alone_still_predicts() -> None:
    one = found(measured("m", windows=(4096,)), fit("m", 4096, 600.0))
    assert list(rows(table_1(one))[0].values()) == ["m", "600", "92.7", "", ""]
    shown = [row[1:] for row in table_1_for_people(one).rows]
    assert shown == [("4096", "600.0", "", "85.35"), ("8192", "", "92.68", ""), ("16384", "", "96.34", "")]


def test_another_base_window() -> None:
    # Without 4 096 the smallest window predicts, and no window predicts itself.
    large = measured("m", windows=(8192, 16384))
    (row,) = rows(table_1(found(large, fit("m", 8192, 600.0), fit("m", 16384, 610.0))))
    assert list(row.values()) == ["m", "600", "", "92.7", "96.3"]
    asked = found(measured("m"), fit("m", 16384, 610.0), base=16384)
    assert rows(table_1(asked))[0]["predicted_p0_8192_percent"] == "92.6"
    assert "theta of W = 16384" in note_1(asked)
    with pytest.raises(TableError, match=r"--window: found 5000; accepted: 4096, 8192, 16384"):
        found(measured("m"), base=5000)


def test_intervals_are_carried_over_and_nothing_is_rounded() -> None:
    first = {"theta_ci_low": 590.0, "theta_ci_high": 610.0, "theta_facts_low": 500.0, "theta_facts_high": 700.0}
    second = {"theta_ci_low": 620.25, "theta_ci_high": 640.5}
    (row,) = rows(table_1_full(found(measured("m"), fit("m", 4096, 600.1, **first), fit("m", 8192, 630.0, **second))))
    assert (row["source"], row["experiment"], row["judge"], row["theta_window"]) == (
        "run",
        "fixed_budget",
        "rules",
        "4096",
    )
    values = {
        name: float(row[name]) for name in row if "tokens" in name or "percent" in name if row[name][:1].isdigit()
    }
    assert values["theta_tokens"] == 600.1
    assert (values["theta_ci_low_tokens"], values["theta_facts_high_tokens"]) == (590, 700)
    # A higher theta is a lower p0: the ends change places.
    assert values["predicted_p0_8192_percent"] == pytest.approx(100 * (1 - 600.1 / 8192), rel=1e-14)
    assert values["predicted_p0_8192_ci_low_percent"] == pytest.approx(100 * (1 - 610 / 8192), rel=1e-14)
    assert values["predicted_p0_16384_facts_high_percent"] == pytest.approx(100 * (1 - 500 / 16384), rel=1e-14)
    assert values["observed_p0_4096_ci_high_percent"] == pytest.approx(100 * (1 - 590 / 4096), rel=1e-14)
    assert values["observed_p0_8192_ci_low_percent"] == pytest.approx(100 * (1 - 640.5 / 8192), rel=1e-14)
    assert row["observed_p0_8192_facts_low_percent"] == ""
    assert row["observed_p0_16384_percent"] == "not identified"
    assert row["observed_p0_16384_ci_low_percent"] == ""
    assert "predicted_p0_4096_percent" not in row


def test_every_measured_window_is_in_the_full_table_only() -> None:
    cells = measured("m", windows=(4096, 32768))
    fits = [fit("m", 4096, 600.0), fit("m", 32768, 590.0)]
    (row,) = rows(table_1_full(found(cells, *fits)))
    assert float(row["predicted_p0_32768_percent"]) == pytest.approx(100 * (1 - 600 / 32768))
    assert float(row["observed_p0_32768_percent"]) == pytest.approx(100 * (1 - 590 / 32768))
    assert float(row["predicted_p0_8192_percent"]) == pytest.approx(100 * (1 - 600 / 8192))
    assert row["observed_p0_8192_percent"] == ""
    assert list(rows(table_1(found(cells, *fits)))[0]) == PAPER.read_text().splitlines()[0].split(",")


def test_models_in_their_order_and_one_that_was_asked_for_without_cells() -> None:
    cells = pd.concat([measured("b"), measured("a", windows=(16384,))])
    fits = [fit("b", 4096, 600.0), fit("a", 16384, 610.0)]
    table = rows(table_1(found(cells, *fits, models=["a", "b", "c"])))
    assert [list(row.values()) for row in table] == [
        ["a", "", "", "", "96.3"],
        ["b", "600", "92.7", "not identified", "not identified"],
        ["c", "", "", "", ""],
    ]


def test_only_fits_of_the_shown_judge_and_experiment_count() -> None:
    cells = pd.concat([measured("m"), measured("m").assign(judge="second")])
    fits = [fit("m", 4096, 600.0), fit("m", 4096, 500.0, judge="second"), fit("m", 4096, 400.0, experiment="other")]
    fits.append(fit("m", 4096, 300.0, fitted_to="ceiling"))
    assert rows(table_1(found(cells, *fits, judge="second")))[0]["theta_tokens"] == "500"
    with pytest.raises(TableError, match="--judge: none is named; accepted: rules, second"):
        found(cells, *fits)


def test_no_cells_give_the_header() -> None:
    nothing = found(measured("m").iloc[:0])
    assert as_csv(table_1(nothing)) == PAPER.read_text().splitlines()[0] + "\n"
    assert rows(table_1_full(nothing)) == []
    assert note_1(nothing) == "No calls: there is nothing to show."


def test_people_see_intervals_source_judge_and_what_the_reader_is() -> None:
    ends = {"theta_ci_low": 590.0, "theta_ci_high": 610.0}
    shown = found(measured("reader"), fit("reader", 4096, 600.0, **ends), fit("reader", 8192, None))
    assert table_1_for_people(shown).rows[:2] == (
        ("reader", "4096", "600.0 (590.0 to 610.0)", "", "85.35 (85.11 to 85.60)"),
        ("reader", "8192", "not identified", "92.68 (92.55 to 92.80)", "not identified"),
    )
    assert "reader is an extractive reader, not a language model" in caption_1(shown)
    assert note_1(shown).startswith("Source: new calls. Judge: rules.")
    assert "reader: extractive reader, not a language model." in note_1(shown)


def test_all_windows_are_selected_under_one_judge() -> None:
    cells = pd.concat([measured("m"), measured("m", windows=(8192,)).assign(order="coord_first")])
    whole = select_windows(cells)
    assert (whole.window, whole.judge, whole.experiment) == (None, "rules", "fixed_budget")
    assert len(whole.rows) == 9 + 9 + 8
    assert select(cells).rows["window"].unique().tolist() == [4096]


def test_the_script_writes_four_files(tmp_path: Path, root: Path) -> None:
    write_csv(measured("mine"), tmp_path / "cells.csv")
    write_csv(pd.DataFrame([fit("mine", 4096, 600.0)], columns=CURVE_COLUMNS), tmp_path / "curves.csv")
    script = [sys.executable, str(root / "workflow/scripts/table_1.py"), "--cells", str(tmp_path / "cells.csv")]
    script += ["--curves", str(tmp_path / "curves.csv"), "--embedded", "mine", "--out", str(tmp_path / "table_1")]
    subprocess.run(script, check=True)
    assert (tmp_path / "table_1.csv").read_text().splitlines()[1] == "mine,600,92.7,not identified,not identified"
    assert "mine is an extractive reader" in (tmp_path / "table_1.md").read_text()
    tex = (tmp_path / "table_1.tex").read_text()
    assert r"predicted p0 (\%)" in tex
    assert r"\label{tab:1}" in tex
    assert (tmp_path / "table_1_full.csv").read_text().count("\n") == 2
    write_table_1(found(measured("mine"), fit("mine", 4096, 600.0)), str(tmp_path / "again"))
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "table_1.csv").read_bytes()
