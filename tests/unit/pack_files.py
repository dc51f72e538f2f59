"""Rows of benchmark files in the vendors' own forms."""

import json
from pathlib import Path
from typing import Any

from rcwt.packs.items import Benchmark
from rcwt.packs.sources import questions

SUM = {"question": "What is 1 plus 1?", "answer": "1+1 = <<1+1=2>>2\n#### 2"}
CHOICE = {"question_id": 7, "question": "Which?", "options": ["one", "two", "three"], "answer": "C", "answer_index": 2}
CHOICE |= {"category": "law", "src": "x"}
EMPTY_DATE = {"day": "", "month": "", "year": ""}
NONE: dict[str, Any] = {"number": "", "date": EMPTY_DATE, "spans": []}
PAIR = {"query_id": "a1", "question": "Who?", "answer": {**NONE, "spans": ["Ida", "Bo"]}}
PAIR |= {
    "validated_answers": [{**NONE, "number": "2"}, {**NONE, "date": {"day": "3", "month": "May", "year": "1900"}}, NONE]
}
PASSAGE = {"passage_1": {"passage": "Ida and Bo left on 3 May 1900.", "qa_pairs": [PAIR], "wiki_url": "x"}}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(folder: Path, name: str, content: str | bytes, benchmark: Benchmark) -> Any:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return questions(path, benchmark)


def flat(**cells: Any) -> str:
    return lines({"query_id": "a1", "passage": "Ida and Bo left on 3 May 1900.", "question": "Who?", **cells})


COLUMNS = {
    "number": ["2", "", ""],
    "date": [EMPTY_DATE, {"day": "3", "month": "May", "year": "1900"}, EMPTY_DATE],
    "spans": [[], [], []],
}
