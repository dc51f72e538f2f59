"""Reading benchmark files: the vendors' own forms, and what is wrong with a file, named with its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rcwt.packs.items import Benchmark, PackError, Reference
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


def values(references: tuple[Reference, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(reference.kind, reference.values) for reference in references]


def test_gsm8k_takes_what_follows_the_mark(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "test.jsonl", lines({**SUM, "answer": "so\n#### 114,200"}), "gsm8k")
    assert values(one.references) == [("number", ("114,200",))]


@pytest.mark.parametrize("name", ["test.jsonl", "test.json", "test.jsonl.gz", "test.parquet"])
def test_mmlu_pro_is_read_alike_from_every_file_type(tmp_path: Path, name: str) -> None:
    rows = [CHOICE, {**CHOICE, "question_id": 8}]
    if name.endswith(".parquet"):
        pd.DataFrame(rows).to_parquet(tmp_path / "x")
        content: str | bytes = (tmp_path / "x").read_bytes()
    else:
        content = json.dumps(rows) if name == "test.json" else lines(*rows)
        content = gzip.compress(str(content).encode()) if name.endswith(".gz") else content
    found = read(tmp_path, name, content, "mmlu_pro")
    assert [(one.id, one.options, values(one.references), one.category) for one in found] == [
        (number, ("one", "two", "three"), [("letter", ("C",))], "law") for number in ("7", "8")
    ]


def test_options_that_are_none_are_left_out_and_the_letter_follows(tmp_path: Path) -> None:
    row = {**CHOICE, "options": ["one", "N/A", "three"]}
    (one,) = read(tmp_path, "test.jsonl", lines(row), "mmlu_pro")
    assert (one.options, values(one.references)) == (("one", "three"), [("letter", ("B",))])


REFERENCES = [("spans", ("Ida", "Bo")), ("number", ("2",)), ("date", ("3 May 1900",))]


def flat(**cells: Any) -> str:
    return lines({"query_id": "a1", "passage": "Ida and Bo left on 3 May 1900.", "question": "Who?", **cells})


COLUMNS = {
    "number": ["2", "", ""],
    "date": [EMPTY_DATE, {"day": "3", "month": "May", "year": "1900"}, EMPTY_DATE],
    "spans": [[], [], []],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("drop.json", json.dumps(PASSAGE)),
        ("drop.json.gz", gzip.compress(json.dumps(PASSAGE).encode())),
        ("drop.jsonl", flat(answer=PAIR["answer"], validated_answers=PAIR["validated_answers"])),
        ("drop.jsonl", flat(answer=PAIR["answer"], validated_answers=COLUMNS)),
    ],
)
def test_drop_keeps_every_reference_in_every_form(tmp_path: Path, name: str, content: str | bytes) -> None:
    (one,) = read(tmp_path, name, content, "drop")
    assert (one.id, one.text, one.passage) == ("a1", "Who?", "Ida and Bo left on 3 May 1900.")
    assert values(one.references) == REFERENCES


def test_the_hubs_flat_spans_are_answers_each_and_all_together(tmp_path: Path) -> None:
    spans = {"spans": ["Ida", "Bo", "Ida"], "types": ["span", "span", "span"]}
    (one,) = read(tmp_path, "drop.jsonl", flat(answers_spans=spans), "drop")
    assert values(one.references) == [("spans", ("Ida",)), ("spans", ("Bo",)), ("spans", ("Ida", "Bo"))]


def test_context_and_joined_references_are_taken_apart(tmp_path: Path) -> None:
    row = {"context": "Passage: Ida left.\nBo too.\nQuestion: Who left?\nAnswer:", "ref_text": "Ida and Bo|  2 "}
    first, again = {**row, "completion": " Ida and Bo"}, {**row, "ref_text": "both"}
    (one,) = read(tmp_path, "drop.jsonl", lines(first, again), "drop")
    assert (one.passage, one.text) == ("Ida left.\nBo too.", "Who left?")
    # The same question twice is one, with the references of both.
    expected = [("spans", ("Ida and Bo",)), ("spans", ("Ida", "Bo")), ("spans", ("2",)), ("spans", ("both",))]
    assert values(one.references) == expected


def test_a_line_separator_inside_a_question_ends_no_row(tmp_path: Path) -> None:
    row = json.dumps({**SUM, "question": "What\u2028is it?"}, ensure_ascii=False)
    assert len(read(tmp_path, "test.jsonl", f"\ufeff{row}\r\n\n", "gsm8k")) == 1


NOT_GZIP = gzip.compress(lines(*[{**SUM, "question": f"{n}?"} for n in range(999)]).encode())[:-900]
BAD: list[tuple[str, str, str | bytes, Benchmark, str]] = [
    (
        "missing column",
        "a.jsonl",
        lines(SUM, {"question": "?"}),
        "gsm8k",
        r"line 2: column 'answer': found no such column",
    ),
    (
        "empty question",
        "a.jsonl",
        lines(SUM, {**SUM, "question": " "}),
        "gsm8k",
        r"line 2: column 'question': found an empty",
    ),
    (
        "no answer mark",
        "a.jsonl",
        lines({**SUM, "answer": "2"}),
        "gsm8k",
        r"line 1: column 'answer': found no '####' in '2'",
    ),
    ("no number", "a.jsonl", lines({**SUM, "answer": "#### two"}), "gsm8k", r"found 'two' after '####'"),
    (
        "two answers",
        "a.jsonl",
        lines(SUM, {**SUM, "answer": "#### 3"}),
        "gsm8k",
        r"line 2: the same question as .*line 1",
    ),
    (
        "letter outside",
        "a.jsonl",
        lines({**CHOICE, "answer": "D"}),
        "mmlu_pro",
        r"line 1: column 'answer': found 'D'; .* A to C",
    ),
    ("no letter", "a.jsonl", lines({**CHOICE, "answer": "three"}), "mmlu_pro", r"column 'answer': found 'three'"),
    ("null", "a.jsonl", lines({**CHOICE, "question": None}), "mmlu_pro", r"column 'question': found nothing"),
    (
        "options",
        "a.jsonl",
        lines({**CHOICE, "options": "one"}),
        "mmlu_pro",
        r"column 'options': found 'one'; accepted: a list",
    ),
    ("empty option", "a.jsonl", lines({**CHOICE, "options": ["a", "", "c"]}), "mmlu_pro", r"found an option ''"),
    (
        "answer is N/A",
        "a.jsonl",
        lines({**CHOICE, "options": ["a", "b", "N/A"]}),
        "mmlu_pro",
        r"an option that is 'N/A'",
    ),
    (
        "doubled id",
        "a.jsonl",
        lines(CHOICE, {**CHOICE, "question": "What?"}),
        "mmlu_pro",
        r"line 2: found the id '7', which .*line 1",
    ),
    (
        "no answer",
        "a.json",
        json.dumps({"p": {"passage": "x", "qa_pairs": [{**PAIR, "answer": NONE, "validated_answers": []}]}}),
        "drop",
        r"passage 'p', question 1: column 'answer': found none",
    ),
    (
        "no passage",
        "a.jsonl",
        lines({"question": "?", "answer": NONE}),
        "drop",
        r"column 'passage': found no such column",
    ),
    (
        "no question in context",
        "a.jsonl",
        lines({"context": "Passage: x", "ref_text": "1"}),
        "drop",
        r"column 'context'",
    ),
    (
        "unknown type",
        "a.csv",
        "question,answer\n",
        "gsm8k",
        r"a\.csv: unknown file type '\.csv'; accepted: \.jsonl, \.json, \.parquet",
    ),
    ("cut gzip", "a.jsonl.gz", NOT_GZIP, "gsm8k", r"a\.jsonl\.gz: the gzip file is cut or damaged"),
    ("cut line", "a.jsonl", lines(SUM)[:-9], "gsm8k", r"line 1: not valid JSON .*Is the file cut"),
    ("cut JSON", "a.json", json.dumps(PASSAGE)[:-9], "drop", r"a\.json: not valid JSON"),
    ("no object", "a.jsonl", "[1]\n", "gsm8k", r"line 1: found \[1\]; accepted: a JSON object"),
    ("cut parquet", "a.parquet", b"PAR1xxxx", "mmlu_pro", r"not a whole parquet file"),
    ("no text", "a.jsonl", b'{"question": "\xff"}\n', "gsm8k", r"line 1: not UTF-8"),
    ("nothing", "a.jsonl", "\n", "gsm8k", r"found no row"),
]


@pytest.mark.parametrize(
    ("name", "content", "benchmark", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_bad_data_are_named_with_file_and_row(
    tmp_path: Path, name: str, content: str | bytes, benchmark: Benchmark, message: str
) -> None:
    with pytest.raises(PackError, match=message) as error:
        read(tmp_path, name, content, benchmark)
    assert str(tmp_path / name) in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"nothing\.jsonl: no such file"):
        questions(tmp_path / "nothing.jsonl", "gsm8k")


# Sizes: the data cards of GSM8K (test) and MMLU-Pro; DROP dev holds 9 536 rows, of which some ask the same.
@pytest.mark.parametrize(
    ("benchmark", "file", "size"),
    [
        ("gsm8k", "gsm8k/test.jsonl", 1319),
        ("mmlu_pro", "mmlu_pro/test.jsonl.gz", 12_032),
        ("drop", "drop/drop_v0_dev.jsonl.gz", 8688),
    ],
)
def test_the_vendors_files_are_read_whole(shared: Path, benchmark: Benchmark, file: str, size: int) -> None:
    assert len(questions(shared / "datasets" / file, benchmark)) == size
