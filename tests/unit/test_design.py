"""Budgets of the paper's conditions, in decimal arithmetic."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.design import Condition, percent, split_window
from rcwt.errors import DesignError

#: Target share in percent and reference tokens of Table A1 (W = 4096, u = 337).
TABLE_A1 = {0: 3759, 25: 2820, 50: 1880, 75: 940, 90: 376, 92: 301, 94: 226, 96: 151, 98: 76}


@pytest.mark.parametrize(("share", "r"), TABLE_A1.items())
def test_reference_tokens_are_the_papers(share: int, r: int) -> None:
    assert split_window(4096, Decimal(share) / 100, 337) == (4096 - 337 - r, r)


@pytest.mark.parametrize(
    ("share", "c"), [("97", 15565), ("97.5", 15645), ("98", 15726), ("98.5", 15806), ("99", 15886)]
)
def test_coordination_tokens_at_16384_are_those_of_the_artifact(share: str, c: int) -> None:
    assert split_window(16384, Decimal(share) / 100, 337)[0] == c


def test_a_share_is_never_a_binary_fraction() -> None:
    # 0.07 * 100 is 7.000000000000001 in binary floats: floor would still be 7, but 0.29 * 100 is 28.999999999999996.
    assert split_window(101, Decimal("0.29"), 1) == (29, 71)


@given(window=st.integers(2, 200_000), u=st.integers(0, 5_000), share=st.decimals(0, 99, places=2))
def test_the_parts_add_up_to_the_window(window: int, u: int, share: Decimal) -> None:
    if u >= window:
        with pytest.raises(DesignError):
            split_window(window, share / 100, u)
        return
    c, r = split_window(window, share / 100, u)
    assert c >= 0
    assert r >= 0
    assert c + r + u == window
    assert c <= share / 100 * (window - u) < c + 1


def test_an_instruction_longer_than_the_window_is_refused() -> None:
    with pytest.raises(DesignError, match="337 tokens and the window only 300"):
        split_window(300, Decimal("0.5"), 337)


def test_a_condition_names_itself() -> None:
    condition = Condition(
        "fixed_budget", "t", "fixed_budget", "coordination", 16384, "coord_first", Decimal("0.975"), 15645, 337, 402, 10
    )
    assert condition.name == "fixed_budget-w16384-q97.5-coord_first"
    assert round(float(condition.p), 4) == 0.9549


@pytest.mark.parametrize(("q", "text"), [("0", "0"), ("0.9", "90"), ("0.975", "97.5"), ("0.9925", "99.25")])
def test_percent_has_no_trailing_zeros(q: str, text: str) -> None:
    assert percent(Decimal(q)) == text
