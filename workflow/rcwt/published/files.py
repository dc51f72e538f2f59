"""CSV files of an artifact as text cells with line numbers, and the one form of every refusal.

Nothing here knows what the columns mean. A file whose header is not of a per-call kind is never read
beyond its header, so a damaged file of another study cannot stop an import; a file of a known kind is read
strictly: every row whole, every byte UTF-8, every quote closed.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from rcwt.base.errors import PublishedDataError
from rcwt.base.statuses import ORDERS
from rcwt.config.artifact_files import csv_files

#: How a user points the import at another folder; every message about the folder ends with it.
GIVE_FOLDER = "Give the folder with the paper's per-call CSV files: --config artifact=PATH"
_REMEDY = "Nothing was written. Mend the file, take it anew from the artifact, or take it out of the folder."
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
#: No token count, trial or duration of a call comes near this; a larger number is a damaged cell.
_LARGEST = Decimal(10) ** 12
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CsvFile:
    """One file as found: name relative to the artifact (posix form), its folder's own name, header, bytes."""

    name: str
    folder: str
    sha256: str
    header: tuple[str, ...]
    data: bytes


def refuse(
    file: str, line: int | None, column: str | None, found: str, accepted: str, remedy: str = _REMEDY
) -> PublishedDataError:
    """Build the error of a file that contradicts its own kind, naming file, row and column."""
    where = file
    if line is not None:
        where += f", line {line} (the header is line 1)"
    if column is not None:
        where += f", column '{column}'"
    return PublishedDataError(f"{where}: found {found}; accepted: {accepted}. {remedy}")


def read_folder(folder: Path) -> list[CsvFile]:
    """Read every `*.csv` below `folder`, in the order of their relative names.

    Names that begin with a dot are left out: archivers and file managers put their own records there.

    Raises:
        PublishedDataError: there is no such folder, or no CSV file in it, or one cannot be read.
    """
    if not folder.is_dir():
        what = "a file, not a folder" if folder.exists() else "no such folder"
        raise PublishedDataError(f"artifact {folder}: {what}. {GIVE_FOLDER}")
    found = csv_files(folder)
    if not found:
        raise PublishedDataError(f"artifact {folder}: holds no CSV file. {GIVE_FOLDER}")
    return [_read(name, path) for name, path in found]


def decoded(file: CsvFile) -> str:
    """Give a file's text, without a byte order mark; refuse what is not UTF-8."""
    data = file.data.removeprefix(_BOM)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
        raise refuse(file.name, line, None, found, "text in UTF-8") from error


def _read(name: str, path: Path) -> CsvFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PublishedDataError(f"{name}: cannot be read ({error.strerror}). {GIVE_FOLDER}") from error
    return CsvFile(name, path.resolve().parent.name, hashlib.sha256(data).hexdigest(), _header(data), data)


def _header(data: bytes) -> tuple[str, ...]:
    """Give the column names; bytes that are no text stay visible as replacement marks and match no kind."""
    text = data.removeprefix(_BOM).decode("utf-8", errors="replace")
    try:
        first = next(csv.reader(io.StringIO(text, newline="")), [])
    except csv.Error:
        return ()
    return tuple(name.strip() for name in first)


class CsvRow:
    """The cells of one row, read by meaning; each reader refuses what its column cannot hold."""

    def __init__(self, file: str, line: int, cells: Mapping[str, str]) -> None:
        self.file = file
        self.line = line
        self._cells = cells

    def text(self, column: str) -> str:
        """Give a text that is not empty."""
        found = self._cells[column].strip()
        if not found:
            raise self.refused(column, "an empty cell", "a value: this column is never empty")
        return found

    def one_of(self, column: str, accepted: tuple[str, ...]) -> str:
        """Give a text out of a closed list."""
        found = self.text(column)
        if found not in accepted:
            raise self.refused(column, f"'{found}'", ", ".join(accepted))
        return found

    def order(self) -> str:
        """Give the order of the blocks."""
        return self.one_of("order", ORDERS)

    def share(self, column: str) -> Decimal:
        """Give a target share, exactly as written, inside [0, 1)."""
        value = self._decimal(column, "a share of at least 0 and below 1")
        if not 0 <= value < 1:
            raise self.refused(column, f"'{self.text(column)}'", "a share of at least 0 and below 1")
        return abs(value)

    def count(self, column: str, most: int | None = None) -> int:
        """Give a whole number from 0 to `most`; `3.0` is read as 3, as spreadsheets rewrite it."""
        accepted = "a whole number of at least 0" if most is None else f"a whole number from 0 to {most}"
        value = self._decimal(column, accepted)
        if value < 0 or value != value.to_integral_value() or (most is not None and value > most):
            raise self.refused(column, f"'{self.text(column)}'", accepted)
        return int(value)

    def bit(self, column: str) -> int:
        """Give a score of an item, 0 or 1."""
        accepted = "0 or 1"
        value = self._decimal(column, accepted)
        if value not in (0, 1):
            raise self.refused(column, f"'{self.text(column)}'", accepted)
        return int(value)

    def amount(self, column: str) -> float:
        """Give a number of at least 0, such as dollars or milliseconds."""
        value = self._decimal(column, "a number of at least 0")
        if value < 0:
            raise self.refused(column, f"'{self.text(column)}'", "a number of at least 0")
        return float(value)

    def refused(self, column: str | None, found: str, accepted: str) -> PublishedDataError:
        """Build the error for one column of this row."""
        return refuse(self.file, self.line, column, found, accepted)

    def _decimal(self, column: str, accepted: str) -> Decimal:
        found = self.text(column)
        if not _NUMBER.fullmatch(found) or abs(Decimal(found)) > _LARGEST:
            raise self.refused(column, f"'{found}'", accepted)
        return Decimal(found)


def read_rows(file: CsvFile) -> list[CsvRow]:
    """Read all rows of a file of a known kind, each with the line it begins on.

    Raises:
        PublishedDataError: text that is not UTF-8, a column named twice, a row with too few or too many
            cells, a quote that is never closed, or no row at all.
    """
    for column in file.header:
        if file.header.count(column) > 1:
            raise refuse(file.name, 1, column, "the column twice", "each column once")
    rows = []
    for line, cells in _records(file):
        if len(cells) != len(file.header):
            accepted = f"{len(file.header)} cells, one for each column of the header"
            raise refuse(file.name, line, None, f"{len(cells)} cells", accepted)
        rows.append(CsvRow(file.name, line, dict(zip(file.header, cells, strict=True))))
    if not rows:
        raise refuse(file.name, 1, None, "a header and no row", "a row for each call")
    return rows


def count_rows(file: CsvFile) -> int | None:
    """Count the rows of a file that is not imported; None where it is no readable CSV."""
    try:
        return sum(1 for _ in _records(file))
    except PublishedDataError:
        return None


def _records(file: CsvFile) -> Iterator[tuple[int, list[str]]]:
    """Yield each row after the header with its first line; blank lines are no rows."""
    reader = csv.reader(io.StringIO(decoded(file), newline=""), strict=True)
    line = 1
    try:
        for number, cells in enumerate(reader):
            if number and cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise refuse(file.name, line, None, f"a row that is no CSV ({error})", "quoted, closed cells") from error
