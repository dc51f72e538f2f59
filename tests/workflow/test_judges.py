"""Judges in a real run against a server of models: one that misbehaves, and a person's audit."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from projects import Project, copy_project
from servers import ALL_PREFLIGHTS, JUDGE_PREFLIGHTS, PRICES, Server, api_base, configuration, write

from rcwt.scoring.outcomes import TrialScores, read_scores
from rcwt.trials.schema import read_table

CELLS, TRIALS = 6, 6
IDS = [
    *("crdt_throughput", "mls_rfc", "three_encryption_options", "recommends_option_b", "pg_limit", "redis_pubsub_rate"),
    *("redis_streams_latency", "prosemirror_richtext", "backend_rampup", "infra_migration_weeks"),
]
# A share of the arrivals of each role: a judge's prose falls on first and second asks alike.
SCRIPT = {
    "seed": 3,
    "per": "arrival",
    "strikes": 9,
    "items": IDS,
    "roles": {"judge": "check which statements a reply makes"},
    "faults": [
        {"share": 0.15, "act": "whitespace", "role": "target"},
        {"share": 0.15, "act": "refusal", "role": "target"},
        {"share": 0.15, "act": "truncated", "role": "judge"},
        {"share": 0.45, "act": "judge_prose", "role": "judge"},
    ],
}
TABLES = ("results/scores.parquet", "results/tables/judge_agreement.csv")


@pytest.fixture(scope="module")
def judged(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, dict[str, Any]]]:
    """A run with two judges, and what the server had received at its end. Not to be edited: see `copy`."""
    folder = tmp_path_factory.mktemp("judged")
    server = Server(folder / "server", **SCRIPT)
    try:
        project = copy_project(root, folder / "project")
        entry = {"api_base": api_base(server, "openai"), "endpoint_id": "local", "max_concurrency": 4}
        overlay = {
            "models": ["t"],
            "judges": ["rules", "j"],
            "registry": {name: {"litellm": f"openai/{name}", **entry} for name in "tj"},
            "prices": {name: {"input": 1, "output": 2, "as_of": "2026-11-29"} for name in "tj"},
            "designs": {
                "fixed_budget": {
                    "windows": [{"window": 4096, "shares": [0, 50, 92], "trials": TRIALS}],
                    "params": {"max_tokens": 8192},  # the server's replies are long, and none should be cut
                }
            },
            "bootstrap": {"B": 200, "seed": 0},
        }
        (project.folder / "mine.yaml").write_text(yaml.safe_dump(overlay))
        project.succeed(*TABLES, "--cores", "2", "--configfile", "mine.yaml")
        yield project, server.stats()
    finally:
        server.stop()


@pytest.fixture
def copy(judged: tuple[Project, dict[str, Any]], tmp_path: Path) -> Project:
    shutil.copytree(judged[0].folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def trials(judged: tuple[Project, dict[str, Any]]) -> list[TrialScores]:
    files = sorted((judged[0].folder / "results/scores/j/t").glob("*.json"))
    assert len(files) == CELLS
    return [trial for file in files for trial in read_scores(file).scores]


def test_every_outcome_happens_and_only_readable_replies_score(trials: list[TrialScores]) -> None:
    assert len(trials) == CELLS * TRIALS
    outcomes = Counter((trial.status, len(trial.judge_keys or ())) for trial in trials)
    assert set(outcomes) >= {
        ("scored", 1),
        ("scored", 2),
        ("judge_unparsed", 2),
        ("judge_truncated", 1),
        ("non_answer", 0),
    }, outcomes
    assert ("judge_unparsed", 1) not in outcomes
    for trial in trials:
        allowed = {"scored": {0, 1}, "non_answer": {0}}.get(trial.status, {None})
        assert set(trial.items) == set(IDS)
        assert set(trial.items.values()) <= allowed, trial


def test_a_request_a_judged_response_and_one_a_second_ask(
    judged: tuple[Project, dict[str, Any]], trials: list[TrialScores]
) -> None:
    project, stats = judged
    table = read_table(project.folder / "results/trials.parquet")
    answered = int((table["status"] == "ok").sum())
    assert set(table["status"]) == {"ok", "empty", "refused"}
    again = sum(len(trial.judge_keys or ()) == 2 for trial in trials)
    # Of the judge's preflight the server takes the piece of its questions for one of them.
    assert stats["by_role"]["judge"] == stats["successes_by_role"]["judge"] == answered + again + 1
    assert stats["successes_by_role"]["target"] == len(table) + ALL_PREFLIGHTS + JUDGE_PREFLIGHTS - 1
    keys = [key for trial in trials for key in trial.judge_keys or ()]
    assert len(set(keys)) == len(keys) == answered + again
    assert {path.stem for path in (project.folder / ".cache/responses").rglob("*.json")} >= set(keys)


def test_what_the_judge_said_and_cost_is_kept(trials: list[TrialScores]) -> None:
    for trial in trials:
        asked = len(trial.judge_keys or ())
        assert len(trial.judge_replies or ()) == asked
        assert (trial.judge_cost_usd or 0) == pytest.approx(
            ((trial.judge_prompt_tokens or 0) + 2 * (trial.judge_completion_tokens or 0)) / 1e6
        )
        assert bool(trial.judge_prompt_tokens) is bool(asked)
        assert (trial.judge_fault is None) is (trial.status in {"scored", "non_answer"})


def test_missing_scores_are_missing_in_the_tables(
    judged: tuple[Project, dict[str, Any]], trials: list[TrialScores]
) -> None:
    results = judged[0].folder / "results"
    scores = read_table(results / "scores.parquet")
    scores = scores[scores["judge"] == "j"]
    unscored = scores["score_status"].isin(["judge_unparsed", "judge_truncated"])
    assert unscored.sum() == len(IDS) * sum(trial.status.startswith("judge_") for trial in trials) > 0
    assert (scores["score"].isna() == unscored).all()
    found = pd.read_csv(results / "tables/judge_agreement.csv", dtype={"q": str})
    pooled = found[(found["item"] == "all") & (found["q"] == "all")].iloc[0]
    both = sum(trial.status == "scored" for trial in trials)
    assert (pooled["target"], pooled["orig_judge"], pooled["judge"], pooled["calls"]) == ("t", "rules", "j", both)
    assert pooled[["both1", "o1n0", "o0n1", "both0"]].sum() == 8 * both
    assert set(found["item"]) == {"all", *IDS}


def test_the_judges_code_judges_anew_without_asking(copy: Project) -> None:
    given = ("--configfile", "mine.yaml", "--config", "offline=true")
    copy.edit("workflow/rcwt/scoring/model_judge.py", lambda text: text + "\n# another line\n")
    plan = copy.plan(*given)
    assert (plan.get("calls", 0), plan["scores"]) == (0, 2 * CELLS)  # both judges' cells, from what is on disk
    copy.succeed(TABLES[0], "--cores", "2", *given)


def test_a_persons_sample_becomes_a_judge(copy: Project) -> None:
    given = ("--cores", "2", "--configfile", "mine.yaml")
    copy.succeed("results/audit/sample.csv", *given)
    sample = pd.read_csv(copy.folder / "results/audit/sample.csv", dtype=str)
    key = pd.read_csv(copy.folder / "results/audit/key.csv")
    assert list(sample.columns) == ["sample", "reply", "item", "statement", "score"]
    assert len(sample) == len(IDS) * len(key)
    assert (key.groupby(["model", "q", "order"]).size() == 1).all()
    sample["score"] = (sample["item"] == "pg_limit").astype(int)
    sample.to_csv(copy.folder / "scored.csv", index=False)
    human = ("--config", "judges=[rules, human]", "audit=scored.csv", "offline=true")
    copy.succeed("results/tables/curve_fits.csv", TABLES[1], *given, *human)  # which bear a judge with few scores
    scores = read_table(copy.folder / "results/scores.parquet")
    scores = scores[(scores["judge"] == "human") & (scores["score_status"] == "scored")]
    assert len(scores) == len(sample)
    assert set(scores.loc[scores["score"] == 1, "item"]) == {"pg_limit"}
    joined = scores.merge(key, on=["experiment", "window", "model", "order", "q", "trial"])
    assert len(joined) == len(scores)
    found = pd.read_csv(copy.folder / "results/tables/judge_agreement.csv", dtype={"q": str})
    pooled = found[(found["judge"] == "human") & (found["item"] == "all") & (found["q"] == "all")]
    assert pooled["calls"].item() == len(key)
    sample.loc[0, "score"] = 3
    sample.to_csv(copy.folder / "scored.csv", index=False)
    output = copy.refuse("results/audit/scores.json", *given, *human)
    assert "scored.csv:2: column 'score': found '3'" in output
    assert "Traceback" not in output


def test_a_run_fails_where_too_many_scores_are_missing(project: Project, server: Server) -> None:
    content = configuration(server, judges=["j", "rules"], prices=dict.fromkeys("tj", PRICES))
    content["registry"]["j"] = {**content["registry"]["t"], "litellm": "openai/judge"}
    arguments = write(project.folder, content)
    server.script(
        roles={"judge": "check which statements a reply makes"},
        faults=[{"share": 1.0, "act": "judge_prose", "role": "judge"}],
        strikes=9,
        per="arrival",
    )
    output = project.refuse("results/tables/completeness.csv", "--cores", "2", *arguments)
    assert "max_missing" in output
    for order in ("coord_first", "reason_first"):
        assert f"q90-{order}" in output or order in output
    # Missing is missing: no zero was made of it.
    scores = read_table(project.folder / "results/scores.parquet")
    assert scores.loc[scores["judge"] == "j", "score"].isna().all()
    assert set(scores.loc[scores["judge"] == "j", "score_status"]) == {"judge_unparsed"}
    project.succeed("results/tables/completeness.csv", "--cores", "2", *arguments, "--config", "max_missing=1")
