"""Plan against actual: what the whole configuration may cost, and what its calls have cost by today's prices.

Planned is everything the configuration needs, whether it came from the cache or not, at its most. Actual is the usage
that the records hold, whenever it was paid. A call whose usage is not known is counted and leaves the sums as they are.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from rcwt.base.records import Usage
from rcwt.calls import ledger
from rcwt.calls.preflights import read_preflights
from rcwt.calls.terms import Terms
from rcwt.scoring.outcomes import CellScores, scores_at
from rcwt.study import manifest as manifests
from rcwt.study.planned import Planned
from rcwt.trials.schema import TRIAL_SCHEMA, read_table


@dataclass
class SpendRow:
    """One model in one role: tokens and US dollars planned at most, and actual.

    Input tokens planned are cl100k tokens, actual ones the model's own; so are output tokens.
    """

    model: str
    role: str
    price_as_of: str
    calls_planned: int = 0
    calls_actual: int = 0
    calls_without_usage: int = 0
    input_tokens_planned: int = 0
    input_tokens_actual: int = 0
    output_tokens_max: int = 0
    output_tokens_actual: int = 0
    usd_worst: Decimal = Decimal(0)
    usd_actual: Decimal = Decimal(0)

    def plan(self, calls: int, prompt_tokens: int, cap: int, by: Terms) -> None:
        """Add planned calls of one size."""
        self.calls_planned += calls
        self.input_tokens_planned += calls * prompt_tokens
        self.output_tokens_max += calls * cap
        self.usd_worst += calls * by.worst_case(prompt_tokens, cap)

    def spend(self, calls: int, usage: Usage, by: Terms) -> None:
        """Add calls that were made, with the usage of all of them together."""
        self.calls_actual += calls
        usd = ledger.cost(usage, by.price)
        if usd is None:
            self.calls_without_usage += calls
            return
        self.input_tokens_actual += usage.prompt or 0
        self.output_tokens_actual += usage.completion or 0
        self.usd_actual += usd


#: Columns of the table, in the order of the file contract; what is added stands at the end.
COLUMNS = [
    *("model", "role", "calls_planned", "calls_actual", "input_tokens_planned", "input_tokens_actual"),
    *("output_tokens_max", "output_tokens_actual", "usd_worst", "usd_actual", "price_as_of", "calls_without_usage"),
]
assert sorted(COLUMNS) == sorted(column.name for column in fields(SpendRow))


def spend_rows(
    terms: Mapping[str, Any],
    manifest: Iterable[Mapping[str, Any]],
    trials: Iterable[tuple[str, Usage]],
    scores: Iterable[CellScores],
    preflights: Iterable[Mapping[str, Any]],
) -> list[SpendRow]:
    """The table's rows: each target, then each language-model judge, then the preflights.

    `terms` are those of `rcwt.spend.plan.table_terms`, `manifest` its rows, `trials` model and usage of every trial.
    """
    manifest = list(manifest)
    targets = {name: _target(name, content, manifest) for name, content in terms["targets"].items()}
    judges = {name: _judge(name, content, terms["targets"], manifest) for name, content in terms["judges"].items()}
    entries = {name: content for part in ("judges", "targets") for name, content in terms[part].items()}
    # Targets first, as above; what is both is probed as a target.
    probed = {name: entries[name] for name in (*targets, *judges) if entries[name]["preflight"]}
    probes = {name: _preflight(name, content) for name, content in probed.items()}
    by = {name: Terms.read(content) for name, content in entries.items()}
    for model, usage in trials:
        targets[model].spend(1, usage, by[model])
    for cell in scores:
        _spend_of_judge(judges[cell.judge], cell, by[cell.judge])
    for record in preflights:
        if record["model"] in probes:
            probes[record["model"]].spend(1, Usage.model_validate(record["usage"]), by[record["model"]])
    return [*targets.values(), *judges.values(), *probes.values()]


def _new(model: str, role: str, content: Mapping[str, Any]) -> SpendRow:
    return SpendRow(model, role, content["price"]["as_of"])


def _target(model: str, content: Mapping[str, Any], manifest: Sequence[Mapping[str, Any]]) -> SpendRow:
    row, by = _new(model, "target", content), Terms.read(content)
    for condition in manifest:
        row.plan(condition["trials"], condition["prompt_tokens"], content["caps"][condition["experiment"]], by)
    return row


def _judge(
    judge: str, content: Mapping[str, Any], targets: Mapping[str, Any], manifest: Sequence[Mapping[str, Any]]
) -> SpendRow:
    """One call a trial that judges score, of a reply at its cap."""
    row, by = _new(judge, "judge", content), Terms.read(content)
    for condition in manifest:
        if condition["scored_by"] == "rules":
            continue
        frame, cap = content["sizes"][condition["task"]]
        for target in targets.values():
            row.plan(condition["trials"], frame + target["caps"][condition["experiment"]], cap, by)
    return row


def _preflight(model: str, content: Mapping[str, Any]) -> SpendRow:
    row = _new(model, "preflight", content)
    for tokens, cap in content["preflight"]:
        row.plan(1, tokens, cap, Terms.read(content))
    return row


def _spend_of_judge(row: SpendRow, cell: CellScores, by: Terms) -> None:
    """Add the calls of one cell's judge, re-asks included, as the scores file records them."""
    for trial in cell.scores:
        calls = len(getattr(trial, "judge_keys", None) or ())
        if calls:
            names = ("prompt", "cached", "completion")
            usage = {name: getattr(trial, f"judge_{name}_tokens", None) for name in names}
            row.spend(calls, Usage.model_validate(usage), by)


def write_spend(rows: Iterable[SpendRow], path: Path) -> None:
    """Write the table; dollars in full."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            values = [getattr(row, name) for name in COLUMNS]
            writer.writerow([ledger.in_full(value) if isinstance(value, Decimal) else value for value in values])


def make_table(
    terms: str,
    manifest: str,
    trials: str,
    scores: Iterable[str],
    cache: Path,
    out: str,
    planned: Planned | None = None,
) -> None:
    """Make the table of a run from the paths of its files; `terms` is JSON, `cache` holds the preflights.

    Raises StaleResultError for a file that is not whole, or does not hold the `planned` cells.
    """
    table = read_table(trials, TRIAL_SCHEMA)
    if planned is not None:
        planned.require_trials(table, trials)
    rows = spend_rows(
        json.loads(terms),
        manifests.read(Path(manifest), planned),
        _usages(table),
        (scores_at(Path(path)) for path in scores),
        read_preflights(cache, Path(manifest).parent),
    )
    write_spend(rows, Path(out))


def _usages(table: pd.DataFrame) -> Iterable[tuple[str, Usage]]:
    names = ["prompt_tokens", "cached_tokens", "completion_tokens"]
    for model, *tokens in zip(table["model"], *(table[name] for name in names), strict=True):
        prompt, cached, completion = (None if pd.isna(value) else int(value) for value in tokens)
        yield model, Usage(prompt=prompt, cached=cached, completion=completion)
