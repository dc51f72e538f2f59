"""DROP's exact match and F1, after its published definition (Dua et al. 2019, and the benchmark's evaluation script).

A text becomes words at spaces and hyphens; each word loses its case, its punctuation (unless it is a number) and is
left out when it is an article; a number becomes a float, so that 5 and 5.0 agree. Exact match compares the sets of
texts, and that there are as many on both sides. F1 aligns the spans one to one so that the sum of their bag-of-words F1
is largest, divides by the larger number of spans, and is 0 for a pair whose reference holds numbers of which the
answer has none. The best reference counts.
"""

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rcwt.packs.numerals import unwrapped

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
#: How a line may list several spans, white space around these aside. A comma inside a number is none.
_LISTS = (re.compile(";"), re.compile(r"[;\n]\s*+|,\s++(?:and\s++)?|(?<!\s)[^\S\n]++(?:and|&)\s++"))


@dataclass(frozen=True)
class SpanScore:
    """Exact match (0 or 1) and F1 (0 to 1) of an answer under its best reference, each for itself."""

    exact: int
    f1: float


def normalise(text: str) -> str:
    """A text as exact match compares it."""
    words = (_word(word) for word in re.split(r"[ -]", text.lower()))
    return " ".join(" ".join(words).split())


def score(answer: str, references: Iterable[Sequence[str]]) -> SpanScore:
    """Score a line's answer against each reference (a list of spans) and keep the best.

    The official script is given a list of spans, a reply has one line: it is read as one span, as spans between
    semicolons, and as spans between commas and `and`; the reading that fits best counts. What a span says is compared
    as the script compares it in all of them.
    """
    best = SpanScore(0, 0.0)
    for reading in readings(answer):
        for reference in references:
            one = official(reading, reference)
            best = SpanScore(max(best.exact, one.exact), max(best.f1, one.f1))
    return best


def readings(answer: str) -> list[tuple[str, ...]]:
    """The lists of spans that a line may stand for, the whole line as one span first."""
    plain = unwrapped(answer)
    found: list[tuple[str, ...]] = [(plain,)] if plain else []
    for separator in _LISTS:
        parts = tuple(part for part in (unwrapped(part) for part in separator.split(plain)) if part)
        if len(parts) > 1 and parts not in found:
            found.append(parts)
    return found


def official(answer: Sequence[str], reference: Sequence[str]) -> SpanScore:
    """Exact match and F1 of a list of spans against one reference, F1 rounded to two decimals as the script does."""
    said, wanted = [normalise(span) for span in answer], [normalise(span) for span in reference]
    exact = int(set(said) == set(wanted) and len(said) == len(wanted))
    return SpanScore(exact, _aligned([set(span.split()) for span in said], [set(span.split()) for span in wanted]))


def _aligned(said: Sequence[set[str]], wanted: Sequence[set[str]]) -> float:
    # So many spans that even whole hits round to nothing.
    if not said or not wanted or len(wanted) < 0.005 * len(said):
        return 0.0
    scores = np.array([[_bag_f1(one, other) for one in said] for other in wanted])
    # Not above: each `snakemake` command imports this module, and few of them score a span.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-scores)
    return round(float(scores[rows, columns].sum()) / max(len(said), len(wanted)), 2)


def _bag_f1(said: set[str], wanted: set[str]) -> float:
    numbers = {word for word in wanted if _is_number(word)}
    if numbers and not numbers & said:
        return 0.0
    shared = len(said & wanted)
    precision = shared / len(said) if said else 1.0
    recall = shared / len(wanted) if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _word(word: str) -> str:
    plain = word if _is_number(word) else word.translate(_PUNCTUATION)
    plain = str(float(plain)) if _is_number(plain) else plain
    return _ARTICLE.sub(" ", plain).strip()


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
