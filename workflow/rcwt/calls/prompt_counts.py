"""What a model counts in a prompt, learnt from its preflight: how many tokens of its own for each of cl100k_base.

A tokenizer may need a fifth of cl100k's tokens for some scripts, and a server may count a template or a hidden system
text beside the prompt. So no fixed bound tells a prompt that was cut; the same model's own count does. Two calls that
differ in one text alone tell that text's ratio, whatever is counted beside it.
"""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict

from rcwt.base.records import PromptSize
from rcwt.study.preflight import LARGEST, SHORT

#: No tokenizer needs as few tokens of its own for a token of cl100k_base: a count that grows more slowly is none.
LEAST_RATIO = 0.05
#: The short call's own words may need this many tokens for each of cl100k_base where all that was measured needs fewer.
#: They must not be taken for overhead, or a short prompt would look cut.
SHORT_RATIO = 2.0


class Gauge(BaseModel):
    """What is known of one model's counts.

    `grows` is false for a server that counts every prompt alike. `ratios` are the model's tokens for each of
    cl100k_base, by the name of the text; `overhead` what it counts beside any prompt, at least.
    """

    model_config = ConfigDict(frozen=True)

    grows: bool = True
    overhead: float = 0.0
    ratios: dict[str, float] = {}

    def size(self, tokens: int, parts: Iterable[str]) -> PromptSize | None:
        """What a prompt of so many cl100k tokens is held against: the smallest ratio of its parts.

        Of a prompt whose parts are not known, the smallest of all; None where one of them was not measured.
        """
        if not self.grows:
            return PromptSize(tokens=tokens, ratio=0, overhead=0)
        ratios = [self.ratios.get(part) for part in parts] or list(self.ratios.values())
        known = [ratio for ratio in ratios if ratio is not None]
        if not known or len(known) < len(ratios):
            return None
        return PromptSize(tokens=tokens, ratio=min(known), overhead=self.overhead)


def gauge(counted: Mapping[str, tuple[int, int | None]]) -> Gauge:
    """What the calls of a preflight say, each as cl100k tokens and the tokens that the model counted.

    Nothing is known where the short one, or all others, were not counted.
    """
    tokens, least = counted.get(SHORT, (0, None))
    if least is None:
        return Gauge()
    growth = {
        name: (own - least) / (size - tokens)
        for name, (size, own) in counted.items()
        if name != SHORT and own is not None and size > tokens
    }
    if not growth:
        return Gauge()
    ratios = {name: ratio for name, ratio in growth.items() if ratio > LEAST_RATIO}
    if not ratios:
        return Gauge(grows=False)
    # Of the largest prompt it is to be found out whether it was cut, so its own ratio is no reference.
    measured = {name: ratio for name, ratio in ratios.items() if name != LARGEST}
    overhead = max(0.0, least - tokens * max(SHORT_RATIO, *measured.values())) if measured else 0.0
    return Gauge(overhead=overhead, ratios=measured)
