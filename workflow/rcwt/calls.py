"""A cell's calls: the requests of its trials, and their records once they are answered."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcwt import prompts
from rcwt.config import Model
from rcwt.digests import code_digest
from rcwt.parameters import renamed
from rcwt.records import Response, TrialRecord, write_records
from rcwt.requests import Request
from rcwt.statuses import PROMPT_CUT

if TYPE_CHECKING:
    from rcwt.study import Study


def endpoint_of(model: Model) -> str:
    """The endpoint's identity in a cache key; the embedded reader's is its own code."""
    return f"embedded:{code_digest('reader')[:16]}" if model.embedded else model.endpoint


def call_params(design_params: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Parameters of a call by the names the model takes: the design's, with the model's own laid over them."""
    return renamed({**design_params, **model.params}, model.param_names)


def call_identity(design_params: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """What makes one model's calls differ from another's, apart from prompt and sample number."""
    return {"endpoint": endpoint_of(model), "model": model.litellm, "params": call_params(design_params, model)}


def requests(prompt: Mapping[str, Any], identity: Mapping[str, Any], trials: int) -> list[Request]:
    """The requests of a cell, one a trial, from its prompt file and `call_identity`."""
    messages = tuple((message["role"], message["content"]) for message in prompt["messages"])
    return [
        Request(identity["endpoint"], identity["model"], messages, identity["params"], prompt["order"], sample)
        for sample in range(trials)
    ]


def records(
    prompt: Mapping[str, Any], model: str, asked: Sequence[Request], responses: Sequence[Response]
) -> list[TrialRecord]:
    """The trial records of a cell, in the order of its requests."""
    return [
        TrialRecord(
            condition=prompt["condition"],
            model=model,
            trial=request.sample,
            prompt_sha256=prompt["prompt_sha256"],
            request_key=request.key,
            requested_model=request.model,
            requested_params=request.params,
            response=_as_it_counts(response),
        )
        for request, response in zip(asked, responses, strict=True)
    ]


def _as_it_counts(response: Response) -> Response:
    """A response as trials hold it. In the cache it stays as it was read, with what it was judged cut by."""
    return response.model_copy(update={"status": PROMPT_CUT}) if response.prompt_cut else response


def answer_cell(study: "Study", condition: str, model: str, prompt_file: Path, path: Path) -> None:
    """Answer every trial of a cell and write its records."""
    from rcwt.runtime import current  # only a process that makes calls needs the models' code

    prompt = prompts.read(prompt_file, study.prompts[condition])
    asked = requests(prompt, study.call_identity(condition, model), study.conditions[condition].trials)
    responses = current(study.config).answer(asked, model, "target", f"{condition}/{model}", study.preflight_of(model))
    write_records(records(prompt, model, asked, responses), path)
