"""Whether enough of the planned scores are there: the share that is missing, a model, against `max_missing`.

And whether there is a baseline at all: replies that the output cap cut before any text are misses that measure nothing.

A missing score is one that the headline judge could not give; the misses of a call without an answer are not missing.
"""

from collections.abc import Sequence

import pandas as pd

from rcwt.base.errors import RcwtError
from rcwt.base.statuses import PROMPT_CUT, PROMPT_CUT_REMEDY
from rcwt.trials.caps import Caps, silent_baselines
from rcwt.trials.judged import judged_calls

COLUMNS = ["source", "experiment", "model", "judge", "calls", "scores", "missing", "share_missing", "max_missing"]
_MODEL = ["source", "model"]
_CELL = ["source", "experiment", "window", "model", "order", "pack", "q", "judge"]
#: Cells that a message names one by one.
_NAMED = 12


class MissingScoresError(RcwtError):
    """More scores of a model are missing than the configuration accepts, or most of its baseline has no text."""


def completeness(
    trials: pd.DataFrame, scores: pd.DataFrame, max_missing: float, caps: Caps | None = None
) -> pd.DataFrame:
    """One row an experiment and model: effective items of its calls, and those without a headline score.

    Raises MissingScoresError, naming the cells, where the share over all calls of a model is above `max_missing`, and
    where most of its calls at the smallest share of an experiment were cut at their output cap before any text.
    """
    calls = _headline(trials, scores)
    totals = calls.groupby(_MODEL)[["scores", "missing"]].sum()
    over = totals[totals["missing"] > max_missing * totals["scores"]]
    problems = [_message(over, calls, max_missing)] if len(over) else []
    problems += silent_baselines(trials, caps or {})
    if problems:
        raise MissingScoresError("\n".join(problems))
    grouped = calls.groupby(["source", "experiment", "model", "judge"], sort=False)
    table = grouped.agg(calls=("scores", "size"), scores=("scores", "sum"), missing=("missing", "sum")).reset_index()
    table["share_missing"] = table["missing"] / table["scores"]
    table["max_missing"] = max_missing
    return table[COLUMNS]


def _headline(trials: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The calls under the headline judge of each: `scores` effective items, `missing` of them without a score."""
    calls = judged_calls(trials, scores)
    headline = trials["headline_judge"].reset_index(drop=True)
    calls = calls[calls["judge"] == calls["call"].map(headline)].copy()
    calls["scores"] = calls["possible"] + calls["missing"]
    return calls


def _message(over: pd.DataFrame, calls: pd.DataFrame, max_missing: float) -> str:
    """What is missing, where, and what to do."""
    lines = []
    for row in over.reset_index().to_dict("records"):
        lines.append(
            f"max_missing: {row['missing']} of {row['scores']} scores of {row['model']} are missing "
            f"({row['missing'] / row['scores']:.1%}); accepted: {max_missing:.1%}. Cells:"
        )
        of = calls[(calls["source"] == row["source"]) & (calls["model"] == row["model"])]
        if cut := int((of["status"] == PROMPT_CUT).sum()):
            lines.append(f"  In {cut} of {len(of)} calls its server cut the prompt. {PROMPT_CUT_REMEDY}.")
        cells = of.groupby(_CELL)[["scores", "missing"]].sum().reset_index()
        lines += _cells(cells[cells["missing"] > 0].sort_values("missing", ascending=False, kind="stable"))
    lines.append(
        "The scores files say why (status judge_unparsed, judge_truncated, judge_prompt_cut or not_scored). Take a "
        "judge that answers in the form it is asked for (key 'judges', the first is the headline), give one whose "
        "replies are cut a larger max_tokens (its `params` in the registry), or raise max_missing; the tables are made "
        "all the same, and their bounds show what the missing scores could change."
    )
    return "\n".join(lines)


def _cells(cells: pd.DataFrame) -> Sequence[str]:
    lines = []
    for cell in cells.head(_NAMED).to_dict("records"):
        places = (
            cell["experiment"],
            f"W={cell['window']}",
            cell["order"],
            cell["pack"],
            f"q={cell['q']:g}",
            cell["model"],
        )
        name = " ".join(str(place) for place in places if place)
        lines.append(f"  {name}: {cell['missing']} of {cell['scores']} by {cell['judge']}")
    rest = len(cells) - _NAMED
    return [*lines, f"  and {rest} more cells"] if rest > 0 else lines
