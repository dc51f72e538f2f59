"""The messages of a condition: coordination and reference cut or repeated to their budgets, in one of two orders."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from rcwt.base.digests import digest
from rcwt.base.sealed import damaged, read_json
from rcwt.base.tokens import ENCODING, count, decode, encode, fill
from rcwt.packs.drawing import Pack
from rcwt.study.design import Condition, percent
from rcwt.study.tasks import Task

#: Tokens that a chat format adds to a message: its role and its boundary. With them the paper's intact prompt
#: of 698 tokens is 702, and one separator between blocks makes 1 401 of 698 + 698 (paper, intact task).
MESSAGE_OVERHEAD = 2
SEPARATOR = "\n\n"


@dataclass(frozen=True)
class Prompt:
    """What is sent for a condition, and the two blocks it was made of, as a reader sees them."""

    condition: Condition
    system: str
    user: str
    coordination: str
    reference: str
    shown: Mapping[str, Any] = field(default_factory=dict)  # what it shows of a pack's questions, where it has one

    @property
    def messages(self) -> list[dict[str, str]]:
        """Chat messages: the blocks in the system message (when there are any), the instruction as the user's."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": self.user}]

    @property
    def sha256(self) -> str:
        """Fingerprint of the messages."""
        return digest(self.messages)


@lru_cache(maxsize=256)
def _tokens(text: str) -> tuple[int, ...]:
    return tuple(encode(text))


def block(text: str, budget: int) -> str:
    """`text` cut to a prefix of `budget` tokens, or repeated until it fills them; empty for a budget of 0."""
    return decode(fill(list(_tokens(text)), budget))


def build(condition: Condition, task: Task, pack: Pack | None = None) -> Prompt:
    """The prompt of a condition (paper, Section 3); `pack` are its questions, where it has such."""
    coordination = block(task.coordinations[condition.coordination], condition.c)
    reference = _material(condition, task, pack)
    blocks = [coordination, reference] if condition.order == "coord_first" else [reference, coordination]
    return Prompt(
        condition=condition,
        system=SEPARATOR.join(text for text in blocks if text),
        user=task.instruction if condition.question is None else task.questions[condition.question],
        coordination=coordination,
        reference=reference,
        shown=pack.shown(reference, condition.r) if pack else {},
    )


def _material(condition: Condition, task: Task, pack: Pack | None) -> str:
    """What a reply is answered from: repeated to fill a fixed budget, whole where it is intact, of a pack a prefix."""
    if condition.kind == "packs":
        return decode(list(_tokens(pack.text.text if pack else "")[: condition.r]))
    if condition.kind == "intact":
        return task.reference or ""
    return block(task.reference or "", condition.r)


def prompt_tokens(prompt: Prompt) -> int:
    """Tokens of the messages as sent, separators and chat overhead included; these lie outside the window."""
    return sum(count(message["content"]) + MESSAGE_OVERHEAD for message in prompt.messages)


def record(prompt: Prompt) -> Mapping[str, Any]:
    """The prompt file of a condition: its quantities, token counts after re-encoding, messages and fingerprint."""
    return {
        **_planned(prompt),
        "coordination_tokens": count(prompt.coordination),
        "reference_tokens": count(prompt.reference),
        "prompt_tokens": prompt_tokens(prompt),
    }


#: What is counted when a prompt file is written, and not again when it is read.
_COUNTED = ("coordination_tokens", "reference_tokens", "prompt_tokens")


def record_digest(prompt: Prompt) -> str:
    """sha256 of what `record` holds, without counting: of quantities and messages, and of what tokens are."""
    planned = {name: value for name, value in _planned(prompt).items() if name != "messages"}
    return digest([planned, ENCODING, MESSAGE_OVERHEAD])


def read(path: Path, prompt: Prompt) -> dict[str, Any]:
    """A condition's prompt file. Raises StaleResultError where it does not hold `prompt`, which is planned."""
    content = read_json(path)
    planned = json.loads(json.dumps(_planned(prompt)))
    if _is_number(content.get("q"), prompt.condition.q):
        planned["q"] = content["q"]  # 0.5 and 0.50 are one share
    other = [name for name in planned if name not in content or content[name] != planned[name]]
    other += [name for name in _COUNTED if type(content.get(name)) is not int]
    if other:
        raise damaged(path, f"not the prompt of {prompt.condition.name} ({', '.join(other)})")
    return content


def _is_number(text: object, number: Decimal) -> bool:
    try:
        return Decimal(str(text)) == number
    except ArithmeticError:
        return False


def _planned(prompt: Prompt) -> dict[str, Any]:
    """All of a prompt file but what has to be counted."""
    condition = prompt.condition
    return {
        "condition": condition.name,
        "experiment": condition.experiment,
        "task": condition.task,
        "kind": condition.kind,
        "window": condition.window,
        "order": condition.order,
        "pack": condition.pack,
        "question": condition.question,
        "scored_by": "rules" if condition.by_rule else "judges",
        "q": str(condition.q),
        "q_percent": percent(condition.q),
        "c": condition.c,
        "u": condition.u,
        "r": condition.r,
        "p": float(condition.p),
        "prompt_sha256": prompt.sha256,
        "messages": prompt.messages,
        "blocks": {"coordination": _span(prompt, prompt.coordination), "reference": _span(prompt, prompt.reference)},
        **({"shown": prompt.shown} if prompt.shown else {}),
    }


def _span(prompt: Prompt, text: str) -> list[int]:
    """Where a block stands in the system message, in characters; `[0, 0]` for a block that is not there."""
    if not text:
        return [0, 0]
    start = 0 if prompt.system.startswith(text) else len(prompt.system) - len(text)
    return [start, start + len(text)]


def blocks_of(content: Mapping[str, Any]) -> dict[str, str]:
    """The coordination and reference block of a prompt file, as a reader of the prompt sees them."""
    system = "".join(message["content"] for message in content["messages"] if message["role"] == "system")
    return {name: system[start:end] for name, (start, end) in content["blocks"].items()}
