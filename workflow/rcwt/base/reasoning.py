"""Reasoning that a model wrote into its reply, between tags, because its server did not take it out.

A reply is judged by what it answers, so reasoning is taken off before any scorer or judge sees the text, and kept
beside it. A server may send both tags, the closing one alone (the opening one was part of the prompt), or the opening
one alone (the model never came to its answer).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rcwt.base.records import Response

#: An opening and a closing tag.
Tags = Sequence[tuple[str, str]]
#: The tags of current models. The last pair is that of gpt-oss: its reasoning ends where its final channel begins.
USUAL: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|think|>", "<|/think|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"),
)


class Parted(NamedTuple):
    """A reply's answer, and its reasoning (None without any). `open`: the reasoning never ended."""

    answer: str
    reasoning: str | None
    open: bool


def parted(text: str, tags: Tags = USUAL) -> Parted:
    """Part a reply; one without a tag is its own answer, unchanged.

    Reasoning runs from an opening tag to its closing one or to the end. Before a closing tag that nothing opened, all
    is reasoning: it may have spoken of tags itself. A tag in quotes or backticks is a word like any other.
    """
    kinds = _kinds(tuple((opening, closing) for opening, closing in tags))
    if not kinds:
        return Parted(text, None, open=False)
    answer: list[str] = []
    reasoning: list[str] = []
    opened: list[int] = []
    at = 0
    for tag in _pattern(tuple(kinds)).finditer(text):
        pair, opens = kinds[_spelled(tag[0])]
        if _is_quoted(text, tag) or (opens and pair in opened):  # it thinks about tags
            continue
        before, at = text[at : tag.start()], tag.end()
        if opened:
            reasoning.append(before)
            _close(opened, pair) if not opens else opened.append(pair)
        elif opens:
            answer.append(before)
            opened.append(pair)
        else:
            reasoning += [*answer, before]
            answer = []
    (reasoning if opened else answer).append(text[at:])
    if at == 0:
        return Parted(text, None, open=False)
    thought = "\n\n".join(part.strip() for part in reasoning if part.strip())
    return Parted("".join(answer).strip(), thought or None, open=bool(opened))


def _close(opened: list[int], pair: int) -> None:
    """Close what a closing tag of `pair` closes: reasoning of its kind with all inside it, else the innermost."""
    del opened[opened.index(pair) if pair in opened else -1 :]


def answered(response: Response, tags: Tags = USUAL) -> Response:
    """A response with its reasoning taken off its text and kept as `reasoning_text`.

    One that holds nothing else is no answer: it stays `truncated` where its length ended it, and is `empty` otherwise.
    """
    if response.text is None:
        return response
    found = parted(response.text, tags)
    if found.answer == response.text:
        return response
    silent = not found.answer and response.status in ("ok", "unknown_finish")
    return response.model_copy(
        update={
            "text": found.answer,
            "reasoning_text": found.reasoning,
            "status": "empty" if silent else response.status,
        }
    )


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[max(0, tag.start() - 1) : tag.start()], text[tag.end() : tag.end() + 1]
    return (before, after) in _QUOTES


_QUOTES = frozenset({("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")})


def _spelled(tag: str) -> str:
    return "".join(tag.casefold().split())


@lru_cache(maxsize=64)
def _kinds(tags: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[int, bool]]:
    """By its spelling, the pair that a tag belongs to and whether it opens; the first pair to name it has it."""
    found: dict[str, tuple[int, bool]] = {}
    for pair, (opening, closing) in enumerate(tags):
        found.setdefault(_spelled(opening), (pair, True))
        found.setdefault(_spelled(closing), (pair, False))
    return found


@lru_cache(maxsize=64)
def _pattern(spelled: tuple[str, ...]) -> re.Pattern[str]:
    # The longest first: one tag may begin another. Space may stand before the last sign: `</think >`.
    longest = sorted(spelled, key=len, reverse=True)
    return re.compile("|".join(rf"{re.escape(tag[:-1])}\s?{re.escape(tag[-1:])}" for tag in longest), re.IGNORECASE)
