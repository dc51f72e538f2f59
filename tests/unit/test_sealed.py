"""A file that was cut anywhere, or changed in any byte, is read as what it was or refused by its name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_helpers import record

from rcwt.base.errors import StaleResultError
from rcwt.base.records import planned_records, read_records, write_records
from rcwt.base.sealed import read_csv, read_json, read_rows, seal
from rcwt.scoring.by_human import read_audit_scores
from rcwt.scoring.outcomes import CellScores, TrialScores, read_scores, scores_at, write_scores
from rcwt.study.planned import Planned, planned_of
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, read_table, write_table

ROWS = [{"name": f"cell {number}", "mean": number / 7, "whole": number % 2 == 0} for number in range(6)]
CELL = {
    **{"condition": "e-w9-q50-coord_first", "prompt_sha256": "p", "kind": "fixed_budget", "experiment": "e"},
    **{"window": 9, "order": "coord_first", "pack": "", "q": 0.5, "model": "m", "trials": 2, "judges": {"rules": 4}},
}


def trial_table(trials: int = 2, **other: Any) -> pd.DataFrame:
    shared = {name: CELL[name] for name in ("experiment", "window", "order", "q", "model", "kind")}
    rows = [{"source": "run", **shared, "trial": trial, "text": f"reply {trial}", **other} for trial in range(trials)]
    return pd.DataFrame(rows).reindex(columns=TRIAL_SCHEMA.names)


def score_table(trials: int = 2) -> pd.DataFrame:
    shared = {name: CELL[name] for name in ("experiment", "window", "order", "q", "model")}
    judged = {"source": "run", "judge": "rules", "effective": True, "score": 1, "score_status": "scored"}
    rows = [{**shared, **judged, "trial": trial, "item": item} for trial in range(trials) for item in ("a", "b")]
    return pd.DataFrame(rows).reindex(columns=SCORE_SCHEMA.names)


def cell_scores() -> CellScores:
    scores = tuple(TrialScores(trial=trial, status="scored", items={"a": 1, "b": None}) for trial in range(2))
    return CellScores(condition="c1", model="m", judge="rules", judge_digest="d", calls_sha256="s", scores=scores)


def a_csv(path: Path) -> Callable[[Path], Any]:
    pd.DataFrame(ROWS).to_csv(path, index=False)
    seal(path)
    return lambda file: read_csv(file, ("name", "mean", "whole"), ("name",), ("whole",)).to_dict("records")


def a_parquet(path: Path) -> Callable[[Path], Any]:
    write_table(trial_table(), TRIAL_SCHEMA, path)
    return lambda file: read_table(file, TRIAL_SCHEMA).to_json()


def a_plan(path: Path) -> Callable[[Path], Any]:
    Planned((CELL,)).write(path)
    return lambda file: Planned.read(file).cells


def calls(path: Path) -> Callable[[Path], Any]:
    write_records([record(trial, "a\u2028b \u00e9" * 3) for trial in range(2)], path)
    return lambda file: planned_records(file, "c1", "p", 2)


def scores(path: Path) -> Callable[[Path], Any]:
    write_scores(cell_scores(), path)
    return read_scores


def audited(path: Path) -> Callable[[Path], Any]:
    path.write_text(json.dumps({"s1": {"a": 1, "b": 0}, "s2": {"a": 0}}) + "\n")
    seal(path)
    return read_audit_scores


KINDS = [a_csv, a_parquet, a_plan, calls, scores, audited]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Callable[[Path], Any]]:
    """A file of each kind and its reader; the folder is the model's, as for calls."""
    folder = tmp_path_factory.mktemp("kind") / "m"
    folder.mkdir()
    path = folder / "file"
    return path, request.param(path)


def content_or_error(read: Callable[[Path], Any], path: Path) -> Any:
    """What a reader gives, or its own error; any other error fails the test."""
    try:
        return read(path)
    except StaleResultError as error:
        return error


def same_or_refused(path: Path, read: Callable[[Path], Any], content: bytes, right: Any) -> None:
    path.write_bytes(content)
    found = content_or_error(read, path)
    refused = isinstance(found, StaleResultError) and str(path) in str(found) and "Delete" in str(found)
    assert refused or found == right


def test_a_file_that_is_cut_at_any_byte_is_refused(written: tuple[Path, Callable[[Path], Any]]) -> None:
    path, read = written
    whole, right = path.read_bytes(), read(path)
    for end in {*range(min(len(whole), 600)), *range(max(0, len(whole) - 600), len(whole)), *range(0, len(whole), 97)}:
        same_or_refused(path, read, whole[:end], right)


@pytest.mark.parametrize("kind", [a_csv, a_plan, audited, a_parquet])
def test_a_file_of_which_a_byte_is_another_is_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: Callable[[Path], Callable[[Path], Any]]
) -> None:
    path = tmp_path_factory.mktemp("kind") / "file"
    read = kind(path)
    whole, right = path.read_bytes(), read(path)
    # Of a parquet file the pages with the values: its footer tells only where they are.
    reach = whole.rindex(b"ARROW:schema") // 2 if whole.startswith(b"PAR1") else len(whole)

    @given(st.integers(0, reach - 1), st.integers(1, 255))
    def flipped(place: int, by: int) -> None:
        content = bytearray(whole)
        content[place] ^= by
        same_or_refused(path, read, bytes(content), right)

    flipped()


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_by_each_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    for read in (read_json, read_records, read_scores, read_table, Planned.read, read_audit_scores):
        found = content_or_error(read, path)
        refused = isinstance(found, StaleResultError) and str(path) in str(found)
        assert refused or (read in (read_json, read_audit_scores) and isinstance(found, dict))
    with pytest.raises(StaleResultError):
        read_rows(path, ["condition"])


@pytest.mark.parametrize("read", [read_json, read_records, read_scores, read_table, Planned.read])
def test_a_folder_or_nothing_in_the_place_of_a_file_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(StaleResultError, match="Delete"):
            read(path)


def test_a_table_without_a_seal_is_read_and_one_that_was_changed_is_not(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    read = a_csv(path)
    path.write_text(path.read_text().replace("cell 5,0.7142857142857143,False\n", ""))
    with pytest.raises(StaleResultError, match=r"table\.csv: not the file that was written \(\.table\.csv\.sha256"):
        read(path)
    (tmp_path / ".table.csv.sha256").unlink()
    assert len(read(path)) == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,mean\na,1\n", "columns whole are missing"),
        ("name,mean,whole\na,1\n", "row 2 has 2 fields of 3"),
        ("name,mean,whole\na,one,true\n", "column mean holds other than numbers"),
        ("name,mean,whole\na,1,true", "its last line has no end"),
        ('name,mean,whole\n"a,1,true\n', "not CSV"),
        ("\n", "empty"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(StaleResultError, match=said):
        read_csv(path, ("name", "mean", "whole"), ("name",), ("whole",))


# -- held against the plan


def test_the_planned_trials_and_scores_are_accepted() -> None:
    plan = Planned((CELL,))
    plan.require_trials(trial_table(), "t")
    plan.require_scores(score_table(), "s")
    cells = pd.DataFrame(
        [{**CELL, "judge": "rules", "order": order, "n_planned": 2} for order in ("coord_first", "pooled")]
    )
    plan.require_cells(cells, "tables/fixed_budget_cells.csv")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (trial_table(1), "1 of 1 cells have another number .* e 9 coord_first 0.5 m with 1 of 2"),
        (trial_table(3), "e 9 coord_first 0.5 m with 3 of 2"),
        (trial_table(0), "1 of 1 planned cells are missing, the first is e 9 coord_first 0.5 m"),
        (trial_table(2, model="n"), "are missing, the first is e 9 .* 1 cells are not planned, the first is e 9 .* n"),
        (trial_table(2, pack="pack_1"), "1 cells are not planned, the first is e 9 coord_first pack_1 0.5 m"),
    ],
)
def test_other_trials_than_planned_are_named(table: pd.DataFrame, said: str) -> None:
    with pytest.raises(StaleResultError, match=rf"^results/trials\.parquet: .*{said}.* Delete it"):
        Planned((CELL,)).require_trials(table, "results/trials.parquet")


def test_a_lost_score_is_named() -> None:
    with pytest.raises(StaleResultError, match=r"e 9 coord_first 0\.5 m rules with 3 of 4"):
        Planned((CELL,)).require_scores(score_table().iloc[:-1], "s")


def test_packs_are_pooled_and_every_judge_of_a_share_has_all_its_calls() -> None:
    # Two packs of two calls in one order; the second judge scored the first pack alone.
    packs = [{**CELL, "kind": "packs", "pack": f"pack_{number}"} for number in (1, 2)]
    packs[0] = {**packs[0], "judges": {"rules": 4, "other": 4}}
    rows = [
        {**CELL, "judge": judge, "order": order, "n_planned": 4}
        for judge in ("rules", "other")
        for order in ("coord_first", "pooled")
    ]
    Planned(tuple(packs)).require_cells(pd.DataFrame(rows), "packs_cells.csv")
    with pytest.raises(
        StaleResultError, match=r"1 of 4 planned cells are missing, the first is e 9 0.5 m other pooled"
    ):
        Planned(tuple(packs)).require_cells(pd.DataFrame(rows[:-1]), "packs_cells.csv")


def test_a_table_of_a_kind_that_is_not_planned_has_no_rows() -> None:
    columns = ["experiment", "window", "q", "model", "judge", "order", "n_planned"]
    Planned((CELL,)).require_cells(pd.DataFrame(columns=columns), "intact_cells.csv")


def test_the_cells_of_published_calls_are_those_that_were_read(tmp_path: Path) -> None:
    trials, judged = trial_table(2, source="published", headline_judge="original"), score_table()
    plan = Planned.found(trials, judged)
    plan.write(tmp_path / "planned.json")
    back = planned_of(tmp_path / "planned.json")
    assert back == plan
    assert back is not None
    back.require_trials(trials, "t")
    back.require_scores(judged, "s")
    assert back.cells[0]["judges"] == {"original": 0, "rules": 4}
    with pytest.raises(StaleResultError):
        back.require_trials(trials.iloc[1:], "t")


def test_calls_of_another_cell_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m/c1.jsonl"
    path.parent.mkdir()
    write_records([record(0, "a"), record(1, "b")], path)
    assert len(planned_records(path, "c1", "p", 2)) == 2
    for wrong in (("c2", "p", 2), ("c1", "q", 2), ("c1", "p", 3)):
        with pytest.raises(StaleResultError, match=r"c1\.jsonl: .*run the same command again"):
            planned_records(path, *wrong)
    asked = {"model": "openai/m", "params": {}}
    assert len(planned_records(path, "c1", "p", 2, asked)) == 2
    for other in ({"model": "openai/n"}, {"params": {"temperature": 1}}):
        with pytest.raises(StaleResultError, match=r"c1\.jsonl: asked of openai/m with {}, planned is openai/"):
            planned_records(path, "c1", "p", 2, asked | other)
    (tmp_path / "n").mkdir()
    path.rename(tmp_path / "n/c1.jsonl")
    with pytest.raises(StaleResultError, match="holds trials of c1 on m"):
        planned_records(tmp_path / "n/c1.jsonl", "c1", "p", 2)


def test_scores_in_the_place_of_others_are_refused(tmp_path: Path) -> None:
    right, wrong = tmp_path / "rules/m/c1.json", tmp_path / "rules/m/c2.json"
    right.parent.mkdir(parents=True)
    for path in (right, wrong):
        write_scores(cell_scores(), path)
    assert scores_at(right) == cell_scores()
    with pytest.raises(StaleResultError, match=r"c2\.json: holds the scores of c1 on m by rules"):
        scores_at(wrong)


@pytest.mark.parametrize("content", ['{"s": 1}', '{"s": {"a": 2}}', '{"s": {"a": true}}', '{"s": {"a": null}}', "[]"])
def test_scores_of_a_person_are_0_or_1(tmp_path: Path, content: str) -> None:
    (tmp_path / "scores.json").write_text(content)
    with pytest.raises(StaleResultError, match=r"scores\.json"):
        read_audit_scores(tmp_path / "scores.json")
