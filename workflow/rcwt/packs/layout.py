"""How a pack stands in a prompt, and what of it a prefix still shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rcwt.packs.items import LETTERS, Question

#: Of a question in a cut pack: all of its text is there; a part of it; nothing of it but perhaps its number.
Visibility = Literal["whole", "cut", "gone"]
VISIBILITIES: tuple[Visibility, ...] = ("whole", "cut", "gone")
HEADING = "# Questions\n\n"
_BETWEEN = "\n\n"


@dataclass(frozen=True)
class PackText:
    """The text of a pack and where each question stands in it, in characters; its number and label lie before."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def fixed(self) -> str:
        """What stands before the first question: heading and label."""
        return self.text[: self.spans[0][0]]

    def visible(self, prefix: str) -> tuple[Visibility, ...]:
        """What `prefix`, the pack cut to a budget, shows of each question.

        A character that the cut has broken differs from the pack's own and is not shown.
        """
        end = shared_start(prefix, self.text)
        return tuple("whole" if stop <= end else "cut" if start < end else "gone" for start, stop in self.spans)


def lay_out(questions: Sequence[Question]) -> PackText:
    """The text of a pack: a heading, then every question under its number."""
    text, spans = HEADING, []
    for place, question in enumerate(questions, start=1):
        text += _BETWEEN.join(["", f"Question {place}:"]) if place > 1 else f"Question {place}:"
        text += "\n" if question.passage else " "
        start = len(text)
        text += body(question)
        spans.append((start, len(text)))
    return PackText(text, tuple(spans))


def body(question: Question) -> str:
    """A question as it is asked: its passage, its text, its options."""
    passage = [f"Passage: {question.passage}"] if question.passage else []
    asked = f"Question: {question.text}" if question.passage else question.text
    options = [f"{LETTERS[place]}) {option}" for place, option in enumerate(question.options)]
    return "\n".join([*passage, asked, *options])


def shared_start(one: str, other: str) -> int:
    """Length of the longest text that both begin with."""
    if other.startswith(one):
        return len(one)
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)
