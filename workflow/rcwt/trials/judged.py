"""Trials joined to their scores: what each judge found in each call.

A missing score is missing: it leaves both the hits and the possible hits. A call that holds no answer (empty,
refused, filtered) is different: its items are misses by rule. A call whose prompt the server cut has no score at all.
"""

import numpy as np
import pandas as pd

from rcwt.base.errors import RcwtError
from rcwt.base.statuses import NON_ANSWERS, PROMPT_CUT, STATUSES
from rcwt.trials.schema import TRIAL_KEY

#: Score statuses that leave an item without a score, whatever stands in the column `score`.
UNSCORED = ("judge_unparsed", "judge_truncated", "judge_prompt_cut", "not_scored")
BUDGET = ["p", "c", "r", "u"]
_CALL = ["source", *TRIAL_KEY]
_SHARE = ["source", "experiment", "window", "model", "q"]
_STATUSES = {"unparsed": "unparsed", "cut": "truncated", "abstained": "abstained"}
_COUNTS = ["hits", "possible", "items", "raw_hits", "raw_possible", "raw_items", *_STATUSES]
#: Further scores that only answers of spans have.
_OF_SPANS = ["f1", "plain_score"]


class StatisticsError(RcwtError):
    """Trials or scores that contradict each other, or that name one call twice."""


def judged_calls(trials: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """One row a trial and judge: its hits and possible hits, over effective and over all items.

    `trials` and `scores` have the columns of `rcwt.trials.schema`. Beside the trial's key, status, budget and
    ceiling the result has `judge`, `hits`, `possible`, `missing` (effective items without a score),
    `raw_hits`, `raw_possible`, `unparsed`, `cut` and `abstained` (effective items that are misses because the reply
    has not the form that was asked for, because the output cap cut them off, or because it declines to answer),
    `f1_sum`, `f1_count`, `plain_score_sum` and `plain_score_count` (of effective items that have these), `reasoned`
    (whether the reply held reasoning, missing where that is not known), and `call`, the trial's row number, which
    `item_scores` gives too. A judge
    has rows at each share where it scored anything or was the headline judge. How many items a call without any
    score row has is taken from its neighbours of the same experiment, judge and pack. Raises StatisticsError
    for doubled rows and unknown statuses.
    """
    numbered = _numbered(trials)
    items = item_scores(trials, scores)
    calls = numbered.merge(_judges(numbered, items), on=_SHARE)
    calls = calls.merge(_sums(items), on=["call", "judge"], how="left")
    calls[_COUNTS] = calls[_COUNTS].fillna(0).astype("int64")
    of_spans = [f"{name}_{what}" for name in _OF_SPANS for what in ("sum", "count")]
    calls[of_spans] = calls[of_spans].fillna(0.0)
    likes = calls.groupby(["source", "experiment", "judge", "pack"])
    silent = calls["status"].isin(NON_ANSWERS)
    for possible, items_of in (("possible", "items"), ("raw_possible", "raw_items")):
        calls[items_of] = likes[items_of].transform("max")
        calls[possible] = calls[possible].where(~silent, calls[items_of])
    calls["missing"] = calls["items"] - calls["possible"]
    return calls.drop(columns=["items", "raw_items", "headline_judge"])


def item_scores(trials: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """One row a trial, judge and item: the score rows with `call`, the trial's row number.

    `score` is 1.0, 0.0 or missing; the items of a call without an answer are 0.0 by rule, those of a call whose
    prompt was cut are missing. Scores of trials that are not in `trials` are left out. Raises StatisticsError where an
    item is scored twice.
    """
    items = _keyed(scores).merge(_numbered(trials)[[*_CALL, "call", "status"]], on=_CALL)
    _refuse_doubled(items, [*_CALL, "judge", "item"], "scores")
    score = items["score"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    score = np.where(items["score_status"].isin(UNSCORED) | (items["status"] == PROMPT_CUT), np.nan, score)
    silent = items["status"].isin(NON_ANSWERS).to_numpy() & np.isnan(score)
    items["score"] = np.where(silent, 0.0, score)
    # An item that nobody excluded counts.
    items["effective"] = items["effective"].astype("boolean").fillna(True).astype(bool)
    for name in _OF_SPANS:
        items[name] = items[name].astype("float64") if name in items else np.nan
    return items[[*_CALL, "call", "judge", "item", "effective", "score", "score_status", *_OF_SPANS]]


def _sums(items: pd.DataFrame) -> pd.DataFrame:
    by = ["call", "judge"]
    raw = items.groupby(by)["score"]
    effective = items[items["effective"]].groupby(by)["score"]
    columns = [effective.sum(), effective.count(), effective.size(), raw.sum(), raw.count(), raw.size()]
    said = items["score_status"].where(items["effective"])
    columns += [said.eq(status).groupby([items[name] for name in by]).sum() for status in _STATUSES.values()]
    names = list(_COUNTS)
    for name in _OF_SPANS:
        found = items[items["effective"]].groupby(by)[name]
        columns += [found.sum(), found.count()]
        names += [f"{name}_sum", f"{name}_count"]
    return pd.concat(columns, axis=1, keys=names).reset_index()


def _judges(numbered: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    headline = numbered[[*_SHARE, "headline_judge"]].rename(columns={"headline_judge": "judge"}).dropna()
    return pd.concat([headline, items[[*_SHARE, "judge"]]]).drop_duplicates(ignore_index=True)


def _keyed(table: pd.DataFrame) -> pd.DataFrame:
    """Make the keys of both tables comparable; no pack is an empty text, because nulls do not group."""
    texts = ("source", "experiment", "model", "order", "pack")
    return table.assign(
        **{name: table[name].astype(object).fillna("").astype("str") for name in texts},
        window=table["window"].astype("int64"),
        q=table["q"].astype("float64"),
        trial=table["trial"].astype("int64"),
    )


def _numbered(trials: pd.DataFrame) -> pd.DataFrame:
    numbered = _keyed(trials)[[*_CALL, "status", "headline_judge", "ceiling", *BUDGET]]
    numbered["other_model"] = trials["other_model"].astype("boolean").to_numpy() if "other_model" in trials else pd.NA
    reasoned = trials["reasoning_text"].notna() if "reasoning_text" in trials else pd.Series(pd.NA, trials.index)
    # Only a run knows what a reply held beside its answer.
    numbered["reasoned"] = reasoned.astype("boolean").where(trials["source"] == "run").to_numpy()
    _refuse_doubled(numbered, _CALL, "trials")
    unknown = sorted({str(status) for status in numbered["status"]} - set(STATUSES))
    if unknown:
        raise StatisticsError(f"trials: status {', '.join(unknown)}; accepted: {', '.join(STATUSES)}")
    numbered["ceiling"] = numbered["ceiling"].astype("float64")
    numbered["headline_judge"] = numbered["headline_judge"].astype(object)
    numbered["call"] = np.arange(len(numbered))
    return numbered


def _refuse_doubled(table: pd.DataFrame, key: list[str], what: str) -> None:
    doubled = table.duplicated(key).to_numpy()
    if doubled.any():
        first = table.loc[doubled, key].iloc[0]
        named = ", ".join(f"{name} {value}" for name, value in first.items() if value != "")
        raise StatisticsError(
            f"{what}: {int(doubled.sum())} rows stand twice, the first is {named}; accepted: each once. "
            "Delete the table and run again"
        )
