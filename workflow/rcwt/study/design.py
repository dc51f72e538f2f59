"""From designs to conditions: which windows, shares and orders are measured, and their budgets in tokens.

All arithmetic on shares is decimal: 97.5 % of a window is never a binary approximation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from rcwt.base.errors import DesignError
from rcwt.base.tokens import count
from rcwt.config.designs import Algorithmic, Design, FixedBudget, Intact, Packs
from rcwt.config.schema import Config
from rcwt.config.values import Order
from rcwt.study.tasks import Task


@dataclass(frozen=True)
class Condition:
    """One point of a design: everything that a prompt depends on, in the paper's quantities (Section 3)."""

    experiment: str
    task: str
    kind: str
    coordination: str
    window: int  # W, tokens
    order: Order
    q: Decimal  # target share of coordination, a fraction
    c: int  # tokens of coordination
    u: int | None  # tokens of the task instruction inside the window; None where it stands outside
    r: int  # tokens left for the reference, or for the pack
    trials: int
    pack: str | None = None
    question: str | None = None  # which question of the task is asked; None for its instruction

    @property
    def p(self) -> Decimal:
        """Realized share of coordination, c / W."""
        return Decimal(self.c) / Decimal(self.window)

    @property
    def by_rule(self) -> bool:
        """Whether replies have one right form and are scored by rule, whatever judges the configuration names."""
        return self.kind in ("algorithmic", "packs") or self.question is not None

    @property
    def name(self) -> str:
        """Name of the condition in every path: experiment, window, share in percent, order."""
        pack = f"-{self.pack}" if self.pack else ""
        return f"{self.experiment}-w{self.window}-q{percent(self.q)}{pack}-{self.order}"


def percent(q: Decimal) -> str:
    """A share as percent without trailing zeros: 97.5, 90, 0."""
    return format((q * 100).normalize(), "f")


def split_window(window: int, q: Decimal, u: int) -> tuple[int, int]:
    """Tokens of coordination and of reference: c = floor(q (W − u)), r = W − u − c.

    Raises DesignError when the instruction leaves nothing of the window.
    """
    if u >= window:
        raise DesignError(
            f"the instruction has {u} tokens and the window only {window}: nothing is left for the reference. "
            "Accepted: a window above the instruction's length. Raise 'window' or shorten instruction.md"
        )
    c = int((q * (window - u)).to_integral_value(ROUND_FLOOR))
    return c, window - u - c


def intact_coordination(share: Decimal, task_tokens: int) -> int:
    """Tokens of coordination c beside a task of t tokens that is never cut: c = round(rho t / (1 - rho))."""
    rho = share / 100
    return int((rho * task_tokens / (1 - rho)).to_integral_value(ROUND_HALF_EVEN))


def conditions(config: Config, tasks: Mapping[str, Task]) -> list[Condition]:
    """Every condition of the experiments that the configuration picks, in the order it lists them.

    `tasks` holds the task of each design. Raises DesignError naming the experiment and window.
    """
    return [condition for experiment in config.experiments for condition in _of(experiment, config, tasks)]


def _of(experiment: str, config: Config, tasks: Mapping[str, Task]) -> Iterator[Condition]:
    design = config.designs[experiment]
    task = tasks[design.task]
    if (design.kind == "algorithmic") != (task.kind == "algorithmic"):
        raise DesignError(
            f"designs.{experiment}: found the kind '{design.kind}' with the task '{design.task}', which is of the kind "
            f"'{task.kind}'; accepted: an algorithmic task for the kind 'algorithmic', and for no other. Correct one "
            "of the two"
        )
    if (design.kind == "packs") != (task.kind == "pack"):
        raise DesignError(
            f"designs.{experiment}: found the kind '{design.kind}' with the task '{design.task}', which is of the kind "
            f"'{task.kind}'; accepted: a task of the kind 'pack' for the kind 'packs', and for no other. Correct one "
            "of the two"
        )
    if isinstance(design, Intact):
        yield from _intact(experiment, design, task)
    elif isinstance(design, Packs):
        yield from _packs(experiment, design, task)
    else:
        yield from _instructed(experiment, design, task)


def _instructed(experiment: str, design: FixedBudget | Algorithmic, task: Task) -> Iterator[Condition]:
    """Windows in which the instruction stands beside the coordination."""
    u = count(task.instruction)
    for entry in design.windows:
        for share in entry.shares:
            try:
                c, r = split_window(entry.window, share / 100, u)
            except DesignError as error:
                raise DesignError(f"designs.{experiment}, window {entry.window}: {error}") from None
            for order in design.orders:
                yield _condition(experiment, design, task, entry.window, order, share / 100, c, u, r, entry.trials)


def _intact(experiment: str, design: Intact, task: Task) -> Iterator[Condition]:
    """A task of t = u + r tokens that is always whole; the window is what it and the coordination take."""
    if design.question is not None and design.question not in task.questions:
        raise DesignError(
            f"designs.{experiment}.question: found '{design.question}'; accepted: a question of {task.folder} "
            f"({', '.join(task.questions) or 'it has none'}), or null for its instruction"
        )
    if design.question is not None and not task.fields:
        raise DesignError(
            f"designs.{experiment}.question: found '{design.question}', but {task.folder}/task.yaml has no 'fields' to "
            "score its answers by; accepted: a task with fields. Add them, or leave the question out"
        )
    u = count(task.instruction if design.question is None else task.questions[design.question])
    r = count(task.reference or "")
    if design.coordination_tokens is not None:
        # A share with six decimals tells any two of these apart and keeps names short.
        budgets = [(round(Decimal(c) / (c + u + r), 6), c) for c in design.coordination_tokens]
    else:
        budgets = [(share / 100, intact_coordination(share, u + r)) for share in design.shares or []]
    for q, c in budgets:
        for order in design.orders:
            yield _condition(
                experiment, design, task, c + u + r, order, q, c, u, r, design.trials, question=design.question
            )


def _packs(experiment: str, design: Packs, task: Task) -> Iterator[Condition]:
    """Windows that coordination and a pack of questions share; the answer format stands outside."""
    u = count(task.instruction)
    for entry in design.windows:
        if u >= entry.window:
            raise DesignError(
                f"designs.{experiment}, window {entry.window}: the answer format alone has {u} tokens. Accepted: a "
                "window above that. Raise 'window' or shorten instruction.md"
            )
        for share in entry.shares:
            c, r = split_window(entry.window, share / 100, 0)
            for number in range(1, design.packs + 1):
                for order in design.orders:
                    yield _condition(
                        *(experiment, design, task, entry.window, order, share / 100, c, None, r, entry.trials),
                        pack=f"pack_{number}",
                    )


def _condition(
    experiment: str,
    design: Design,
    task: Task,
    window: int,
    order: Order,
    q: Decimal,
    c: int,
    u: int | None,
    r: int,
    trials: int,
    *,
    pack: str | None = None,
    question: str | None = None,
) -> Condition:
    coordination = design.coordination or task.coordination
    return Condition(
        experiment, task.name, design.kind, coordination, window, order, q, c, u, r, trials, pack, question
    )
