"""The intact task's tables, from published-like files and from made-up calls.

Right values: the paper's printed table (`resources/published/intact.csv`); Wilson 0.722 to 1.000 for 10 of 10 (issue
"All experiments"). The public artifact has no files of the intact task, so the test writes one.
"""

import csv
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from rcwt.analysis.cells import POOLED, cells
from rcwt.published.artifact import import_artifact
from rcwt.published.kinds import INTACT, INTACT_ITEMS
from rcwt.report.intact import (
    FULL_COLUMNS,
    PAPER_COLUMNS,
    intact_for_people,
    intact_full,
    intact_table,
    note,
    write_intact,
)
from rcwt.report.printing import as_csv
from rcwt.report.selection import TableError

MODELS = ("gemini-2.5-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini")
#: Paper, ablation: ratio and coordination tokens beside t = 698.
GEOMETRY = {0: 0, 0.5: 698, 0.75: 2094, 0.9: 6282, 0.95: 13262}
Call = tuple[str, float, str, int]


def artifact(folder: Path, wrong: Mapping[Call, tuple[str, ...]] | None = None) -> Path:
    """A folder with one intact file: three models, five ratios, two orders, five trials; `wrong` fields by call."""
    folder.mkdir()
    with (folder / "rcwt_intact_ablation.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, INTACT.columns)
        writer.writeheader()
        for model in MODELS:
            for ratio, c in GEOMETRY.items():
                for order in ("coord_first", "reason_first"):
                    for trial in range(5):
                        missed = (wrong or {}).get((model, ratio, order, trial), ())
                        writer.writerow(
                            {
                                **{"model": model, "provider": "x", "target_ratio": ratio, "order": order},
                                **{"trial_index": trial, "task_tokens": 698, "coordination_tokens": c},
                                **{"prompt_tokens_estimated": c + 702 + (c > 0), "score": 1, "cost_usd": 0.001},
                                **{"input_tokens_used": c + 710, "output_tokens_used": 137, "elapsed_ms": 900},
                                **{item: int(item not in missed) for item in INTACT_ITEMS},
                            }
                        )
    return folder


def full_of(folder: Path) -> pd.DataFrame:
    imported = import_artifact(folder, {})
    table = cells(imported.trials, imported.scores, B=100)
    return intact_full(table, imported.trials, {}, "intact")


def test_the_papers_table_from_calls_that_are_all_right(tmp_path: Path, root: Path) -> None:
    full = full_of(artifact(tmp_path / "a"))
    assert as_csv(intact_table(full)) == (root / "resources/published/intact.csv").read_text(encoding="utf-8")
    pooled = full[full["order"] == POOLED]
    assert len(pooled) == 15
    assert {(round(row.success_low, 3), row.success_high) for row in pooled.itertuples()} == {(0.722, 1.0)}
    assert set(pooled["fields_right"]) == {80}
    # Published data hold no replies and no prompts of ours.
    assert pooled["distinct_replies"].isna().all()
    assert pooled["prompt_tokens_sent"].isna().all()
    assert list(pooled.loc[pooled["model"] == MODELS[0], "prompt_tokens_reported"]) == [
        c + 710 for c in GEOMETRY.values()
    ]


def test_a_wrong_field_spoils_its_call_and_no_other(tmp_path: Path) -> None:
    wrong = {
        (MODELS[2], 0.9, "coord_first", 0): ("pg_limit", "backend_rampup"),
        (MODELS[2], 0.9, "reason_first", 4): ("pg_limit",),
        (MODELS[1], 0.9, "reason_first", 2): INTACT_ITEMS,
    }
    full = full_of(artifact(tmp_path / "a", wrong))
    at = full[(full["q"] == 0.9) & (full["order"] == POOLED)].set_index("model")
    assert at["calls_all_correct"].to_dict() == {MODELS[0]: 10, MODELS[1]: 9, MODELS[2]: 8}
    assert at["fields_right"].to_dict() == {MODELS[0]: 80, MODELS[1]: 72, MODELS[2]: 77}
    # Wilson for 8 of 10, by hand: (0.8 + z²/20 ± z √(0.016 + z²/400)) / (1 + z²/10), z = 1.96.
    assert at.loc[MODELS[2], ["success", "success_low", "success_high"]].tolist() == pytest.approx(
        [0.8, 0.4902, 0.9433], abs=1e-4
    )
    one_order = full[(full["q"] == 0.9) & (full["order"] == "coord_first") & (full["model"] == MODELS[2])].iloc[0]
    assert (one_order["calls"], one_order["calls_all_correct"]) == (5, 4)
    # The paper's column has one number for all models: so many of each one's calls are right.
    assert intact_table(full).rows[3] == ("90", "6282", "6985", "698", "10", "8")


def test_the_table_for_people_has_a_row_a_model_and_ratio(tmp_path: Path) -> None:
    full = full_of(artifact(tmp_path / "a"))
    table = intact_for_people(full)
    assert len(table.rows) == 15
    assert table.rows[0][:3] == (MODELS[1], "0", "0")  # the paper's order; its models first
    assert table.rows[0][5:8] == ("10 of 10", "0.722 to 1.000", "80 of 80")
    assert "published data" in note(full, [])
    # The artifact has no replies, so it cannot be said how many held no object: not 0.
    assert "which held no JSON object is not in the data" in note(full, [])
    assert "Replies without a JSON object" in note(full.assign(source="run"), [])


def test_no_calls_leave_headers_and_say_so(tmp_path: Path) -> None:
    full = pd.DataFrame(columns=FULL_COLUMNS)
    write_intact(full, ["reader"], str(tmp_path / "intact"))
    assert (tmp_path / "intact.csv").read_text() == ",".join(PAPER_COLUMNS) + "\n"
    assert (tmp_path / "intact_full.csv").read_text() == ",".join(FULL_COLUMNS) + "\n"
    assert "nothing to show" in (tmp_path / "intact.md").read_text()


def test_two_prompts_at_one_ratio_are_refused(tmp_path: Path) -> None:
    full = full_of(artifact(tmp_path / "a"))
    full.loc[full["model"] == MODELS[0], "c"] += 1
    with pytest.raises(TableError, match="c is 0, 1 at the ratio 0 %"):
        intact_table(full)


def test_published_rows_get_the_ceiling_of_a_task_that_is_never_cut(tmp_path: Path, root: Path) -> None:
    out = {name: tmp_path / name for name in ("trials", "scores", "files")}
    command = [sys.executable, str(root / "workflow/scripts/published.py"), "--artifact", str(artifact(tmp_path / "a"))]
    command += ["--task", str(root / "resources/templates/spec_recall")]
    command += [part for name, path in out.items() for part in (f"--{name}", str(path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(pd.read_parquet(out["trials"])["ceiling"]) == {1.0}


def test_distinct_replies_and_tokens_of_a_run_are_counted(tmp_path: Path) -> None:
    imported = import_artifact(artifact(tmp_path / "a"), {})
    trials = imported.trials.assign(text=[f"reply {trial % 2}" for trial in imported.trials["trial"]])
    table = cells(trials, imported.scores, B=100)
    sent = {
        (698 + c, order): c + 700 + (order == "reason_first")
        for c in GEOMETRY.values()
        for order in ("coord_first", "reason_first")
    }
    full = intact_full(table, trials, sent, "intact")
    assert set(full["distinct_replies"]) == {2}
    one = full[(full["model"] == MODELS[0]) & (full["q"] == 0.5)].set_index("order")["prompt_tokens_sent"]
    assert one.to_dict() == {"coord_first": 1398, "reason_first": 1399, POOLED: 1399}
