"""Displacement told from interference: differences by hand, intervals by properties, missing arms.

Made-up calls of eight facts each (source `simulated`), so that every right value is hand arithmetic.
"""

from collections.abc import Sequence

import pandas as pd
import pytest
from paper_rows import CEILING, SHARES, C, tables

from rcwt.analysis.displacement import COLUMNS, displacement
from rcwt.analysis.intervals import draw_calls, percentile_interval
from rcwt.report import figure_3

FACTS = [f"fact_{number}" for number in range(8)]


def calls(
    experiment: str, c: int, hits: Sequence[int], model: str = "m", order: str = "coord_first"
) -> list[dict[str, object]]:
    """One call for each of `hits`, at c tokens of coordination; a fixed window, or 946 tokens beside c."""
    fixed = experiment == "fixed_budget"
    q = SHARES[C.index(c)] if fixed else round(c / (c + 946), 6)
    return [
        {
            **{"experiment": experiment, "model": model, "order": order, "q": q, "trial": trial, "c": c},
            "window": 4096 if fixed else 946 + c,
            "ceiling": CEILING[q] if fixed else 1.0,
            "scores": {fact: int(place < right) for place, fact in enumerate(FACTS)},
        }
        for trial, right in enumerate(hits)
    ]


def compared(rows: list[dict[str, object]]) -> pd.DataFrame:
    return displacement(*tables(rows), "fixed_budget", "intact_open", B=2000)


def test_the_two_losses_are_differences_of_means() -> None:
    rows = calls("fixed_budget", 0, [8, 8]) + calls("fixed_budget", 3383, [4, 6])
    rows += calls("intact_open", 0, [8, 8]) + calls("intact_open", 3383, [8, 7])
    table = compared(rows)
    assert list(table.columns) == COLUMNS
    assert list(table["c"]) == [0, 3383]
    one = table.iloc[1]
    # Fixed: 10 of 16; intact: 15 of 16 at c and 16 of 16 without coordination.
    assert (one["fixed_mean"], one["intact_mean"]) == (0.625, 0.9375)
    assert (one["displacement"], one["interference"]) == (0.3125, 0.0625)
    assert (one["fixed_ceiling"], one["intact_ceiling"]) == (0.625, 1.0)
    assert (one["fixed_window"], one["fixed_q"], one["fixed_calls"], one["intact_calls"]) == (4096, 0.9, 2, 2)
    # At c = 0 interference is held against itself.
    assert (table.iloc[0]["interference"], table.iloc[0]["interference_low"], table.iloc[0]["interference_high"]) == (
        0,
        0,
        0,
    )


def test_intervals_resample_the_calls_of_each_arm_with_the_draws_of_their_cells() -> None:
    hits = {"fixed_budget": [2, 4, 6, 8], "intact_open": [7, 8, 8, 8]}
    rows = [row for name, of in hits.items() for row in calls(name, 3383, of)]
    one = compared(rows).iloc[0]
    ends = []
    for name, q, window in (("intact_open", round(3383 / 4329, 6), 4329), ("fixed_budget", 0.9, 4096)):
        key = ("simulated", name, window, "m", "rules", q, "coord_first")
        possible = pd.Series([8] * 4).to_numpy()
        drawn, of = draw_calls(key, pd.Series(hits[name]).to_numpy(), possible, 2000, 0)
        ends.append(drawn / of)
    assert (one["displacement_low"], one["displacement_high"]) == percentile_interval(ends[0] - ends[1])
    assert one["displacement_low"] < one["displacement"] < one["displacement_high"]
    assert one["displacement_ci_method"] == "bootstrap"


def test_calls_that_are_all_alike_have_no_variation_to_show() -> None:
    one = compared(calls("fixed_budget", 3533, [0, 0]) + calls("intact_open", 3533, [8, 8])).iloc[0]
    assert (one["displacement"], one["displacement_low"], one["displacement_high"]) == (1, 1, 1)
    assert one["displacement_ci_method"] == "no_variation"
    # Without an intact cell at c = 0 interference is missing, not 0.
    assert pd.isna(one["interference"])


def test_only_amounts_that_both_arms_measured_are_compared() -> None:
    table = compared(calls("fixed_budget", 939, [8]) + calls("intact_open", 1879, [8]) + calls("intact_open", 939, [8]))
    assert list(table["c"]) == [939]


@pytest.mark.parametrize(
    "names", [("fixed_budget", None), (None, "intact_open"), (None, None), ("other", "intact_open")]
)
def test_a_missing_arm_leaves_the_header(names: tuple[str | None, str | None]) -> None:
    table = displacement(*tables(calls("fixed_budget", 0, [8])), *names)
    assert table.empty
    assert list(table.columns) == COLUMNS


def test_a_missing_score_leaves_its_mean() -> None:
    rows = calls("fixed_budget", 939, [8, 8]) + calls("intact_open", 939, [8, 8])
    rows[0]["scores"] = dict.fromkeys(FACTS)
    one = compared(rows).iloc[0]
    assert (one["fixed_mean"], one["displacement"]) == (1.0, 0.0)


def simulated() -> pd.DataFrame:
    """Three models: one that only loses what is cut, one that is also disturbed, one that guesses."""
    rows: list[dict[str, object]] = []
    for model, disturbed, guessed in (("alpha", 0, 0), ("beta", 3, 0), ("gamma", 1, 2)):
        for place, (c, q) in enumerate(zip(C, SHARES, strict=True)):
            whole = 8 - round(disturbed * place / 8)
            visible = round(8 * CEILING[q])
            for order in ("coord_first", "reason_first"):
                wobble = [0, 1, 0, -1, 0, 1]
                rows += calls("intact_open", c, [min(8, max(0, whole + w)) for w in wobble], model, order)
                cut = min(whole, visible) + (guessed if visible < 8 else 0)
                rows += calls("fixed_budget", c, [min(8, max(0, cut + w)) for w in wobble], model, order)
    return compared(rows)


def test_the_figure_tells_the_losses_apart_and_where_they_come_from() -> None:
    figure = figure_3.draw(simulated(), ["alpha", "beta", "gamma"], [])
    assert len(figure.axes) == 6
    lines = {str(line.get_label()): line.get_ydata() for line in figure.axes[3].lines}
    table = simulated()
    beta = table[table["model"] == "beta"]
    assert list(lines["interference"]) == list(beta["interference"])
    assert list(lines["displacement"]) == list(beta["displacement"])
    assert "simulated" in figure.get_suptitle()
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == ["alpha", "beta", "gamma"]


def test_the_figure_labels_the_reader_and_says_when_there_is_nothing_to_draw() -> None:
    figure = figure_3.draw(simulated(), ["alpha"], ["alpha"])
    assert figure.axes[0].get_title(loc="left") == "alpha (extractive reader, not a language model)"
    empty = figure_3.draw(pd.DataFrame(columns=COLUMNS), [], [])
    assert "nothing to draw" in empty.texts[0].get_text()
