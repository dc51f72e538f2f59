"""Counting and cutting in tokens of cl100k_base."""

import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.tokens import count, decode, encode, fill, special_tokens


def test_the_vocabulary_is_cl100k() -> None:
    # Published examples of the encoding: these ids are cl100k_base's, not o200k_base's.
    assert encode("hello world") == [15339, 1917]
    assert count("antidisestablishmentarianism") == 6


def test_special_tokens_are_plain_text() -> None:
    assert "<|endoftext|>" in special_tokens()
    assert decode(encode("a<|endoftext|>b")) == "a<|endoftext|>b"
    assert count("<|endoftext|>") > 1


@given(st.text(max_size=200))
def test_text_survives_a_round_trip(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.lists(st.integers(0, 50_000), min_size=1, max_size=30), st.integers(-3, 200))
def test_fill_gives_exactly_the_budget_from_the_start(tokens: list[int], budget: int) -> None:
    filled = fill(tokens, budget)
    assert len(filled) == max(budget, 0)
    assert all(token == tokens[index % len(tokens)] for index, token in enumerate(filled))


def test_of_a_character_that_is_cut_in_two_nothing_is_left() -> None:
    tokens = encode("🜚")
    assert len(tokens) > 1
    assert decode(tokens[:-1]) == ""
    assert decode(encode("a mark of its own \ufffd")) == "a mark of its own \ufffd"


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("中文的字🜚👩‍🚀🇪🇺é\ufffd")), min_size=1, max_size=40),
    st.integers(1, 90),
)
def test_a_block_is_whole_characters_of_its_text(text: str, budget: int) -> None:
    """As written: a prefix of the text, or of its repetition; short of the budget by less than one character."""
    cut = decode(fill(encode(text), budget))
    repeated = text * (budget + 1)
    assert repeated.startswith(cut)
    following = repeated[len(cut)]
    assert len((cut + following).encode()) > len(_bytes(fill(encode(text), budget)))


def _bytes(tokens: list[int]) -> bytes:
    return tiktoken.get_encoding("cl100k_base").decode_bytes(tokens)
