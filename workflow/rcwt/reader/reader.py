"""The embedded model: an extractive reader, not a language model.

It splits what stands in the prompt into sentences, ranks them by BM25 for each demand of the user message,
and quotes the best. It knows nothing but the messages: a fact that was cut away cannot be in its reply. So
its recall breaks where the text breaks, whatever a language model would do there.
"""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from rcwt.base.tokens import count, decode, encode
from rcwt.reader.demands import Demand, answer_lines, asks_judgement, demands, json_fields, needs_reasoning
from rcwt.reader.text import Sentence, phrase, quantity, sentences, words

#: What the reader says instead of an answer. None of these holds a number, an option letter, a yes or a no.
NOTHING = "Nothing in the prompt answers this."
REASONING = "Abstain: this needs reasoning, and the reader only quotes."
ELSEWHERE = "The sentences above and below answer this too."
ABSTAIN = "abstain"
#: Sentences a demand. One is too few where a demand asks for two facts; six leave room for a demand that is
#: worded unlike the text.
SENTENCES_PER_DEMAND = 6
#: Sentences looked at for a JSON field, and the share of the field's words one of them must hold.
_FIELD_CANDIDATES, _FIELD_COVERAGE = 3, 1 / 3
#: Words by which a demand or a field says how to answer, not about what.
_ASKING = (
    "answer cite describe exact exactly explain field give identify include json list mention name please"
    " provide question quote report say specific specify state string tell value write"
)
#: Words by which a field asks for a number.
_NUMERIC = (
    "amount bandwidth capacity cost count delay distance duration frequency height latency length limit long"
    " many maximum minimum much number per percent percentage price rate size speed throughput time total"
    " unit units version weight width"
)


#: Words by which a field asks for an amount of one thing for each of another, and how such an amount is written.
_RATE = frozenset(("bandwidth", "frequency", "rate", "speed", "throughput"))
_FOR_EACH = re.compile(r"/|%|\b(?:per|an?|each|every)\b")


@dataclass(frozen=True)
class ReaderReply:
    """A reply as any model gives one: its text, why it ended, and its cl100k tokens."""

    text: str
    finish_reason: Literal["stop", "length"]
    prompt_tokens: int
    completion_tokens: int


def answer(messages: Sequence[Mapping[str, str]], max_tokens: int) -> ReaderReply:
    """Answer the last user message from all other messages, within `max_tokens` (cl100k tokens).

    The same messages always give the same reply. Raises ValueError when `max_tokens` is below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens: found {max_tokens}, accepted are whole numbers from 1")
    asked = max((n for n, message in enumerate(messages) if message["role"] == "user"), default=None)
    question = "" if asked is None else messages[asked]["content"]
    material = "\n\n".join(message["content"] for n, message in enumerate(messages) if n != asked)
    text = _reply(material, question, max_tokens)
    cut = _cut(text, max_tokens)
    return ReaderReply(
        text=cut,
        finish_reason="stop" if cut == text else "length",
        prompt_tokens=sum(count(message["content"]) for message in messages),
        completion_tokens=count(cut),
    )


def _reply(material: str, question: str, max_tokens: int) -> str:
    lines = answer_lines(question, material)
    if lines is not None:
        return "\n".join(f"ANSWER {label}: {ABSTAIN}" for label in lines) or NOTHING
    index = _Index(sentences(material))
    fields = json_fields(question)
    if fields:
        judged = asks_judgement(question)
        values = {
            name: None if judged or needs_reasoning(text) else _value(index, name, text)
            for name, text in fields.items()
        }
        return json.dumps(values, ensure_ascii=False)
    asked = demands(question)
    picks = _picks(index, asked)
    if not picks:
        return REASONING if any(demand.needs_reasoning for demand in asked) else NOTHING
    return _fitting(index, asked, picks, max_tokens)


class _Index:
    """Sentences of the material with their BM25 scores for any query."""

    def __init__(self, found: Sequence[Sentence]) -> None:
        # Imported here: half a second that only a process with prompts to answer should pay.
        import bm25s
        import Stemmer
        from bm25s.stopwords import STOPWORDS_EN_PLUS

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # importing it sets DEBUG, a line a prompt
        self.sentences = found
        self._stemmer = Stemmer.Stemmer("english")  # holds a cache and is not safe to share among threads
        self._stop = frozenset(STOPWORDS_EN_PLUS)
        self._asking = frozenset(self._stemmer.stemWords(_ASKING.split()))
        self.stems = [self.stem(f"{sentence.heading} {sentence.text}") for sentence in found]
        self._bm25 = None
        if any(self.stems):
            self._bm25 = bm25s.BM25(backend="numpy")
            self._bm25.index(self.stems, show_progress=False)

    def stem(self, text: str) -> list[str]:
        """Stems of the words of `text` that say what it is about."""
        stems = self._stemmer.stemWords([word for word in words(text) if word not in self._stop])
        return [stem for stem in stems if stem not in self._asking]

    def ranked(self, query: str, limit: int) -> list[int]:
        """Numbers of up to `limit` sentences with a positive score, the best first."""
        asked = list(dict.fromkeys(self.stem(query)))
        if self._bm25 is None or not asked:
            return []
        scores = self._bm25.get_scores(asked)
        # Ties go by text, not by place, so that the order of the blocks changes nothing.
        order = sorted(scores.nonzero()[0], key=lambda n: (-scores[n], self.sentences[n].text))
        return [int(number) for number in order[:limit]]


def _picks(index: _Index, asked: Sequence[Demand]) -> list[tuple[int, int]]:
    """Pairs of demand and sentence, the best sentence of every demand first; no sentence twice.

    A sentence goes to the demand for which it ranks highest. So a cap on the reply takes the
    weakest sentences of all demands, not the last demands.
    """
    lists = [[] if demand.needs_reasoning else index.ranked(demand.text, SENTENCES_PER_DEMAND) for demand in asked]
    picks: dict[int, int] = {}
    for rank in zip_longest(*lists):
        for number, sentence in enumerate(rank):
            if sentence is not None:
                picks.setdefault(sentence, number)
    return [(number, sentence) for sentence, number in picks.items()]


def _fitting(index: _Index, asked: Sequence[Demand], picks: list[tuple[int, int]], max_tokens: int) -> str:
    """The whole reply if it fits; else the shortest that does not, for the cap to cut at its very end."""
    text = _rendered(index, asked, picks)
    if count(text) <= max_tokens:
        return text
    for size in range(1, len(picks)):
        shorter = _rendered(index, asked, picks[:size], partial=True)
        if count(shorter) > max_tokens:
            return shorter
    return text


def _rendered(index: _Index, asked: Sequence[Demand], picks: Sequence[tuple[int, int]], partial: bool = False) -> str:
    """The picks as text, demand by demand, each sentence on its line below its headings."""
    parts = []
    for number, demand in enumerate(asked):
        chosen = [index.sentences[sentence] for owner, sentence in picks if owner == number]
        # Words stand after the number, or "3." before "Boats" would read as the statement "3 boats".
        head = f"Answer {demand.label} reads:\n" if len(asked) > 1 else ""
        if chosen:
            parts.append(head + "\n".join(_lines(chosen)))
        elif not partial:
            shared = index.ranked(demand.text, 1)
            parts.append(head + (REASONING if demand.needs_reasoning else ELSEWHERE if shared else NOTHING))
    return "\n\n".join(parts)


def _lines(chosen: Sequence[Sentence]) -> Iterator[str]:
    for heading in dict.fromkeys(sentence.heading for sentence in chosen):
        if heading:
            yield f"{heading}:"
        yield from (f"- {sentence.text}" for sentence in chosen if sentence.heading == heading)


def _value(index: _Index, name: str, description: str) -> str | None:
    """The value of a JSON field: the number with its unit, or the phrase, of its best sentence; else None."""
    query = f"{_spaced(name)} {description}"
    stems = set(index.stem(query))
    numeric = not set(_NUMERIC.split()).isdisjoint(words(query))
    a_rate, found = not _RATE.isdisjoint(words(query)), None
    for number in index.ranked(query, _FIELD_CANDIDATES):
        if len(stems.intersection(index.stems[number])) < _FIELD_COVERAGE * len(stems):
            continue
        text = index.sentences[number].text
        asked = {word for word in words(text) if not stems.isdisjoint(index.stem(word))}
        value = quantity(text, asked) if numeric else phrase(text, asked)
        if value and (not a_rate or _FOR_EACH.search(value)):
            return value
        found = found or value or None
    return found


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _cut(text: str, max_tokens: int) -> str:
    """The longest prefix of `text` that counts at most `max_tokens` when it is encoded again."""
    encoded = encode(text)
    if len(encoded) <= max_tokens:
        return text
    for size in range(max_tokens, 0, -1):
        prefix = decode(encoded[:size])
        if count(prefix) <= max_tokens:
            return prefix
    return ""
