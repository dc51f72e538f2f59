"""Reading YAML strictly: a key written twice is an error, and every key knows its file and line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rcwt.base.errors import ConfigError

#: libyaml's parser where PyYAML was built with it: ten times as fast, and start-up waits for it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: Where a value is in a document, for instance ("designs", "fixed_budget", "windows", 0, "trials").
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class ConfigFile:
    """A YAML file, its content, and the line (from 1) on which each key stands."""

    path: Path
    content: dict[str, Any]
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        """Read and check one file.

        Raises ConfigError for a file that is missing, not UTF-8, not YAML, not a mapping, or with a key twice.
        """
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            raise ConfigError(f"{path}: no such file") from None
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from None
        try:
            content, lines = _parsed(text, path)
        except yaml.YAMLError as error:
            raise ConfigError(f"{path}: not valid YAML: {_one_line(error)}") from None
        except ValueError as error:  # a date or a tagged number that is none
            raise ConfigError(f"{path}: not valid YAML: {error}") from None
        except RecursionError:
            raise ConfigError(f"{path}: not valid YAML: nested too deep, or an alias holds itself") from None
        if content is None:
            return cls(path, {}, {})
        if not isinstance(content, dict):
            raise ConfigError(f"{path}: found {type(content).__name__} at the top; accepted: a mapping of keys")
        return cls(path, content, lines)

    def line_of(self, key: KeyPath) -> int | None:
        """Line of `key`, or None where this file does not set it."""
        return self.lines.get(key)


def _parsed(text: str, path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """The content of a document and the line of each key, parsed once."""
    loader = _LOADER(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, {}
        # Before the content is made: making it writes merged keys (`<<`) into the nodes.
        lines = dict(_walk(root, (), path))
        return loader.construct_document(root), lines
    finally:
        loader.dispose()


def find_key(files: Sequence[ConfigFile], key: KeyPath) -> str | None:
    """``file:line`` of the last of `files` that sets `key`; later files win, as Snakemake merges them."""
    for file in reversed(files):
        line = file.line_of(key)
        if line is not None:
            return f"{file.path}:{line}"
    return None


def _walk(node: yaml.Node, prefix: KeyPath, path: Path) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in seen:
                where = ".".join(map(str, (*prefix, key)))
                raise ConfigError(
                    f"{path}:{line}: key '{where}' is written twice (first on line {seen[key]}); "
                    "YAML would keep the last one silently. Keep one of them."
                )
            seen[key] = line
            yield (*prefix, key), line
            yield from _walk(value_node, (*prefix, key), path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value_node in enumerate(node.value):
            yield (*prefix, index), value_node.start_mark.line + 1
            yield from _walk(value_node, (*prefix, index), path)


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return where + str(getattr(error, "problem", error))
