"""The audit sample: who is in it, what a person sees, and what comes back."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from judge_helpers import ITEMS, record

from rcwt.base.spreadsheets import as_text, read_text
from rcwt.scoring.by_human import by_human, sample_id
from rcwt.trials.audit import (
    KEY_COLUMNS,
    SAMPLE_COLUMNS,
    AuditedCell,
    AuditError,
    AuditRow,
    draw,
    read_scored,
    write_rows,
)

REPLY = 'The limit is 8KB; "one" week,\nor so.\r\n= not a formula\u2028end'


def cell(order: str = "coord_first", model: str = "m", q: float = 0.9, trials: int = 4) -> AuditedCell:
    condition = f"fixed_budget_{order}_{q}"
    row = {"condition": condition, "experiment": "fixed_budget", "window": 4096, "order": order, "pack": None, "q": q}
    records = [record(number, f"{REPLY} {number}", condition=condition, model=model) for number in range(trials)]
    records.append(record(trials, None, "empty", condition=condition, model=model))
    return AuditedCell({**row, "trials": trials + 1}, records, ITEMS)


CELLS = [cell(order, model, q) for order in ("coord_first", "reason_first") for model in ("m", "n") for q in (0.5, 0.9)]


def written(rows: list[AuditRow], path: Path, **scores: str) -> Path:
    write_rows([{**row, "score": scores.get(str(row["item"]), "")} for row in rows], SAMPLE_COLUMNS, path)
    return path


def test_every_cell_is_sampled_and_only_its_answers() -> None:
    sample, key = draw(iter(CELLS), per_cell=2, seed=0)
    strata = [(row["model"], row["q"], row["order"]) for row in key]
    assert all(strata.count(stratum) == 2 for stratum in strata)
    assert len(set(strata)) == len(CELLS)
    assert {row["trial"] for row in key} <= {0, 1, 2, 3}
    assert len(sample) == len(key) * len(ITEMS)


def test_a_person_sees_nothing_of_where_a_reply_comes_from() -> None:
    sample, key = draw(iter(CELLS), per_cell=1, seed=0)
    assert {tuple(row) for row in sample} == {SAMPLE_COLUMNS}
    assert {row["score"] for row in sample} == {""}
    assert [row["sample"] for row in key] == sorted(row["sample"] for row in key)
    assert all(row["sample"][0] == "s" and len(row["sample"]) == 13 for row in key)


def test_the_seed_draws_and_a_larger_sample_adds() -> None:
    def names(per_cell: int, seed: int) -> set[str]:
        return {str(row["sample"]) for row in draw(iter(CELLS), per_cell, seed)[1]}

    assert names(1, 0) == names(1, 0)
    assert names(1, 0) != names(1, 1)
    assert names(1, 0) < names(2, 0)
    assert len(names(99, 0)) == 4 * len(CELLS)


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    sample, key = draw(iter(CELLS), per_cell=1, seed=0)
    path = written(sample, tmp_path / "scored.csv", pg_limit="1", ramp_up="0")
    assert read_scored(path, iter(CELLS)) == {row["sample"]: {"pg_limit": 1, "ramp_up": 0} for row in key}
    write_rows(key, KEY_COLUMNS, tmp_path / "key.csv")
    with (tmp_path / "key.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(CELLS)


@pytest.mark.parametrize("spreadsheet", ["excel", "semicolons", "decimals", "extra column", "blank rows"])
def test_what_spreadsheets_do_to_a_file_is_taken(tmp_path: Path, spreadsheet: str) -> None:
    sample, _ = draw(iter(CELLS[:1]), per_cell=1, seed=0)
    right = read_scored(written(sample, tmp_path / "a.csv", pg_limit="1"), iter(CELLS))
    text, out = (tmp_path / "a.csv").read_bytes().decode(), tmp_path / "b.csv"
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if spreadsheet == "excel":
        out.write_text("\ufeff" + text.replace("\r\n", "\n").replace("\n", "\r\n"), newline="")
    elif spreadsheet == "semicolons":
        with out.open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(rows)
    elif spreadsheet == "decimals":
        out.write_text(text.replace('"1"', "1.0"), newline="")
    elif spreadsheet == "extra column":
        with out.open("w", newline="") as file:
            csv.writer(file).writerows([*row, "note"] for row in rows)
    else:
        out.write_text(text + ",,,,\n\n", newline="")
    assert read_scored(out, iter(CELLS)) == right


def refused(path: Path) -> str:
    with pytest.raises(AuditError) as caught:
        read_scored(path, iter(CELLS))
    return str(caught.value)


# The reply holds two line ends beside its own: row 1 of the sample is lines 2 to 4, row 2 begins on line 5.
@pytest.mark.parametrize(
    ("row", "column", "value", "expected"),
    [
        (0, "sample", "s000000000000", [":2:", "'s000000000000'", "a sample id of this run"]),
        (1, "item", "pg_limits", [":5:", "'pg_limits'", "pg_limit, ramp_up"]),
        (1, "item", "pg_limit", [":5:", "as in line 2", "once"]),
        (1, "reply", "Another reply.", [":5:", "'reply'"]),
        (0, "statement", "The limit is 9KB.", [":2:", "'statement'"]),
        (0, "score", "2", [":2:", "'2'", "0, 1 or nothing"]),
        (1, "score", "yes", [":5:", "'yes'"]),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(
    tmp_path: Path, row: int, column: str, value: str, expected: list[str]
) -> None:
    sample, _ = draw(iter(CELLS[:1]), per_cell=1, seed=0)
    rows = [dict(entry) for entry in sample]
    rows[0]["score"] = "1"
    rows[row][column] = value
    write_rows(rows, SAMPLE_COLUMNS, tmp_path / "scored.csv")
    message = refused(tmp_path / "scored.csv")
    for part in ["scored.csv", *expected]:
        assert part in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [":1:", "sample, reply, item, statement, score"]),
        (b"sample,item,score\n", [":1:", "no column reply, statement"]),
        (b"sample,reply,item,statement,score\n", ["no score"]),
        (b"sample,reply,item,statement,score\ns1,x\n", [":2:", "2 cells"]),
        (b'sample,reply,item,statement,score\ns1,"x\n', [":2:", "not a row of CSV"]),
        (b"sample,reply,item,statement,score\ns1,\xff,x,x,1\n", ["UTF-8"]),
    ],
)
def test_a_file_of_another_form_is_named(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    (tmp_path / "scored.csv").write_bytes(content)
    message = refused(tmp_path / "scored.csv")
    for part in ["scored.csv", *expected]:
        assert part in message


def test_a_person_is_a_judge_of_the_sampled_trials_only() -> None:
    one = CELLS[0]
    audit = {sample_id(one.records[1]): {"pg_limit": 1}, sample_id(one.records[2]): {"pg_limit": 0, "ramp_up": 1}}
    scores = by_human(one.records, ITEMS, audit)
    assert [trial.status for trial in scores] == ["not_scored", "scored", "scored", "not_scored", "non_answer"]
    assert [list(trial.items.values()) for trial in scores] == [[None, None], [1, None], [0, 1], [None, None], [0, 0]]
    assert all(trial.judge_keys is None for trial in scores)


def test_equal_replies_of_two_cells_are_two_samples() -> None:
    assert len({sample_id(trial) for one in CELLS for trial in one.records}) == 5 * len(CELLS)


# What OWASP's page on CSV injection lists; a spreadsheet may trim what stands before the sign.
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "=cmd|' /C calc'!A0"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("marks", ["", "'", "''"])
def test_a_reply_that_is_a_formula_is_a_text_in_the_sample(tmp_path: Path, formula: str, marks: str) -> None:
    reply = marks + formula
    cells = [AuditedCell({**CELLS[0].condition, "trials": 1}, [record(0, reply)], ITEMS)]
    sample, _ = draw(iter(cells), per_cell=1, seed=0)
    path = written(sample, tmp_path / "a.csv", pg_limit="1")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["reply"] for row in rows} == {f"'{reply}"}
    assert {read_text(row["reply"]) for row in rows} == {reply}
    right = read_scored(path, iter(cells))
    assert [*right.values()] == [{"pg_limit": 1}]
    # A spreadsheet that takes the apostrophe for its own sign of a text drops it when it saves the file.
    with (tmp_path / "b.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([SAMPLE_COLUMNS, *([*({**row, "reply": reply}.values())] for row in rows)])
    assert read_scored(tmp_path / "b.csv", iter(cells)) == right


_TEXTS = st.text(st.characters(codec="utf-8")) | st.text(st.sampled_from("'=+-@\t\r\n \x00\"a;,＝"), max_size=8)


@given(_TEXTS)
@example("''=")
def test_every_text_comes_back_from_its_cell(text: str) -> None:
    cell = as_text(text)
    assert read_text(cell) == text
    assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    assert cell[:1] not in ("\t", "\r", "\n")
    assert cell in (text, f"'{text}")
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([cell])
    assert read_text(next(csv.reader(io.StringIO(line.getvalue(), newline="")))[0]) == text


@pytest.mark.parametrize("number", [-1, -0.5, 0, 2.5])
def test_a_negative_number_is_no_formula(number: float) -> None:
    assert as_text(number) == number
