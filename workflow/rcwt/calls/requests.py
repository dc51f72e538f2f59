"""A cell's calls: the requests of its trials, and their records once they are answered."""

from collections.abc import Mapping, Sequence
from typing import Any

from rcwt.base.reasoning import Tags, answered
from rcwt.base.records import Response, TrialRecord
from rcwt.base.request import Request
from rcwt.base.statuses import PROMPT_CUT


def requests(prompt: Mapping[str, Any], identity: Mapping[str, Any], trials: int) -> list[Request]:
    """The requests of a cell, one a trial, from its prompt file and `call_identity`."""
    messages = tuple((message["role"], message["content"]) for message in prompt["messages"])
    return [
        Request(identity["endpoint"], identity["model"], messages, identity["params"], prompt["order"], sample)
        for sample in range(trials)
    ]


def records(
    prompt: Mapping[str, Any], model: str, asked: Sequence[Request], responses: Sequence[Response], tags: Tags
) -> list[TrialRecord]:
    """The trial records of a cell, in the order of its requests; `tags` are those of the model's reasoning."""
    return [
        TrialRecord(
            condition=prompt["condition"],
            model=model,
            trial=request.sample,
            prompt_sha256=prompt["prompt_sha256"],
            request_key=request.key,
            requested_model=request.model,
            requested_params=request.params,
            response=_as_it_counts(answered(response, tags)),
        )
        for request, response in zip(asked, responses, strict=True)
    ]


def _as_it_counts(response: Response) -> Response:
    """A response as trials hold it. In the cache it stays as it was read, with what it was judged cut by."""
    return response.model_copy(update={"status": PROMPT_CUT}) if response.prompt_cut else response
