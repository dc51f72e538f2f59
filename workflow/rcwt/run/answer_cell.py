"""A cell answered: its requests asked of the call runtime, and their records written."""

from pathlib import Path

from rcwt.base.records import write_records
from rcwt.calls.requests import records, requests
from rcwt.study import prompts
from rcwt.study.study import Study


def answer_cell(study: Study, condition: str, model: str, prompt_file: Path, path: Path) -> None:
    """Answer every trial of a cell and write its records."""
    from rcwt.calls.runtime import current  # only a process that makes calls needs the models' code

    prompt = prompts.read(prompt_file, study.prompts[condition])
    asked = requests(prompt, study.call_identity(condition, model), study.conditions[condition].trials)
    responses = current(study.config).answer(asked, model, "target", f"{condition}/{model}", study.preflight_of(model))
    write_records(records(prompt, model, asked, responses, study.reasoning_tags(model)), path)
