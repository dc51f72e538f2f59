"""How the reader takes a prompt apart: sentences under their headings, and the demands of a message."""

import pytest

from rcwt.reader import demands as reader_demands
from rcwt.reader import text as reader_text


def pairs(text: str) -> list[tuple[str, str]]:
    return [(sentence.heading, sentence.text) for sentence in reader_text.sentences(text)]


def test_sentences_stand_under_their_headings():
    text = "# Title\n\nOne. Second\none, e.g. this.\n\n## Part\n\nWhat is due:\n\n- gold\n- silver. And more.\n"
    assert pairs(text) == [
        ("Title", "One."),
        ("Title", "Second one, e.g. this."),
        ("Part › What is due", "gold"),
        ("Part › What is due", "silver."),
        ("Part › What is due", "And more."),
    ]


def test_repeats_count_once_and_a_cut_end_only_when_it_is_new():
    text = "# A\n\nThe first sentence has seven words here. The last one ends."
    assert len(pairs(text * 3)) == 2
    assert len(pairs(text * 3 + "# A\n\nThe first sentence has")) == 2
    assert pairs(text + " A cut sent")[-1] == ("A", "A cut sent")


def test_short_items_that_read_alike_under_two_headings_are_two():
    assert len(pairs("## Cats\n\n- Limit: 5\n\n## Dogs\n\n- Limit: 5\n")) == 2


def test_a_heading_cut_from_its_text_is_a_sentence():
    assert pairs("# A\n\nText here.\n\n## Three ways out")[-1] == ("A", "Three ways out")


def test_an_open_code_fence_does_not_swallow_the_next_block():
    text = 'Talk.\n\n```json\n{"name": "vo\n\n# Facts\n\nThe sum is 5. It stays.'
    assert pairs(text)[-2:] == [("Facts", "The sum is 5."), ("Facts", "It stays.")]
    assert pairs("```python\n# no heading\nx = 1\n```\n\nText. More.")[-1] == ("", "More.")


def test_table_rows_carry_the_names_of_their_columns():
    assert pairs("| Boat | Fee |\n|---|---|\n| Yacht | 31 |\n") == [("", "Boat: Yacht; Fee: 31")]


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("Do this.\n\n1. Name the\n   pier.\n2) Say when.\n\nBe brief.", ["Name the pier.", "Say when."]),
        ("Tell us:\n- the length\n- the width\n", ["the length", "the width"]),
        ("Tell (1) the length and (2) the width.", ["the length and", "the width."]),
        ("How long is\nthe pier? And how wide?", ["How long is the pier?", "And how wide?"]),
        ("Describe the pier.", ["Describe the pier."]),
        ("", []),
    ],
)
def test_a_message_is_split_into_its_demands(message, texts):
    assert [demand.text for demand in reader_demands.demands(message)] == texts
