"""What a model is asked before its first call: whether it can be called, and how it counts the texts of the prompts.

One call asks for a word and shows that key, model and parameters are accepted. One for each text that the prompts are
made of sends a piece of it, and one to a server of one's own the largest prompt: how the model's count grows from the
first to the others says what it counts in a whole prompt (`rcwt.calls.prompt_counts`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rcwt.base.request import Request
from rcwt.base.tokens import count, decode, encode, fill
from rcwt.config.parameters import OUTPUT_CAPS
from rcwt.packs.drawing import Pack
from rcwt.scoring.model_judge import messages
from rcwt.study.design import Condition
from rcwt.study.prompts import SEPARATOR, Prompt
from rcwt.study.tasks import Task

#: Names of the call that asks for a word alone, and of the one with the largest prompt.
SHORT, LARGEST = "short", "largest"
PREFLIGHT_TEXT = "Reply with the single word: ready"
SHORT_SYSTEM = "This is a test."
#: Tokens of the piece that stands for a text. A text that is shorter is repeated.
PIECE_TOKENS = 1024
#: A text that is a smaller part of each prompt hardly moves what a model counts in it, and is not measured.
LEAST_PART = 0.15
#: Enough for the word asked for; a reply cut here shows as well that key, model and parameters are accepted.
PREFLIGHT_CAP = 16
Messages = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Preflight:
    """What the models of a run are asked before their first calls, apart from parameters.

    `system` says whether the prompts have a system message. `pieces` are texts by name, `parts` the names of those that
    a prompt is made of, by its messages, `largest` the messages of the largest prompt.
    """

    system: bool = True
    pieces: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[Messages, tuple[str, ...]] = field(default_factory=dict)
    largest: Messages | None = None

    def requests(self, like: Request, api_base: str | None) -> dict[str, Request]:
        """The preflight calls before `like`, by name: the same parameters, but for a small output cap."""
        asked = {SHORT: self._asking(SHORT_SYSTEM if self.system else "")}
        asked |= {name: self._asking(piece) for name, piece in self.pieces.items()}
        if api_base is not None and self.largest is not None:
            asked[LARGEST] = self.largest
        params = preflight_params(like.params)
        return {
            name: Request(like.endpoint, like.model, messages, params, "preflight", 0)
            for name, messages in asked.items()
        }

    def _asking(self, text: str) -> Messages:
        if self.system:
            return ("system", text), ("user", PREFLIGHT_TEXT)
        return (("user", SEPARATOR.join(part for part in (text, PREFLIGHT_TEXT) if part)),)


def target_preflight(
    prompts: Iterable[Prompt], task_of: Callable[[Condition], Task], pack_of: Callable[[Condition], Pack | None]
) -> Preflight:
    """The preflight of a target of a run with these prompts."""
    names: dict[str, str] = {}  # by text, for tasks share texts
    sizes: dict[str, int] = {}
    parts: dict[Messages, tuple[str, ...]] = {}
    largest: tuple[int, Messages | None] = (0, None)
    system = False
    for prompt in prompts:
        system = system or bool(prompt.system)
        texts = list(_texts(prompt.condition, task_of(prompt.condition), pack_of(prompt.condition)))
        for _, text, _ in texts:
            sizes.setdefault(text, count(text))
        held = [(name, text, sizes[text] if budget is None else budget) for name, text, budget in texts]
        whole = sum(size for _, _, size in held)
        messages = tuple((message["role"], message["content"]) for message in prompt.messages)
        large = [(name, text) for name, text, size in held if size >= LEAST_PART * whole]
        parts[messages] = tuple(dict.fromkeys(names.setdefault(text, name) for name, text in large))
        largest = max(largest, (whole, messages), key=lambda one: one[0])
    pieces = {name: _piece(encode(text)) for text, name in names.items()}
    return Preflight(system, pieces, parts, largest[1])


def judge_preflight(tasks: Mapping[str, Task]) -> Preflight:
    """The preflight of a judge of these tasks that is no target; how large its largest prompt will be is not known.

    No reply is known either; the task's own text stands for one, since replies repeat it.
    """
    asked = {name: messages(task.items, task.reference or task.instruction) for name, task in tasks.items()}
    texts = {f"{name}/judge": SEPARATOR.join(text for _, text in question) for name, question in asked.items()}
    return Preflight(pieces={name: _piece(encode(text)) for name, text in texts.items()})


def _piece(tokens: list[int]) -> str:
    """Eight stretches of a long text, from its start to its end, since it need not be of one kind throughout."""
    if len(tokens) <= PIECE_TOKENS:
        return decode(fill(tokens, PIECE_TOKENS))
    stretch = PIECE_TOKENS // 8
    starts = [number * (len(tokens) - stretch) // 7 for number in range(8)]
    return "".join(decode(tokens[start : start + stretch]) for start in starts)


def _texts(condition: Condition, task: Task, pack: Pack | None) -> Iterator[tuple[str, str, int | None]]:
    """The texts a prompt is made of: name, whole text, and its tokens in the prompt; None where it is never cut."""
    if condition.c:
        name = condition.coordination
        yield f"{condition.task}/{name}", task.coordinations[name], condition.c
    if pack is not None:
        # One pack stands for all of an experiment: they are drawn from the same questions.
        yield f"{condition.experiment}/pack", pack.text.text, condition.r
    elif task.reference and condition.kind == "intact":
        yield f"{condition.task}/reference", task.reference, None
    elif task.reference and condition.r:
        yield f"{condition.task}/reference", task.reference, condition.r
    question = condition.question
    yield (
        f"{condition.task}/{question or 'instruction'}",
        task.questions[question] if question else task.instruction,
        None,
    )


def preflight_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a preflight before calls with `params`: the same, the output cap as small as may be.

    A budget for thinking must fit below the cap; where thinking is asked for without a number, the calls' own stays.
    """
    return {**params, **{cap: _cap(params, int(params[cap])) for cap in OUTPUT_CAPS if params.get(cap)}}


def _cap(params: Mapping[str, Any], cap: int) -> int:
    asked = [value for name, value in _members(params) if name.lower() in _THINKING and _is_on(value)]
    budgets = [int(value) for name, value in _members(params) if "budget" in name.lower() and _is_number(value)]
    if asked and not budgets:
        return cap
    return min(cap, PREFLIGHT_CAP + max([0, *budgets]))


#: Parameters that let a model think before it answers, in the vendors' spellings, lower case.
_THINKING = frozenset({"thinking", "reasoning", "reasoning_effort", "effort", "thinking_level", "thinkinglevel"})
_OFF = (None, False, "none", "disabled", "off")


def _is_on(value: object) -> bool:
    if isinstance(value, Mapping):
        return value.get("type") not in _OFF[2:] and value.get("enabled") is not False
    return value not in _OFF


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _members(value: object) -> Iterator[tuple[str, Any]]:
    """Names and values in a mapping, and in the mappings inside it."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        yield str(name), inner
        yield from _members(inner)
