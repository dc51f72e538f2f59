"""Figure 2: the cells of all windows, twice, and the same file every time."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import drawn_texts, texts
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from window_cells import DESIGN, ceiling, gpt_cells, window_cells

from rcwt.analysis.cells import write_csv
from rcwt.report import figure_2
from rcwt.report.figures import SMALL, save, style
from rcwt.report.selection import select_windows

LABEL = "extractive reader, not a language model"


def cells(model: str = "reader", windows: tuple[int, ...] = tuple(DESIGN)) -> pd.DataFrame:
    """What a reader finds that loses exactly what is cut."""
    return window_cells(lambda window, c, r: ceiling(r), {window: DESIGN[window] for window in windows}, model)


def many(count: int) -> pd.DataFrame:
    return pd.concat([cells(f"vendor-{number}/some-model-{number}-20260101") for number in range(count)])


def drawn(axes: Axes, label: str) -> list[tuple[float, float]]:
    found = [line for line in axes.get_lines() if line.get_label() == label]
    return [(float(x), float(y)) for line in found for x, y in np.column_stack(line.get_data())]


def said(figure: Figure) -> str:
    return " ".join(" ".join(texts(figure)).split())


def test_the_same_cells_by_share_and_by_residual_tokens() -> None:
    figure = figure_2.draw(select_windows(cells()))
    shares, tokens = figure.axes
    for window in DESIGN:
        own = cells(windows=(window,))
        for axes, places in ((shares, 1 - own["p"]), (tokens, window - own["c"])):
            x, y = zip(*drawn(axes, f"reader {window}"), strict=True)
            assert x == pytest.approx(tuple(places))
            assert y == pytest.approx(tuple(own["effective_mean"]))
    # Coordination grows to the right in both, on one scale: as many points for a factor of ten.
    for axes in (shares, tokens):
        left, right = axes.get_xlim()
        assert left > right
        assert axes.get_xscale() == "log"
    with style():
        figure.draw_without_rendering()
    lengths = [np.log10(np.divide(*axes.get_xlim())) / axes.get_position().width for axes in (shares, tokens)]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.02)


def test_ticks_say_p_and_tokens() -> None:
    shares, tokens = figure_2.draw(select_windows(cells())).axes
    for axes, expected in ((shares, {0.5: "50 %", 0.1: "90 %", 0.02: "98 %"}), (tokens, {1000: "1 000", 500: "500"})):
        named = dict(zip(axes.get_xticks(), (label.get_text() for label in axes.get_xticklabels()), strict=True))
        for place, name in expected.items():
            assert [name] == [named[at] for at in named if at == pytest.approx(place)]


def test_a_ceiling_for_each_window_by_share_and_one_by_tokens() -> None:
    shares, tokens = figure_2.draw(select_windows(cells())).axes
    assert len([line for line in shares.get_lines() if line.get_label() == "ceiling"]) == 4
    (one,) = [line for line in tokens.get_lines() if line.get_label() == "ceiling"]
    heights = np.asarray(one.get_ydata(), dtype=float)
    assert (np.diff(heights) <= 0).all()  # facts are lost as the residual shrinks, whatever the window
    assert set(heights) == set(cells()["ceiling"])


def test_windows_differ_in_dashes_and_shade_and_models_in_rows() -> None:
    figure = figure_2.draw(select_windows(many(3)))
    assert len(figure.axes) == 6
    lines = [line for line in figure.axes[0].get_lines() if str(line.get_label()).startswith("vendor")]
    assert len({str(line._dash_pattern) for line in lines}) == 4
    assert len({line.get_color() for line in lines}) == 4
    assert len({axes.get_lines()[-1].get_marker() for axes in figure.axes}) == 3
    assert all(f"W = {name} tokens" in said(figure) for name in ("4 096", "8 192", "16 384", "32 768"))


@pytest.mark.parametrize("count", [1, 3, 6])
def test_nothing_runs_into_anything_else(count: int) -> None:
    figure = figure_2.draw(select_windows(many(count).assign(ci_low=0.1, ci_high=0.2)))
    with style():
        figure.draw_without_rendering()
    shown = drawn_texts(figure)
    assert min(text.get_fontsize() for text in shown) == SMALL
    boxes = [text.get_window_extent() for text in shown]
    inside = figure.bbox.padded(1)
    for box in boxes:
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
    for (a, one), (b, other) in itertools.combinations(zip(shown, boxes, strict=True), 2):
        assert not one.overlaps(other), (a.get_text(), b.get_text())


def test_it_says_what_it_shows(shared: Path) -> None:
    text = said(figure_2.draw(select_windows(cells())))
    assert LABEL in text
    assert "fixed_budget; new calls; judge: rules" in text
    published = said(figure_2.draw(select_windows(gpt_cells(shared))))
    assert "fixed_budget; published data; judge: original" in published
    assert "evidence ceiling of this project's texts" in published
    assert LABEL not in published


@pytest.mark.parametrize(
    "table",
    [
        cells(windows=(4096,)),
        cells().iloc[:1],
        cells().iloc[[0, 12]],
        cells().assign(ceiling=np.nan),
        cells("a name_with $marks$ & more").assign(source="simulated"),
        window_cells(lambda window, c, r: None if c else 1.0),
    ],
    ids=["one window", "one cell", "two cells", "no ceiling", "odd name", "missing scores"],
)
def test_what_is_missing_is_left_out(table: pd.DataFrame, tmp_path: Path) -> None:
    figure = figure_2.draw(select_windows(table))
    scored = table.dropna(subset=["effective_mean"])
    found = [drawn(figure.axes[1], f"{table['model'].iloc[0]} {window}") for window in sorted(set(scored["window"]))]
    assert sum(map(len, found)) == len(scored)
    save(figure, tmp_path / "figure")


def test_no_data_is_said_in_the_figure() -> None:
    assert texts(figure_2.draw(select_windows(cells().iloc[:0]))) == ["Figure 2: no scored call, nothing to draw."]
    unscored = window_cells(lambda *_: None)
    assert texts(figure_2.draw(select_windows(unscored))) == [
        "Figure 2: no scored call of fixed_budget, nothing to draw."
    ]


def test_the_script_writes_the_same_bytes_twice(tmp_path: Path, root: Path) -> None:
    write_csv(cells().assign(ci_low=0.1, ci_high=0.2), tmp_path / "cells.csv")
    script = [sys.executable, str(root / "workflow/scripts/figure_2.py"), "--cells", str(tmp_path / "cells.csv")]
    for run in ("first", "second"):
        subprocess.run([*script, "--out", str(tmp_path / run / "figure")], check=True)
    for form in ("pdf", "png", "svg"):
        first, second = ((tmp_path / run / f"figure.{form}").read_bytes() for run in ("first", "second"))
        assert first == second
        assert not re.search(rb"CreationDate|dc:date|ModDate", first)
    assert LABEL.split(", ")[1] in (tmp_path / "first/figure.svg").read_text()
