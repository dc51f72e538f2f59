"""Replies that the output cap cut before any text: a model that reasoned until nothing was left to answer with.

They are misses by rule, so that a whole experiment of them would look like a model that knows nothing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Cap:
    """An output cap in tokens, and its key in the configuration."""

    key: str
    tokens: int


#: By experiment and model; of calls that were not made by a run there is none.
Caps = Mapping[tuple[str, str], Cap]


def read_caps(text: str) -> Caps:
    """The caps that `Study.output_caps` wrote."""
    return {
        (experiment, model): Cap(key, tokens)
        for experiment, models in json.loads(text).items()
        for model, (key, tokens) in models.items()
    }


def without_text(calls: pd.DataFrame, cap: Cap) -> pd.DataFrame:
    """Those of `calls` (`rcwt.trials.schema`) that have no text and were cut, or used the whole cap all the same."""
    silent = calls["text"].astype(object).fillna("").astype(str).str.strip() == ""
    used_up = (calls["status"] == "empty") & (calls["completion_tokens"].fillna(0) >= cap.tokens)
    return calls[silent & ((calls["status"] == "truncated") | used_up)]


def remedy(cut: pd.DataFrame, cap: Cap) -> str:
    """What to change, and to how much; `cut` are calls of one experiment and model that `without_text` gave.

    What the replies would have needed is not known, only that it is more than they used: so it is twice that.
    """
    used, reasoning = (int(cut[name].fillna(0).max()) for name in ("completion_tokens", "reasoning_tokens"))
    name = cap.key.rpartition(".")[2]
    if 0 < used < cap.tokens / 2:
        return (
            f"They ended after {used} tokens at most, far below the cap of {cap.tokens} (key {cap.key}): the context "
            "of the server is full. Enlarge it (`num_ctx`, `--ctx-size`, `max_model_len`), or use a smaller window"
        )
    most = max(used, cap.tokens)
    spent = (
        f" that one of them used{f', {reasoning} for reasoning' if reasoning else ''}" if used == most else " they had"
    )
    return f"Raise `{name}` to {2 * most} (key {cap.key}): twice the {most} tokens{spent}"


def silent_baselines(trials: pd.DataFrame, caps: Caps) -> Iterator[str]:
    """What is wrong and what to do where most calls of a model at a window's smallest share were cut before any text.

    An intact task has one baseline: its window is another at each share.
    """
    for (experiment, model), cap in caps.items():
        own = trials[(trials["experiment"] == experiment) & (trials["model"] == model)]
        windows = own["window"].where(own["kind"].astype(object) != "intact", own["window"].min())
        for _, calls in own.groupby(windows):
            baseline = calls[calls["q"] == calls["q"].min()]
            cut = without_text(baseline, cap)
            if 2 * len(cut) > len(baseline):
                at = baseline.iloc[0]
                yield (
                    f"{cap.key}: found {cap.tokens}; {len(cut)} of {len(baseline)} calls of {experiment} by {model} at "
                    f"W={at['window']}, q = {100 * at['q']:g} %, were cut before any text, so that there is no "
                    f"baseline. {remedy(cut, cap)}, and run again."
                )
