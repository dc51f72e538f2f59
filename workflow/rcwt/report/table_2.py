"""Table 2: where the benchmark packs break, beside the main task (paper, benchmark packs).

A probe's range runs over its models. Everything is fitted to exact counts; the paper fitted each order's accuracy after
rounding it, which moves p0 in the third decimal, so beside its own data that variant stands in the full table too.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.analysis.cells import MAIN_WINDOW, POOLED, write_csv
from rcwt.analysis.curves import fit
from rcwt.base.files import write_text
from rcwt.reader.label import LABEL as READER_LABEL
from rcwt.report import declined
from rcwt.report.identified import why_not_identified
from rcwt.report.printing import PrintedTable, as_csv, as_latex, as_markdown, printed_percent
from rcwt.report.selection import MAIN_EXPERIMENT, SOURCES, Selection, fit_of, select

#: Names of the paper's probes by experiment and task; any other is called by its own (`probe_name`).
PROBES = {
    (MAIN_EXPERIMENT, "spec_recall"): "Task 1 spec recall",
    ("gsm8k", "gsm8k"): "GSM8K-pack",
    ("mmlu_pro", "mmlu_pro"): "MMLU-Pro-pack",
    ("drop", "drop"): "DROP-pack",
}
PAPER_COLUMNS = (
    *("probe", "logistic_p0_low", "logistic_p0_high", "reserve_tokens_low", "reserve_tokens_high"),
    "truncation_onset",
)
FULL_COLUMNS = [
    *("source", "probe", "experiment", "window", "model", "judge", "calls", "baseline"),
    *("R0", "k", "p0", "p0_ci_low", "p0_ci_high", "theta", "theta_ci_low", "theta_ci_high", "theta_ci_identified"),
    *("identified", "why_not", "ceiling_p0", "ceiling_theta", "p0_rounded", "theta_rounded", "truncation_onset"),
    # Additions: what is measured, and how many of the calls are without the form asked for or without a score.
    *("task", "kind", "n_unparsed"),
    # Additions: items with a score, and how many of them the replies decline to answer.
    *("possible", "n_abstained_items"),
]
PACKS = "packs"
NOT_IDENTIFIED = "not identified"
#: What stands for an onset where no measured share cuts anything.
NO_ONSET = "none measured"


def table_2_full(
    main: Selection, packs: pd.DataFrame, curves: pd.DataFrame, trials: pd.DataFrame, models: Sequence[str] = ()
) -> pd.DataFrame:
    """One row a probe, window and model, with the columns FULL_COLUMNS.

    `main` are the cells of the main task as Table A1 shows them; `packs` is the cells table of the kind `packs`,
    `curves` the table of fits, `trials` the trials. p0 is a share of the window, theta in tokens; both are missing
    where the fit is not identified, and `why_not` says why. `p0_rounded` is the paper's way (`rounded_fit`), for its
    own data only. `truncation_onset` is the first share in percent at which something of the task is cut. `n_unparsed`
    of the `calls` have a reply without the form that was asked for, a miss, or no score.
    """
    rows = list(_rows(main, curves, trials, _recall_onset(main)))
    known = [experiment for experiment, _ in PROBES]
    found = sorted(set(packs["experiment"]), key=lambda name: (known.index(name) if name in known else 99, name))
    for experiment in found:
        own = packs[packs["experiment"] == experiment]
        for window in sorted({int(size) for size in own["window"]}):
            shown = select(own, experiment=experiment, window=window, models=models)
            onset = pack_onset(trials[(trials["experiment"] == experiment) & (trials["window"] == window)])
            orders = own[(own["window"] == window) & (own["order"] != POOLED)]
            rows += _rows(shown, curves, trials, onset, orders)
    return pd.DataFrame(rows, columns=FULL_COLUMNS).astype({"n_abstained_items": "Int64"})


def _rows(
    shown: Selection, curves: pd.DataFrame, trials: pd.DataFrame, onset: str, orders: pd.DataFrame | None = None
) -> Iterator[dict[str, Any]]:
    task, kind = _measured(trials, shown.experiment)
    for model in shown.models:
        cells = shown.of(model)
        if cells.empty:
            continue
        key = (str(shown.experiment), shown.window or 0, str(shown.judge), model)
        one, ceiling = fit_of(curves, *key), fit_of(curves, *key, "ceiling")
        known = one is not None and bool(one["identified"])
        first = cells.iloc[0]
        row = {
            "source": first["source"],
            "probe": probe_name(str(shown.experiment), task, kind),
            "experiment": shown.experiment,
            "window": shown.window,
            "model": model,
            "judge": shown.judge,
            "calls": int(cells["n_planned"].sum()),
            "baseline": first["effective_mean"],
            "identified": known,
            "why_not": None if known else why_not_identified(one, cells, "effective_mean"),
            "truncation_onset": onset,
            "task": task,
            "kind": kind,
            "n_unparsed": int(cells["n_unparsed"].sum()),
            "possible": int(cells["possible"].sum()),
            "n_abstained_items": cells["n_abstained_items"].sum(min_count=1),
        }
        yield row | (_fitted(one) if one is not None and known else {}) | _of_ceiling(ceiling) | _rounded(orders, model)


def _measured(trials: pd.DataFrame, experiment: str | None) -> tuple[str, str]:
    """Task and kind of an experiment by its trials; empty without any."""
    own = trials[trials["experiment"] == experiment]
    return (str(own["task"].iloc[0]), str(own["kind"].iloc[0])) if len(own) else ("", "")


def probe_name(experiment: str, task: str, kind: str) -> str:
    """The name of a probe in tables: the paper's for its own, else the experiment's.

    An experiment of the paper's that is given another task goes by the task.
    """
    if (experiment, task) in PROBES:
        return PROBES[experiment, task]
    name = task if task and any(experiment == own for own, _ in PROBES) else experiment
    return f"{name}-pack" if kind == PACKS else name


def _fitted(one: "pd.Series[Any]") -> dict[str, Any]:
    window = float(one["window"])
    low, high = float(one["theta_ci_low"]), float(one["theta_ci_high"])
    names = ("R0", "k", "p0", "theta", "theta_ci_low", "theta_ci_high", "theta_ci_identified")
    return {**{name: one[name] for name in names}, "p0_ci_low": 1 - high / window, "p0_ci_high": 1 - low / window}


def _of_ceiling(ceiling: "pd.Series[Any] | None") -> dict[str, Any]:
    if ceiling is None or not ceiling["identified"]:
        return {}
    return {"ceiling_p0": ceiling["p0"], "ceiling_theta": ceiling["theta"]}


def _rounded(orders: pd.DataFrame | None, model: str) -> dict[str, Any]:
    """The paper's variant, of its own packs alone."""
    if orders is None or not (orders["source"] == "published").any():
        return {}
    p0, theta = rounded_fit(orders[orders["model"] == model])
    return {"p0_rounded": p0, "theta_rounded": theta}


def rounded_fit(orders: pd.DataFrame) -> tuple[float | None, float | None]:
    """p0 and theta as the paper had them: each order's accuracy in whole calls, then the mean of both orders.

    `orders` are one model's rows of a cells table by order. An accuracy is rounded half-even to a multiple of one over
    the order's calls (1/50 in the paper's packs). None where the fit is not identified.
    """
    p, means = [], []
    for share, both in orders.groupby("p"):
        whole = both[both["possible"] > 0]
        if whole.empty:
            continue
        values = [
            Fraction(
                round(Fraction(int(row["hits"]) * int(row["n_planned"]), int(row["possible"]))), int(row["n_planned"])
            )
            for _, row in whole.iterrows()
        ]
        p.append(float(str(share)))
        means.append(float(sum(values) / len(values)))
    if not p:
        return None, None
    window = int(orders["window"].iloc[0])
    one = fit("logistic", p, means, window)
    return (one.params["p0"], one.theta(window)) if one.identified else (None, None)


def _recall_onset(main: Selection) -> str:
    """The first target share at which not all facts are whole, by the ceiling; empty where no ceiling is known."""
    ceilings = main.rows.groupby("q")["ceiling"].min()
    if not len(ceilings) or not ceilings.notna().all():
        return ""
    below = [float(str(q)) for q, ceiling in ceilings.items() if ceiling < 1]
    return f"target q={printed_percent(min(below))}%" if below else NO_ONSET


def pack_onset(trials: pd.DataFrame) -> str:
    """The first share in percent at which a pack is cut, `partial` where others are not; empty where not known."""
    if trials.empty or trials["task_truncated"].isna().any():
        return ""
    cut = trials.assign(cut=trials["task_truncated"].astype(bool)).groupby(["q", "pack"])["cut"].any()
    for q, packs in cut.groupby("q"):
        if packs.any():
            return f"{printed_percent(float(str(q)))}%" + ("" if packs.all() else " partial")
    return NO_ONSET


def table_2(full: pd.DataFrame) -> PrintedTable:
    """Table 2 as the paper prints it: a row a probe, its range over the models whose fit is identified.

    Of an experiment with several windows the one of 4 096 tokens is shown, or else the smallest, which the row names.
    """
    rows = []
    for probe, own in _shown(full):
        found = own[own["identified"].astype(bool)]
        ends = [NOT_IDENTIFIED] * 4
        if len(found):
            ends = [_printed(found[name], end, places) for name, places in _RANGES for end in ("min", "max")]
        rows.append((probe, *ends, str(own["truncation_onset"].iloc[0])))
    return PrintedTable(PAPER_COLUMNS, tuple(rows))


def _shown(full: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each probe that Table 2 shows, with the probe's name there."""
    for (_, probe), every in full.groupby(["experiment", "probe"], sort=False):
        windows = sorted(set(every["window"]))
        window = MAIN_WINDOW if MAIN_WINDOW in windows else windows[0]
        yield str(probe) if window == MAIN_WINDOW else f"{probe} (W = {window})", every[every["window"] == window]


_RANGES = (("p0", "0.001"), ("theta", "1"))


def _printed(values: "pd.Series[Any]", end: str, places: str) -> str:
    value = float(values.min() if end == "min" else values.max())
    return format(Decimal(repr(value)).quantize(Decimal(places), ROUND_HALF_UP), "f")


def for_people(full: pd.DataFrame) -> PrintedTable:
    """The same for people, with ranges in one column."""
    columns = ("probe", "logistic p0", "reserve (tokens)", "p0 of ceiling", "reserve of ceiling", "truncation onset")
    rows = [
        (probe, _range(*rest[0:2]), _range(*rest[2:4]), *_ceiling(own), rest[4])
        for (probe, *rest), (_, own) in zip(table_2(full).rows, _shown(full), strict=True)
    ]
    return PrintedTable(columns, tuple(rows))


def _ceiling(own: pd.DataFrame) -> list[str]:
    """p0 and reserve of the evidence ceiling, which is one for all models; where none is fitted, that."""
    known = own.dropna(subset=["ceiling_p0"])
    if known.empty:
        return [NOT_IDENTIFIED] * 2
    return [
        _range(*(_printed(known[f"ceiling_{name}"], end, places) for end in ("min", "max"))) for name, places in _RANGES
    ]


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


CAPTION = "Where accuracy breaks in benchmark packs and in the main task, over models"


def note(full: pd.DataFrame, embedded: Sequence[str]) -> str:
    """What a reader of Table 2 must know: source, judge, models, and which fits there are none of."""
    if full.empty:
        return "No calls: there is nothing to show."
    source = ", ".join(SOURCES.get(name, name) for name in dict.fromkeys(full["source"]))
    models = list(dict.fromkeys(full["model"]))
    parts = [
        f"Source: {source}. Models: {', '.join(models)}. Fitted to exact counts, prompt orders pooled.",
        "Reserve: theta = W (1 - p0). Onset: first share at which a question (of the main task: a fact) is not whole; "
        "partial: in some packs only. Ceiling: the same for a reader that finds all that the prompt still shows.",
    ]
    parts += [f"{model}: {READER_LABEL}." for model in models if model in embedded]
    judges = {probe: ", ".join(dict.fromkeys(own["judge"])) for probe, own in _shown(full)}
    parts.append("Judge: " + "; ".join(f"{probe}: {judge}" for probe, judge in judges.items()) + ".")
    parts += [_unparsed(row) for row in full[full["n_unparsed"] > 0].to_dict("records")]
    parts += declined.note((_place(row), full.loc[[at]]) for at, row in full.iterrows())
    unknown = full[~full["identified"].astype(bool)]
    parts += [f"{_place(row)}: {NOT_IDENTIFIED} ({row['why_not']})." for _, row in unknown.iterrows()]
    return " ".join(parts)


def _unparsed(row: Mapping[Hashable, Any]) -> str:
    """How many calls of a row of the full table had no answer of the wanted form, or of another task no score."""
    what = "replies had not the asked form (misses)" if row["kind"] == PACKS else "calls have no score"
    return f"{_place(row)}: {row['n_unparsed']} of {row['calls']} {what}."


def _place(row: "Mapping[Hashable, Any] | pd.Series[Any]") -> str:
    return f"{row['probe']}, W = {row['window']}, {row['model']}"


def write_table_2(full: pd.DataFrame, embedded: Sequence[str], prefix: str) -> None:
    """Write Table 2 as `prefix`.csv, .md and .tex, and all values as `prefix`_full.csv."""
    remark = note(full, embedded)
    write_text(as_csv(table_2(full)), Path(f"{prefix}.csv"))
    write_text(as_markdown(for_people(full), CAPTION, remark), Path(f"{prefix}.md"))
    write_text(as_latex(for_people(full), CAPTION, remark, "tab:2"), Path(f"{prefix}.tex"))
    write_csv(full, f"{prefix}_full.csv")
