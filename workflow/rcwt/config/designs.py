"""The kinds of design that an experiment can have, as the configuration describes them under `designs`."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from rcwt.config.values import VARIABLE, Name, Order, Params, Record, Whole, distinct

#: The benchmarks whose questions can be asked; the bundled task of each bears its name.
BenchmarkName = Literal["gsm8k", "mmlu_pro", "drop"]
BENCHMARK_NAMES: tuple[str, ...] = get_args(BenchmarkName)
#: The forms of texts that follow a pattern, as an error names them; by the pattern.
REPO, REVISION = r"^[\w.-]+/[\w.-]+$", r"^[0-9a-f]{40}$"
PATTERNS = {
    REPO: "owner/name of a dataset",
    REVISION: "40 hexadecimal digits in lower case, no branch or tag",
    VARIABLE: "the name of a variable, of letters, digits and '_'; the key itself goes into that variable",
}


def one_spelling(number: Decimal) -> Decimal:
    """A number as it is spelled without zeros at its end: 25 for 25.0, so that equal shares are one prompt."""
    return Decimal(format(number.normalize() + 0, "f"))


#: A share of coordination content in percent.
Share = Annotated[Decimal, Field(ge=0, lt=100, decimal_places=4), AfterValidator(one_spelling)]
Shares = Annotated[list[Share], AfterValidator(distinct)]
Trials = Annotated[Whole, Field(ge=1, le=100_000)]


class Window(Record):
    """One context window of a design and what is measured in it."""

    window: Whole = Field(ge=1, description="tokens of the fixed budget, W")
    shares: Shares = Field(min_length=1, description="shares of coordination content q, in percent from 0 to below 100")
    trials: Trials = Field(description="calls a cell")


class _Design(Record):
    task: Name = Field(description="folder under resources/templates")
    coordination: Name | None = Field(
        None, description="which coordination text of the task folder, without .md; null for the task's own choice"
    )
    orders: Annotated[list[Order], AfterValidator(distinct)] = Field(["coord_first", "reason_first"], min_length=1)
    params: Params

    @model_validator(mode="after")
    def _capped(self) -> "_Design":
        if "max_tokens" not in self.params:
            raise ValueError("params with a max_tokens: without an output cap no worst case is known")
        return self


class _Windowed(_Design):
    windows: list[Window] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_of_each(self) -> "_Windowed":
        distinct([entry.window for entry in self.windows])
        return self


class FixedBudget(_Windowed):
    """A reference that fills what coordination and instruction leave of the window (paper, main experiment)."""

    kind: Literal["fixed_budget"] = "fixed_budget"


class Algorithmic(_Windowed):
    """A task that is all instruction: nothing of it is cut, whatever the share."""

    kind: Literal["algorithmic"]


class Intact(_Design):
    """A reference that is always whole, beside a growing amount of coordination (paper, ablation)."""

    kind: Literal["intact"]
    question: Name | None = Field(
        None, description="which question of the task folder is asked, without .md; null for its instruction"
    )
    shares: Shares | None = Field(
        None, min_length=1, description="shares of coordination c / (c + t), in percent; or give coordination_tokens"
    )
    coordination_tokens: Annotated[list[Annotated[Whole, Field(ge=0)]], AfterValidator(distinct)] | None = Field(
        None, min_length=1, description="tokens of coordination c; or give shares"
    )
    trials: Trials = Field(description="calls a cell")

    @model_validator(mode="after")
    def _one_scale(self) -> "Intact":
        if (self.shares is None) == (self.coordination_tokens is None):
            raise ValueError("one of 'shares' and 'coordination_tokens'")
        return self


class Packs(_Windowed):
    """Packs of benchmark items, cut from their end to what coordination leaves of the window (paper, Table 2)."""

    kind: Literal["packs"]
    benchmark: BenchmarkName | None = Field(
        None, description="whose questions they are: how files are read and answers scored; null for the task's name"
    )
    source: Literal["bundled", "path", "hub"] = Field(
        "bundled", description="the project's own questions, a file by 'path', or a dataset of the Hugging Face hub"
    )
    path: str | None = Field(None, min_length=1, description="of source 'path': a file in the vendor's form")
    repo: str | None = Field(None, pattern=REPO, description="of source 'hub': owner/name of a dataset")
    file: str | None = Field(None, min_length=1, description="of source 'hub': a file of the dataset")
    revision: str | None = Field(
        None, pattern=REVISION, description="of source 'hub': the pinned commit, all 40 digits of its hash"
    )
    packs: Whole = Field(5, ge=1, le=1000, description="packs of different items")
    items: Whole = Field(10, ge=1, le=1000, description="items of a pack")
    seed: Whole = Field(0, ge=0, description="decides which items are drawn")


#: Which keys say where the questions are, by source.
SOURCE_KEYS: dict[str, tuple[str, ...]] = {"bundled": (), "path": ("path",), "hub": ("repo", "file", "revision")}


def pack_faults(design: Packs) -> Iterator[tuple[str, str, str]]:
    """Keys of a pack design that contradict each other, each as key, what was found and what is accepted.

    A key of another source would be ignored and other questions be measured than those meant; a bundled task's
    instruction asks for the answers of its own benchmark.
    """
    source = design.source
    for owner, names in SOURCE_KEYS.items():
        for name in names:
            value = getattr(design, name)
            if owner == source and value is None:
                yield name, f"nothing with source '{source}'", f"{_described(name)}. Add it or choose another source"
            if owner != source and value is not None:
                needs = " and ".join(f"'{key}'" for key in names)
                yield (
                    name,
                    f"'{value}' with source '{source}'",
                    f"source: {owner} with {needs}, or null here. Source '{source}' does not read it",
                )
    if design.task in BENCHMARK_NAMES and design.benchmark not in (None, design.task):
        yield (
            "benchmark",
            f"'{design.benchmark}' with task '{design.task}', whose instruction asks for answers of '{design.task}'",
            f"'{design.task}', or null. Name task '{design.benchmark}' or a task folder of your own",
        )


def _described(name: str) -> str:
    return f"a value ({Packs.model_fields[name].description})"


#: The kind of a design that does not name one.
DEFAULT_KIND = "fixed_budget"


def kind_of(design: Any) -> Any:
    """The kind that a design, or a mapping that is to become one, names."""
    return design.get("kind", DEFAULT_KIND) if isinstance(design, dict) else getattr(design, "kind", DEFAULT_KIND)


Design = Annotated[
    Annotated[FixedBudget, Tag("fixed_budget")]
    | Annotated[Intact, Tag("intact")]
    | Annotated[Algorithmic, Tag("algorithmic")]
    | Annotated[Packs, Tag("packs")],
    Discriminator(kind_of),
]
DESIGNS: dict[str, type[_Design]] = {
    "fixed_budget": FixedBudget,
    "intact": Intact,
    "algorithmic": Algorithmic,
    "packs": Packs,
}
