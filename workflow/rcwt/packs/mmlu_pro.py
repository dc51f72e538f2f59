"""MMLU-Pro: a question with up to ten options, one of which is right."""

from collections.abc import Iterable, Iterator

from rcwt.packs.items import LETTERS, Question, Reference
from rcwt.packs.rows import DataRow, shown

#: What the vendor's files put in the place of an option that is none.
_NO_OPTION = "N/A"


def questions(rows: Iterable[DataRow]) -> Iterator[tuple[DataRow, Question]]:
    """The question of each row: `question`, `options`, `answer` (a letter); `question_id` and `category` where given.

    Options that are `N/A` are left out, and the answer is named by its place among the rest. `answer_index` is not
    used: in the vendor's own files it contradicts the letter here and there, and the letter is what is scored there.
    Raises PackError naming file, row and column.
    """
    for row in rows:
        offered = _options(row)
        index = _answer(row, offered)
        kept = [place for place, option in enumerate(offered) if option != _NO_OPTION]
        if len(kept) < 2:
            raise row.refused("options", f"{len(kept)} of them", "at least two options")
        if index not in kept:
            raise row.refused("answer", f"the letter of an option that is '{_NO_OPTION}'", "that of another option")
        yield (
            row,
            Question(
                id=row.optional("question_id") or row.optional("id") or "",
                text=row.text("question"),
                options=tuple(offered[place] for place in kept),
                references=(Reference(kind="letter", values=(LETTERS[kept.index(index)],)),),
                category=row.optional("category"),
            ),
        )


def _options(row: DataRow) -> list[str]:
    accepted = f"a list of 2 to {len(LETTERS)} texts"
    options = row.cell("options", accepted)
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        raise row.refused("options", shown(options), accepted)
    for option in options:
        if not isinstance(option, str) or not option.strip():
            raise row.refused("options", f"an option {shown(option)}", accepted)
    return [option.strip() for option in options]


def _answer(row: DataRow, offered: list[str]) -> int:
    last = LETTERS[len(offered) - 1]
    accepted = f"the letter of one of its {len(offered)} options, A to {last}"
    letter = row.text("answer", accepted)
    index = LETTERS.find(letter) if len(letter) == 1 else -1
    if not 0 <= index < len(offered):
        raise row.refused("answer", shown(letter), accepted)
    return index
