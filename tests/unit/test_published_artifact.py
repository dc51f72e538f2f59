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

from rcwt.base.errors import PublishedDataError
from rcwt.published.artifact import Imported, import_artifact
from rcwt.trials.schema import TRIAL_KEY

SHARED = Path(os.environ.get("RCWT_SHARED", Path(__file__).parents[3] / "shared"))
ARTIFACT = SHARED / "artifact"
pytestmark = pytest.mark.skipif(
    not ARTIFACT.is_dir(), reason=f"the paper's artifact is not at {ARTIFACT} (RCWT_SHARED says where it is)"
)
GEMINI, HAIKU, GPT = "gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"
GEMINI_25 = "gemini-2.5-flash"
SECOND_JUDGES = {(GEMINI, HAIKU), (GEMINI, GPT), (HAIKU, GEMINI_25), (HAIKU, GPT), (GPT, GEMINI_25), (GPT, HAIKU)}
PACKS = ("gsm8k", "mmlu_pro", "drop")
#: shared/README.md: a study of its own, recall from a transcript that is itself the coordination content.
OTHER_STUDY = "results/task3/"


@pytest.fixture(scope="module")
def imported() -> Imported:
    return import_artifact(ARTIFACT, {})


def test_every_call_of_the_artifact_is_there_once(imported: Imported) -> None:
    trials = imported.trials
    counts = trials.groupby(["experiment", "window", "model"]).size().to_dict()
    # shared/README.md: nine shares x 2 orders x 20 trials; at 8 192 five of them; 8 x 2 x 10 in the larger windows;
    # packs 5 packs x 2 orders x 10 trials at 5 shares. Gemini 2.5 stands in for 2.0 at 32 768 and in the packs.
    main, packs = (GEMINI, HAIKU, GPT), (GEMINI_25, HAIKU, GPT)
    assert counts == {
        **{("fixed_budget", 4096, model): 360 for model in main},
        **{("fixed_budget", 8192, model): 200 for model in main},
        **{("fixed_budget", 16384, model): 160 for model in main},
        **{("fixed_budget", 32768, model): 160 for model in packs},
        **{("algorithmic", 4096, model): 200 for model in main},
        **{(pack, 4096, model): 500 for pack in PACKS for model in packs},
    }
    assert not trials.duplicated(TRIAL_KEY).any()
    assert set(trials["source"]) == {"published"}
    # design.md: 1 237 of 2 080 main calls ended at exactly the 1 024-token cap; Gemini 2.5's had another one. The
    # 400 calls that are known from rescoring files alone have no token counts.
    recall = trials[trials["experiment"].eq("fixed_budget")]
    assert recall["status"].isin(["ok", "truncated"]).all()
    newer = recall["model"].eq(GEMINI_25)
    assert recall.loc[newer, "status"].eq("ok").all()
    assert recall.loc[~newer, "completion_tokens"].notna().sum() == 2080
    assert recall["completion_tokens"].isna().sum() == 400
    assert recall["status"].eq("truncated").sum() == 1237


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
    second = imported.scores[~imported.scores["judge"].isin(["original", "rules"])]
    assert set(zip(second["model"], second["judge"], strict=True)) == SECOND_JUDGES
    assert second["window"].eq(4096).all()
    assert second.groupby(["model", "judge"]).size().eq(2000).all()


def test_copies_packs_and_report(imported: Imported) -> None:
    files = imported.files.set_index("file")
    copies = files[files["status"].eq("duplicate")]
    assert list(copies.index) == ["results/cliff_n20/rcwt_controlled.csv", "results/w8192/rcwt_controlled.csv"]
    for original, reason in zip(
        ("cliff_n20/gpt-4.1-mini_cliff", "w8192/gpt-4.1-mini_w8192"), copies["reason"], strict=True
    ):
        assert f"results/{original}.csv" in reason
    skipped = files[files["status"].eq("skipped")]
    assert list(skipped.index) == [name for name in files.index if str(name).startswith(OTHER_STUDY)]
    assert skipped["reason"].str.contains("no per-call kind").all()
    assert skipped["rows"].eq(200).all()
    assert files["status"].value_counts().to_dict() == {"used": 31, "skipped": 3, "duplicate": 2}

    trials = imported.trials
    for cell in pd.read_csv(SHARED / "reference/packs_gpt.csv").itertuples():
        here = trials[trials["experiment"].eq(cell.pack) & trials["q"].eq(cell.q) & trials["model"].eq(cell.model)]
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


CALL_FILES = [
    *("rcwt_controlled.csv", *(f"cliff_n20/{model}_cliff.csv" for model in (GEMINI, HAIKU, GPT))),
    *(f"w8192/{model}_w8192.csv" for model in (GEMINI, HAIKU, GPT)),
    *(f"w16384/{name}/rcwt_controlled.csv" for name in ("gemini", "haiku", "gpt")),
    *(f"w32768/{name}/rcwt_controlled.csv" for name in ("gemini25", "haiku", "gpt")),
    *(f"task2/rcwt_task2_{model}.csv" for model in (GEMINI, HAIKU, GPT)),
    *(f"{pack}_pack/full_{name}/rcwt_{pack}_pack.csv" for pack in PACKS for name in ("gemini25", "haiku", "gpt")),
]


@pytest.mark.parametrize("name", CALL_FILES)
def test_each_files_own_means_are_those_of_its_rows(name: str, imported: Imported) -> None:
    # The files hold each call's mean beside its items: computed by the paper's runner, not by this project.
    rows = pd.read_csv(ARTIFACT / "results" / name)
    here = imported.trials[imported.trials["file"].eq(f"results/{name}")]
    keys = {"q": "proportion", "order": "order", "trial": "trial_index", "model": "model"}
    if "item_id" in rows:
        keys["pack"] = "item_id"
    both = here.merge(rows, left_on=list(keys), right_on=list(keys.values()), suffixes=("", "_file"))
    assert len(both) == len(rows) == len(here)
    means = both["score_fraction"] if "item_id" in rows else both["mean_score_effective"]
    assert (both["hits"] / both["possible"] - means).abs().max() < 1e-3
    assert both["c"].eq(both["coordination_tokens"]).all()
    assert both["r"].eq(both["reasoning_tokens_file"]).all()


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


FILES = sorted(path.relative_to(ARTIFACT) for path in ARTIFACT.rglob("*.csv"))
PARTS = [name for name in FILES if not name.as_posix().startswith(OTHER_STUDY)]


@pytest.mark.parametrize("name", sorted({*FILES} - {*PARTS}), ids=str)
def test_a_file_of_another_study_alone_is_refused_with_its_reason(name: Path, tmp_path: Path) -> None:
    shutil.copy(ARTIFACT / name, tmp_path / name.name)
    with pytest.raises(PublishedDataError, match=f"{name.name}: no per-call kind"):
        import_artifact(tmp_path, {})


@pytest.mark.parametrize("name", PARTS, ids=str)
def test_each_file_alone_serves_too(name: Path, tmp_path: Path, imported: Imported) -> None:
    (tmp_path / name.parent).mkdir(parents=True)
    shutil.copy(ARTIFACT / name, tmp_path / name)
    part = import_artifact(tmp_path, {})
    keys = part.trials.merge(imported.trials, on=TRIAL_KEY, suffixes=("", "_whole"))
    assert len(keys) == len(part.trials) == part.files["rows"].iloc[0]
    for column in ("hits", "raw_hits", "c", "r", "p"):
        assert keys[column].eq(keys[f"{column}_whole"]).all()
