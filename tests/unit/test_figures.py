"""Figure 1: what is drawn is what was given, it says what it shows, and it is the same file every time."""

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn import drawn_texts, texts
from main_task import CEILING, main_rows, make_cells, reader_cells, reference_cells
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from paper_rows import GEMINI, GPT, HAIKU

from rcwt.analysis.cells import write_csv
from rcwt.analysis.refits import CURVE_COLUMNS
from rcwt.report import figure_1
from rcwt.report.figures import PALETTE, SMALL, legend_columns, looks, readable_ticks, save, split, style
from rcwt.report.selection import select

LABEL = "extractive reader, not a language model"
NO_CURVES = pd.DataFrame()
#: What the paper prints for each share at W = 4096: realized p = c / W.
P = [c / 4096 for c in (0, 939, 1879, 2819, 3383, 3458, 3533, 3608, 3683)]


@pytest.fixture(scope="module")
def paper(root: Path) -> pd.DataFrame:
    printed: pd.DataFrame = figure_1.printed_values(root / "resources/published/table_a1.csv")
    return printed


def curves(*models: str, identified: bool = True, **values: Any) -> pd.DataFrame:
    """Logistic fits to accuracy and ceiling; R0, k, p0 as for the ceiling of the main task."""
    row = {"experiment": "fixed_budget", "window": 4096, "judge": "rules", "family": "logistic"}
    row |= {"R0": 1.0, "k": 84.0, "p0": 0.8341, "identified": identified, "theta": 679.5}
    row |= {"theta_ci_low": 676.0, "theta_ci_high": 683.0} | values
    unsure = {"fitted_to": "ceiling", "theta_ci_low": np.nan, "theta_ci_high": np.nan}
    return pd.DataFrame([row | {"model": m} | to for m in models for to in ({"fitted_to": "accuracy"}, unsure)])


def points(figure: Figure, label: str) -> list[tuple[float, float]]:
    """Data of all lines that carry a label, over both panels."""
    found = [line for axes in figure.axes for line in axes.get_lines() if line.get_label() == label]
    data = [np.column_stack(line.get_data()) for line in found]
    return [(float(x), float(y)) for points_of in data for x, y in points_of]


def many(count: int) -> pd.DataFrame:
    names = ["reader", GEMINI, HAIKU, GPT, "model-e", "model-f", "model-g", "model-h", "model-i"][:count]
    rows = [row for n, name in enumerate(names) for row in main_rows(name, [320 - 9 * n, *[200 - 7 * n] * 8])]
    return make_cells(rows, ci_low=0.4, ci_high=0.7)


def test_every_cell_is_drawn_once_at_its_own_p_and_accuracy(shared: Path) -> None:
    cells = reference_cells(shared)
    reference = pd.read_csv(shared / "reference" / "fixed_budget_4096_cells.csv")
    cells[["ci_low", "ci_high"]] = reference[["ci_low", "ci_high"]].to_numpy()
    figure = figure_1.draw(select(cells), NO_CURVES)
    for model, own in reference.groupby("model"):
        assert points(figure, str(model)) == list(zip(own["p"], own["effective_mean"], strict=True))
        bars = [bar for axes in figure.axes for bar in axes.collections if bar.get_label() == f"interval {model}"]
        ends = [tuple(segment[:, 1]) for bar in bars for segment in bar.get_segments()]
        known = own[own["ci_low"] < own["ci_high"]]
        assert ends == list(zip(known["ci_low"], known["ci_high"], strict=True))


def test_the_ceiling_is_a_step_that_passes_each_measured_share_at_its_value() -> None:
    figure = figure_1.draw(select(reader_cells()), NO_CURVES)
    steps = [line for axes in figure.axes for line in axes.get_lines() if line.get_label() == "ceiling"]
    assert {line.get_drawstyle() for line in steps} == {"steps-mid"}
    assert set(points(figure, "ceiling")) == set(zip(P, map(float, CEILING), strict=True))


def test_two_panels_meet_and_show_each_share_in_one_of_them() -> None:
    figure = figure_1.draw(select(many(8)), NO_CURVES)
    left, right = figure.axes
    assert left.get_xlim()[1] == right.get_xlim()[0]
    assert P[3] < left.get_xlim()[1] < P[4]
    assert left.get_xlim()[0] < 0
    assert right.get_xlim()[1] > P[-1]
    for axes in figure.axes:
        assert axes.get_ylim() == (-0.04, 1.05)


@pytest.mark.parametrize("count", [1, 3, 6, 8, 9])
def test_marks_of_one_share_do_not_touch(count: int, paper: pd.DataFrame, tmp_path: Path) -> None:
    figure = figure_1.draw(select(many(count)), NO_CURVES, paper)
    with style():
        figure.draw_without_rendering()
    names = {*many(count)["model"], *(f"printed {model}" for model in (GEMINI, HAIKU, GPT))}
    for axes in figure.axes:
        marks = sorted(
            (line.get_transform().transform(point)[0], line.get_markersize())
            for line in axes.get_lines()
            if line.get_label() in names
            for point in zip(*line.get_data(), strict=True)
        )
        # Pixels at 100 a inch; a mark's neighbour is at least half of its own size away even among eleven.
        gaps = [(right[0] - left[0]) * 72 / 100 for left, right in itertools.pairwise(marks)]
        assert min(gaps) > 2.2
        edges = axes.get_window_extent()
        assert edges.x0 < marks[0][0] < marks[-1][0] < edges.x1


def test_up_to_eight_models_differ_in_colour_and_marker() -> None:
    for names in (["reader", GEMINI, HAIKU, GPT, *"abcd"], [*"abcdefgh"], ["reader", GPT, *"abcdef"]):
        found = looks(names, [GEMINI, HAIKU, GPT])
        assert len({found[name].colour for name in names}) == 8
        assert len({look.marker for look in found.values()}) == len(found)
    assert looks([*map(str, range(20))])["19"]


def _lightness(rgb: Any) -> Any:
    """CIE L*a*b* of linear sRGB."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = np.cbrt(np.maximum(np.array(to_xyz) @ rgb / [0.95047, 1, 1.08883], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(
    "seen",
    [
        # Machado, Oliveira and Fernandes 2009: protanopia, deuteranopia, tritanopia.
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ],
)
def test_colours_stay_apart_for_colour_blind_readers(seen: list[list[float]]) -> None:
    linear = [np.array([((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]) for colour in PALETTE.values()]
    shown = [_lightness(np.clip(np.array(seen) @ rgb, 0, 1)) for rgb in linear]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(shown, 2)) > 15
    assert max(colour[0] for colour in shown) < 75  # white paper is 100


def test_printed_values_stand_hollow_beside_new_calls(paper: pd.DataFrame) -> None:
    figure = figure_1.draw(select(reader_cells()), NO_CURVES, paper)
    # Paper, Table A1, Gemini.
    printed = [1.0, 0.960, 0.944, 0.894, 0.659, 0.4, 0.016, 0.009, 0.006]
    assert points(figure, f"printed {GEMINI}") == list(zip(P, printed, strict=True))
    marks = [line for axes in figure.axes for line in axes.get_lines() if str(line.get_label()).startswith("printed")]
    assert {line.get_markerfacecolor() for line in marks} == {"white"}
    assert texts(figure).count("paper (printed)") == 3


def test_printed_values_are_absent_where_they_compare_with_nothing(paper: pd.DataFrame) -> None:
    cells = reader_cells()
    for shown in (cells.assign(source="published"), cells.assign(window=8192), cells.assign(experiment="other")):
        assert "paper (printed)" not in texts(figure_1.draw(select(shown), NO_CURVES, paper))
    half = figure_1.draw(select(cells[cells["q"].isin([0, 0.5])]), NO_CURVES, paper)
    assert [p for p, _ in points(half, f"printed {GPT}")] == [P[0], P[2]]


def test_a_fit_is_drawn_where_identified_and_its_theta_said() -> None:
    figure = figure_1.draw(select(reader_cells()), curves("reader"))
    for p, accuracy in points(figure, "fit reader"):
        assert accuracy == pytest.approx(1 / (1 + np.exp(84.0 * (p - 0.8341))))
    said = texts(figure)
    assert "θ = 679.5 tokens (676.0 to 683.0)" in said
    assert said[said.index("evidence ceiling,") + 1] == "θ = 679.5 tokens"
    for fits in (NO_CURVES, curves("reader", identified=False), curves("another")):
        figure = figure_1.draw(select(reader_cells()), fits)
        assert points(figure, "fit reader") == []
        assert "θ not identified" in texts(figure)
    assert "θ = 679.5 tokens" in texts(figure_1.draw(select(reader_cells()), curves("reader", theta_ci_low=np.nan)))
    same = curves("reader", theta_ci_low=679.5, theta_ci_high=679.5)
    assert "θ = 679.5 tokens (calls do not vary)" in texts(figure_1.draw(select(reader_cells()), same))


def test_texts_are_large_enough_for_print(paper: pd.DataFrame) -> None:
    figure = figure_1.draw(select(many(8)), curves("reader"), paper)
    assert min(text.get_fontsize() for text in drawn_texts(figure)) == SMALL == 7
    assert figure.get_size_inches()[0] == 7


def test_nothing_runs_into_anything_else(paper: pd.DataFrame) -> None:
    for count in (1, 3, 8):
        figure = figure_1.draw(select(many(count)), curves("reader", GEMINI), paper)
        with style():
            figure.draw_without_rendering()
        shown = drawn_texts(figure)
        boxes = [text.get_window_extent() for text in shown]
        inside = figure.bbox.padded(1)
        for box in boxes:
            assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
            assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
        for (a, one), (b, other) in itertools.combinations(zip(shown, boxes, strict=True), 2):
            assert not one.overlaps(other), (count, a.get_text(), b.get_text())


@pytest.mark.parametrize(
    "cells",
    [
        reader_cells().assign(ceiling=np.nan),
        reader_cells().assign(r=np.nan, u=np.nan),
        reader_cells().iloc[:1],
        reader_cells().iloc[[0, 4]],
        reader_cells().iloc[4:],
        make_cells(main_rows("a", [320, None, *[0] * 7])),
        reader_cells("a name_with $marks$ & more").assign(source="simulated"),
    ],
    ids=["no ceiling", "no tokens", "one share", "two shares", "only the cliff", "a missing score", "odd name"],
)
def test_what_is_missing_is_left_out(cells: pd.DataFrame, tmp_path: Path) -> None:
    figure = figure_1.draw(select(cells), NO_CURVES)
    scored = cells.dropna(subset=["effective_mean"])
    assert points(figure, cells["model"].iloc[0]) == list(zip(scored["p"], scored["effective_mean"], strict=True))
    save(figure, tmp_path / "figure")


def test_no_data_is_said_in_the_figure() -> None:
    empty = figure_1.draw(select(reader_cells().iloc[:0]), NO_CURVES)
    unscored = figure_1.draw(select(make_cells(main_rows("a", [None] * 9))), NO_CURVES)
    assert texts(empty) == ["Figure 1: no scored call, nothing to draw."]
    assert texts(unscored) == ["Figure 1: no scored call of fixed_budget, nothing to draw."]


def test_the_script_writes_the_same_bytes_twice_and_says_what_it_shows(tmp_path: Path, root: Path) -> None:
    write_csv(reader_cells().assign(ci_low=0.1, ci_high=0.2), tmp_path / "cells.csv")
    fits = curves("reader").assign(source="run", converged="true", at_bound="false", identified="true")
    fits.reindex(columns=CURVE_COLUMNS).to_csv(tmp_path / "curves.csv", index=False)
    script = [sys.executable, str(root / "workflow/scripts/figure_1.py"), "--cells", str(tmp_path / "cells.csv")]
    script += ["--curves", str(tmp_path / "curves.csv"), "--paper", str(root / "resources/published/table_a1.csv")]
    for run in ("first", "second"):
        subprocess.run([*script, "--out", str(tmp_path / run / "figure")], check=True)
    for form in ("pdf", "png", "svg"):
        first, second = ((tmp_path / run / f"figure.{form}").read_bytes() for run in ("first", "second"))
        assert first == second
        assert not re.search(rb"CreationDate|dc:date|ModDate", first)
    svg = ET.parse(tmp_path / "first" / "figure.svg")
    said = ["".join(element.itertext()).strip() for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert LABEL in said
    assert "paper (printed)" in said
    assert "fixed_budget, W = 4096 tokens; new calls; judge: rules" in said
    assert "logistic fit" in said


def test_published_data_are_called_so(shared: Path, paper: pd.DataFrame) -> None:
    figure = figure_1.draw(select(reference_cells(shared)), NO_CURVES, paper)
    assert "fixed_budget, W = 4096 tokens; published data; judge: original" in texts(figure)
    assert "paper (printed)" not in texts(figure)
    assert LABEL not in texts(figure)


def test_crowded_shares_are_found() -> None:
    assert split(P) == 4
    assert split([0, 0.25, 0.5, 0.75, 0.9]) == 0
    assert split([0.9, 0.91, 0.92, 0.93]) == 0  # nothing to stand apart from
    assert split([0, 0.49, 0.881, 0.950, 0.955, 0.96, 0.965]) == 3
    assert split([i / 50 for i in range(50)]) == 0
    assert split([0.5]) == 0


def test_labels_that_would_touch_are_left_out() -> None:
    assert readable_ticks([0.0, 0.1, 0.5, 0.55], points_per_unit=100, room=24) == [0, 2]


def test_legend_columns_follow_the_longest_line() -> None:
    assert legend_columns(["short"] * 6) == 3
    assert legend_columns(["short"]) == 1
    assert legend_columns([LABEL, "a\nb", "c"]) == 3
    assert legend_columns(["x" * 60, "a", "b"]) == 1
