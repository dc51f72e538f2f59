"""How a table is printed: values rounded half up from exact counts, and CSV, Markdown and LaTeX.

Rounding is whole-number and decimal arithmetic: 15 of 16 is 0.938, where the binary fraction 0.9375 would be rounded to
even or down. A value that is missing stays missing.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pandas as pd

#: What stands for a missing value where people read; in CSV the field is empty.
MISSING = "—"
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "—": "---",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_MARKDOWN = frozenset("\\`*_|<>[]")


def round_half_up(part: int, whole: int, places: int) -> Decimal:
    """The quotient of two counts with `places` decimals, halves up; exact, since only whole numbers are divided."""
    scale = 10**places
    return Decimal((2 * part * scale + whole) // (2 * whole)).scaleb(-places)


def printed_accuracy(hits: Any, possible: Any) -> str:
    """Hits of possible hits with three decimals; empty where there is no score."""
    if pd.isna(hits) or pd.isna(possible) or int(possible) == 0:
        return ""
    return format(round_half_up(int(hits), int(possible), 3), "f")


def printed_percent(share: float) -> str:
    """A share as percent without trailing zeros: 97.5, 90, 0."""
    return format((Decimal(repr(float(share))) * 100).normalize(), "f")


@dataclass(frozen=True)
class PrintedTable:
    """A table as it is printed: columns and rows of text, an empty text where a value is missing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def as_csv(table: PrintedTable) -> str:
    """Comma-separated text; missing values are empty fields."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def as_markdown(table: PrintedTable, caption: str, note: str) -> str:
    """A Markdown table under its caption, with its note below."""

    def line(fields: Sequence[str]) -> str:
        return "| " + " | ".join(escape_markdown(field or MISSING) for field in fields) + " |"

    rule = "| " + " | ".join("---:" for _ in table.columns) + " |"
    lines = [f"**{escape_markdown(caption)}.**", "", line(table.columns), rule, *map(line, table.rows), ""]
    return "\n".join([*lines, f"Note. {escape_markdown(note)}", ""])


def as_latex(table: PrintedTable, caption: str, note: str, label: str) -> str:
    """A LaTeX table environment that needs the package booktabs, with its note below the rows."""

    def line(fields: Sequence[str]) -> str:
        return "    " + " & ".join(escape_latex(field or MISSING) for field in fields) + r" \\"

    return "\n".join(
        [
            r"% Needs \usepackage{booktabs}.",
            r"\begin{table}[t]",
            r"  \centering",
            rf"  \caption{{{escape_latex(caption)}.}}",
            rf"  \label{{{label}}}",
            rf"  \begin{{tabular}}{{{'r' * len(table.columns)}}}",
            r"    \toprule",
            line(table.columns),
            r"    \midrule",
            *map(line, table.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \par\smallskip",
            rf"  \parbox{{\linewidth}}{{\footnotesize Note. {escape_latex(note)}}}",
            r"\end{table}",
            "",
        ]
    )


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{character}" if character in _MARKDOWN else character for character in text)


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_TEX.get(character, character) for character in text)
