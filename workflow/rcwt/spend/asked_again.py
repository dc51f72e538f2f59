"""Kept responses that would count as failures if they came today: told in each plan, asked again only on request."""

from typing import TYPE_CHECKING

from rcwt.calls.responses import UNREADABLE

if TYPE_CHECKING:
    from rcwt.spend.plan import Planner


def notes(planner: "Planner") -> list[str]:
    """What the cells of the last plan hold of such responses, a line a model and finish word."""
    if planner.config.ask_again:
        then = "they are asked again"
    else:
        then = "they stay as they were read, and --config ask_again=true asks them again"
    lines = []
    for (model, word), number in sorted(planner.failing.items()):
        held = (
            f"{number} calls whose paid answers cannot be read"
            if word == UNREADABLE
            else f"{number} kept responses with the finish word '{word}', a failure if they came today"
        )
        lines.append(f"{model}: {held}; {then}")
    return lines


def asked_again(planner: "Planner", condition: str, model: str, judge: str | None = None) -> str:
    """Keys of a cell's calls, or of a judge's, that are asked again on request, as one stable parameter of its job."""
    if not planner.config.ask_again or judge not in {None, *planner.config.model_judges}:
        return ""
    keys = planner.kept_as(condition, model)[1] if judge is None else planner.judge_keys(condition, model, judge)
    return " ".join(sorted(planner.failing_of(judge or model, keys)))
