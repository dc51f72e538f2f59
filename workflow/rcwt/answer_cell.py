"""A cell answered: its requests asked of the call runtime, and their records written."""

from pathlib import Path
from typing import TYPE_CHECKING

from rcwt import prompts
from rcwt.records import write_records

if TYPE_CHECKING:
    from rcwt.study import Study
from rcwt.calls import records, requests


def answer_cell(study: "Study", condition: str, model: str, prompt_file: Path, path: Path) -> None:
    """Answer every trial of a cell and write its records."""
    from rcwt.runtime import current  # only a process that makes calls needs the models' code

    prompt = prompts.read(prompt_file, study.prompts[condition])
    asked = requests(prompt, study.call_identity(condition, model), study.conditions[condition].trials)
    responses = current(study.config).answer(asked, model, "target", f"{condition}/{model}", study.preflight_of(model))
    write_records(records(prompt, model, asked, responses), path)
