"""From designs to conditions: which windows, shares and orders are measured, and their budgets in tokens.

All arithmetic on shares is decimal: 97.5 % of a window is never a binary approximation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from rcwt.config import Config, Design, Order
from rcwt.errors import DesignError
from rcwt.tasks import Task
from rcwt.tokens import count


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
    r: int  # tokens left for the reference
    trials: int
    pack: str | None = None

    @property
    def p(self) -> Decimal:
        """Realized share of coordination, c / W."""
        return Decimal(self.c) / Decimal(self.window)

    @property
    def name(self) -> str:
        """Name of the condition in every path: experiment, window, share in percent, order."""
        pack = f"-{self.pack}" if self.pack else ""
        return f"{self.experiment}-w{self.window}-q{percent(self.q)}{pack}-{self.order}"


@dataclass(frozen=True)
class Cell:
    """A condition measured on one model."""

    condition: Condition
    model: str

    @property
    def name(self) -> str:
        """The condition's name and the model's."""
        return f"{self.condition.name}/{self.model}"


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


def conditions(config: Config, tasks: Mapping[str, Task]) -> list[Condition]:
    """Every condition of the experiments that the configuration picks, in the order it lists them.

    `tasks` holds the task of each design. Raises DesignError naming the experiment and window.
    """
    return [
        condition
        for experiment in config.experiments
        for condition in _fixed_budget(experiment, config.designs[experiment], tasks)
    ]


def _fixed_budget(experiment: str, design: Design, tasks: Mapping[str, Task]) -> Iterator[Condition]:
    task = tasks[design.task]
    u = count(task.instruction)
    for entry in design.windows:
        for share in entry.shares:
            q = share / 100
            try:
                c, r = split_window(entry.window, q, u)
            except DesignError as error:
                raise DesignError(f"designs.{experiment}, window {entry.window}: {error}") from None
            for order in design.orders:
                yield Condition(
                    experiment=experiment,
                    task=design.task,
                    kind=design.kind,
                    coordination=design.coordination or task.coordination,
                    window=entry.window,
                    order=order,
                    q=q,
                    c=c,
                    u=u,
                    r=r,
                    trials=entry.trials,
                )
