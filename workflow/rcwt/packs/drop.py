"""DROP: questions about a passage, answered by a number, a date, or one or several spans of text.

Four forms of its files are read, told apart by their columns: the original (`passage`, `qa_pairs`), one row a
question with `answer` and `validated_answers`, the hub's `answers_spans`, and `context` with `ref_text`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rcwt.packs.items import Question, Reference
from rcwt.packs.rows import Row, shown

_ANSWER = "an answer with a 'number', a 'date' or 'spans'"
_CONTEXT = re.compile(
    r"\s*(?:Passage:)?\s*(?P<passage>.*\S)\s*\nQuestion:\s*(?P<question>.*?\S)\s*(?:\nAnswer:\s*)?", re.DOTALL
)


def questions(rows: Iterable[Row]) -> Iterator[tuple[Row, Question]]:
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


def _of_passage(row: Row) -> Iterator[tuple[Row, Question]]:
    passage = row.text("passage")
    pairs = row.cell("qa_pairs", "a list of questions")
    if not isinstance(pairs, list) or not all(isinstance(pair, dict) for pair in pairs):
        raise row.refused("qa_pairs", shown(pairs), "a list of questions")
    for number, pair in enumerate(pairs, start=1):
        inner = Row(f"{row.place}, question {number}", pair)
        yield inner, _question(inner, row, passage, _own_references(inner))


def _question(row: Row, outer: Row, passage: str, references: Iterable[Reference]) -> Question:
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


def _own_references(row: Row) -> Iterator[Reference]:
    """The answer of the original form and all that others gave to the same question."""
    answer = row.cell("answer", _ANSWER)
    for entry in (answer, *_validated(row, row.cells.get("validated_answers"))):
        if not isinstance(entry, Mapping):
            raise row.refused("answer", shown(entry), _ANSWER)
        reference = _reference(entry)
        if reference is not None:
            yield reference


def _validated(row: Row, entries: Any) -> list[Any]:
    """A list of answers, or the same as a table of columns, as some converters write it."""
    if isinstance(entries, Mapping):
        columns = {name: _listed(column) for name, column in entries.items() if name in ("number", "date", "spans")}
        length = min((len(column) for column in columns.values()), default=0)
        return [{name: column[place] for name, column in columns.items()} for place in range(length)]
    if entries is None or isinstance(entries, list):
        return entries or []
    raise row.refused("validated_answers", shown(entries), "a list of answers")


def _listed(column: Any) -> list[Any]:
    if isinstance(column, Mapping):
        parts = {name: list(values) for name, values in column.items()}
        length = min((len(values) for values in parts.values()), default=0)
        return [{name: values[place] for name, values in parts.items()} for place in range(length)]
    return list(column)


def _reference(answer: Mapping[str, Any]) -> Reference | None:
    """An answer as the official script reads it: a number first, then spans, then a date; None for an empty one."""
    number = str(answer.get("number") if answer.get("number") is not None else "").strip()
    if number:
        return Reference(kind="number", values=(number,))
    spans = tuple(str(span).strip() for span in answer.get("spans") or () if str(span).strip())
    if spans:
        return Reference(kind="spans", values=spans)
    date = answer.get("date") or {}
    parts = [str(date.get(part) or "").strip() for part in ("day", "month", "year")]
    text = " ".join(part for part in parts if part)
    return Reference(kind="date", values=(text,)) if text else None


def _hub_references(row: Row) -> Iterator[Reference]:
    """The hub's flat list does not say which spans belong to one answer, and which are answers of other people.

    So each stands as an answer of its own, and all distinct spans together as one more.
    """
    content = row.cell("answers_spans", _ANSWER)
    if not isinstance(content, Mapping) or not isinstance(content.get("spans"), list):
        raise row.refused("answers_spans", shown(content), "an object with the lists 'spans' and 'types'")
    values = [str(span).strip() for span in content["spans"]]
    kinds = [str(kind) for kind in content.get("types") or ["span"] * len(values)]
    if len(kinds) != len(values):
        raise row.refused("answers_spans", f"{len(values)} spans and {len(kinds)} types", "as many types as spans")
    for value, kind in zip(values, kinds, strict=True):
        if value:
            yield Reference(kind=kind if kind in ("number", "date") else "spans", values=(value,))  # type: ignore[arg-type]
    spans = [value for value, kind in zip(values, kinds, strict=True) if value and kind not in ("number", "date")]
    if len(distinct := tuple(dict.fromkeys(spans))) > 1:
        yield Reference(kind="spans", values=distinct)


def _of_context(row: Row) -> Question:
    """One text with passage and question, and references joined by '|', the spans of one by ' and '."""
    context = row.text("context")
    match = _CONTEXT.fullmatch(context)
    if match is None:
        raise row.refused("context", shown(context), "'Passage: …', 'Question: …' and 'Answer:', each on a new line")
    references: list[Reference] = []
    for text in row.text("ref_text", "answers joined by '|'").split("|"):
        if text.strip():
            references.append(Reference(kind="spans", values=(text.strip(),)))
            parts = tuple(part.strip(" ,") for part in re.split(r"\s+and\s+", text) if part.strip(" ,"))
            if len(parts) > 1:
                references.append(Reference(kind="spans", values=parts))
    inner = Row(row.place, {**row.cells, "question": match["question"]})
    return _question(inner, row, match["passage"], references)
