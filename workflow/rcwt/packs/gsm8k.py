"""GSM8K: a word problem with a worked solution, whose last line is `#### n`."""

from collections.abc import Iterable, Iterator

from rcwt.packs.items import Question, Reference
from rcwt.packs.numerals import number
from rcwt.packs.rows import DataRow, shown

_MARK = "####"
_ACCEPTED = f"a solution that ends with '{_MARK} ' and a number"


def questions(rows: Iterable[DataRow]) -> Iterator[tuple[DataRow, Question]]:
    """The question of each row: columns `question` and `answer`; `id` and `category` where there are any.

    The id is "" where the file has none. Raises PackError naming file, row and column.
    """
    for row in rows:
        solution = row.text("answer", _ACCEPTED)
        if _MARK not in solution:
            raise row.refused("answer", f"no '{_MARK}' in {shown(solution)}", _ACCEPTED)
        final = solution.rpartition(_MARK)[2].strip()
        if number(final) is None:
            raise row.refused("answer", f"{shown(final)} after '{_MARK}'", _ACCEPTED)
        yield (
            row,
            Question(
                id=row.optional("id") or "",
                text=row.text("question"),
                references=(Reference(kind="number", values=(final,)),),
                category=row.optional("category"),
            ),
        )
