"""What each job inside Snakemake's own process does: a rule's `run:` block is one call of a function here.

They share the process so that litellm is imported once and all cells of a run have one connection pool, one rate
limiter and one spend ledger. A failure is written to the rule's log as well as raised.
"""

import contextlib
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec

from rcwt.base.cache_folder import cache_folder
from rcwt.base.errors import FileError
from rcwt.base.files import write_json, write_text
from rcwt.base.visible import visible
from rcwt.calls.responses import ResponseCache
from rcwt.packs import decks
from rcwt.run.answer_cell import answer_cell
from rcwt.run.score_cell import score_cell
from rcwt.scoring.outcomes import write_scores
from rcwt.spend import plan
from rcwt.study import manifest, prompts
from rcwt.study.planned import Planned
from rcwt.study.study import Study

P = ParamSpec("P")


def logged(job: Callable[P, None]) -> Callable[Concatenate[str, P], None]:
    """Give a job the path of its log as its first argument; an error is written there before it goes on."""

    @functools.wraps(job)
    def with_log(log: str, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            try:
                job(*args, **kwargs)
            except OSError as error:
                raise FileError(error) from None
        except Exception as error:
            with contextlib.suppress(OSError):  # the log may be on the same full disk
                write_text(visible(f"{type(error).__name__}: {error}\n"), Path(log))
            raise

    return with_log


@logged
def tokenize(study: Study, task: str, output: str) -> None:
    """Count a task's tokens and find where each fact completes."""
    write_json(manifest.task_tokens(study.tasks[task]), Path(output))


@logged
def describe(study: Study, prompt_files: Sequence[str], token_files: Sequence[str], output: str) -> None:
    """Write the manifest of all conditions."""
    manifest.build(
        dict(zip(map(Path, prompt_files), study.prompts.values(), strict=True)),
        dict(zip(map(Path, token_files), study.tasks.values(), strict=True)),
        Path(output),
    )


@logged
def write_prompt(study: Study, condition: str, output: str) -> None:
    """Write a condition's prompt."""
    write_json(prompts.record(study.prompts[condition]), Path(output))


@logged
def write_packs(study: Study, experiment: str, output: str) -> None:
    """Write which questions an experiment's packs hold, and where they are from."""
    write_json(decks.record(study.decks[experiment]), Path(output))


@logged
def make_calls(study: Study, condition: str, model: str, prompt: str, output: str) -> None:
    """Answer a cell's trials, from the cache or from the model."""
    answer_cell(study, condition, model, Path(prompt), Path(output))


@logged
def score(study: Study, condition: str, judge: str, calls_file: str, audit: Sequence[str], output: str) -> None:
    """Score a cell's replies with one judge; `audit` is the file of a person's scores, for that judge alone."""
    write_scores(score_cell(study, condition, judge, Path(calls_file), audit), Path(output))


@logged
def gather_cells(study: Study, manifest_file: str, token_files: Sequence[str], trials: str, scores: str) -> None:
    """Gather the files of all cells into the two tables of the run."""
    from rcwt.trials import aggregation  # it needs pandas, which a dry run does without

    aggregation.write_tables(
        manifest.read(Path(manifest_file), Planned.of(study)),
        list(manifest.read_tokens(dict(zip(map(Path, token_files), study.tasks.values(), strict=True))).values()),
        study.config.models,
        study.config.judges,
        study.call_identity,
        Path(trials),
        Path(scores),
    )


@logged
def plan_spend(study: Study, manifest_file: str, output: str) -> None:
    """Write what the whole configuration would still cost."""
    plan.write_plan(study, ResponseCache(), Path(manifest_file), Path(output))


@logged
def tabulate_spend(
    study: Study, terms: str, manifest_file: str, trials: str, scores: Sequence[str], output: str
) -> None:
    """Write what was planned against what was spent, by model and role."""
    from rcwt.spend import actual as spend  # it needs pandas, which a run that only makes calls does without

    spend.make_table(terms, manifest_file, trials, scores, cache_folder(), output, Planned.of(study))
