"""DROP's exact match and F1. Expected values: by hand from the published definition, said beside each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.packs.grading import grade
from rcwt.packs.items import Question, Reference
from rcwt.packs.spans import SpanScore, normalise, official, readings, score

WORDS = st.text("abcdefg hij", min_size=1, max_size=12).filter(str.strip)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Bears.", "bears"),
        ("an  Apple\ta day", "apple day"),
        ("5", "5.0"),
        ("5.0", "5.0"),
        ("1,000", "1000.0"),  # not a float as it stands, so its punctuation goes, then it is one
        ("$12", "12.0"),
        ("12.5%", "125.0"),  # likewise: a quirk of the script that every published score has
        ("40-yard", "40.0 yard"),  # words are parted at hyphens
        ("O'Sullivan", "osullivan"),
        ("Theatre", "theatre"),
    ],
)
def test_normalisation_is_the_official_one(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1"),
    [
        (["Bears"], ["the Bears"], 1, 1.0),
        (["Chicago Bears"], ["Bears"], 0, 0.67),  # precision 1/2, recall 1
        (["12 yards"], ["12"], 0, 0.67),
        (["13"], ["12"], 0, 0.0),
        (["13 yards"], ["12 yards"], 0, 0.0),  # shares a word, but not the number
        (["yards"], ["12 yards"], 0, 0.0),
        (["12 yards"], ["yards"], 0, 0.67),  # numbers of the reference count, not those of the answer
        (["Bo", "Ida"], ["Ida", "Bo"], 1, 1.0),
        (["Ida"], ["Ida", "Bo"], 0, 0.5),  # one of two spans
        (["Ida", "Ida"], ["Ida"], 0, 0.5),  # as many as in the reference
        (["Ida", "Cy", "Di"], ["Ida", "Bo"], 0, 0.33),
        (["A"], ["B"], 0, 0.0),  # "A" alone is an article and normalises to nothing
        (["red fox", "blue"], ["blue bird", "red"], 0, 0.67),  # aligned crosswise, each 2/3
        ([""], ["Ida"], 0, 0.0),
    ],
)
def test_scores_are_the_official_ones(answer: list[str], reference: list[str], exact: int, f1: float) -> None:
    assert official(answer, reference) == SpanScore(exact, f1)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_an_answer_agrees_with_itself_in_any_order(spans: list[str]) -> None:
    assert official(spans, spans[::-1]) == SpanScore(1, 1.0)


# The script compares sets, so that with a span said twice exact match and F1 part ways.
DISTINCT = st.lists(WORDS, min_size=1, max_size=3, unique_by=normalise)


@given(DISTINCT, DISTINCT)
def test_exact_match_implies_full_f1_and_f1_is_a_share(answer: list[str], reference: list[str]) -> None:
    one = official(answer, reference)
    assert 0 <= one.f1 <= 1
    assert one.f1 == 1 or not one.exact


@pytest.mark.parametrize(
    "line",
    ["Kari Strand; Lotte Vik", "Kari Strand and Lotte Vik", "Lotte Vik, Kari Strand.", "**Lotte Vik; Kari Strand**"],
)
def test_a_line_may_list_spans_in_several_ways(line: str) -> None:
    assert score(line, [("Kari Strand", "Lotte Vik")]) == SpanScore(1, 1.0)


def test_a_comma_inside_a_number_parts_nothing() -> None:
    assert readings("1,000") == [("1,000",)]
    assert score("1,000", [("1000",)]).exact == 1


@pytest.mark.parametrize("line", ["12 or 13", "13, 12", "12 and 13", "not 12"])
def test_a_number_must_be_the_answer_and_not_somewhere_in_it(line: str) -> None:
    assert score(line, [("12",)]).exact == 0


def test_the_best_reference_counts() -> None:
    assert score("49", [("47",), ("49",)]) == SpanScore(1, 1.0)


QUESTION = Question(
    id="q",
    text="?",
    passage="…",
    references=(Reference(kind="spans", values=("Ida", "Bo")), Reference(kind="number", values=("2",))),
)


@pytest.mark.parametrize(
    ("reply", "exact", "f1", "outcome"),
    [
        ("ANSWER 1: Bo; Ida", 1, 1.0, "answered"),
        ("ANSWER 1: 2.0", 1, 1.0, "answered"),
        ("ANSWER 1: Ida", 0, 0.5, "answered"),
        ("ANSWER 1: Ida; Bo\nANSWER 1: Ida", 0, 0.0, "contradicted"),
        ("nothing", 0, 0.0, "missing"),
    ],
)
def test_a_reply_has_exact_match_as_its_score_and_f1_beside_it(reply: str, exact: int, f1: float, outcome: str) -> None:
    one = grade(reply, [QUESTION], cut=False)[0]
    assert (one.score, one.f1, one.outcome) == (exact, f1, outcome)
