"""Rows of a benchmark file: JSON, JSON lines or parquet, plain or gzipped, each with the place where it stands."""

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcwt.packs.items import PackError

#: File types by suffix; `.gz` may follow the first two.
SUFFIXES = (".jsonl", ".json", ".parquet")
#: Half of a pair of code points, which is no character; JSON can escape it and UTF-8 cannot hold it.
_HALF = re.compile("[\ud800-\udfff]")
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


@dataclass(frozen=True)
class DataRow:
    """One row, or one question of a nested file; `place` says where it stands, file included."""

    place: str
    cells: Mapping[str, Any]

    def refused(self, column: str, found: str, accepted: str) -> PackError:
        """The error of a cell that cannot be used."""
        return PackError(
            f"{self.place}: column '{column}': found {found}; accepted: {accepted}. Correct the row or take it out"
        )

    def cell(self, column: str, accepted: str) -> Any:
        """A cell that must be there. Raises PackError for a missing column and an empty cell."""
        if column not in self.cells:
            columns = ", ".join(self.cells) or "none"
            raise self.refused(column, f"no such column (there are: {columns})", accepted)
        value = self.cells[column]
        if value is None:
            raise self.refused(column, "nothing", accepted)
        return value

    def text(self, column: str, accepted: str = "a text") -> str:
        """A cell that must hold a text, without white space around it."""
        value = self.cell(column, accepted)
        if not isinstance(value, str):
            raise self.refused(column, shown(value), accepted)
        if not value.strip():
            raise self.refused(column, "an empty text", accepted)
        return value.strip()

    def optional(self, column: str) -> str | None:
        """A text or number as text, or None where there is no such column or nothing in it.

        Raises PackError for a value of another type.
        """
        return self.plain(column, self.cells.get(column), "a text or a number")

    def plain(self, column: str, value: Any, accepted: str) -> str | None:
        """A value of `column` that is a text or a finite number, as text; None for null, NaN and the empty text."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value in (math.inf, -math.inf):
            raise self.refused(column, shown(value), accepted)
        return str(value).strip() or None


def shown(value: object) -> str:
    """A value as an error quotes it."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def read_rows(path: Path) -> list[DataRow]:
    """All rows of a file, in its order.

    A JSON file may hold a list of rows, or one object by passage as DROP's own does: its rows are the passages, with
    their name in the column `passage_id`. Raises PackError for a file that is missing, of another type, cut or broken.
    """
    names = path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]
    kind = names[0].lower() if names else ""
    if kind not in SUFFIXES or (kind == ".parquet" and path.suffix == ".gz"):
        raise PackError(
            f"{path}: unknown file type '{''.join(names)}'; accepted: {', '.join(SUFFIXES)}, the first two also with "
            ".gz. Convert or rename the file"
        )
    data = _bytes(path)
    if kind == ".parquet":
        rows = list(_parquet_rows(path, data))
    else:
        text = _text(path, _unpacked(path, data))
        rows = list(_json_rows(path, text)) if kind == ".json" else list(_lines(path, text))
    if not rows:
        raise PackError(f"{path}: found no row; accepted: at least one question. Is it the right file?")
    return rows


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise PackError(f"{path}: no such file; accepted: a file of benchmark questions. Correct the path") from None
    except OSError as error:
        raise PackError(f"{path}: cannot be read ({error.strerror}); accepted: a readable file") from None


def _unpacked(path: Path, data: bytes) -> bytes:
    """The bytes without gzip, which is told by their beginning: a file may have been unpacked and not renamed."""
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise PackError(
            f"{path}: the gzip file is cut or damaged ({error}); accepted: a whole one. Fetch it again"
        ) from None


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise PackError(f"{path}, line {line}: not UTF-8 text; accepted: JSON as UTF-8. Fetch it again") from None


def _lines(path: Path, text: str) -> Iterator[DataRow]:
    # Not splitlines(): a question may hold characters such as U+2028 that it would take for line ends.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _row(f"{path}, line {number}", _decoded(f"{path}, line {number}", line))


def _json_rows(path: Path, text: str) -> Iterator[DataRow]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        # JSON lines under the name of JSON are common.
        if getattr(error, "msg", "") == "Extra data" and "\n" in text.strip():
            yield from _lines(path, text)
            return
        raise _broken(str(path), error) from None
    if isinstance(content, list):
        for number, entry in enumerate(content, start=1):
            yield _row(f"{path}, row {number}", entry)
    elif isinstance(content, dict) and content and all(isinstance(entry, dict) for entry in content.values()):
        for name, entry in content.items():
            yield _row(f"{path}, passage {_quoted(name)}", {"passage_id": name, **entry})
    else:
        yield _row(f"{path}, row 1", content)


def _decoded(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(place, error) from None


def _broken(place: str, error: ValueError | RecursionError) -> PackError:
    return PackError(f"{place}: not valid JSON ({error}); accepted: whole JSON. Is the file cut? Fetch it again")


def _row(place: str, entry: Any) -> DataRow:
    if not isinstance(entry, dict):
        raise PackError(
            f"{place}: found {shown(entry)}; accepted: a JSON object with a question's columns. Correct the row or "
            "take it out"
        )
    row = DataRow(place, entry)
    for column, value in entry.items():
        if (half := _half_in([column, value])) is not None:
            found = f"half a character in {shown(half)}"
            raise row.refused(_quoted(column).strip("'"), found, "text that can be written as UTF-8")
    return row


def _half_in(value: Any) -> str | None:
    """The first text in a nested value that holds half of a pair of code points."""
    wanted = [value]
    while wanted:
        one = wanted.pop()
        if isinstance(one, str):
            if _HALF.search(one):
                return one
        elif isinstance(one, dict):
            wanted += [*one.values(), *one]
        elif isinstance(one, list):
            wanted += one
    return None


def _quoted(name: str) -> str:
    """A name in quotes that can be printed whatever it holds."""
    return repr(name) if _HALF.search(name) else f"'{name}'"


def _parquet_rows(path: Path, data: bytes) -> Iterator[DataRow]:
    import pyarrow as pa  # only a run that reads parquet needs it
    import pyarrow.parquet as pq

    if not (data.startswith(_PARQUET) and data.endswith(_PARQUET)):
        raise PackError(
            f"{path}: not a whole parquet file; accepted: one that begins and ends with 'PAR1'. Fetch it again"
        )
    try:
        rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise PackError(
            f"{path}: the parquet file cannot be read ({error}); accepted: a whole one. Fetch it again"
        ) from None
    for number, entry in enumerate(rows, start=1):
        yield _row(f"{path}, row {number}", entry)
