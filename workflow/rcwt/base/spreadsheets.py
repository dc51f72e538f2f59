"""Texts in files that people open with a spreadsheet: shown as they are, never calculated."""

import re
from typing import Any

# What a spreadsheet takes for a formula, or trims until it is one; and such a text with marks before it already.
_FORMULA = re.compile(r"'*\s*[=+@＝＋＠−－-]|'*[\t\r\n]")


_MARK = "'"


def as_text(cell: Any) -> Any:
    """A cell that a spreadsheet shows and never calculates: a text that would be a formula begins with an apostrophe.

    Numbers stay numbers. `read_text` gives every text back.
    """
    return _MARK + cell if isinstance(cell, str) and _FORMULA.match(cell) else cell


def read_text(cell: str) -> str:
    """The text that `as_text` made a cell of."""
    return cell[1:] if cell.startswith(_MARK) and _FORMULA.match(cell) else cell
