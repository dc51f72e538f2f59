"""Reading answers: numbers, letters, and the lines they stand on. Each case says what a careful person would read."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.packs.answers import answer_lines
from rcwt.packs.grading import grade
from rcwt.packs.items import Question, Reference
from rcwt.packs.letters import letter
from rcwt.packs.numerals import number

NUMBERS = {
    "12": 12,
    "12.": 12,
    "12.50": Fraction(25, 2),
    "1,234": 1234,
    "114,200": 114_200,
    "$1,234.50": Fraction(2469, 2),
    "US$12": 12,
    "\\$12": 12,
    "€12": 12,
    "12 €": 12,
    "12 dollars": 12,
    "12 USD": 12,
    "-5": -5,
    "−5": -5,
    "-$5": -5,
    "$-5": -5,
    "+3": 3,
    "12 apples": 12,
    "12 apples.": 12,
    "12 (apples)": 12,
    "16 eggs per day": 16,
    "15 square feet": 15,
    "60 miles/hour": 60,
    "12 m²": 12,
    "5km": 5,
    "12 more": 12,
    "50%": 50,
    "50 percent": 50,
    "3/4": Fraction(3, 4),
    "2 1/2": Fraction(5, 2),
    "2 and 1/2": Fraction(5, 2),
    "11/2": Fraction(11, 2),
    ".5": Fraction(1, 2),
    "0": 0,
    "007": 7,
    "1e3": 1000,
    "2 million": 2_000_000,
    "5k": 5000,
    "**12**": 12,
    "`12`": 12,
    "<12>": 12,
    "(12)": 12,
    "$12$": 12,
    "\\boxed{12}": 12,
    "$\\boxed{12}$": 12,
    "the answer is 12 apples": 12,
    "The final answer is: 12": 12,
    "x = 12": 12,
    "3 + 9 = 12": 12,
    "x = <12>": 12,
    "Total: $12": 12,
    "½": Fraction(1, 2),
    "-½": Fraction(-1, 2),
    "2½": Fraction(5, 2),
    "$2½": Fraction(5, 2),
    "3 ½": Fraction(7, 2),
    "3\u2009½": Fraction(7, 2),
    "3 and ½": Fraction(7, 2),
    "3¾ hours": Fraction(15, 4),
    "1,200½": Fraction(2401, 2),
    "1,200 1/2": Fraction(2401, 2),
    "5⅓": Fraction(16, 3),
    "⅞": Fraction(7, 8),
    "½ million": 500_000,
    "1'200": 1200,
    "1’200’000": 1_200_000,
    "1\u2009200": 1200,
    "1\u202f200.5": Fraction(2401, 2),
    "1\u00a0200 apples": 1200,
    "12\u00a0m³": 12,
}
NO_NUMBERS = [
    *("", "twelve", "none", "x", "12 = ?", "1e", "--5", "-$-5", "12/", "1/0", "12..5", "5 5", "1 23"),
    *("12 or 13", "12 (or 13)", "10-12", "10 to 12", "between 3 and 4", "12 not 13", "not 12"),
    *("about 12", "~12", "3 dozen", "12 and a half", "3 hours 20 minutes", "12 apples and 3 pears"),
    *("12,5", "1,23", "1.234,50", "3:30", "2024-01-05"),
    *("10²", "10 ²", "10⁶", "5①", "12 Ⅻ", "5十", "12½½", "½5", "½/2", "5.2½", "12 m⁶", "12 apples²³"),
    *("1" * 5000, "1/" + "3" * 5000),
    *("1'20", "1'2000", "1,234'567", "1 2345", "12\u200945"),
    *("x >= 12", "x <= 12", "x != 12", "x ~= 12", ">= 12", "x ≥ 12", "x ≠ 3 = 12", "x > 12"),
]


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_a_number_is_read_in_all_its_spellings(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_leaves_a_choice_is_no_number(text: str) -> None:
    assert number(text) is None


@given(st.decimals(-(10**9), 10**9, places=3, allow_nan=False))
def test_a_decimal_is_its_own_value_with_and_without_commas(value: object) -> None:
    assert number(f"{value:.3f}") == number(f"{value:,.3f}") == number(f"${value:,.3f}") == Fraction(str(value))


@given(st.text(max_size=30))
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    number(text)
    letter(text, ["one", "two"])
    answer_lines(text)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([" or ", "-", " to ", " and ", " / 7 or "]))
def test_of_two_numbers_none_is_picked(one: int, other: int, between: str) -> None:
    assert number(f"{one}{between}{other}") is None


OPTIONS = ["dog", "cat and dog", "bird", "None of the above"]
LETTERS = {
    **dict.fromkeys(["B", "(B)", "B.", "B)", "[B]", "b", "(b)", "b)", "**B**", "*B*", "\\boxed{B}"], "B"),
    **dict.fromkeys(["B) cat and dog", "B: cat and dog", "B cat and dog", "(B) cat and dog", "B - cat and dog"], "B"),
    **dict.fromkeys(["option B", "The answer is B", "the answer is (B)", "Answer: B.", "B, because cats"], "B"),
    **dict.fromkeys(["B or C", "B, C", "B/C", "B and C", "B; C", "B C", "B) or C)", "(B) or (C)", "not B"], None),
    **dict.fromkeys(["", "None", "BC", "cat and dog", "A bird", "I think B", "A. dog, B. cat and dog"], None),
    "A dog": "A",  # its own text
    **dict.fromkeys(["b) cat and dog", "b: cat and dog", "b. cat and dog", "b) because cats"], "B"),
    **dict.fromkeys(["b) or c)", "B) or c)", "(b) or (c)", "b) bird", "a bird", "i.e. a bird"], None),
    "B) bird": None,  # the text of another option
    "D. None of the above": "D",
    "Z": "Z",  # no option has it: a miss, and still the letter that was given
}


@pytest.mark.parametrize(("text", "given"), LETTERS.items())
def test_a_letter_is_the_whole_answer_or_none(text: str, given: str | None) -> None:
    assert letter(text, OPTIONS) == given


LINES = {
    "ANSWER 1: 12\nANSWER 2: B": {1: ("12",), 2: ("B",)},
    "Sure!\r\n\r\n**ANSWER 1:** 12\r\n- ANSWER 2: `B`": {1: ("12",), 2: ("B",)},
    "**ANSWER 1: 12**": {1: ("12",)},
    "1. ANSWER 1: 12": {1: ("12",)},
    "answer 1 : 12": {1: ("12",)},
    "Answer #1: 12": {1: ("12",)},
    "ANSWER 1: 12, ANSWER 2: 13; ANSWER 3: 14": {1: ("12",), 2: ("13",), 3: ("14",)},
    "ANSWER 1: 12\nANSWER 1: 13": {1: ("12", "13")},
    "ANSWER 1:\nANSWER 2: 3": {2: ("3",)},
    "| ANSWER 1: 12 |\n| ANSWER 2: B | ANSWER 3: C |": {1: ("12",), 2: ("B",), 3: ("C",)},
    "[ANSWER 1]: 12\n**[ANSWER 2]:** B": {1: ("12",), 2: ("B",)},
    "[ANSWER 1: 12]": {1: ("12",)},
    "ANSWER 1: [12]": {1: ("[12]",)},
    "ANSWER 1: f(x)": {1: ("f(x)",)},
    "| the table says ANSWER 1: 12 |": {},
    "I would write ANSWER 1: 12": {},
    "1: 12": {},
    "ANSWER 1 12": {},
    "": {},
}


@pytest.mark.parametrize(("reply", "found"), LINES.items())
def test_only_answer_lines_are_read(reply: str, found: dict[int, tuple[str, ...]]) -> None:
    assert answer_lines(reply) == found


def asked(kind: str, value: str, **more: object) -> Question:
    return Question.model_validate(
        {"id": "q", "text": "?", "references": [Reference(kind=kind, values=(value,))], **more}  # type: ignore[arg-type]
    )


SUM = asked("number", "114,200")
CHOICE = asked("letter", "B", options=("one", "two", "three"))


@pytest.mark.parametrize(
    ("reply", "cut", "score", "outcome"),
    [
        ("ANSWER 1: $114,200.00", False, 1, "answered"),
        ("ANSWER 1: 114200 dollars", False, 1, "answered"),
        ("ANSWER 1: 114201", False, 0, "answered"),
        ("ANSWER 1: 114200 or 114201", False, 0, "unreadable"),
        ("ANSWER 1: 3\nANSWER 1: 114200", False, 0, "contradicted"),
        ("ANSWER 1: 114,200\nANSWER 1: 114200.0", False, 1, "answered"),
        ("ANSWER 2: 114200", False, 0, "missing"),
        ("ANSWER 2: 114200", True, 0, "truncated"),
        ("ANSWER 1: 114200", True, 1, "answered"),
    ],
)
def test_a_numbered_answer_is_graded_by_its_value(reply: str, cut: bool, score: int, outcome: str) -> None:
    grades = grade(reply, [SUM], cut=cut)
    assert [(one.item, one.score, one.outcome, one.f1) for one in grades] == [("item_1", score, outcome, None)]


@pytest.mark.parametrize(
    ("reply", "score"), [("ANSWER 1: (b)", 1), ("ANSWER 1: D", 0), ("ANSWER 1: B) two", 1), ("ANSWER 1: A", 0)]
)
def test_a_letter_outside_the_options_is_a_miss(reply: str, score: int) -> None:
    assert grade(reply, [CHOICE], cut=False)[0].score == score
