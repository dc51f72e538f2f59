"""Table A1: printed values from exact counts, and what stands around them."""

import argparse
import csv
import io
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from main_task import main_rows, make_cells, reader_cells, reference_cells
from paper_rows import GEMINI, GPT, HAIKU

from rcwt.analysis.cells import read_cells, write_csv
from rcwt.report.printing import (
    PrintedTable,
    as_csv,
    as_latex,
    as_markdown,
    printed_accuracy,
    printed_percent,
    round_half_up,
)
from rcwt.report.selection import TableError, add_selection_arguments, paper_order, select, select_from
from rcwt.report.table_a1 import caption_a1, note_a1, table_a1, table_a1_for_people


def test_the_papers_table_comes_out_but_for_the_one_cell_that_does_not_follow_from_its_data(shared: Path) -> None:
    printed = as_csv(table_a1(select(reference_cells(shared))))
    paper = (shared / "published" / "table_a1.csv").read_text()
    # shared/README.md: Gemini at 25 % is 307 of 320 = 0.959375, printed 0.960.
    assert printed == paper.replace("25,22.9,2820,0.960", "25,22.9,2820,0.959")


@pytest.mark.parametrize(
    ("part", "whole", "places", "expected"),
    [
        (15, 16, 3, "0.938"),  # 0.9375: format() of the binary value rounds half to even
        (1, 80, 3, "0.013"),  # 0.0125: the binary value lies above, decimal rounding half even gives 0.012
        (1, 16, 3, "0.063"),  # 0.0625
        (1, 2000, 3, "0.001"),  # 0.0005
        (201, 400, 2, "0.50"),  # 0.5025 stays below the half
        (1005, 1000, 2, "1.01"),  # 1.005: the binary value lies below the half
        (0, 320, 3, "0.000"),
        (320, 320, 3, "1.000"),
        (1, 3, 3, "0.333"),
    ],
)
def test_halves_are_rounded_up(part: int, whole: int, places: int, expected: str) -> None:
    assert format(round_half_up(part, whole, places), "f") == expected
    assert round_half_up(part, whole, places) == Decimal(expected)


def test_binary_rounding_would_fail_here() -> None:
    assert f"{0.0625:.3f}" == "0.062"
    assert round(1.005, 2) == 1.0


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, "0"), (0.9, "90"), (0.975, "97.5"), (0.9925, "99.25"), (0.29, "29"), (0.07, "7"), (1.0, "100")],
)
def test_shares_are_printed_without_binary_dust_or_zeros(share: float, expected: str) -> None:
    assert printed_percent(share) == expected


def test_missing_is_never_printed_as_zero() -> None:
    cells = make_cells([*main_rows("a", [320, None, *[0] * 7]), *main_rows("b", [320] * 9)[:3]])
    table = table_a1(select(cells))
    assert [row[3] for row in table.rows] == ["1.000", "", *["0.000"] * 7]
    assert [row[4] for row in table.rows] == ["1.000"] * 3 + [""] * 6
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[2] == ["25", "22.9", "2820", "", "1.000"]
    assert "| 25 | 22.9 | 2820 | — | 1.000 |" in as_markdown(table, "x", "y")
    assert r"25 & 22.9 & 2820 & --- & 1.000 \\" in as_latex(table, "x", "y", "z")
    assert printed_accuracy(None, 320) == printed_accuracy(float("nan"), 320) == printed_accuracy(0, 0) == ""


def test_a_model_without_cells_keeps_its_column_empty() -> None:
    table = table_a1(select(reader_cells(), models=["late", "reader"]))
    assert table.columns[3:] == ("late", "reader")
    assert {row[3] for row in table.rows} == {""}


def test_a_cells_file_without_rows_gives_a_header(tmp_path: Path) -> None:
    empty = tmp_path / "cells.csv"
    write_csv(reader_cells().iloc[:0], empty)
    selection = select(read_cells(empty))
    assert as_csv(table_a1(selection)) == "target_q_percent,realized_p_percent,reference_tokens\n"
    assert "nothing to show" in note_a1(selection)
    assert as_csv(table_a1(select(read_cells(empty), models=["m"], judge="rules"))).rstrip().endswith("tokens,m")


def test_models_stand_in_the_papers_order_then_as_they_come_then_as_asked() -> None:
    assert paper_order(["zeta", GPT, HAIKU, "alpha", GEMINI, GPT]) == (GEMINI, HAIKU, GPT, "zeta", "alpha")
    cells = make_cells([row for model in ("b", GPT, GEMINI) for row in main_rows(model, [320] * 9)])
    assert select(cells).models == (GEMINI, GPT, "b")
    assert select(cells, models=["b", GEMINI]).models == ("b", GEMINI)
    assert set(select(cells, models=["b", GEMINI]).rows["model"]) == {"b", GEMINI}


def test_only_pooled_cells_of_one_window_and_judge_are_shown() -> None:
    rows = main_rows("a", [320] * 9)
    others: list[dict[str, Any]] = [
        {"order": "coord_first"},
        {"window": 8192},
        {"judge": "second"},
        {"experiment": "other"},
    ]
    cells = pd.concat([make_cells(rows, **other) for other in [{}, *({"hits": 0, **other} for other in others)]])
    selection = select(cells, judge="rules")
    assert (selection.experiment, selection.window, selection.judge) == ("fixed_budget", 4096, "rules")
    assert list(selection.rows["hits"]) == [320] * 9
    assert select(cells, judge="rules", window=8192).window == 8192
    assert select(cells[cells["window"] == 8192]).window == 8192
    assert select(cells, experiment="other").experiment == "other"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "--judge: none is named; accepted: rules, second"),
        ({"judge": "third"}, "--judge: found third; accepted: rules, second"),
        ({"judge": "rules", "window": 512}, "--window: found 512; accepted: 4096"),
        ({"judge": "rules", "experiment": "packs"}, "--experiment: found packs; accepted: fixed_budget"),
    ],
)
def test_what_the_cells_do_not_hold_is_refused(asked: dict[str, Any], message: str) -> None:
    rows = main_rows("a", [320] * 9)
    with pytest.raises(TableError, match=message):
        select(pd.concat([make_cells(rows), make_cells(rows, judge="second")]), **asked)


def test_two_sources_in_one_table_are_refused() -> None:
    rows = main_rows("a", [320] * 9)
    with pytest.raises(TableError, match="published, run in one table"):
        select(pd.concat([make_cells(rows), make_cells(rows, source="published")]))


def test_the_papers_own_judge_is_the_default() -> None:
    rows = main_rows("a", [320] * 9)
    cells = pd.concat([make_cells(rows, judge="another"), make_cells(rows, judge="original")])
    assert select(cells).judge == "original"


def test_the_note_says_source_judge_calls_and_what_was_no_answer() -> None:
    rows = main_rows("a", [320] * 9)
    rows[0] |= {"n_truncated": 3, "n_empty": 1, "n_refused": 1, "n_unparsed": 2}
    note = note_a1(select(make_cells(rows, source="simulated")))
    assert "Source: simulated. Judge: rules. 40 calls a cell, prompt orders pooled." in note
    assert "rounded half up" in note
    assert "a 3 / 2 / 2 of 360" in note
    assert "Source: published data." in note_a1(select(make_cells(rows, source="published")))
    rows[0]["n_planned"] = 20
    assert "20 to 40 calls a cell" in note_a1(select(make_cells(rows)))


def test_the_reader_is_never_shown_as_a_language_model() -> None:
    for selection in (select(reader_cells()), select(reader_cells("mine"), embedded=["mine"])):
        assert "extractive reader, not a language model" in caption_a1(selection)
        assert "extractive reader, not a language model" in note_a1(selection)
    assert "extractive" not in caption_a1(select(reader_cells("other")))


def test_people_see_the_ceiling_beside_the_accuracies() -> None:
    table = table_a1_for_people(select(reader_cells()))
    assert table.columns == ("q (%)", "p (%)", "r (tokens)", "reader", "ceiling")
    assert [row[4] for row in table.rows] == ["1.000"] * 4 + ["0.625", "0.375"] + ["0.000"] * 3
    assert "ceiling" not in table_a1_for_people(select(reader_cells().assign(ceiling=float("nan")))).columns


def test_latex_and_markdown_escape_what_they_would_take_for_marks() -> None:
    table = PrintedTable(("a_b & 50 %", "$x$ {y} #1 ~ ^ \\"), (("1", "2"),))
    latex = as_latex(table, "up_to 5 %", "a|b", "tab:x")
    head = r"a\_b \& 50 \% & \$x\$ \{y\} \#1 \textasciitilde{} \textasciicircum{} \textbackslash{} \\"
    assert head in latex
    assert r"\caption{up\_to 5 \%.}" in latex
    assert r"\toprule" in latex
    assert r"\bottomrule" in latex
    assert latex.count("{") == latex.count("}")
    markdown = as_markdown(PrintedTable(("a|b_c*",), (("1",),)), "cap", "n_1")
    assert r"| a\|b\_c\* |" in markdown
    assert r"Note. n\_1" in markdown


def test_options_pick_what_is_shown() -> None:
    parser = argparse.ArgumentParser()
    add_selection_arguments(parser)
    cells = pd.concat([reader_cells(), reader_cells("mine")])
    options = parser.parse_args(["--judge", "rules", "--models", "mine", "--embedded"])
    selection = select_from(cells, options)
    assert (selection.models, selection.explained()) == (("mine",), {})
    assert select_from(cells, parser.parse_args(["--models"])).models == ("reader", "mine")


def test_the_script_writes_three_files_and_says_what_is_wrong(tmp_path: Path, root: Path) -> None:
    write_csv(reader_cells(), tmp_path / "cells.csv")
    script = [sys.executable, str(root / "workflow/scripts/table_a1.py"), "--cells", str(tmp_path / "cells.csv")]
    subprocess.run([*script, "--out", str(tmp_path / "out" / "a1")], check=True)
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".md", ".tex"}
    assert (tmp_path / "out" / "a1.csv").read_text() == as_csv(table_a1(select(reader_cells())))
    failed = subprocess.run([*script, "--judge", "x", "--out", "y"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr) == (1, "error: --judge: found x; accepted: rules, which the cells hold\n")
