"""Trials and scores for the tests: the paper's per-call files where they are present, and made-up calls."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from rcwt.trials.schema import SCORE_SCHEMA, TRIAL_SCHEMA

SHARED = Path(os.environ.get("RCWT_SHARED", Path(__file__).parents[3] / "shared"))
RESULTS = SHARED / "artifact" / "results"
needs_artifact = pytest.mark.skipif(
    not (RESULTS / "rcwt_controlled.csv").is_file(),
    reason=f"the paper's artifact is not in {SHARED}; set RCWT_SHARED to the folder that holds artifact/",
)
GEMINI, HAIKU, GPT = "gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"
FLOOR_ITEMS = ("crdt_throughput", "mls_rfc")
EFFECTIVE_ITEMS = (
    "three_encryption_options",
    "recommends_option_b",
    "pg_limit",
    "redis_pubsub_rate",
    "redis_streams_latency",
    "prosemirror_richtext",
    "backend_rampup",
    "infra_migration_weeks",
)
#: Share of facts whole in the paper's cut reference at W = 4096 (design, "What the published data say").
CEILING = {0.0: 1, 0.25: 1, 0.5: 1, 0.75: 1, 0.9: 0.625, 0.92: 0.375, 0.94: 0, 0.96: 0, 0.98: 0}
SHARES = list(CEILING)
C = [0, 939, 1879, 2819, 3383, 3458, 3533, 3608, 3683]  # floor(q (4096 - 337))


def paper_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The 27 cells of Table A1 as trials and scores, judge `original`."""
    cliffs = [RESULTS / "cliff_n20" / f"{model}_cliff.csv" for model in (GEMINI, HAIKU, GPT)]
    frames = [pd.read_csv(path) for path in [RESULTS / "rcwt_controlled.csv", *cliffs]]
    rescored = {
        HAIKU: "haiku_judged_by_gpt/rescore_comparison_gpt-4.1-mini.csv",
        GPT: f"gpt_judged_by_haiku/rescore_comparison_{HAIKU}.csv",
    }
    for model, name in rescored.items():
        frame = pd.read_csv(RESULTS / "l2_rescore" / name)
        frames.append(frame.rename(columns=lambda column: column.removeprefix("orig_")).assign(model=model))
    rows = pd.concat(frames, ignore_index=True).to_dict(orient="records")
    calls = [
        {
            "model": row["model"],
            "order": row["order"],
            "q": row["proportion"],
            "trial": row["trial_index"],
            "scores": {name: row[name] for name in EFFECTIVE_ITEMS},
            "floor": {name: row[name] for name in FLOOR_ITEMS},
        }
        for row in rows
    ]
    return tables(calls, source="published", judge="original")


def tables(
    calls: Sequence[Mapping[str, object]], source: str = "simulated", judge: str = "rules"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trials and scores of `calls`: each names q, trial and `scores` (item to 1, 0 or None for no score).

    Optional: model, order, window, pack, status, ceiling, c, judge, `floor` (items that are not effective).
    """
    trials, scores = [], []
    for call in calls:
        q = float(str(call["q"]))
        window = int(str(call.get("window", 4096)))
        c = call.get("c", C[SHARES.index(q)] if window == 4096 and q in SHARES else int(q * window))
        key = {
            "source": source,
            "experiment": call.get("experiment", "fixed_budget"),
            "window": window,
            "model": call.get("model", "m"),
            "order": call.get("order", "coord_first"),
            "pack": call.get("pack"),
            "q": q,
            "trial": call["trial"],
        }
        trials.append(
            {
                **key,
                "kind": "fixed_budget",
                "c": c,
                "u": 337,
                "r": window - 337 - int(str(c)),
                "p": int(str(c)) / window,
                "status": call.get("status", "ok"),
                "headline_judge": judge,
                "ceiling": call.get("ceiling", CEILING.get(q)),
            }
        )
        for effective, name in ((True, "scores"), (False, "floor")):
            items = call.get(name, {})
            assert isinstance(items, Mapping)
            scores += [
                {
                    **key,
                    "judge": call.get("judge", judge),
                    "item": item,
                    "effective": effective,
                    "score": score,
                    "score_status": "judge_unparsed" if score is None else "scored",
                }
                for item, score in items.items()
            ]
    return _typed(trials, TRIAL_SCHEMA.names), _typed(scores, SCORE_SCHEMA.names)


def _typed(rows: list[dict[str, object]], columns: list[str]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=columns)
    kinds = {"score": "Int64", "effective": "boolean", "c": "Int64", "u": "Int64", "r": "Int64"}
    return table.astype({name: kind for name, kind in kinds.items() if name in columns})
