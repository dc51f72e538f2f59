"""What a run found, in a few lines: for each model its baseline, reserve theta, calls without an answer, and cost.

Of an experiment in several windows the base window (4 096 tokens) is told in full, each other one in a line.
"""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby, takewhile
from typing import Any

import pandas as pd

from rcwt.analysis.cells import MAIN_WINDOW, POOLED
from rcwt.analysis.curves import SLOPE
from rcwt.base.statuses import NON_ANSWERS, PROMPT_CUT
from rcwt.base.visible import visible
from rcwt.config.schema import RULES_JUDGE
from rcwt.reader.label import LABEL as READER_LABEL
from rcwt.reader.label import NAME as READER_NAME
from rcwt.report.declined import declines_all, items_declined
from rcwt.report.identified import why_not_identified
from rcwt.report.printed import comparison
from rcwt.report.printing import printed_accuracy, printed_percent
from rcwt.report.remarks import remarks
from rcwt.report.scaling import Scaling, scaling
from rcwt.report.selection import MAIN_EXPERIMENT, SOURCES, Selection, fit_of, paper_order, select, select_windows
from rcwt.trials.caps import Caps

#: No line is longer.
WIDTH = 110
_GAP = 20
#: From this part of the accuracy at the smallest share on a task counts as whole: where the slope of a cliff begins.
WHOLE = SLOPE[1]


def summary(
    trials: pd.DataFrame,
    cells: Sequence[pd.DataFrame],
    curves: pd.DataFrame,
    tables: Sequence[tuple[str, str]] = (),
    figures: Sequence[tuple[str, str]] = (),
    embedded: Sequence[str] = (READER_NAME,),
    printed: Mapping[tuple[str, str], str] | None = None,
    accounts: pd.DataFrame | None = None,
    caps: Caps | None = None,
) -> str:
    """The text of `summary.txt`, each line at most 110 characters.

    `trials` has the columns of `rcwt.trials.schema`; `cells` are the cells tables of all kinds, `curves` the fits made
    from them. Accuracies are those of the headline judge, orders pooled; theta is in tokens, with the interval of
    refits over calls and over facts; cost is the sum of the calls' own costs in US dollars. `tables` and `figures` are
    the places of what is made of a kind of design, named where there are calls of it; `embedded` names the models that
    are the extractive reader. The paper's own calls are held against its `printed` Table A1; `accounts` has the columns
    of `rcwt.analysis.accounts`; `caps` are the output caps by experiment and model.
    """
    intact = trials[trials["kind"] == "intact"]
    windowed = trials.drop(index=intact.index)
    lines = []
    if trials.empty:
        lines.append("No calls: nothing was measured.")
    for selection in _selections(windowed, cells, embedded):
        found = scaling(selection, curves)
        lines += [*_block(found, trials, curves, accounts, caps or {}), ""]
        main = (selection.experiment, found.base) == (MAIN_EXPERIMENT, MAIN_WINDOW)
        if printed and main and selection.published:
            lines += [f"  {line}" for line in comparison(found.at(found.base), printed)] + [""]
    for experiment in dict.fromkeys(intact["experiment"]):
        lines += [*_intact(experiment, intact, cells, embedded, caps or {}), ""]
    kinds = set(trials["kind"])
    for name, places in (("Tables", tables), ("Figures", figures)):
        shown = ", ".join(path for kind, path in places if kind in kinds)
        lines += textwrap.wrap(f"{name:<{_GAP}}{shown}", WIDTH, subsequent_indent=" " * _GAP) if shown else []
    # It is printed, and may name what a server or a file of others called itself.
    return visible("\n".join(lines).rstrip("\n") + "\n")


def _selections(trials: pd.DataFrame, cells: Sequence[pd.DataFrame], embedded: Sequence[str]) -> Iterator[Selection]:
    """What to speak of: each experiment, with the windows in which it was called, under its headline judge."""
    for table in cells:
        for experiment in dict.fromkeys(table["experiment"]):
            called = trials[trials["experiment"] == experiment]
            own = table[(table["experiment"] == experiment) & table["window"].isin(called["window"])]
            headline = called[["window", "headline_judge"]].dropna().drop_duplicates()
            for judge, windows in headline.groupby("headline_judge")["window"]:
                rows = own[own["window"].isin(windows)]
                yield select_windows(rows, judge=str(judge), experiment=experiment, embedded=embedded)


def _block(
    found: Scaling, trials: pd.DataFrame, curves: pd.DataFrame, accounts: pd.DataFrame | None, caps: Caps
) -> Iterator[str]:
    """The lines of one experiment."""
    selection, experiment, judge = found.selection, found.selection.experiment, found.selection.judge
    windows = " and ".join(", ".join(map(str, found.windows)).rsplit(", ", 1))
    yield f"{experiment}, W = {windows} tokens, judge {judge} ({selection.source})"
    fitted = not curves.empty and bool((curves["experiment"] == experiment).any())
    own = trials[(trials["experiment"] == experiment) & trials["window"].isin(found.windows)]
    explained = selection.explained()
    for model in paper_order(selection.models):
        calls = own[own["model"] == model]
        rows = _base_rows(found, curves, model, fitted)
        if fitted:
            rows += _window_rows(found, curves, model)
            rows += _account_rows(selection, accounts, model)
        cells = selection.rows[(selection.rows["model"] == model) & (selection.rows["order"] == POOLED)]
        rows += [("calls", _calls(calls, cells)), *remarks(calls, caps), ("cost", cost(calls))]
        yield f"  {model}" + (f" ({explained[model]})" if model in explained else "")
        for name, text in rows:
            yield from _lines(name, text)


def _base_rows(found: Scaling, curves: pd.DataFrame, model: str, fitted: bool) -> list[tuple[str, str]]:
    """Baseline and theta in the base window."""
    cells = found.at(found.base).of(model)
    if cells.empty:
        return [("baseline accuracy", f"no calls at W = {found.base}")]
    key = _fit_key(found, found.base, model)
    of_ceiling = _theta_of_ceiling(fit_of(curves, *key, "ceiling"), cells) if fitted else None
    if declines_all(cells):
        first = cells.sort_values("q").iloc[0]
        told = f"from all {int(first['possible'])} items at q = {printed_percent(first['q'])} %"
        known = of_ceiling is not None and bool(cells["ceiling"].notna().any())
        return [("abstains", told + (f"; theta of ceiling {of_ceiling}" if known else ""))]
    rows = [("baseline accuracy", baseline(cells)), ("whole down to", fewest_tokens_whole(cells))]
    if of_ceiling is not None:
        rows += [("theta", theta(fit_of(curves, *key), cells)), ("theta of ceiling", of_ceiling)]
    return rows


def _fit_key(found: Scaling, window: int, model: str) -> tuple[str, int, str, str]:
    return str(found.selection.experiment), window, str(found.selection.judge), model


def _window_rows(found: Scaling, curves: pd.DataFrame, model: str) -> Iterator[tuple[str, str]]:
    """A line for each other window that was measured: theta there, and p0 as observed and as predicted."""
    for window in found.windows:
        cells = found.at(window).of(model)
        if window == found.base or cells.empty:
            continue
        key = _fit_key(found, window, model)
        fit, ceiling = fit_of(curves, *key), fit_of(curves, *key, "ceiling")
        text = f"theta {_short_theta(fit, cells)}"
        if ceiling is not None:
            text += f", of ceiling {_tokens(ceiling['theta']) if ceiling['identified'] else 'not identified'}"
        shares = ((found.observed(model, window), ""), (found.predicted(model, window), " predicted"))
        known = [f"{_tokens(100 * p0.value)} %{how}" for p0, how in shares if p0 and not math.isnan(p0.value)]
        yield f"W = {window}", text + (f"; p0 {', '.join(known)}" if known else "")


def _short_theta(fit: "pd.Series[Any] | None", cells: pd.DataFrame) -> str:
    """Theta and its interval over calls, where there is one that is not a point."""
    if fit is None or not fit["identified"]:
        return theta(fit, cells)
    low, high = fit["theta_ci_low"], fit["theta_ci_high"]
    sure = "" if math.isnan(low) or math.isclose(low, high) else f" ({_tokens(low)} to {_tokens(high)} over calls)"
    return _tokens(fit["theta"]) + sure


def _account_rows(selection: Selection, accounts: pd.DataFrame | None, model: str) -> Iterator[tuple[str, str]]:
    """How well one theta, one p0 and the truncation model account for all windows of a model together."""
    if accounts is None or accounts.empty:
        return
    key = {"experiment": selection.experiment, "judge": selection.judge, "model": model}
    rows = accounts[(accounts[list(key)] == pd.Series(key)).all(axis=1) & accounts["heldout_window"].isna()]
    for _, row in rows.iterrows():
        name, error = str(row["account"]), row["heldout_rmse"]
        parts = []
        if name != "truncation":
            number = f"{_tokens(row['midpoint'])} tokens" if name == "theta" else f"{_tokens(100 * row['midpoint'])} %"
            parts.append(number if row["identified"] else "not identified")
        parts.append("fits exactly" if row["sse"] == 0 else f"AIC {row['aic']:.1f}")
        parts.append("predicts no window" if pd.isna(error) else f"RMSE in a window left out {error:.3f}")
        yield name if name == "truncation" else f"one {name}", "; ".join(parts)


def _intact(
    experiment: str, trials: pd.DataFrame, cells: Sequence[pd.DataFrame], embedded: Sequence[str], caps: Caps
) -> Iterator[str]:
    """The lines of an intact task, whose window is another for each amount of coordination: one block for all."""
    called = trials[trials["experiment"] == experiment]
    judge = called["headline_judge"].iloc[0]
    own = pd.concat([table[(table["experiment"] == experiment) & (table["judge"] == judge)] for table in cells])
    shown = select(own, judge=judge, embedded=embedded)
    yield f"{experiment}, task intact beside c tokens of coordination, judge {judge} ({shown.source})"
    for model in paper_order(own["model"]):
        rows = own[(own["model"] == model) & (own["order"] == POOLED)].sort_values("c").to_dict("records")
        of = called[called["model"] == model]
        yield f"  {model}" + (f" ({READER_LABEL})" if model in embedded else "")
        accuracies = [printed_accuracy(row["hits"], row["possible"]) or "not scored" for row in rows]
        yield from _lines("accuracy", _along(rows, accuracies))
        complete = [f"{int(row['n_complete'])} of {int(row['n_planned'])}" for row in rows]
        yield from _lines("calls all right", _along(rows, complete))
        for name, text in [("calls", _calls(of, pd.DataFrame(rows))), *remarks(of, caps)]:
            yield from _lines(name, text)
        yield from _lines("cost", cost(of))


def _along(rows: Sequence[Mapping[Any, Any]], values: Sequence[str]) -> str:
    """A value at each amount of coordination; neighbours of one value together."""
    parts = []
    for value, group in groupby(zip(values, rows, strict=True), key=lambda pair: pair[0]):
        amounts = [int(row["c"]) for _, row in group]
        parts.append(f"{value} at c = {amounts[0]}" + (f" to {amounts[-1]}" if len(amounts) > 1 else ""))
    return "; ".join(parts)


def _lines(name: str, text: str) -> list[str]:
    """A named line, continued below itself where it is too long."""
    start = f"    {name:<{_GAP}}"
    return textwrap.wrap(start + text, WIDTH, subsequent_indent=" " * len(start), break_on_hyphens=False)


def baseline(cells: pd.DataFrame) -> str:
    """Accuracy at the smallest share of `cells` (one model's pooled rows), rounded half up from its counts."""
    first = cells.sort_values("q").iloc[0]
    accuracy = printed_accuracy(first["hits"], first["possible"])
    return f"{accuracy or 'not scored'} at q = {printed_percent(first['q'])} %"


def fewest_tokens_whole(cells: pd.DataFrame) -> str:
    """The fewest tokens the task kept, instruction included, while all calls with as many or more stayed whole.

    Whole is `WHOLE` of the accuracy at the smallest share. `cells` are one model's pooled rows of one window; this is
    what was measured, and no curve's: theta is where half is lost.
    """
    rows = cells.sort_values("q").to_dict("records")
    least = WHOLE * rows[0]["effective_mean"]
    if not least > 0:
        return "unknown: there is no accuracy to lose"
    whole = list(takewhile(lambda row: row["effective_mean"] >= least, rows))
    last = whole[-1]
    text = f"{int(last['window'] - last['c'])} tokens kept (q = {printed_percent(last['q'])} %)"
    if len(whole) == len(rows):
        return f"{text}, the fewest that were measured"
    after = rows[len(whole)]
    lost = printed_accuracy(after["hits"], after["possible"]) or "not scored"
    return f"{text}; at {int(after['window'] - after['c'])} tokens {lost}"


def theta(fit: "pd.Series[Any] | None", cells: pd.DataFrame) -> str:
    """Theta in tokens with both intervals, or that it is not identified and why."""
    if fit is None or not fit["identified"]:
        return f"not identified: {why_not_identified(fit, cells, 'effective_mean')}"
    parts = filter(None, (_interval(fit, kind, what) for kind, what in (("ci", "calls"), ("facts", "facts"))))
    return f"{_tokens(fit['theta'])} tokens ({', '.join(parts) or 'no interval'})"


def _interval(fit: "pd.Series[Any]", kind: str, what: str) -> str:
    """An interval of theta with what was resampled; empty where nothing was, as for facts of benchmark packs."""
    low, high = float(fit[f"theta_{kind}_low"]), float(fit[f"theta_{kind}_high"])
    if math.isclose(low, high):
        return f"over {what}: they do not vary"
    if not (math.isnan(low) or math.isnan(high)):
        return f"95 % over {what}: {_tokens(low)} to {_tokens(high)}"
    identified = float(fit.get(f"theta_{kind}_identified", math.nan))
    return "" if math.isnan(identified) else f"over {what}: identified in only {100 * identified:.0f} % of refits"


def _theta_of_ceiling(fit: "pd.Series[Any] | None", cells: pd.DataFrame) -> str:
    if not cells["ceiling"].notna().any():
        return "none: nothing is cut, or where the facts stand is not known"
    if fit is None or not fit["identified"]:
        return f"not identified: {why_not_identified(fit, cells, 'ceiling')}"
    return f"{_tokens(fit['theta'])} tokens"


def _tokens(value: float) -> str:
    return format(Decimal(repr(float(value))).quantize(Decimal("0.1"), ROUND_HALF_UP), "f")


def _calls(calls: pd.DataFrame, cells: pd.DataFrame) -> str:
    """How many calls of a model, and how many of them are no plain answer; `cells` are their pooled cells."""
    counts = {status: int((calls["status"] == status).sum()) for status in (*NON_ANSWERS, "truncated")}
    silent = ", ".join(f"{status} {counts[status]}" for status in NON_ANSWERS)
    text = f"{len(calls)}; without an answer: {silent}; cut at the output cap: {counts['truncated']}"
    judged = ~calls["status"].isin([*NON_ANSWERS, PROMPT_CUT])
    unscored = int((judged & (calls["possible"].fillna(0) == 0)).sum())
    # Where neither is recorded, a reply that was cut looks like any other.
    unseen = int((calls["finish_reason"].isna() & calls["completion_tokens"].isna()).sum())
    text += f", not known for {unseen}" if unseen else ""
    lost = int((calls["status"] == PROMPT_CUT).sum())
    text += f"; prompt cut by the server (not scored): {lost}" if lost else ""
    # The rules leave no score open: what they call unparsed has not the form that was asked for, and is a miss.
    formless = int(cells.loc[cells["judge"] == RULES_JUDGE, "n_unparsed"].sum())
    text += f"; not in the form asked for (misses): {formless}" if formless else ""
    text += f"; items declined (misses): {declined}" if (declined := items_declined(cells)) else ""
    return text + (f"; without a score: {unscored}" if unscored else "")


def cost(calls: pd.DataFrame) -> str:
    """US dollars of these calls; `unknown` where no call says, and how many do not where some do."""
    known = calls["cost_usd"].dropna()
    if known.empty:
        return "unknown"
    text = _dollars(sum((Decimal(repr(float(amount))) for amount in known), Decimal(0)))
    if (calls["source"] == "published").all():
        text += " as published"
    elif (calls["source"] == "simulated").all():
        text += f" ({SOURCES['simulated']})"
    if len(known) < len(calls):
        text += f", and unknown for {len(calls) - len(known)} of {len(calls)} calls"
    return text


def _dollars(amount: Decimal) -> str:
    """Cents, or four decimals below one dollar; a cost that would be printed as nothing is said to be below."""
    if 0 < amount < Decimal("0.0001"):
        return "less than $0.0001"
    places = "0.01" if amount == 0 or amount >= 1 else "0.0001"
    return f"${amount.quantize(Decimal(places), ROUND_HALF_UP)}"
