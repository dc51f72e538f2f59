"""A run as the Snakefile sees it: configuration, tasks, conditions and the digests that make reruns exact."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from rcwt.base import reasoning
from rcwt.base.digests import canonical_json, code_digest, digest, file_digest
from rcwt.base.errors import ConfigError, TaskError
from rcwt.base.reasoning import Tags
from rcwt.base.spellings import plain
from rcwt.config import results_folder
from rcwt.config.artifact_files import csv_files
from rcwt.config.designs import Packs
from rcwt.config.identity import call_identity
from rcwt.config.parameters import OUTPUT_CAPS
from rcwt.config.schema import HUMAN_JUDGE, RULES_JUDGE, Config, Model
from rcwt.config.schema import plain as plain_config
from rcwt.config.thinking import THINKING
from rcwt.packs.decks import Deck, deal
from rcwt.packs.decks import record as pack_record
from rcwt.packs.drawing import Pack
from rcwt.packs.items import item_name
from rcwt.scoring.model_judge import ask_params
from rcwt.study import prompts
from rcwt.study.design import Condition, conditions
from rcwt.study.preflight import Preflight, judge_preflight, target_preflight
from rcwt.study.prompts import Prompt
from rcwt.study.tasks import Task, exact_digest, judge_digest, load_task, statement_digest

#: Kinds of design, in the order in which their tables are made; a kind names its cells table.
KINDS = ("fixed_budget", "intact", "algorithmic", "packs")
#: The code that scores are made by.
SCORING = ("scoring", "run.score_cell")
TEMPLATES = Path("resources/templates")


@dataclass(frozen=True)
class Study:
    """Everything a run is made of, computed while the Snakefile is read; nothing here calls a model."""

    config: Config
    templates: Path = TEMPLATES

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The tasks of the picked experiments. Raises TaskError for a folder that cannot be used."""
        names = dict.fromkeys(self.config.designs[name].task for name in self.config.experiments)
        return {name: self._task(name) for name in names}

    def check(self) -> None:
        """Raise the error of any task, window or folder that cannot be used, before the first job."""
        _ = self.artifact_files if self.config.published else self.prompts

    @property
    def kinds(self) -> list[str]:
        """Kinds of design whose cells are tabulated; the paper's data may hold any of them."""
        if self.config.published:
            return list(KINDS)
        return sorted({condition.kind for condition in self.conditions.values()}, key=KINDS.index)

    @cached_property
    def artifact_files(self) -> list[str]:
        """The CSV files of the paper's artifact. Raises ConfigError for a folder without any."""
        folder = Path(self.config.artifact or "")
        files = [str(path) for _, path in csv_files(folder)] if folder.is_dir() else []
        if not files:
            missing = "a file" if folder.is_file() else "no such folder"
            found = "a folder without CSV files" if folder.is_dir() else missing
            raise ConfigError(
                f"key 'artifact': found '{self.config.artifact}' ({found}); accepted: a folder that holds the per-call "
                "CSV files of the paper's public artifact, or a part of them. Give it with --config artifact=PATH"
            )
        braced = next((file for file in files if set("{}") & set(file)), None)
        if braced is not None:
            raise ConfigError(
                f"key 'artifact': found the file {braced}; accepted: names without braces, which Snakemake takes for "
                "wildcards. Rename it"
            )
        return files

    @property
    def rescore_targets(self) -> str:
        """The configured targets of rescoring folders, as one stable parameter."""
        return canonical_json(self.config.rescore_targets)

    @property
    def output_caps(self) -> str:
        """By experiment and model, the output cap and its key in the configuration, as one stable parameter."""
        caps: dict[str, dict[str, list[Any]]] = {}
        for experiment in [] if self.config.published else self.config.experiments:
            design = self.config.designs[experiment]
            for name in self.config.models:
                model = self.model(name)
                given = {**design.params, **model.params}
                # The cap by the name that the user gave it, whatever it is sent as.
                for key in given:
                    if model.param_names.get(key, key) in OUTPUT_CAPS:
                        place = f"registry.{name}" if key in model.params else f"designs.{experiment}"
                        caps.setdefault(experiment, {})[name] = [f"{place}.params.{key}", given[key]]
        return canonical_json(caps)

    def _task(self, name: str) -> Task:
        task = load_task(self.templates / name)
        for experiment in self.config.experiments:
            design = self.config.designs[experiment]
            if design.task == name and design.coordination not in {None, *task.coordinations}:
                raise TaskError(
                    f"designs.{experiment}.coordination: found '{design.coordination}'; accepted: a text of "
                    f"{task.folder}: {', '.join(task.coordinations)}. Add {design.coordination}.md or pick one of them"
                )
        return task

    @cached_property
    def conditions(self) -> dict[str, Condition]:
        """Conditions by name. Raises DesignError for a window that the instruction fills."""
        return {condition.name: condition for condition in conditions(self.config, self.tasks)}

    @cached_property
    def decks(self) -> dict[str, Deck]:
        """The benchmark packs of each experiment that has such. Raises PackError for data that cannot be used."""
        designs = {name: self.config.designs[name] for name in self.config.experiments}
        return {
            name: deal(name, design, offline=self.config.offline)
            for name, design in designs.items()
            if isinstance(design, Packs)
        }

    def deck_digest(self, experiment: str) -> str:
        """What was drawn for an experiment and from where, as one stable parameter."""
        return digest(pack_record(self.decks[experiment]))

    def pack_of(self, condition: Condition) -> Pack | None:
        """The questions of a condition, where it has such."""
        return self.decks[condition.experiment].packs[condition.pack] if condition.pack else None

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """The prompt of each condition."""
        return {
            name: prompts.build(condition, self.tasks[condition.task], self.pack_of(condition))
            for name, condition in self.conditions.items()
        }

    def preflight_of(self, name: str) -> Preflight:
        """What a model is asked before its first call, as a target or, where it is none, as a judge."""
        return self._target_preflight if name in self.config.models else self._judge_preflight

    @cached_property
    def _target_preflight(self) -> Preflight:
        return target_preflight(self.prompts.values(), lambda condition: self.tasks[condition.task], self.pack_of)

    @cached_property
    def _judge_preflight(self) -> Preflight:
        judged = dict.fromkeys(self.conditions[name].task for name in self.judged_conditions)
        return judge_preflight({task: self.tasks[task] for task in judged})

    def model(self, name: str) -> Model:
        """A registry entry."""
        return self.config.registry[name]

    def reasoning_tags(self, name: str) -> Tags:
        """The tags between which a model writes its reasoning; the usual ones where its entry names none."""
        tags = self.model(name).reasoning_tags
        return reasoning.USUAL if tags is None else tags

    def prompt_digest(self, condition: str) -> str:
        """What a prompt file holds: its messages and its quantities."""
        return prompts.record_digest(self.prompts[condition])

    def sources(self, task: str) -> list[str]:
        """Files of a task folder that its prompts and items are made from; notes beside them are not."""
        return [str(path) for path in self._loaded(task).files]

    def task_digest(self, task: str) -> str:
        """All texts and items of a task as they were read."""
        return digest(self._loaded(task).model_dump(mode="json", exclude={"folder", "files"}))

    def _loaded(self, task: str) -> Task:
        return self.tasks[task] if task in self.tasks else load_task(self.templates / task)

    @property
    def task_folders(self) -> list[str]:
        """The folder of each task."""
        return [str(self.templates / task) for task in self.tasks]

    @property
    def statements_digest(self) -> str:
        """What a person's or a model's judgement uses of all tasks, as one stable parameter."""
        return digest({name: statement_digest(task) for name, task in self.tasks.items()})

    def item_ids(self, condition: str) -> list[str]:
        """The items that a condition's trials are scored by."""
        asked = self.conditions[condition]
        task = self.tasks[asked.task]
        if pack := self.pack_of(asked):
            return [item_name(place) for place in range(1, len(pack.questions) + 1)]
        if asked.question is not None:
            return [field.id for field in task.fields]
        return [item.id for item in (task.answers if asked.kind == "algorithmic" else task.items)]

    def call_identity(self, condition: str, model: str) -> dict[str, Any]:
        """What makes a cell's calls differ from others with the same prompt: endpoint, model, parameters."""
        design = self.config.designs[self.conditions[condition].experiment]
        return call_identity(design.params, self.model(model))

    def calls_digest(self, condition: str, model: str) -> str:
        """`call_identity` as one stable parameter; a number has one spelling in it.

        The code that makes a cell's requests and records is named too, and of a model over a network the code that
        reads what it sends.
        What asks for thinking is marked, because calls made before it was compared with what left may be stale: they
        are looked for anew, once.
        """
        code: dict[str, Any] = {"records": code_digest("calls.requests")}
        if (tags := self.model(model).reasoning_tags) is not None:
            code["reasoning_tags"] = tags
        if not self.model(model).embedded:
            code["reading"] = code_digest("wire.reading")
        return canonical_json({**_compared(self.call_identity(condition, model)), **code})

    def judge_identity(self, condition: str, judge: str) -> dict[str, Any]:
        """What makes one language-model judge's requests differ from another's: endpoint, model, parameters."""
        model = self.model(judge)
        items = self.tasks[self.conditions[condition].task].items
        return call_identity(ask_params(items, model.wants_json_schema), model)

    def judge_digest(self, condition: str, judge: str) -> str:
        """What a judge's scores are made from, beside the replies: what it is, the items it checks and its code."""
        task = self.tasks[self.conditions[condition].task]
        if pack := self.pack_of(self.conditions[condition]):
            return digest([judge, pack.digest, code_digest(*SCORING)])
        if self.conditions[condition].by_rule:
            return digest([judge, exact_digest(task), code_digest(*SCORING)])
        if judge == RULES_JUDGE:
            return digest([judge, judge_digest(task), code_digest(*SCORING)])
        if judge == HUMAN_JUDGE:
            return digest(
                [judge, self._audit_digest, statement_digest(task), judge_digest(task), code_digest(*SCORING)]
            )
        identity = self.judge_identity(condition, judge)
        compared = _compared(identity)
        # What a reply declines is told by the rules' patterns, whoever judges.
        parts = [
            compared,
            statement_digest(task),
            judge_digest(task),
            code_digest(*SCORING),
            code_digest("wire.reading"),
        ]
        return digest([judge, *parts, self.model(judge).reasoning_tags])

    @cached_property
    def _audit_digest(self) -> str:
        return file_digest(Path(self.config.audit or ""))

    def judges_of(self, condition: str) -> list[str]:
        """The judges of a condition: the configured ones, or the rules alone where a reply has one right form."""
        return [RULES_JUDGE] if self.conditions[condition].by_rule else self.config.judges

    @cached_property
    def scored(self) -> list[tuple[str, str, str]]:
        """Every (condition, model, judge) that is scored."""
        return [
            (name, model, judge)
            for name in self.conditions
            for model in self.config.models
            for judge in self.judges_of(name)
        ]

    @property
    def several_judges(self) -> bool:
        """Whether judges can be compared; the paper's data hold several."""
        return self.config.published or len(self.config.judges) > 1

    @property
    def judged_conditions(self) -> list[str]:
        """Conditions whose replies judges score, and a person may."""
        return [name for name, condition in self.conditions.items() if not condition.by_rule]

    def trials(self) -> Mapping[str, int]:
        """Calls a cell, by condition."""
        return {name: condition.trials for name, condition in self.conditions.items()}


def _compared(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    marked = {"compared": sorted(THINKING)} if identity["params"].keys() & THINKING else {}
    return {**identity, "params": plain(identity["params"]), **marked}


def write_configuration(config: Config, results: Path) -> None:
    """Write the merged configuration of a run beside its results; it can be given back with `--configfile`, and marks
    the folder as one that a run may write into."""
    results_folder.mark(results, yaml.safe_dump(plain_config(config), sort_keys=False, allow_unicode=True))
