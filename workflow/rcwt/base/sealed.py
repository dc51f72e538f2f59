"""Files that one step of a run writes and another one reads: what is empty, cut, changed or of another run is refused.

A CSV file that lost its last lines is still a CSV file. So the sha256 of each that is read again stands beside it, in a
hidden file; one without such a file is read as it is.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcwt.base.digests import file_digest
from rcwt.base.errors import StaleResultError
from rcwt.base.files import write_text

if TYPE_CHECKING:
    import pandas as pd

REMEDY = "Delete it and run the same command again; kept responses are not asked for again"


def damaged(path: str | Path, found: str) -> StaleResultError:
    """The error of a file that is not what a step has written: what was found, and what to do."""
    return StaleResultError(f"{path}: {found}; the file was cut, changed or taken from another run. {REMEDY}")


def seal(path: Path) -> None:
    """Keep the sha256 of a file that is complete."""
    write_text(file_digest(path) + "\n", _seal_of(path))


def _seal_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises StaleResultError where it is empty or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from None
    if not content.strip():
        raise damaged(path, "empty")
    return content


def read_text(path: Path) -> str:
    """The text of a file. Raises StaleResultError, also where it is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, f"not UTF-8 (byte {error.start})") from None


def read_json(path: Path) -> dict[str, Any]:
    """The mapping in a JSON file. Raises StaleResultError for anything else."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise damaged(path, "not JSON") from None
    if not isinstance(content, dict):
        raise damaged(path, f"found {type(content).__name__} at the top, not a mapping")
    return content


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file with `columns` and perhaps more, all as text.

    Raises StaleResultError for a file that does not end with a line, or whose rows do not fit its header. Whether it is
    the one that was sealed is looked at afterwards, since what it lacks says more.
    """
    text = read_text(path)
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise damaged(path, f"not CSV ({error})") from None
    lacking = [name for name in columns if name not in header]
    if lacking:
        raise damaged(path, f"columns {', '.join(lacking)} are missing")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise damaged(path, f"row {number} has {len(row)} fields of {len(header)}")
    if not text.endswith("\n"):
        raise damaged(path, "its last line has no end")
    return [dict(zip(header, row, strict=True)) for row in rows]


def require_seal(path: Path) -> None:
    """Raise StaleResultError for another file than the one that was sealed; one without a seal is taken as it is."""
    try:
        kept = _seal_of(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if kept.strip() != file_digest(path):
        raise damaged(path, f"not the file that was written ({_seal_of(path).name} holds the sha256 of that)")


def read_csv(
    path: str | Path,
    columns: Sequence[str],
    texts: Sequence[str] = (),
    flags: Sequence[str] = (),
    *,
    sealed: bool = True,
) -> "pd.DataFrame":
    """A result table as `rcwt.analysis.cells.write_csv` wrote it; missing values stay missing.

    `texts` are its columns of text, `flags` those of true and false; all others hold numbers. Raises StaleResultError
    as `read_rows` does, for a text among numbers, and for another file than the one that was sealed, unless `sealed`
    is False: then that is left to the caller.
    """
    import pandas as pd  # most of what reads files here does without

    read_rows(Path(path), columns)
    if sealed:
        require_seal(Path(path))
    text = dict.fromkeys((*texts, *flags), "str")
    table: pd.DataFrame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
    for name in [column for column in columns if column not in text and len(table)]:
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise damaged(path, f"column {name} holds other than numbers")
    for name in flags:
        table[name] = table[name].str.lower() == "true"
    return table
