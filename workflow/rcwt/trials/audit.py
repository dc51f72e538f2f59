"""The audit: a sample of replies for a person to score without knowing whose they are, and its way back as a judge.

The sample is drawn inside each cell, so that every model, share and order is in it. A row is one statement about one
reply; what tells the model, the share or another judge's opinion stands in the key, a file of its own.
"""

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rcwt.base.digests import canonical_json, digest
from rcwt.base.errors import RcwtError
from rcwt.base.files import write_text
from rcwt.base.records import TrialRecord
from rcwt.base.sealed import seal
from rcwt.base.spreadsheets import as_text, read_text
from rcwt.scoring.by_human import sample_id
from rcwt.scoring.items import Item
from rcwt.scoring.outcomes import reply_of
from rcwt.trials.aggregation import CellFiles, checked_records

SAMPLE_COLUMNS = ("sample", "reply", "item", "statement", "score")
KEY_COLUMNS = (
    *("sample", "condition", "experiment", "window", "model", "order", "pack", "q", "trial"),
    "request_key",
)
#: Ways to write a score; spreadsheets and data frames turn whole numbers into decimals.
_SCORES = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
#: What separates cells: a comma here, a semicolon or tab where a spreadsheet of another country saved the file.
_DELIMITERS = ",;\t"

AuditRow = Mapping[str, Any]


class AuditError(RcwtError):
    """A scored audit sample that does not fit the run it is given back to."""


@dataclass(frozen=True)
class AuditedCell:
    """One cell of the run: its row of the manifest, its trials and the items they are scored by."""

    condition: AuditRow
    records: Sequence[TrialRecord]
    items: Sequence[Item]

    def answers(self) -> dict[str, TrialRecord]:
        """The trials that hold an answer, by sample id: only those are for a person to score."""
        return {sample_id(record): record for record in self.records if reply_of(record) is not None}


def cells_of(
    manifest: Sequence[AuditRow], files: CellFiles, models: Sequence[str], items: Mapping[str, Sequence[Item]]
) -> Iterator[AuditedCell]:
    """The cells of a run that judges score. `items` is by task folder.

    Raises StaleResultError for a cell that is not the planned one.
    """
    for condition in manifest:
        if condition["scored_by"] == "rules":
            continue
        for model in models:
            records = checked_records(condition, files.calls(model, condition["condition"]))
            yield AuditedCell(condition, records, items[condition["task"]])


def draw(cells: Iterator[AuditedCell], per_cell: int, seed: int) -> tuple[list[AuditRow], list[AuditRow]]:
    """Rows of the sample and of its key: `per_cell` answered trials of each cell, or all where it has fewer.

    Which ones depends on `seed`; a larger `per_cell` adds to a smaller one, and more trials leave most as they are.
    Rows are ordered by sample id, which says nothing of where a trial comes from.
    """
    chosen: list[tuple[str, TrialRecord, AuditedCell]] = []
    for cell in cells:
        ranked = sorted(cell.answers().items(), key=lambda named: digest(["audit sample", seed, named[0]]))
        chosen += [(name, record, cell) for name, record in ranked[:per_cell]]
    chosen.sort(key=lambda entry: entry[0])
    sample: list[AuditRow] = [
        {"sample": name, "reply": reply_of(record), "item": item.id, "statement": item.statement, "score": ""}
        for name, record, cell in chosen
        for item in cell.items
    ]
    key: list[AuditRow] = [
        {
            **{column: cell.condition[column] for column in KEY_COLUMNS if column in cell.condition},
            "sample": name,
            "model": record.model,
            "trial": record.trial,
            "request_key": record.request_key,
        }
        for name, record, cell in chosen
    ]
    return sample, key


def write_rows(rows: Sequence[AuditRow], columns: Sequence[str], path: Path) -> None:
    """Write a CSV file for a spreadsheet; every cell is quoted, because replies hold line ends of all kinds."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows({name: "" if row[name] is None else as_text(row[name]) for name in columns} for row in rows)
    write_text(text.getvalue(), path)


@dataclass
class _Checker:
    """Checks the rows of a scored sample one by one, and keeps their scores."""

    path: Path
    replies: Mapping[str, str]
    statements: Mapping[str, Mapping[str, str]]
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, line: int, row: Mapping[str, str]) -> None:
        """Check a row and keep its score, if it has one."""
        sample, item = row["sample"].strip(), row["item"].strip()
        if sample not in self.replies:
            raise self.error(line, "sample", f"'{sample}'", "a sample id of this run", "Take out the row")
        if item not in self.statements[sample]:
            names = ", ".join(self.statements[sample])
            raise self.error(line, "item", f"'{item}'", f"an item of the task ({names})", "Take out the row")
        if (sample, item) in self.lines:
            earlier = f"{sample} and {item} as in line {self.lines[sample, item]}"
            raise self.error(line, "item", earlier, "each item of a sample once", "Take out one of the rows")
        self.lines[sample, item] = line
        self._same(line, "reply", row, self.replies[sample])
        self._same(line, "statement", row, self.statements[sample][item])
        score = row["score"].strip()
        if score and score not in _SCORES:
            raise self.error(line, "score", f"'{score}'", "0, 1 or nothing", "Correct it")
        if score:
            self.scores.setdefault(sample, {})[item] = _SCORES[score]

    def _same(self, line: int, column: str, row: Mapping[str, str], right: str) -> None:
        # Spreadsheets change line ends and trim, and some drop the apostrophe before a formula.
        if right.split() not in (row[column].split(), read_text(row[column]).split()):
            raise self.error(
                line,
                column,
                f"a text that is not the {column} of {row['sample'].strip()}",
                f"the {column} as the sample has it",
                "If the file was changed, bring back the text; if the run was, score a new sample",
            )

    def error(self, line: int, column: str, found: str, accepted: str, remedy: str) -> AuditError:
        """The error of a row."""
        return AuditError(f"{self.path}:{line}: column '{column}': found {found}; accepted: {accepted}. {remedy}")


def read_scored(path: Path, cells: Iterator[AuditedCell]) -> dict[str, dict[str, int]]:
    """The scores of a sample that a person has filled in: 0 or 1 by sample id and item; an open one is not there.

    Raises AuditError naming file and line for an id or item that the run does not have, a row that is there twice, a
    reply or statement that is not the run's, and a score that is neither 0, 1 nor empty.
    """
    replies: dict[str, str] = {}
    statements: dict[str, Mapping[str, str]] = {}
    for cell in cells:
        by_item = {item.id: item.statement for item in cell.items}
        for name, record in cell.answers().items():
            replies[name], statements[name] = reply_of(record) or "", by_item
    checker = _Checker(path, replies, statements)
    for line, row in _rows(path):
        checker.add(line, row)
    if not checker.scores:
        raise AuditError(
            f"{path}: found no score; accepted: 0 or 1 in the column 'score' of at least one row. Score the sample, "
            "or take 'human' out of 'judges'"
        )
    return checker.scores


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV file with the line on which each begins; rows without any text are passed over."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 (byte {error.start}); save it as CSV in UTF-8") from None
    except OSError as error:
        raise AuditError(f"{path}: cannot be read ({error.strerror}); accepted: a scored audit sample") from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        header = [name.strip() for name in next(reader, [])]
        lacking = [name for name in SAMPLE_COLUMNS if name not in header]
        if lacking:
            raise AuditError(
                f"{path}:1: no column {', '.join(lacking)}; accepted: a copy of the audit sample with its columns "
                f"{', '.join(SAMPLE_COLUMNS)}"
            )
        begins = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    raise AuditError(
                        f"{path}:{begins}: found {len(cells)} cells; accepted: {len(header)}, as in the header. "
                        "Take the row anew from the sample"
                    )
                yield begins, dict(zip(header, cells, strict=True))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise AuditError(f"{path}:{begins}: not a row of CSV ({error}); save the file as CSV again") from None


def write_scored(scores: Mapping[str, Mapping[str, int]], path: Path) -> None:
    """Write checked scores for the cells to read."""
    write_text(canonical_json(scores) + "\n", path)
    seal(path)
