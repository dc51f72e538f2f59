"""DROP: questions about a passage, answered by a number, a date, or one or several spans of text.

Four forms of its files are read, told apart by their columns: the original (`passage`, `qa_pairs`), one row a
question with `answer` and `validated_answers`, the hub's `answers_spans`, and `context` with `ref_text`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rcwt.packs.items import Question, Reference
from rcwt.packs.numerals import number
from rcwt.packs.rows import DataRow, shown

_ANSWER = "an answer with a 'number', a 'date' or 'spans'"
#: What the hub's form calls a span, each with its own type.
_KINDS = ("span", "number", "date")
_PASSAGE, _QUESTION, _ANSWER_MARK = "Passage:", "\nQuestion:", "\nAnswer:"
_AND = re.compile(r"(?<!\s)\s++and\s++")


def questions(rows: Iterable[DataRow]) -> Iterator[tuple[DataRow, Question]]:
    """The questions of all rows. Raises PackError naming file, row and column."""
    for row in rows:
        if "qa_pairs" in row.cells:
            yield from _of_passage(row)
        elif "context" in row.cells:
            yield row, _of_context(row)
        elif "answers_spans" in row.cells:
            yield row, _question(row, row, row.text("passage"), _hub_references(row))
        else:
            yield row, _question(row, row, row.text("passage"), _own_references(row))


def _of_passage(row: DataRow) -> Iterator[tuple[DataRow, Question]]:
    passage = row.text("passage")
    pairs = row.cell("qa_pairs", "a list of questions")
    if not isinstance(pairs, list) or not pairs:
        raise row.refused("qa_pairs", shown(pairs), "a list of at least one question")
    for place, pair in enumerate(pairs, start=1):
        if not isinstance(pair, dict):
            raise row.refused("qa_pairs", f"{shown(pair)} as question {place}", "objects, one a question")
        inner = DataRow(f"{row.place}, question {place}", pair)
        yield inner, _question(inner, row, passage, _own_references(inner))


def _question(row: DataRow, outer: DataRow, passage: str, references: Iterable[Reference]) -> Question:
    accepted = tuple(dict.fromkeys(references))
    if not accepted:
        raise row.refused("answer", "none", _ANSWER)
    return Question(
        id=row.optional("query_id") or row.optional("id") or "",
        text=row.text("question"),
        passage=passage,
        references=accepted,
        category=outer.optional("category") or accepted[0].kind,
    )


def _own_references(row: DataRow) -> Iterator[Reference]:
    """The answer of the original form and all that others gave to the same question."""
    answers = [("answer", row.cell("answer", _ANSWER))]
    answers += [("validated_answers", entry) for entry in _validated(row, row.cells.get("validated_answers"))]
    for column, entry in answers:
        if not isinstance(entry, Mapping):
            raise row.refused(column, shown(entry), _ANSWER)
        reference = _reference(row, column, entry)
        if reference is not None:
            yield reference


def _validated(row: DataRow, entries: Any) -> list[Any]:
    """A list of answers, or the same as a table of columns, as some converters write it."""
    if isinstance(entries, Mapping):
        return _transposed(
            row, {name: _listed(row, entries[name]) for name in ("number", "date", "spans") if name in entries}
        )
    if entries is None or isinstance(entries, list):
        return entries or []
    raise row.refused("validated_answers", shown(entries), "a list of answers")


def _listed(row: DataRow, column: Any) -> list[Any]:
    if isinstance(column, Mapping):
        return _transposed(row, {name: _listed(row, values) for name, values in column.items()})
    if not isinstance(column, list):
        raise row.refused("validated_answers", shown(column), "a list of answers, or columns that are lists")
    return column


def _transposed(row: DataRow, columns: Mapping[str, list[Any]]) -> list[Any]:
    """Rows of a table of columns."""
    if len(lengths := {len(column) for column in columns.values()}) > 1:
        found = f"columns of {' and '.join(map(str, sorted(lengths)))} entries"
        raise row.refused("validated_answers", found, "columns of one length")
    return [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]


def _reference(row: DataRow, column: str, answer: Mapping[str, Any]) -> Reference | None:
    """An answer as the official script reads it: a number first, then spans, then a date; None for an empty one."""
    figure = row.plain(f"{column}.number", answer.get("number"), "a number in digits")
    spans = _texts(row, f"{column}.spans", answer.get("spans"))
    date = _date(row, f"{column}.date", answer.get("date"))
    if figure:
        return _number(row, f"{column}.number", figure)
    if spans:
        return Reference(kind="spans", values=tuple(spans))
    return Reference(kind="date", values=(date,)) if date else None


def _number(row: DataRow, column: str, text: str) -> Reference:
    if number(text) is None:
        raise row.refused(column, shown(text), "a number in digits")
    return Reference(kind="number", values=(text,))


def _texts(row: DataRow, column: str, values: Any) -> list[str]:
    """The texts of a list that are not empty; none for null."""
    accepted = "a list of texts"
    if values is None:
        return []
    if not isinstance(values, list):
        raise row.refused(column, shown(values), accepted)
    for value in values:
        if not isinstance(value, str):
            raise row.refused(column, f"{shown(value)} in the list", accepted)
    return [value.strip() for value in values if value.strip()]


def _date(row: DataRow, column: str, value: Any) -> str:
    """Day, month and year as one text, those that are given; empty for null."""
    if value is None or value == "":
        return ""
    if not isinstance(value, Mapping):
        raise row.refused(column, shown(value), "an object with 'day', 'month' and 'year'")
    parts = (row.plain(f"{column}.{part}", value.get(part), "a text or a number") for part in ("day", "month", "year"))
    return " ".join(part for part in parts if part)


def _hub_references(row: DataRow) -> Iterator[Reference]:
    """The hub's flat list does not say which spans belong to one answer, and which are answers of other people.

    So each stands as an answer of its own, and all distinct spans together as one more.
    """
    content = row.cell("answers_spans", _ANSWER)
    if not isinstance(content, Mapping) or not isinstance(content.get("spans"), list):
        raise row.refused("answers_spans", shown(content), "an object with the lists 'spans' and 'types'")
    values = content["spans"]
    _texts(row, "answers_spans.spans", values)
    kinds = content.get("types")
    kinds = ["span"] * len(values) if kinds is None else kinds
    if not isinstance(kinds, list) or not all(kind in _KINDS for kind in kinds):
        raise row.refused("answers_spans.types", shown(kinds), f"a list of {', '.join(map(repr, _KINDS))}")
    if len(kinds) != len(values):
        raise row.refused("answers_spans", f"{len(values)} spans and {len(kinds)} types", "as many types as spans")
    given = [(value.strip(), kind) for value, kind in zip(values, kinds, strict=True) if value.strip()]
    for value, kind in given:
        if kind == "number":
            yield _number(row, "answers_spans.spans", value)
        else:
            yield Reference(kind="date" if kind == "date" else "spans", values=(value,))
    spans = tuple(dict.fromkeys(value for value, kind in given if kind == "span"))
    if len(spans) > 1:
        yield Reference(kind="spans", values=spans)


def _of_context(row: DataRow) -> Question:
    """One text with passage and question, and references joined by '|', the spans of one by ' and '."""
    context = row.text("context")
    parts = split_context(context)
    if parts is None:
        raise row.refused("context", shown(context), "'Passage: …', 'Question: …' and 'Answer:', each on a new line")
    references: list[Reference] = []
    for text in row.text("ref_text", "answers joined by '|'").split("|"):
        if text.strip():
            references.append(Reference(kind="spans", values=(text.strip(),)))
            spans = tuple(part.strip(" ,") for part in _AND.split(text) if part.strip(" ,"))
            if len(spans) > 1:
                references.append(Reference(kind="spans", values=spans))
    passage, question = parts
    inner = DataRow(row.place, {**row.cells, "question": question})
    return _question(inner, row, passage, references)


def split_context(context: str) -> tuple[str, str] | None:
    """Passage and question of one text; None where it does not hold both.

    The last `Question:` that says anything asks. Marks with nothing beside them are part of the text.
    """
    text = context.strip()
    at = text.rfind(_QUESTION, 0, len(text) - 1)
    passage, rest = text[:at].strip(), text[at + len(_QUESTION) :]
    if at < 0 or not passage:
        return None
    passage = passage.removeprefix(_PASSAGE).strip() or passage
    return passage, rest.removesuffix(_ANSWER_MARK).strip() or rest.strip()
