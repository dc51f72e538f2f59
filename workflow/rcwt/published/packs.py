"""Benchmark packs of the artifact: ten questions a call, their hits known as a total only.

A pack row holds the answers read from the reply (`prediction`), the references (`answer`) and the number of
right ones (`score_hits`), not which ones were right. Scores are one row an item, so the comparison that the
artifact made is made again here, item by item, and believed only where it gives the recorded total in *every*
row of a file. It does for all 4 500 calls. Where a file does not reconcile, its totals are kept and the
items are called `unattributed_k`, the first `score_hits` of them right: every sum stays true, and nothing
pretends to know an item.

The comparison is the paper's, and lenient: DROP counts a reference that appears anywhere inside the answer.
It serves to read the published data and is not the scoring of new runs.
"""

import json
import re
import string
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from rcwt.published.files import CsvRow
from rcwt.published.kinds import Call, ItemScore, read_pack

#: The `benchmark` column's values and the experiments they are.
EXPERIMENTS = {"gsm8k_pack": "gsm8k", "mmlu_pro_pack": "mmlu_pro", "drop_pack": "drop"}
#: No pack of the paper has more than ten items; a larger total is a damaged cell.
_MOST_ITEMS = 1000
_NUMBERS = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?", re.ASCII)
_ARTICLES = {"a", "an", "the"}


def is_other_study(rows: list[CsvRow]) -> bool:
    """Tell a file of another benchmark, which is passed over, from one with a damaged `benchmark` cell."""
    return not any(row.text("benchmark") in EXPERIMENTS for row in rows)


def read_packs(rows: list[CsvRow]) -> tuple[list[Call], str]:
    """Read all rows of a pack file; gives the calls and a line on how their items were found.

    Raises:
        PublishedDataError: an unknown benchmark, or hits that are no whole number from 0 to the total.
    """
    found: list[tuple[CsvRow, str, list[int] | None, int, int]] = []
    for row in rows:
        benchmark = row.one_of("benchmark", tuple(EXPERIMENTS))
        total = row.count("score_total", most=_MOST_ITEMS)
        if total == 0:
            raise row.refused("score_total", "'0'", f"a whole number from 1 to {_MOST_ITEMS}")
        hits = row.count("score_hits", most=total)
        found.append((row, benchmark, _item_hits(row, benchmark, total), hits, total))
    astray = next(((row, items, hits) for row, _, items, hits, _ in found if sum(items or [-1]) != hits), None)
    calls = []
    for row, benchmark, items, hits, total in found:
        if astray is None and items is not None:
            scores = tuple(ItemScore(f"item_{n}", True, hit) for n, hit in enumerate(items, start=1))
        else:
            scores = tuple(ItemScore(f"unattributed_{n}", True, int(n <= hits)) for n in range(1, total + 1))
        calls.append(read_pack(row, EXPERIMENTS[benchmark], scores))
    if astray is None:
        return calls, "items compared again: their hits give score_hits in every row"
    row, items, hits = astray
    what = "prediction and answer are no lists of its items" if items is None else f"{sum(items)} hits"
    return calls, (
        f"items not told apart: line {row.line} compared again gives {what}, score_hits is {hits}; "
        "totals kept as unattributed items"
    )


def _item_hits(row: CsvRow, benchmark: str, total: int) -> list[int] | None:
    """Compare each answer with its references; None where the two columns are no lists of `total` items."""
    try:
        answers, references = json.loads(row.text("prediction")), json.loads(row.text("answer"))
    except ValueError:
        return None
    if not (isinstance(answers, list) and isinstance(references, list)):
        return None
    if not len(answers) == len(references) == total:
        return None
    same = _COMPARISONS[benchmark]
    return [int(same(str(given), wanted)) for given, wanted in zip(answers, references, strict=True)]


def _same_number(given: str, wanted: object) -> bool:
    value = _decimal(given)
    return value is not None and value == _decimal(str(wanted))


def _same_letter(given: str, wanted: object) -> bool:
    return given.strip().upper() == str(wanted).strip().upper()


def _same_span(given: str, wanted: object) -> bool:
    references = wanted if isinstance(wanted, list) else [wanted]
    numbers = [_decimal(number) for number in _NUMBERS.findall(given)]
    spoken = _plain(given)
    for reference in map(str, references):
        value, plain = _decimal(reference), _plain(reference)
        if value is not None and value in numbers:
            return True
        # One or two letters would be found inside any word, so they must be the whole answer.
        if plain and (spoken == plain or (len(plain) > 2 and plain in spoken)):
            return True
    return False


_COMPARISONS: dict[str, Callable[[str, object], bool]] = {
    "gsm8k_pack": _same_number,
    "mmlu_pro_pack": _same_letter,
    "drop_pack": _same_span,
}


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text.strip().replace(",", "").replace("$", ""))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _plain(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces."""
    words = text.lower().translate(str.maketrans("", "", string.punctuation)).split()
    return " ".join(word for word in words if word not in _ARTICLES)
