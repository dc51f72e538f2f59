"""What a run still has to ask for and what that may cost, reckoned from the configuration and the response cache.

Nothing here sends anything. A call is to be made where its response's file is not in the cache. Input tokens are
cl100k tokens with chat overhead; the worst case is the ledger's: the prompt times the model's `token_factor`, and the
output at its cap. The expected output of a call is the mean of what the cache holds for its model and role, or the cap.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from rcwt.base.digests import digest
from rcwt.base.reasoning import answered
from rcwt.base.records import Response
from rcwt.base.request import Request
from rcwt.base.statuses import NON_ANSWERS
from rcwt.calls.ledger import in_full
from rcwt.calls.requests import requests
from rcwt.calls.responses import KeptResponses, ResponseCache
from rcwt.calls.terms import Terms, output_cap, request_tokens
from rcwt.config.thinking import protocol_of, shown
from rcwt.spend.judges import JudgeFrame, judge_frame
from rcwt.study import manifest as manifests
from rcwt.study.planned import Planned
from rcwt.study.preflight import preflight_params
from rcwt.study.prompts import prompt_tokens
from rcwt.study.study import Study

PlanRole = Literal["target", "judge", "preflight"]
ROLES: tuple[PlanRole, ...] = ("target", "judge", "preflight")
#: Kept responses whose length is read for a mean. Keys are hashes: the first of them in order are a random sample.
MEAN_SAMPLE = 2000
#: Trials of each cell that are looked at for the mean of a judge: its keys are known only from the replies.
JUDGED_TRIALS = 3


@dataclass(frozen=True)
class PlannedCells:
    """The cells of a plan: (condition, model) to be answered, and (condition, model, judge) to be judged."""

    answered: tuple[tuple[str, str], ...] = ()
    judged: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def everything(cls, study: Study) -> "PlannedCells":
        """All cells of the configuration."""
        answered = tuple((condition, model) for condition in study.conditions for model in study.config.models)
        judges = study.config.model_judges
        return cls(answered, tuple(cell for cell in study.scored if cell[2] in judges))


@dataclass(frozen=True)
class PlanRow:
    """Calls to make of one experiment, model and role, their tokens and US dollars; what is cached is only counted.

    A preflight serves all experiments: its `experiment` is None.
    """

    experiment: str | None
    model: str
    role: PlanRole
    calls: int
    cached_calls: int
    input_tokens: int
    output_tokens_expected: int
    output_tokens_max: int
    usd_expected: Decimal
    usd_worst: Decimal


@dataclass
class _Tally:
    calls: int = 0
    cached: int = 0
    input: Fraction = field(default_factory=Fraction)
    output: Fraction = field(default_factory=Fraction)
    output_max: int = 0
    usd_worst: Decimal = field(default_factory=Decimal)

    def add(self, calls: int, prompt: Fraction | int, worst_prompt: int, reply: Fraction, cap: int, by: Terms) -> None:
        """Count calls of one size: prompt and reply as expected, and both at their most."""
        self.calls += calls
        self.input += calls * prompt
        self.output += calls * min(reply, Fraction(cap))
        self.output_max += calls * cap
        self.usd_worst += calls * by.worst_case(worst_prompt, cap)


class Planner:
    """Plans cells of one study against the responses that a cache holds."""

    def __init__(self, study: Study, cache: ResponseCache, counted: Mapping[str, int] | None = None) -> None:
        """`counted`: prompt tokens by condition, where they are known; others are counted when they are needed."""
        self.study, self.config = study, study.config
        self.kept = KeptResponses(cache)
        self._tokens = dict(counted or {})
        self._terms: dict[str, Terms] = {}
        self._requests: dict[tuple[str, str], tuple[Request, list[str]]] = {}
        self._frames: dict[tuple[str, str], JudgeFrame] = {}
        self._means: dict[tuple[str, PlanRole], Fraction | None] = {}
        #: Of the last plan made, kept responses that would count as failures today, by model and finish word.
        self.failing: Counter[tuple[str, str]] = Counter()
        #: Of the last plan made, the first request of each model that has a call to make over a network.
        self.first: dict[str, Request] = {}
        #: Of the last plan made, how many kept responses are stale, by registry entry and what was sent for what.
        self.stale: Counter[tuple[str, str]] = Counter()

    def rows(self, cells: PlannedCells) -> list[PlanRow]:
        """The plan of `cells`, by experiment, model and role, and a preflight of each model called over a network.

        A request that two cells share counts as made once. A judge's calls for replies that are not there yet count
        as one a trial, of a reply at its cap in the worst case; being asked again after a reply without sense is not
        planned.
        """
        tallies: dict[tuple[str | None, str, PlanRole], _Tally] = defaultdict(_Tally)
        planned: set[str] = set()
        self.first, self.failing, self.stale = {}, Counter(), Counter()
        for condition, model in cells.answered:
            tally = tallies[self.study.conditions[condition].experiment, model, "target"]
            request, keys = self.kept_as(condition, model)
            missing = {key for key in keys if key not in self.kept}
            missing |= self._stale(model, request, [key for key in keys if key not in planned | missing])
            missing = (missing | self._again(model, set(keys) - missing)) - planned
            planned |= missing
            tally.cached += len(keys) - len(missing)
            if missing:
                if not self.config.registry[model].embedded:
                    self.first.setdefault(model, request)
                size, cap = self.prompt_tokens(condition), output_cap(request.params)
                tally.add(len(missing), size, size, self.reply(model, "target", cap), cap, self.terms(model))
        for condition, model, judge in cells.judged:
            self._judge(condition, model, judge, tallies[self.study.conditions[condition].experiment, judge, "judge"])
        for model, request in self.first.items():
            for size, cap in _preflight_sizes(self.study, model, request.params):
                tallies[None, model, "preflight"].add(1, size, size, Fraction(cap), cap, self.terms(model))
        return [self._row(key, tallies[key]) for key in sorted(tallies, key=self._place)]

    def _again(self, model: str, keys: Iterable[str]) -> set[str]:
        """Note which of these kept responses would be failures today; those of them that are asked again."""
        found = self.failing_of(model, keys)
        self.failing.update((model, word) for word in found.values())
        return set(found) if self.config.ask_again else set()

    def _is_judged(self, judge: str, asked: Request) -> bool:
        """Whether a judge's response is kept and is not asked again."""
        [key] = self.kept.keys(asked, [asked.sample], [asked.key])
        return key in self.kept and not self._stale(judge, asked, [key]) and not self._again(judge, [key])

    def judge_keys(self, condition: str, model: str, judge: str, trials: int | None = None) -> Iterator[str]:
        """Keys of a judge's first requests about a cell's kept replies, of all or of the first `trials` trials."""
        for key in self.kept_as(condition, model)[1][:trials]:
            response = self.kept.read(key)
            if response is not None and (text := self._answer(model, response)):
                asked = self._frame(condition, judge).request(key, text)
                yield self.kept.keys(asked, [asked.sample], [asked.key])[0]

    def failing_of(self, model: str, keys: Iterable[str]) -> dict[str, str]:
        """Kept responses of a model that would count as failures today, with their finish words."""
        if self.config.registry[model].embedded:
            return {}
        return {key: word for key in keys if (word := self.kept.failure(key)) is not None}

    def _judge(self, condition: str, model: str, judge: str, tally: _Tally) -> None:
        """Count the calls of a judge for one cell."""
        frame, by = self._frame(condition, judge), self.terms(judge)
        request, keys = self.kept_as(condition, model)
        reply_cap = output_cap(request.params)
        said, unseen = self.reply(judge, "judge", frame.cap), 0
        again = set(self.failing_of(model, keys)) if self.config.ask_again else set()
        for key in keys:
            response = self.kept.read(key)
            if response is None or key in again:
                unseen += 1
            elif text := self._answer(model, response):
                asked = frame.request(key, text)
                if self._is_judged(judge, asked):
                    tally.cached += 1
                else:
                    tally.add(1, size := request_tokens(asked), size, said, frame.cap, by)
        if unseen:
            expected = frame.tokens + min(self.reply(model, "target", reply_cap), Fraction(reply_cap))
            tally.add(unseen, expected, frame.tokens + reply_cap, said, frame.cap, by)
        if tally.calls:
            self.first.setdefault(judge, frame.request("", ""))

    def _answer(self, model: str, response: Response) -> str | None:
        """The text that a judge is sent; None for a response that holds no answer, or one to a cut prompt."""
        response = answered(response, self.study.reasoning_tags(model))
        text, silent = response.text or "", response.status in NON_ANSWERS or response.prompt_cut
        return text if not silent and text.strip() else None

    def _stale(self, name: str, request: Request, keys: Sequence[str]) -> set[str]:
        """The keys whose kept responses are stale, which are counted."""
        stale = self.kept.stale(request.params, keys)
        self.stale.update((name, shown(protocol_of(request.model), request.params, sent)) for sent in stale.values())
        return set(stale)

    def requests(self, condition: str, model: str) -> tuple[Request, list[str]]:
        """A cell's request of sample 0, and the keys of all its samples."""
        if (condition, model) not in self._requests:
            prompt = self.study.prompts[condition]
            asked = {"messages": prompt.messages, "order": prompt.condition.order}
            [request] = requests(asked, self.study.call_identity(condition, model), 1)
            keys = request.sample_keys(range(self.study.conditions[condition].trials))
            self._requests[condition, model] = request, keys
        return self._requests[condition, model]

    def kept_as(self, condition: str, model: str) -> tuple[Request, list[str]]:
        """`requests`, but with the key that a response is kept under where its numbers were spelled otherwise."""
        request, keys = self.requests(condition, model)
        return request, self.kept.keys(request, range(len(keys)), keys)

    def prompt_tokens(self, condition: str) -> int:
        """Tokens of a condition's messages."""
        if condition not in self._tokens:
            self._tokens[condition] = prompt_tokens(self.study.prompts[condition])
        return self._tokens[condition]

    def terms(self, name: str) -> Terms:
        """The terms of a registry entry."""
        if name not in self._terms:
            self._terms[name] = Terms.of(self.config, name)
        return self._terms[name]

    def reply(self, name: str, role: PlanRole, cap: int) -> Fraction:
        """Output tokens expected of one call: the mean of the kept responses that say their length, else `cap`."""
        if (name, role) not in self._means:
            keys = self._target_keys(name) if role == "target" else self._judge_keys(name)
            kept = sorted(key for key in set(keys) if key in self.kept)
            lengths = [length for key in kept[:MEAN_SAMPLE] if (length := self._length(key)) is not None]
            self._means[name, role] = Fraction(sum(lengths), len(lengths)) if lengths else None
        mean = self._means[name, role]
        return Fraction(cap) if mean is None else mean

    def _length(self, key: str) -> int | None:
        response = self.kept.read(key)
        return None if response is None else response.usage.completion

    def _target_keys(self, model: str) -> Iterator[str]:
        if model in self.config.models:
            for condition in self.study.conditions:
                yield from self.kept_as(condition, model)[1]

    def _judge_keys(self, judge: str) -> Iterator[str]:
        for condition, model, by in self.study.scored:
            if by == judge:
                yield from self.judge_keys(condition, model, judge, JUDGED_TRIALS)

    def _frame(self, condition: str, judge: str) -> JudgeFrame:
        task = self.study.conditions[condition].task
        if (task, judge) not in self._frames:
            self._frames[task, judge] = judge_frame(self.study, condition, judge)
        return self._frames[task, judge]

    def _row(self, key: tuple[str | None, str, PlanRole], tally: _Tally) -> PlanRow:
        experiment, name, role = key
        tokens, output = _rounded(tally.input), _rounded(tally.output)
        dollars = self.terms(name).dollars(tokens, output)
        return PlanRow(
            experiment,
            name,
            role,
            tally.calls,
            tally.cached,
            tokens,
            output,
            tally.output_max,
            dollars,
            tally.usd_worst,
        )

    def _place(self, key: tuple[str | None, str, PlanRole]) -> tuple[int, int, int]:
        experiment, name, role = key
        names = [*self.config.models, *self.config.judges]
        experiments = [*self.config.experiments, None]
        return experiments.index(experiment), ROLES.index(role), names.index(name)


def _rounded(number: Fraction) -> int:
    return int(number + Fraction(1, 2))


def table_terms(study: Study) -> dict[str, Any]:
    """What `tables/spend.csv` reckons with beside calls and manifest, as JSON types: prices, factors, caps.

    A change of any of them makes that table again, and nothing else.
    """
    config, conditions = study.config, study.conditions.values()
    experiments = {condition.experiment: condition.name for condition in conditions}
    tasks = {condition.task: condition.name for condition in conditions if not condition.by_rule}
    terms: dict[str, Any] = {"targets": {}, "judges": {}}
    for model in config.models:
        params = {name: study.call_identity(at, model)["params"] for name, at in experiments.items()}
        caps = {name: output_cap(asked) for name, asked in params.items()}
        preflight = _largest_preflight(study, model, params.values())
        terms["targets"][model] = {**Terms.of(config, model).plain(), "preflight": preflight, "caps": caps}
    for judge in config.model_judges:
        frames = {task: judge_frame(study, at, judge) for task, at in tasks.items()}
        sizes = {task: [frame.tokens, frame.cap] for task, frame in frames.items()}
        asked = [] if judge in config.models else [frame.identity["params"] for frame in frames.values()]
        preflight = _largest_preflight(study, judge, asked)
        terms["judges"][judge] = {**Terms.of(config, judge).plain(), "sizes": sizes, "preflight": preflight}
    return terms


def _largest_preflight(study: Study, name: str, params: Collection[dict[str, Any]]) -> list[tuple[int, int]]:
    """Sizes of a model's preflight before calls with the parameters that need most; none for one that is not called."""
    if study.config.registry[name].embedded or not params:
        return []
    return _preflight_sizes(study, name, max(params, key=lambda one: output_cap(preflight_params(one))))


def _preflight_sizes(study: Study, name: str, params: dict[str, Any]) -> list[tuple[int, int]]:
    """Prompt tokens and output cap of each call of a model's preflight before calls with these parameters."""
    asked = study.preflight_of(name).requests(Request("", "", (), params, "", 0), study.config.registry[name].api_base)
    return [(request_tokens(request), output_cap(request.params)) for request in asked.values()]


def plan(study: Study, cells: PlannedCells, cache: ResponseCache) -> list[PlanRow]:
    """The plan of some cells; see `Planner.rows`."""
    return Planner(study, cache).rows(cells)


def line(rows: Iterable[PlanRow]) -> str:
    """The last line of a dry run: what its jobs ask for, in tokens and US dollars, the worst case rounded up."""
    rows = list(rows)
    calls, cached = sum(row.calls for row in rows), sum(row.cached_calls for row in rows)
    tokens = f"{sum(row.input_tokens for row in rows)}/{sum(row.output_tokens_max for row in rows)}"
    expected = money(sum((row.usd_expected for row in rows), Decimal(0)))
    worst = money(worst_case(rows), ROUND_CEILING)
    return f"spend: {calls} calls to make, {cached} cached, {tokens} tokens, {expected} expected, {worst} at most"


def worst_case(rows: Iterable[PlanRow]) -> Decimal:
    """The most that the calls of a plan can cost together, in US dollars."""
    return sum((row.usd_worst for row in rows), Decimal(0))


def money(usd: Decimal, rounding: str = ROUND_HALF_UP) -> str:
    """US dollars with four decimals: single calls cost less than a cent."""
    return f"${usd.quantize(Decimal('0.0001'), rounding)}"


def refusal(rows: Sequence[PlanRow], cap: float) -> str | None:
    """Why a run with this plan may not begin under a cap in US dollars; None where its worst case fits."""
    worst = worst_case(rows)
    if worst <= Decimal(str(cap)):
        return None
    parts: dict[tuple[str, PlanRole], list[PlanRow]] = defaultdict(list)
    for row in rows:
        if row.usd_worst:
            parts[row.model, row.role].append(row)
    listed = [
        f"  {model} ({role}): {sum(row.calls for row in group)} calls, {money(worst_case(group), ROUND_CEILING)}"
        for (model, role), group in parts.items()
    ]
    expected = money(sum((row.usd_expected for row in rows), Decimal(0)))
    return "\n".join(
        [
            f"max_usd: found {cap:g}; the calls of this run may cost {money(worst, ROUND_CEILING)} "
            f"({expected} expected), in the worst case:",
            *listed,
            "Nothing was sent. Raise max_usd, or set on_cap: stop to go on until the cap is reached, or plan less: "
            "fewer trials, models or judges (keys 'designs', 'models', 'judges').",
        ]
    )


def network_calls(study: Study, rows: Iterable[PlanRow]) -> int:
    """Calls of a plan that go over the network, preflights aside: what the progress line counts."""
    return sum(row.calls for row in rows if row.role != "preflight" and not study.model(row.model).embedded)


COLUMNS = [column.name for column in fields(PlanRow)]


def plan_digest(study: Study, cache: ResponseCache) -> str:
    """What `plan/spend.csv` holds at this moment, as one stable parameter."""
    return digest([COLUMNS, *_table(plan(study, PlannedCells.everything(study), cache))])


def write_plan(study: Study, cache: ResponseCache, manifest: Path, path: Path) -> None:
    """Write the plan of the whole configuration as CSV, by the manifest's prompt tokens; dollars in full."""
    counted = {row["condition"]: row["prompt_tokens"] for row in manifests.read(manifest, Planned.of(study))}
    rows = Planner(study, cache, counted).rows(PlannedCells.everything(study))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *_table(rows)])


def _table(rows: Iterable[PlanRow]) -> list[list[str]]:
    return [[_text(getattr(row, name)) for name in COLUMNS] for row in rows]


def _text(value: object) -> str:
    return "" if value is None else in_full(value) if isinstance(value, Decimal) else str(value)
