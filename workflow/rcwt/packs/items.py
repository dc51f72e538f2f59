"""A question of a benchmark as the pipeline keeps it, wherever it was read from."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from rcwt.base.errors import RcwtError

#: The benchmarks whose files can be read and whose answers can be scored.
Benchmark = Literal["gsm8k", "mmlu_pro", "drop"]
BENCHMARKS: tuple[Benchmark, ...] = ("gsm8k", "mmlu_pro", "drop")
#: Names of options, in the order of the options.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class PackError(RcwtError):
    """Benchmark data that cannot be used: a file, one of its rows, or a draw from it."""


def item_name(number: int) -> str:
    """The name of the question with a number, from 1, in every pack."""
    return f"item_{number}"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reference(_Record):
    """One accepted answer: a number, a date, an option's letter, or one or several spans of text."""

    kind: Literal["number", "date", "letter", "spans"]
    values: tuple[str, ...]  # several only where the answer is several spans, all of which are wanted


class Question(_Record):
    """One question with everything that a correct reply may say; it is right when one of `references` is met."""

    id: str
    text: str
    passage: str | None = None  # what the question is about (DROP)
    options: tuple[str, ...] = ()  # the first is option A (MMLU-Pro)
    references: tuple[Reference, ...]
    category: str | None = None
