"""What a language-model judge will be asked, as far as it is known before it is asked: for plans only.

The one place where plans meet `rcwt.scoring.model_judge` and `Study.judge_identity`. Where these are not there, sizes
are estimated and every reply counts as not judged yet.
"""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rcwt.prompts import MESSAGE_OVERHEAD
from rcwt.requests import Request
from rcwt.task_items import Item
from rcwt.terms import output_cap
from rcwt.tokens import count

if TYPE_CHECKING:
    from rcwt.study import Study

#: The estimate's instruction and frame, its share of an item beside the statement, and its reply.
_FRAME_TOKENS, _ITEM_TOKENS, _REPLY_CAP = 300, 20, 256


@dataclass(frozen=True)
class JudgeFrame:
    """A judge's requests for one task, before the reply they judge is known.

    `tokens` is the prompt without a reply in cl100k tokens, `cap` the most tokens of what the judge says.
    """

    tokens: int
    cap: int
    items: tuple[Item, ...]
    identity: dict[str, Any] | None

    def request(self, target_key: str, reply: str) -> Request | None:
        """The first request about a reply; None where it cannot be known. A second ask is not foreseen."""
        if self.identity is None:
            return None
        messages = _model_judge().messages(self.items, reply)
        of = self.identity
        return Request(of["endpoint"], of["model"], messages, of["params"], f"judge:{target_key}", 0)


def judge_frame(study: "Study", condition: str, judge: str) -> JudgeFrame:
    """What a judge's requests for the replies of a condition have in common."""
    items = study.tasks[study.conditions[condition].task].items
    if _model_judge() is None:
        tokens = _FRAME_TOKENS + sum(count(item.statement) + _ITEM_TOKENS for item in items)
        return JudgeFrame(tokens, _REPLY_CAP, items, None)
    identity = getattr(study, "judge_identity")(condition, judge)  # noqa: B009 (arrives with the judge)
    tokens = sum(count(text) + MESSAGE_OVERHEAD for _, text in _model_judge().messages(items, ""))
    return JudgeFrame(tokens, output_cap(identity["params"]), items, identity)


def _model_judge() -> Any:
    try:
        return importlib.import_module("rcwt.scoring.model_judge")
    except ModuleNotFoundError:
        return None
