"""The importer of the paper's per-call files on files written here: every kind, every refusal.

The artifact itself is in `test_published_artifact.py`.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from rcwt.base.errors import PublishedDataError
from rcwt.published.artifact import import_artifact, with_ceilings
from rcwt.published.kinds import ALGORITHMIC, INTACT, MAIN_ITEMS, PACK, RESCORE, SPEC_RECALL
from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA, read_table

ROOT = Path(__file__).parents[2]
GEMINI, HAIKU, GPT = "gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"
Row = dict[str, object]


def main_row(**cells: object) -> Row:
    """A row of the main task at W = 4096, q = 25 %: c = 939, r = 2820."""
    row: Row = dict.fromkeys(SPEC_RECALL.columns, 0.8) | dict.fromkeys(MAIN_ITEMS, 1)
    row |= {"model": GPT, "provider": "openai", "proportion": 0.25, "order": "coord_first", "trial_index": 0}
    row |= {"coordination_tokens": 939, "reasoning_tokens": 2820, "total_context_tokens": 4096}
    row |= {"input_tokens_used": 4100, "output_tokens_used": 800, "cost_usd": 0.003, "elapsed_ms": 1500}
    return row | cells


def rescored_row(**cells: object) -> Row:
    row: Row = {"proportion": 0.25, "order": "coord_first", "trial_index": 0}
    return row | {name: 1 for name in RESCORE.columns if name not in row} | cells


def intact_row(**cells: object) -> Row:
    row: Row = dict.fromkeys(INTACT.columns, 1)
    row |= {"model": "gemini-2.5-flash", "provider": "google", "target_ratio": 0.75, "order": "reason_first"}
    row |= {"trial_index": 0, "task_tokens": 698, "coordination_tokens": 2094, "output_tokens_used": 137}
    return row | cells


def pack_row(**cells: object) -> Row:
    row: Row = dict.fromkeys(PACK.columns, 1)
    row |= {
        "benchmark": "gsm8k_pack",
        "model": GPT,
        "provider": "openai",
        "item_id": "pack-0",
        "category": "",
    }
    row |= {"proportion": 0.9, "order": "coord_first", "trial_index": 0, "correct": False}
    row |= {"coordination_tokens": 3686, "reasoning_tokens": 410, "score_hits": 1, "score_total": 2}
    return row | {"prediction": json.dumps(["1,200", "7"]), "answer": json.dumps(["1200", "8"])} | cells


def write(path: Path, *rows: Row, header: list[str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def script(folder: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "workflow/scripts/published.py"), "--artifact", str(folder)]
    command += ["--task", str(ROOT / "resources/templates/spec_recall")]
    for name in ("trials", "scores", "files"):
        command += [f"--{name}", str(out / name)]
    return subprocess.run([*command, *more], capture_output=True, text=True, check=False)


BAD_CELLS = [
    ("proportion", "1.0"),
    ("proportion", "-0.25"),
    ("proportion", "nan"),
    ("proportion", ""),
    ("mls_rfc", "2"),
    ("mls_rfc", "0.5"),
    ("mls_rfc", "yes"),
    ("mls_rfc", ""),
    ("order", "middle"),
    ("trial_index", "1.5"),
    ("trial_index", "-1"),
    ("coordination_tokens", "-939"),
    ("coordination_tokens", "93"),
    ("reasoning_tokens", "2820.5"),
    ("total_context_tokens", "3000"),
    ("input_tokens_used", "many"),
    ("output_tokens_used", "-1"),
    ("output_tokens_used", "1e99"),
    ("cost_usd", "free"),
    ("elapsed_ms", ""),
    ("model", " "),
]


@pytest.mark.parametrize(("column", "value"), BAD_CELLS, ids=lambda value: str(value) or "empty")
def test_a_bad_cell_is_named(column: str, value: str, tmp_path: Path) -> None:
    write(tmp_path / "run/main.csv", main_row(), main_row(trial_index=1) | {column: value})
    with pytest.raises(PublishedDataError) as caught:
        import_artifact(tmp_path, {})
    for part in ("run/main.csv", "line 3", f"'{column}'", "found", "accepted"):
        assert part in str(caught.value)


@pytest.mark.parametrize("layout", [SPEC_RECALL, ALGORITHMIC, INTACT, PACK, RESCORE], ids=lambda one: one.name)
def test_every_missing_column_of_a_known_kind_is_named(layout, tmp_path: Path) -> None:
    for missing in set(layout.columns) - {"order", "trial_index"}:
        header = [name for name in layout.columns if name != missing]
        write(tmp_path / "damaged.csv", dict.fromkeys(header, 0))
        with pytest.raises(PublishedDataError, match=rf"damaged\.csv, line 1 .*'{re.escape(missing)}'"):
            import_artifact(tmp_path, {})


def test_half_of_the_items_still_tell_the_kind(tmp_path: Path) -> None:
    # These five names are four of the intact task's eight as well: the other columns say what the file was.
    kept = {"pg_limit", "redis_pubsub_rate", "redis_streams_latency", "backend_rampup", "mls_rfc"}
    header = [name for name in SPEC_RECALL.columns if name not in MAIN_ITEMS or name in kept]
    write(tmp_path / "half.csv", main_row(), header=header)
    with pytest.raises(PublishedDataError, match="of the kind spec_recall without"):
        import_artifact(tmp_path, {})


@pytest.mark.parametrize(("column", "value"), [("score_hits", 3), ("score_hits", 0.5), ("score_total", 0)])
def test_bad_pack_totals(column: str, value: object, tmp_path: Path) -> None:
    write(tmp_path / "pack.csv", pack_row(**{column: value}))
    with pytest.raises(PublishedDataError, match=rf"pack\.csv, line 2 .*'{column}'"):
        import_artifact(tmp_path, {})


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = write(folder / "main.csv", main_row(), main_row(trial_index=1))
        path.write_bytes(change(path.read_bytes()))

    return damage


DAMAGES = {
    "not UTF-8": (_bytes(lambda data: data.replace(b"openai,0.25", b"\xff\xfe,0.25", 1)), "line 2"),
    "too few cells": (_bytes(lambda data: data.rstrip()[:-2]), "line 3"),
    "too many cells": (_bytes(lambda data: data.rstrip() + b",1,1"), "line 3"),
    "column twice": (_bytes(lambda data: data.replace(b"provider", b"model", 1)), "line 1"),
    "open quote": (_bytes(lambda data: data.replace(b"openai", b'"openai', 1)), "line 2"),
    "no rows": (_bytes(lambda data: data.splitlines()[0]), "line 1"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    damage, line = DAMAGES[name]
    damage(tmp_path)
    with pytest.raises(PublishedDataError, match=rf"main\.csv, {line} "):
        import_artifact(tmp_path, {})


def test_marks_ends_and_quotes_of_other_programs_are_read(tmp_path: Path) -> None:
    rows = [main_row(provider="two\r\nlines"), main_row(trial_index="1.0", proportion="0.250")]
    path = write(tmp_path / "main.CSV", *rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\r\n")
    trials = import_artifact(tmp_path, {}).trials
    assert list(trials["trial"]) == [0, 1]
    assert list(trials["line"]) == [2, 4]
    assert trials["q"].eq(0.25).all()


def test_two_rows_for_one_call(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", main_row(), main_row(trial_index=1))
    write(tmp_path / "b.csv", main_row(), main_row(trial_index=2))
    both = import_artifact(tmp_path, {})
    assert len(both.trials) == 3
    assert "1 rows say the same as rows of a.csv" in both.files["reason"].iloc[1]

    write(tmp_path / "b.csv", main_row(trial_index=2), main_row(mls_rfc=0))
    with pytest.raises(PublishedDataError, match=r"b\.csv, line 3 .* of a\.csv, line 2, different in mls_rfc"):
        import_artifact(tmp_path, {})
    (tmp_path / "a.csv").unlink()
    write(tmp_path / "b.csv", main_row(), main_row(elapsed_ms=9))
    with pytest.raises(PublishedDataError, match=r"b\.csv, line 3 .* of b\.csv, line 2, .*latency_s"):
        import_artifact(tmp_path, {})


def test_no_usable_file_says_how_to_give_one(tmp_path: Path) -> None:
    write(tmp_path / "full/summary.csv", {"dataset": "x", "n": 3})
    (tmp_path / "full/empty.csv").touch()
    (tmp_path / "none").mkdir()
    for folder in ("full", "none", "missing", "full/summary.csv"):
        with pytest.raises(PublishedDataError, match="artifact=PATH"):
            import_artifact(tmp_path / folder, {})


# --- all kinds of file together, those too that the public artifact has none of -------------------------


def test_the_whole_artifact_in_small(tmp_path: Path) -> None:
    write(tmp_path / "r/rcwt_controlled.csv", main_row(model=GEMINI), main_row(model=HAIKU))
    # Gemini 2.5 was run at W = 32 768 only, with replies past 1 024 tokens: its cap was another one.
    wide = {"total_context_tokens": 32768, "coordination_tokens": 8107, "reasoning_tokens": 24324}
    flash = [main_row(model="gemini-2.5-flash", trial_index=n, **wide) for n in (0, 1)]
    flash[0]["output_tokens_used"], flash[1]["output_tokens_used"] = 1024, 2466
    write(tmp_path / "r/w32768/gemini25/rcwt_controlled.csv", *flash)
    write(tmp_path / "r/w32768/gpt/rcwt_controlled.csv", main_row(output_tokens_used=1024, **wide))
    write(tmp_path / "r/intact_ablation/rcwt_intact_ablation.csv", intact_row(pg_limit=0))
    write(tmp_path / "r/task3/rcwt_task3.csv", {**main_row(), "kafka_streaming": 1}, header=[
        *[name for name in SPEC_RECALL.columns if name not in MAIN_ITEMS], "kafka_streaming"
    ])  # fmt: skip
    write(tmp_path / "r/rcwt_baseline.csv", main_row(), header=[n for n in main_row() if n != "order"])
    write(tmp_path / "r/w32768_summary.csv", {"model": GPT, "proportion": 0.25, "accuracy": 0.9})
    write(tmp_path / "r/._hidden.csv", main_row(order="none"))
    l2 = tmp_path / "r/l2_rescore"
    write(l2 / "gemini_judged_by_gpt" / f"rescore_comparison_{GPT}.csv", rescored_row())
    write(l2 / "gpt_judged_by_gemini25/rescore_comparison_gemini-2.5-flash.csv", rescored_row(new_pg_limit=0))

    found = import_artifact(tmp_path, {})
    trials, scores, files = found.trials, found.scores, found.files.set_index("file")
    assert set(scores.loc[scores["judge"].eq(GPT), "model"]) == {GEMINI}
    judged = scores[scores["judge"].eq("gemini-2.5-flash")]
    assert set(judged["model"]) == {GPT}
    assert list(judged.loc[judged["score"].eq(0), "item"]) == ["pg_limit"]
    alone = trials[trials["file"].str.contains("gpt_judged_by")].iloc[0]
    assert (alone["c"], alone["u"], alone["r"], alone["status"]) == (939, 337, 2820, "ok")
    assert pd.isna(alone["prompt_tokens"])
    assert pd.isna(alone["cost_usd"])

    cut = trials[trials["window"].eq(32768)].set_index("model")["status"]
    assert cut[GPT] == "truncated"
    assert list(cut["gemini-2.5-flash"]) == ["ok", "ok"]
    intact = trials[trials["experiment"].eq("intact")].iloc[0]
    assert (intact["task"], intact["kind"], intact["window"], intact["r"]) == (
        "spec_recall",
        "intact",
        2792,
        698,
    )
    assert (intact["p"], intact["hits"], intact["possible"]) == (0.75, 7, 8)
    assert intact["headline_judge"] == "rules"

    skipped = files[files["status"].eq("skipped")]["reason"]
    assert list(skipped.index) == ["r/rcwt_baseline.csv", "r/task3/rcwt_task3.csv", "r/w32768_summary.csv"]
    assert "10 of its 10, without the column order" in skipped["r/rcwt_baseline.csv"]
    assert skipped.str.contains("looked for order, trial_index").all()
    assert files["rows"].sum() == 11


def rescored_folder(tmp_path: Path, folder: str = "haiku_judged_by_gpt", **cells: object) -> Path:
    write(tmp_path / "main.csv", main_row(model=HAIKU))
    return write(tmp_path / folder / f"rescore_comparison_{GPT}.csv", rescored_row(**cells))


def test_original_scores_must_agree(tmp_path: Path) -> None:
    rescored_folder(tmp_path, orig_mls_rfc=0)
    with pytest.raises(PublishedDataError, match=r"comparison_.*line 2 .*'orig_mls_rfc'.*at main\.csv, line 2"):
        import_artifact(tmp_path, {})
    # Without the main row the second rescoring file is held to the first.
    (tmp_path / "main.csv").unlink()
    write(tmp_path / "haiku_judged_by_gemini/rescore_comparison_gemini-2.5-flash.csv", rescored_row())
    with pytest.raises(PublishedDataError, match=r"'orig_mls_rfc'.*haiku_judged_by_gemini/.*, line 2"):
        import_artifact(tmp_path, {"haiku": HAIKU})


def test_one_score_a_call_and_judge(tmp_path: Path) -> None:
    path = rescored_folder(tmp_path)
    write(path, rescored_row(), rescored_row())
    assert len(import_artifact(tmp_path, {}).scores) == 20
    write(path, rescored_row(), rescored_row(new_mls_rfc=0))
    with pytest.raises(PublishedDataError, match=r"line 3 .*'new_mls_rfc'.*line 2"):
        import_artifact(tmp_path, {})


def test_names_that_do_not_settle_the_target(tmp_path: Path) -> None:
    rescored_folder(tmp_path)
    write(tmp_path / "more.csv", main_row(model="claude-haiku-3"))
    with pytest.raises(PublishedDataError, match=r"fits claude-haiku-3, claude-haiku-4.*rescore_targets") as caught:
        import_artifact(tmp_path, {})
    assert f"haiku_judged_by_gpt/rescore_comparison_{GPT}.csv" in str(caught.value)
    for key in ("haiku", "haiku_judged_by_gpt"):
        scores = import_artifact(tmp_path, {key: HAIKU}).scores
        assert set(scores.loc[scores["judge"].eq(GPT), "model"]) == {HAIKU}
    shutil.move(tmp_path / "haiku_judged_by_gpt", tmp_path / "haiku_judged_by_gemini")
    with pytest.raises(PublishedDataError, match="one and the same judge"):
        import_artifact(tmp_path, {"haiku": HAIKU})
    shutil.move(tmp_path / "haiku_judged_by_gemini", tmp_path / "other")
    with pytest.raises(PublishedDataError, match=r"rescore_targets.*\{other: <model id>\}"):
        import_artifact(tmp_path, {})


@pytest.mark.parametrize(
    ("alias", "target"), [("gemini", GEMINI), ("gemini2flash", GEMINI), ("haiku", HAIKU), ("gpt", GPT)]
)
def test_rescoring_files_alone_are_of_the_papers_models(tmp_path: Path, alias: str, target: str) -> None:
    # Gemini 2.5 and 2.0 both fit `gemini`; 2.5 is here as a judge and never was a target of the paper.
    write(tmp_path / f"{alias}_judged_by_o3/rescore_comparison_o3.csv", rescored_row())
    write(tmp_path / "haiku_judged_by_gemini25/rescore_comparison_gemini-2.5-flash.csv", rescored_row(trial_index=1))
    write(tmp_path / "pack.csv", pack_row(model="gemini-2.5-flash"))
    found = import_artifact(tmp_path, {})
    assert set(found.scores.loc[found.scores["judge"].eq("o3"), "model"]) == {target}


def test_another_main_model_of_the_same_name_leaves_the_target_open(tmp_path: Path) -> None:
    wide = {"total_context_tokens": 32768, "coordination_tokens": 8107, "reasoning_tokens": 24324}
    write(tmp_path / "w32768.csv", main_row(model="gemini-2.5-flash", **wide))
    write(tmp_path / f"gemini_judged_by_gpt/rescore_comparison_{GPT}.csv", rescored_row())
    with pytest.raises(PublishedDataError, match=r"fits gemini-2\.0-flash, gemini-2\.5-flash.*rescore_targets"):
        import_artifact(tmp_path, {})
    scores = import_artifact(tmp_path, {"gemini": GEMINI}).scores
    assert set(scores.loc[scores["judge"].eq(GPT), "model"]) == {GEMINI}


def test_a_copied_rescoring_file_is_read_by_the_name_that_says_most(tmp_path: Path) -> None:
    path = rescored_folder(tmp_path)
    (tmp_path / "backup").mkdir()
    shutil.copy(path, tmp_path / "backup")
    files = import_artifact(tmp_path, {}).files.set_index("file")
    assert files.loc[f"backup/{path.name}", "status"] == "duplicate"
    (tmp_path / "gemini_judged_by_gpt").mkdir()
    shutil.copy(path, tmp_path / "gemini_judged_by_gpt")
    with pytest.raises(PublishedDataError, match="same bytes"):
        import_artifact(tmp_path, {})


def test_packs_that_do_not_reconcile_keep_their_totals(tmp_path: Path) -> None:
    write(tmp_path / "pack.csv", pack_row(), pack_row(trial_index=1, score_hits=2))
    write(tmp_path / "other.csv", pack_row(benchmark="gsm8k"))
    found = import_artifact(tmp_path, {})
    assert list(found.trials["hits"]) == [1, 2]
    assert set(found.scores["item"]) == {"unattributed_1", "unattributed_2"}
    assert found.scores["score"].sum() == 3
    assert list(found.files["status"]) == ["skipped", "used"]
    assert "line 3" in found.files["reason"].iloc[1]
    write(tmp_path / "pack.csv", pack_row())
    scores = import_artifact(tmp_path, {}).scores.set_index("item")["score"]
    assert scores.to_dict() == {"item_1": 1, "item_2": 0}


def test_ceilings_are_asked_for_once_a_condition(tmp_path: Path) -> None:
    write(tmp_path / "main.csv", main_row(), main_row(trial_index=1))
    asked = []

    def ceiling_of(experiment: str, window: int, c: int, r: int) -> float | None:
        asked.append((experiment, window, c, r))
        return 0.625

    trials = with_ceilings(import_artifact(tmp_path, {}).trials, ceiling_of)
    assert list(trials["ceiling"]) == [0.625, 0.625]
    assert asked == [("fixed_budget", 4096, 939, 2820)]


def test_the_script_writes_all_or_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    write(data / "main.csv", main_row(), main_row(order="middle"))
    for more in ((), ("--rescore-targets", "[1]")):
        failed = script(data, out, *more)
        assert failed.returncode == 1
        assert len(failed.stderr.splitlines()) == 1
        assert not out.exists()
    write(data / "main.csv", main_row(), main_row(order="reason_first"))
    done = script(data, out, "--rescore-targets", '{"gpt": "gpt-4.1-mini"}')
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["files", "scores", "trials"]
    trials, scores = read_table(out / "trials"), read_table(out / "scores")
    assert (list(trials), list(scores)) == (TRIAL_SCHEMA.names, SCORE_SCHEMA.names)
    assert (len(trials), len(scores)) == (2, 20)
    assert trials[["text", "finish_reason", "pack"]].isna().all(axis=None)
    assert (trials["ceiling"] == 1).all()  # at these shares the whole reference is in the prompt
    assert pd.read_csv(out / "files")["sha256"].str.len().eq(64).all()


def test_a_file_name_that_a_spreadsheet_would_calculate_is_listed_as_text(tmp_path: Path) -> None:
    write(tmp_path / "in/rcwt_controlled.csv", main_row())
    write(tmp_path / "in/=1+1.csv", {"model": GPT, "accuracy": 0.9})
    (tmp_path / "out").mkdir()
    assert script(tmp_path / "in", tmp_path / "out").returncode == 0
    listed = pd.read_csv(tmp_path / "out/files")["file"]
    assert sorted(listed) == ["'=1+1.csv", "rcwt_controlled.csv"]
