"""What kinds of per-call file the paper's artifact holds, and how a row of each becomes a call.

A file's kind is told by its columns alone: `order`, `trial_index` and at least half of the columns that mark
the kind. So a part of the artifact, or a copy under another name, serves as well as the original, and a
damaged file is still known for what it was and refused instead of being passed over.

A row's share q is the runner's target; p is not in the files and is computed as c/W. Finish reasons are not
in the files either. They can be told in one case: where replies of a model stop at exactly the output cap and
none in the file is longer, the reply at the cap was cut (`truncated`). That holds for main and algorithmic
files (1 024 tokens) and intact ones (700), but not for Gemini 2.5 at W = 32 768, whose replies run past that.
Packs name no cap. Everything else is `ok`, which here means only: not seen to be cut.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from rcwt.published.files import CsvFile, CsvRow, decoded, refuse

#: The paper's judge of the open task, and the name for everything that is scored by rule.
ORIGINAL = "original"
RULES = "rules"
#: The two items at floor level that the effective score leaves out (design of the paper, section on scoring).
FLOOR_ITEMS = ("crdt_throughput", "mls_rfc")
MAIN_ITEMS = (
    *FLOOR_ITEMS,
    "three_encryption_options",
    "recommends_option_b",
    "pg_limit",
    "redis_pubsub_rate",
    "redis_streams_latency",
    "prosemirror_richtext",
    "backend_rampup",
    "infra_migration_weeks",
)
ALGORITHMIC_ITEMS = (
    "sum_correct",
    "above_count",
    "below_count",
    "equal_count",
    "above_indices",
    "equal_indices",
    "mean_correct",
    "max_above_correct",
    "below_has_zero",
    "no_negatives",
)
INTACT_ITEMS = (
    "pg_limit",
    "redis_pubsub_rate",
    "redis_streams_latency",
    "redis_pubsub_latency",
    "recommended_encryption",
    "prosemirror_role",
    "backend_rampup",
    "infra_migration",
)
_CALL = ("model", "provider", "proportion", "order", "trial_index", "coordination_tokens", "reasoning_tokens")
_USED = ("input_tokens_used", "output_tokens_used", "cost_usd", "elapsed_ms")
_MEANS = ("total_context_tokens", "mean_score_raw", "mean_score_effective")
_PACK_MARKS = (
    "benchmark",
    "item_id",
    "task_tokens_full",
    "task_tokens_used",
    "task_truncated",
    "prediction",
    "answer",
    "correct",
    "score_hits",
    "score_total",
    "score_fraction",
)
_INTACT_CALL = (
    "model",
    "provider",
    "target_ratio",
    "order",
    "trial_index",
    "task_tokens",
    "coordination_tokens",
    "prompt_tokens_estimated",
    "score",
)


#: What names one call, in the order of `trials.TRIAL_KEY`.
CallKey = tuple[str, int, str, str, str | None, float, int]


@dataclass(frozen=True)
class ItemScore:
    """One item of a call: does it count in the effective score, and was it right (1) or not (0)."""

    item: str
    effective: bool
    score: int


@dataclass(frozen=True)
class PaperTask:
    """What a call belongs to: experiment, task, kind of design, and the judge of its headline scores."""

    experiment: str
    task: str
    kind: str
    judge: str


@dataclass(frozen=True)
class Budget:
    """A window's split in tokens at target share q: coordination c, instruction u (None: unknown), rest r."""

    window: int
    q: Decimal
    c: int
    u: int | None
    r: int


@dataclass(frozen=True)
class Call:
    """One call of the artifact; token counts in tokens, cost in US dollars, latency in seconds."""

    task: PaperTask
    budget: Budget
    model: str
    order: str
    pack: str | None
    trial: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_s: float | None
    scores: tuple[ItemScore, ...]
    file: str
    line: int
    status: str = "ok"
    task_truncated: bool | None = None  # whether the budget cut a benchmark pack

    @property
    def key(self) -> CallKey:
        """What names the call, in the order of `trials.TRIAL_KEY`."""
        task, budget = self.task, self.budget
        return (
            task.experiment,
            budget.window,
            self.model,
            self.order,
            self.pack,
            float(budget.q),
            self.trial,
        )

    @property
    def place(self) -> str:
        """Where the call's row stands."""
        return f"{self.file}, line {self.line}"

    def content(self) -> "Call":
        """Give the call without its place, and without the status that a whole file decides."""
        return replace(self, file="", line=0, status="ok")


@dataclass(frozen=True)
class Layout:
    """A kind of file: name, the columns that mark it, all its columns, and its output cap (None: unknown)."""

    name: str
    marks: tuple[str, ...]
    columns: tuple[str, ...]
    cap: int | None = None


SPEC_RECALL = Layout("spec_recall", MAIN_ITEMS, (*_CALL, *_MEANS, *_USED, *MAIN_ITEMS), cap=1024)
ALGORITHMIC = Layout("algorithmic", ALGORITHMIC_ITEMS, (*_CALL, *_MEANS, *_USED, *ALGORITHMIC_ITEMS), cap=1024)
INTACT = Layout("intact", INTACT_ITEMS, (*_INTACT_CALL, *_USED, *INTACT_ITEMS), cap=700)
PACK = Layout("pack", _PACK_MARKS, (*_CALL, "category", *_USED, *_PACK_MARKS))
_RESCORED = tuple(f"{side}_{item}" for side in ("orig", "new") for item in MAIN_ITEMS)
RESCORE = Layout("rescore", _RESCORED, ("proportion", "order", "trial_index", *_RESCORED))
LAYOUTS = (SPEC_RECALL, ALGORITHMIC, INTACT, PACK, RESCORE)

MAIN_TASK = PaperTask("fixed_budget", "spec_recall", "fixed_budget", ORIGINAL)
_ALGORITHMIC_TASK = PaperTask("algorithmic", "algorithmic", "algorithmic", RULES)
INTACT_TASK = PaperTask("intact", "spec_recall", "intact", RULES)


def layout_of(header: tuple[str, ...]) -> Layout | None:
    """Give the kind of a file, or None where its columns are of no per-call kind."""
    if not {"order", "trial_index"} <= set(header):
        return None
    fitting = [layout for layout in LAYOUTS if _part(layout.marks, header) >= 0.5]
    # Main and intact files share four item names, so a damaged file may fit both: the nearer one is meant.
    return max(fitting, key=lambda layout: _part(layout.columns, header), default=None)


def why_no_layout(header: tuple[str, ...]) -> str:
    """Say what was looked for in a file that is passed over, and what of it was there."""
    if not header:
        return "no columns: the file is empty or is no CSV"
    nearest = max(LAYOUTS, key=lambda layout: _part(layout.marks, header))
    found = sum(name in header for name in nearest.marks)
    missing = [name for name in ("order", "trial_index") if name not in header]
    without = f"without the column {' and '.join(missing)}" if missing else "with order and trial_index"
    return (
        "no per-call kind: looked for order, trial_index and at least half of the columns that mark a kind; "
        f"nearest is {nearest.name} with {found} of its {len(nearest.marks)}, {without}"
    )


def require_columns(file: CsvFile, layout: Layout) -> None:
    """Refuse a file of a known kind that lacks columns of it; further columns do no harm."""
    decoded(file)  # a byte that is no text would make a column look missing
    missing = [name for name in layout.columns if name not in file.header]
    if missing:
        found = f"a file of the kind {layout.name} without {', '.join(missing)}"
        raise refuse(file.name, 1, missing[0], found, f"all of {', '.join(layout.columns)}")


def read_open(row: CsvRow) -> Call:
    """Read a row of the main task: any window, judged by the paper's own judge."""
    scores = tuple(ItemScore(item, item not in FLOOR_ITEMS, row.bit(item)) for item in MAIN_ITEMS)
    return _call(row, MAIN_TASK, _windowed(row), scores)


def read_answers(row: CsvRow) -> Call:
    """Read a row of the algorithmic task; its instruction is the task, c and r are the file's."""
    scores = tuple(ItemScore(item, True, row.bit(item)) for item in ALGORITHMIC_ITEMS)
    return _call(row, _ALGORITHMIC_TASK, _windowed(row), scores)


def read_fields(row: CsvRow) -> Call:
    """Read a row of the intact task: the task is never cut, the window grows with the coordination.

    t = 698 holds question and reference together and the file does not tell them apart: u is unknown, r = t.
    """
    q, task, c = row.share("target_ratio"), row.count("task_tokens"), row.count("coordination_tokens")
    _check_share(row, q, c, task)
    scores = tuple(ItemScore(item, True, row.bit(item)) for item in INTACT_ITEMS)
    return _call(row, INTACT_TASK, Budget(task + c, q, c, None, task), scores)


def read_pack(row: CsvRow, experiment: str, scores: tuple[ItemScore, ...]) -> Call:
    """Read a row of a benchmark pack; no instruction stands inside W = c + r, so there is no u."""
    q, c, r = row.share("proportion"), row.count("coordination_tokens"), row.count("reasoning_tokens")
    _check_share(row, q, c, r)
    task = PaperTask(experiment, experiment, "packs", RULES)
    call = _call(row, task, Budget(c + r, q, c, None, r), scores, pack=row.text("item_id"))
    return replace(call, task_truncated=row.count("task_tokens_used") < row.count("task_tokens_full"))


READERS: dict[str, Callable[[CsvRow], Call]] = {
    SPEC_RECALL.name: read_open,
    ALGORITHMIC.name: read_answers,
    INTACT.name: read_fields,
}


def mark_cut(calls: list[Call], cap: int | None) -> list[Call]:
    """Mark one file's replies that end at exactly the output cap, where no longer one shows another cap."""
    if cap is None:
        return calls
    longest: dict[str, int] = {}
    for call in calls:
        longest[call.model] = max(longest.get(call.model, 0), call.completion_tokens or 0)
    return [
        replace(call, status="truncated") if call.completion_tokens == cap == longest[call.model] else call
        for call in calls
    ]


def _windowed(row: CsvRow) -> Budget:
    q, window = row.share("proportion"), row.count("total_context_tokens")
    c, r = row.count("coordination_tokens"), row.count("reasoning_tokens")
    if c + r > window:
        found = f"coordination_tokens {c} + reasoning_tokens {r} = {c + r} in a window of {window}"
        raise row.refused("total_context_tokens", found, "c + r of at most W")
    _check_share(row, q, c, r)
    return Budget(window, q, c, window - c - r, r)


def _check_share(row: CsvRow, q: Decimal, c: int, r: int) -> None:
    """Refuse a c that is not the target share of c + r: p = c/W would be wrong without a sign of it.

    The files hold c = floor(q·(c + r)). Half a percent is left for shares written with two decimals.
    """
    if c + r <= 0:
        raise row.refused("coordination_tokens", "coordination and task of 0 tokens together", "c + r above 0")
    if abs(c - q * (c + r)) > max(Decimal(1), Decimal("0.005") * (c + r)):
        found = f"{c} of {c + r} tokens where the target share is {q}"
        raise row.refused("coordination_tokens", found, f"about {int(q * (c + r))}, the share of c + r")


def _call(row: CsvRow, task: PaperTask, budget: Budget, scores: tuple[ItemScore, ...], pack: str | None = None) -> Call:
    return Call(
        task=task,
        budget=budget,
        model=row.text("model"),
        order=row.order(),
        pack=pack,
        trial=row.count("trial_index"),
        prompt_tokens=row.count("input_tokens_used"),
        completion_tokens=row.count("output_tokens_used"),
        cost_usd=row.amount("cost_usd"),
        latency_s=row.amount("elapsed_ms") / 1000,
        scores=scores,
        file=row.file,
        line=row.line,
    )


def _part(columns: tuple[str, ...], header: tuple[str, ...]) -> float:
    return sum(name in header for name in columns) / len(columns)
