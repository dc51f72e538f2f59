"""The paper's own per-call files through the importer, against values recomputed without it.

Right values: `shared/reference/*.csv` (recomputed from the artifact independently) and the numbers stated in
`shared/README.md` and `shared/design.md`.
"""

import csv
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

from rcwt.published import Imported, import_artifact
from rcwt.trials import TRIAL_KEY

SHARED = Path(os.environ.get("RCWT_SHARED", Path(__file__).parents[3] / "shared"))
ARTIFACT = SHARED / "artifact"
pytestmark = pytest.mark.skipif(
    not ARTIFACT.is_dir(), reason=f"the paper's artifact is not at {ARTIFACT} (RCWT_SHARED says where it is)"
)
GEMINI, HAIKU, GPT = "gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"


@pytest.fixture(scope="module")
def imported() -> Imported:
    return import_artifact(ARTIFACT, {})


def test_every_call_of_the_artifact_is_there_once(imported: Imported) -> None:
    trials = imported.trials
    counts = trials.groupby(["experiment", "window", "model"]).size().to_dict()
    assert counts == {
        ("fixed_budget", 4096, GEMINI): 360,
        ("fixed_budget", 4096, HAIKU): 360,
        ("fixed_budget", 4096, GPT): 360,
        ("fixed_budget", 8192, GPT): 200,
        ("fixed_budget", 16384, GPT): 160,
        ("algorithmic", 4096, GPT): 200,
        ("gsm8k", 4096, GPT): 500,
        ("mmlu_pro", 4096, GPT): 500,
        ("drop", 4096, GPT): 500,
    }
    assert not trials.duplicated(TRIAL_KEY).any()
    assert set(trials["source"]) == {"published"}
    # design.md: 554 of the 1 040 main calls in this part ended at exactly the 1 024-token cap. The 400 calls
    # that are known from rescoring files alone have no token counts.
    main = trials[trials["experiment"].eq("fixed_budget")]
    assert main["completion_tokens"].notna().sum() == 1040
    assert main["status"].eq("truncated").sum() == 554
    assert main["status"].isin(["ok", "truncated"]).all()


def test_table_a1_cells(imported: Imported) -> None:
    cells = pd.read_csv(SHARED / "reference/fixed_budget_4096_cells.csv")
    assert len(cells) == 27
    trials = imported.trials
    scores = imported.scores[imported.scores["judge"].eq("original") & imported.scores["effective"]]
    for cell in cells.itertuples():
        here = trials[trials["window"].eq(4096) & trials["model"].eq(cell.model) & trials["q"].eq(cell.q)]
        here = here[here["experiment"].eq("fixed_budget")]
        assert (len(here), here["hits"].sum(), here["possible"].sum()) == (40, cell.hits, cell.possible)
        assert set(zip(here["c"], here["r"], here["u"], here["p"], strict=True)) == {(cell.c, cell.r, 337, cell.p)}
        first = here[here["order"].eq("coord_first")]
        assert (len(first), first["hits"].sum()) == (cell.n_coord_first, cell.hits_coord_first)
        found = scores[scores["window"].eq(4096) & scores["model"].eq(cell.model) & scores["q"].eq(cell.q)]
        assert found["score"].sum() == cell.hits


def _pairs(imported: Imported, target: str, judge: str) -> pd.DataFrame:
    scores = imported.scores[imported.scores["effective"] & imported.scores["model"].eq(target)]
    scores = scores[scores["window"].eq(4096) & scores["experiment"].eq("fixed_budget")]
    wide = scores.pivot(index=["q", "order", "trial", "item"], columns="judge", values="score")
    return wide[["original", judge]].dropna().astype(int).reset_index()


def _four(pairs: pd.DataFrame, judge: str) -> tuple[int, ...]:
    both = list(zip(pairs["original"], pairs[judge], strict=True))
    return tuple(both.count(cell) for cell in ((1, 1), (1, 0), (0, 1), (0, 0)))


def test_rescoring_files_become_second_judges(imported: Imported) -> None:
    for row in pd.read_csv(SHARED / "reference/judge_agreement.csv").itertuples():
        pairs = _pairs(imported, row.target, row.judge)
        if row.q != "all":
            pairs = pairs[pairs["q"].eq(float(row.q))]
        assert len(pairs) == 8 * row.calls
        assert _four(pairs, row.judge) == (row.both1, row.o1n0, row.o0n1, row.both0)
    # The numbers for Haiku judged by GPT, pooled over shares.
    assert _four(_pairs(imported, HAIKU, GPT), GPT) == (1368, 12, 64, 156)


def test_copies_packs_and_report(imported: Imported) -> None:
    files = imported.files.set_index("file")
    copies = files[files["status"].eq("duplicate")]
    assert list(copies.index) == ["results/cliff_n20/rcwt_controlled.csv"]
    assert "results/cliff_n20/gpt-4.1-mini_cliff.csv" in copies["reason"].iloc[0]
    assert len(files) == 14
    assert files["status"].value_counts().to_dict() == {"used": 13, "duplicate": 1}

    trials = imported.trials
    for cell in pd.read_csv(SHARED / "reference/packs_gpt.csv").itertuples():
        here = trials[trials["experiment"].eq(cell.pack) & trials["q"].eq(cell.q)]
        assert (len(here), here["hits"].sum(), here["possible"].sum()) == (
            cell.calls,
            cell.hits,
            cell.possible,
        )
        assert set(zip(here["c"], here["r"], here["p"], strict=True)) == {(cell.c, cell.r, cell.p)}
        assert here["pack"].nunique() == 5
        assert here["u"].isna().all()
    packs = imported.scores[imported.scores["pack"].notna()]
    assert set(packs["item"]) == {f"item_{n}" for n in range(1, 11)}


def test_scores_sum_to_each_trial_and_rows_are_where_they_say(imported: Imported) -> None:
    headline = imported.scores[imported.scores["judge"].isin(["original", "rules"])]
    sums = headline.groupby(TRIAL_KEY, dropna=False)["score"].agg(["sum", "size"]).reset_index()
    joined = imported.trials.merge(sums, on=TRIAL_KEY, validate="one_to_one")
    assert len(joined) == len(imported.trials)
    assert joined["sum"].eq(joined["raw_hits"]).all()
    assert joined["size"].eq(joined["raw_possible"]).all()

    for name, rows in imported.trials.groupby("file"):
        lines = (ARTIFACT / str(name)).read_text().splitlines()
        header = next(csv.reader(lines[:1]))
        for row in rows.head(3).itertuples():
            cells = dict(zip(header, next(csv.reader([lines[row.line - 1]])), strict=True))
            assert (float(cells["proportion"]), cells["order"], int(cells["trial_index"])) == (
                row.q,
                row.order,
                row.trial,
            )
            if "model" in cells:
                assert row.model == cells["model"]
                assert row.prompt_tokens == int(cells["input_tokens_used"])
                assert row.latency_s == float(cells["elapsed_ms"]) / 1000
                assert row.cost_usd == float(cells["cost_usd"])


PARTS = sorted(path.relative_to(ARTIFACT) for path in ARTIFACT.rglob("*.csv"))


@pytest.mark.parametrize("name", PARTS, ids=str)
def test_each_file_alone_serves_too(name: Path, tmp_path: Path, imported: Imported) -> None:
    (tmp_path / name.parent).mkdir(parents=True)
    shutil.copy(ARTIFACT / name, tmp_path / name)
    part = import_artifact(tmp_path, {"gemini": GEMINI, "gpt": GPT, "haiku": HAIKU})
    keys = part.trials.merge(imported.trials, on=TRIAL_KEY, suffixes=("", "_whole"))
    assert len(keys) == len(part.trials) == part.files["rows"].iloc[0]
    for column in ("hits", "raw_hits", "c", "r", "p"):
        assert keys[column].eq(keys[f"{column}_whole"]).all()
