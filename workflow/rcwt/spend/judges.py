"""What a language-model judge will be asked, as far as it is known before it is asked: for plans only."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rcwt.base.request import Request
from rcwt.base.tokens import count
from rcwt.calls.terms import output_cap
from rcwt.scoring.items import Item
from rcwt.scoring.model_judge import messages
from rcwt.study.prompts import MESSAGE_OVERHEAD

if TYPE_CHECKING:
    from rcwt.study.study import Study


@dataclass(frozen=True)
class JudgeFrame:
    """A judge's requests for one task, before the reply they judge is known.

    `tokens` is the prompt without a reply in cl100k tokens, `cap` the most tokens of what the judge says.
    """

    tokens: int
    cap: int
    items: tuple[Item, ...]
    identity: dict[str, Any]

    def request(self, target_key: str, reply: str) -> Request:
        """The first request about a reply. A second ask is not foreseen."""
        of = self.identity
        asked = messages(self.items, reply)
        return Request(of["endpoint"], of["model"], asked, of["params"], f"judge:{target_key}", 0)


def judge_frame(study: "Study", condition: str, judge: str) -> JudgeFrame:
    """What a judge's requests for the replies of a condition have in common."""
    items, identity = study.tasks[study.conditions[condition].task].items, study.judge_identity(condition, judge)
    tokens = sum(count(text) + MESSAGE_OVERHEAD for _, text in messages(items, ""))
    return JudgeFrame(tokens, output_cap(identity["params"]), items, identity)
