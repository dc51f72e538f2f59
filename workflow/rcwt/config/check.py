"""From the mapping that Snakemake merged to a checked `Config`, or one message that says what to change."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from rcwt.base.errors import ConfigError
from rcwt.config import results_folder
from rcwt.config.designs import DESIGNS, PATTERNS, Packs, pack_faults
from rcwt.config.identity import call_params
from rcwt.config.model_ids import why_no_chat
from rcwt.config.parameters import OUTPUT_CAPS, unbounded
from rcwt.config.schema import HUMAN_JUDGE, RULES_JUDGE, Config
from rcwt.config.yaml_files import ConfigFile, KeyPath, find_key

_NAME_SIGNS = "letters, digits, '.', '_' and '-', that begins with a letter or digit and does not end with '.'"
_SCALAR = re.compile(r"-?[0-9]+(\.[0-9]+)?|true|false|null", re.IGNORECASE)
#: What Snakemake would take for wildcards, a terminal or command for something else than a path, or no disk for a name.
_NO_PATH = re.compile(rb"[{}\x00-\x1f\x7f]|\xc2[\x80-\x9f]|^[-~]|^$|://|[^/]{256}|.{4096}", re.DOTALL)
#: Where a key that nobody set is expected.
HOME = {"registry": "config/models.yaml", "prices": "config/prices.yaml"}


def load(merged: Mapping[str, Any], paths: Sequence[Path], command_line: Mapping[str, Any] | None = None) -> Config:
    """Check the merged configuration.

    `paths` are the files it was merged from, the last one winning; `command_line` is what `--config` gave.
    Raises ConfigError with one line for each fault: file and key, what was found, what is accepted.
    """
    files = [ConfigFile.read(path) for path in paths]
    where = _Locator(files, command_line or {})
    try:
        config = Config.model_validate(_typed(dict(merged), command_line or {}))
    except ValidationError as error:
        faults = [_describe(fault, merged, where) for fault in error.errors()]
        raise ConfigError("\n".join(dict.fromkeys(faults))) from None
    faults = list(_cross_faults(config, where))
    if faults:
        raise ConfigError("\n".join(faults))
    return config


def _typed(merged: Any, command_line: Any) -> Any:
    """`merged` with the values of `--config` as YAML reads them: Snakemake leaves some of them as text."""
    if isinstance(command_line, Mapping) and isinstance(merged, Mapping):
        return {
            key: _typed(value, command_line[key]) if key in command_line else value for key, value in merged.items()
        }
    if isinstance(command_line, list) and isinstance(merged, list):
        return [_typed(*pair) for pair in zip(merged, command_line, strict=False)]
    return yaml.safe_load(merged) if isinstance(merged, str) and _SCALAR.fullmatch(merged) else merged


class _Locator:
    """Says which file, and which line of it, set a key."""

    def __init__(self, files: Sequence[ConfigFile], command_line: Mapping[str, Any]) -> None:
        self.files, self.command_line = files, command_line

    def __call__(self, key: KeyPath) -> str:
        if key and key[0] in self.command_line:
            return "--config"
        for length in range(len(key), 0, -1):
            place = find_key(self.files, key[:length])
            if place:
                return place
        home = HOME.get(str(key[0]), "config/config.yaml") if key else "config/config.yaml"
        return str(home)


def spell(key: KeyPath) -> str:
    """`designs.fixed_budget.windows[0].trials` for a key path."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _describe(fault: Any, merged: Mapping[str, Any], where: _Locator) -> str:
    # A design's path names its kind as well, which says which record it is but is no key of the file.
    path: KeyPath = tuple(part for part in fault["loc"] if part != "[key]")
    key = path[:2] + path[3:] if path[:1] == ("designs",) and len(path) > 2 and path[2] in DESIGNS else path
    place, name = where(key), spell(key)
    if fault["type"] == "union_tag_invalid":
        kind, found = (*key, "kind"), fault["ctx"]["tag"]
        return f"{where(kind)}: key '{spell(kind)}': found '{found}'; accepted: {', '.join(DESIGNS)}."
    if fault["type"] == "missing":
        return f"{place}: key '{name}' is missing; accepted: {_accepted(path, fault)}. Add it."
    if fault["type"] == "extra_forbidden":
        known = _known_keys(path[:-1])
        close = difflib.get_close_matches(str(key[-1]), known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else " Remove it or correct its name."
        return f"{place}: key '{name}' is unknown; accepted here: {', '.join(known)}.{hint}"
    return f"{place}: key '{name}': found {_shown(fault['input'], key)}; accepted: {_accepted(path, fault)}."


def _shown(value: Any, key: KeyPath) -> str:
    """A value as found; not where a key may have been put by mistake: messages go into logs."""
    if key[-1:] == ("params",) and isinstance(value, Mapping):
        return "the parameters " + ", ".join(map(str, value))
    if key[-1:] in (("api_key_env",), ("api_base",)) and isinstance(value, str):
        return "a text that is not shown, for it may hold a key"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _accepted(key: KeyPath, fault: Any) -> str:
    message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input should be ").rstrip(".")
    message = message.removeprefix("a valid ").removeprefix("String should ")
    if fault["type"] in {"model_type", "dict_type"}:
        message = "a mapping of keys"
    if fault["type"] == "string_pattern_mismatch":
        pattern = str(fault["ctx"]["pattern"])
        name = "lower-case letters, digits and '_'" if pattern.startswith("^[a-z]") else _NAME_SIGNS
        message = PATTERNS.get(pattern, f"a name of {name}")
    field = _field(key)
    described = f" ({field.description})" if field is not None and field.description else ""
    return "a value for this key" + described if fault["type"] == "missing" else message + described


def _record_at(key: KeyPath) -> type[BaseModel] | None:
    """The record that holds the keys directly under `key`, found by walking the records' annotations."""
    record: Any = Config
    for part in key:
        if isinstance(record, type) and issubclass(record, BaseModel):
            field = record.model_fields.get(str(part))
            record = field.annotation if field else None
        elif part in DESIGNS and getattr(record, "__origin__", None) is not dict:
            record = DESIGNS[str(part)]
        else:
            record = _element(record)
        record = record if isinstance(record, type) and issubclass(record, BaseModel) else _container(record)
    return record if isinstance(record, type) and issubclass(record, BaseModel) else None


def _container(annotation: Any) -> Any:
    return annotation if getattr(annotation, "__args__", None) else None


def _element(annotation: Any) -> Any:
    arguments = getattr(annotation, "__args__", ())
    return arguments[-1] if arguments else None


def _known_keys(key: KeyPath) -> list[str]:
    record = _record_at(key)
    return list(record.model_fields) if record else []


def _field(key: KeyPath) -> Any:
    while key and isinstance(key[-1], int):
        key = key[:-1]
    record = _record_at(key[:-1]) if key else None
    return record.model_fields.get(str(key[-1])) if record else None


def _cross_faults(config: Config, where: _Locator) -> Sequence[str]:
    """Names that point to nothing: a model outside the registry, an experiment outside the designs."""
    faults = [*_path_faults(config, where), *_twins(config, where), *_pack_faults(config, where)]
    if config.published:
        return faults
    for list_key, names in (("models", config.models), ("judges", config.judges)):
        if not names:
            faults.append(f"{where((list_key,))}: key '{list_key}': found an empty list; accepted: at least one name.")
        for index, name in enumerate(names):
            if list_key == "judges" and name in (RULES_JUDGE, HUMAN_JUDGE):
                faults += _reserved(config, where, (list_key, index), name)
                continue
            faults += _unregistered(config, where, (list_key, index), name)
            if list_key == "judges" and name in config.registry and config.registry[name].embedded:
                faults.append(
                    f"{where((list_key, index))}: key '{spell((list_key, index))}': found '{name}', the embedded "
                    f"reader, which can judge nothing; accepted: '{RULES_JUDGE}', '{HUMAN_JUDGE}' or a language model."
                )
    if not config.experiments:
        faults.append(f"{where(('experiments',))}: key 'experiments': found an empty list; accepted: at least one.")
    for index, name in enumerate(config.experiments):
        if name not in config.designs:
            faults.append(
                f"{where(('experiments', index))}: key 'experiments[{index}]': found '{name}'; accepted: a key of "
                f"'designs' ({', '.join(config.designs)}). Describe it there or correct the name."
            )
    return faults or [*_no_chat(config, where), *_unbounded_calls(config, where)]


def _no_chat(config: Config, where: _Locator) -> Iterator[str]:
    """Models and judges that no chat request reaches."""
    for name in dict.fromkeys([*config.models, *config.model_judges]):
        model = config.registry[name]
        reason = None if model.embedded else why_no_chat(model.litellm, model.api_base)
        if reason is not None:
            key = ("registry", name, "litellm")
            yield (
                f"{where(key)}: key '{spell(key)}': found '{model.litellm}', which {reason}; accepted: a model that "
                "answers in a chat, at its vendor's or at an 'api_base' that offers it so. Name another model."
            )


class _JudgesCap(int):
    """The output cap that a judge's request brings; how large it is depends on the task."""

    def __repr__(self) -> str:
        return "the judge's own"


def _unbounded_calls(config: Config, where: _Locator) -> list[str]:
    """Calls of models and judges of which no worst case is known, once the parameters have the names a model takes."""
    faults = []
    targets = [
        (name, config.designs[at].params, f"designs.{at}.params") for name in config.models for at in config.experiments
    ]
    judges = [(name, {"max_tokens": _JudgesCap(1)}, "the judge's") for name in config.model_judges]
    for name, params, source in [*targets, *judges]:
        model = config.registry[name]
        problem = None if model.embedded else unbounded(call_params(params, model))
        if problem is not None:
            faults.append(
                f"{where(('registry', name))}: key 'registry.{name}': its 'params' and 'param_names' with "
                f"{source} give {problem}; accepted: exactly one output cap, {' or '.join(OUTPUT_CAPS)}. Correct them."
            )
    return faults


def _reserved(config: Config, where: _Locator, key: KeyPath, name: str) -> list[str]:
    """Faults of a judge that is no model: its name taken by a model, or no scored audit sample for a person's."""
    if name in config.registry:
        return [
            f"{where(('registry', name))}: key 'registry.{name}': '{name}' is the name of a judge that is no model; "
            "accepted: any other name. Rename the model."
        ]
    if name != HUMAN_JUDGE:
        return []
    sample = Path(config.results_dir) / "audit/sample.csv"
    remedy = f"Score a copy of {sample} and name it in 'audit', or take '{name}' out of 'judges'."
    if config.audit is None:
        return [f"{where(key)}: key '{spell(key)}': found '{name}' without the key 'audit'; accepted: both. {remedy}"]
    if _is_no_path(config.audit):
        return []  # said already
    found = f"{where(('audit',))}: key 'audit': found '{config.audit}'"
    if not Path(config.audit).is_file():
        what = "a folder" if Path(config.audit).is_dir() else "no such file"
        return [f"{found} ({what}); accepted: a scored audit sample. {remedy}"]
    if Path(config.audit).resolve() == sample.resolve():
        return [f"{found}, which a run may write anew, without any score; accepted: a copy of it. {remedy}"]
    return []


def _path_faults(config: Config, where: _Locator) -> Iterator[str]:
    """Folders that would be read or written somewhere else than meant."""
    if not config.published and "artifact" in where.command_line:
        yield (
            "--config: key 'artifact': found nothing; accepted: the folder of the paper's per-call CSV files. Is the "
            "variable that should name it empty?"
        )
    for key, path in (("artifact", config.artifact), ("audit", config.audit)):
        if path is not None and _is_no_path(path):
            yield (
                f"{where((key,))}: key '{key}': found {_shown(path, (key,))}; accepted: a path without braces "
                "(Snakemake takes them for wildcards) and control characters, which begins neither with '-' nor with "
                "'~', in names of at most 255 bytes. Rename it or write it out."
            )
    fault = results_folder.fault(config.results_dir, config.artifact)
    if fault is not None:
        shown = _shown(config.results_dir, ("results_dir",))
        yield f"{where(('results_dir',))}: key 'results_dir': found {shown}, which {fault}."


def _is_no_path(text: str) -> bool:
    return bool(_NO_PATH.search(text.encode("utf-8", "surrogatepass")))


def _twins(config: Config, where: _Locator) -> Iterator[str]:
    """Names that differ in case alone: their files are the same ones where a file system does not tell case apart."""
    tasks: dict[str, KeyPath] = {}
    for experiment, design in config.designs.items():
        tasks.setdefault(design.task, ("designs", experiment, "task"))
    models: dict[str, KeyPath] = {name: ("registry", name) for name in config.registry}
    for places, others in ((models, (RULES_JUDGE, HUMAN_JUDGE)), (tasks, ())):
        seen = {name.casefold(): name for name in others}
        for name, key in places.items():
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                yield (
                    f"{where(key)}: key '{spell(key)}': found '{name}' beside '{other}', which differ in case alone "
                    "and would share their files on some file systems; accepted: names that differ otherwise. Rename "
                    "one."
                )


def _pack_faults(config: Config, where: _Locator) -> Iterator[str]:
    """Questions that would be others than those meant."""
    for name, design in config.designs.items():
        if isinstance(design, Packs):
            for part, found, accepted in pack_faults(design):
                key = ("designs", name, part)
                yield f"{where(key)}: key '{spell(key)}': found {found}; accepted: {accepted}."


def _unregistered(config: Config, where: _Locator, key: KeyPath, name: str) -> list[str]:
    if name not in config.registry:
        return [
            f"{where(key)}: key '{spell(key)}': found '{name}'; accepted: a key of 'registry' "
            f"({', '.join(config.registry)}). Add an entry 'registry: {{{name}: …}}' or correct the name."
        ]
    if name not in config.prices:
        return [
            f"{where(key)}: the price of '{name}' is unknown; add 'prices: {{{name}: {{input: …, output: …, "
            f"as_of: …}}}}' to config/prices.yaml or to the file that adds the model (US dollars per million "
            "tokens; a local model costs 0)."
        ]
    return []
