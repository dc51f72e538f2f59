"""The short calls that go before a model's first: what they ask, and a line for each that was paid.

One asks for a word and shows that key, model and parameters are accepted. One for each text that the prompts are made
of sends a piece of it, and one to a server of one's own the largest prompt: how the model's count grows from the first
to the others says what it counts in a whole prompt (`rcwt.prompt_counts`).

A preflight is not cached, because it tests what may have changed since. So that its cost is not lost, each answered
one leaves a line in `preflights.jsonl` beside the cached responses, with the `results_dir` it was sent for.
"""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rcwt.design import Condition
from rcwt.errors import StaleResultError
from rcwt.packs.drawing import Pack
from rcwt.parameters import OUTPUT_CAPS
from rcwt.prompts import SEPARATOR, Prompt
from rcwt.records import Response, Usage
from rcwt.requests import Request
from rcwt.scoring.model_judge import messages
from rcwt.sealed import read_text
from rcwt.tasks import Task
from rcwt.tokens import count, decode, encode, fill

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
PREFLIGHT_FILE = "preflights.jsonl"

Messages = tuple[tuple[str, str], ...]

# POSIX locks do not keep threads of one process apart.
_writing = threading.Lock()


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


def keep_preflight(folder: Path, results: Path, model: str, asked: str, tokens: int, response: Response) -> None:
    """Add an answered preflight of a registry entry to the file in the cache's folder.

    `asked` is its name in `Preflight.requests`, `tokens` the cl100k tokens of its prompt.
    """
    line = {
        "results_dir": str(results),
        "model": model,
        "time_utc": response.time_utc,
        "asked": asked,
        "tokens": tokens,
        "usage": response.usage.model_dump(),
        "cost_usd": response.cost_usd,
        "price_as_of": response.price_as_of,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with _writing, (folder / PREFLIGHT_FILE).open("ab+", buffering=0) as file:
        # Kept until the file is closed, so that no other process adds to what may have to be taken back.
        fcntl.lockf(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        # A line that a crash cut short takes no other with it.
        begin = "\n" if size and os.pread(file.fileno(), 1, size - 1) != b"\n" else ""
        text = f"{begin}{json.dumps(line)}\n".encode()
        if file.write(text) < len(text):  # the disk is full
            file.truncate(size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


def read_preflights(folder: Path, results: Path) -> list[dict[str, Any]]:
    """The answered preflights of runs into a `results_dir`.

    Raises StaleResultError for a line that is none: its cost would be missing in the sums.
    """
    path = folder / PREFLIGHT_FILE
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        try:
            record = json.loads(line)
            Usage.model_validate(record["usage"])
            if not isinstance(record["model"], str):
                raise TypeError
            if record["results_dir"] == str(results):
                found.append(record)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise StaleResultError(
                f"{path}:{number}: not the line of a preflight; the file was cut or changed. Delete the line and run "
                "the same command again; what that preflight cost is then not in the table of spend"
            ) from None
    return found
