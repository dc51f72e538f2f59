"""The plan against hand arithmetic: one window, two shares, both orders, three trials; prompts of the real task."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.digests import digest
from rcwt.base.reasoning import USUAL
from rcwt.base.records import Response, Usage
from rcwt.base.request import Request
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.requests import records
from rcwt.calls.responses import MOST_UNREAD, ResponseCache
from rcwt.config.schema import Config
from rcwt.run.run_plan import stale_lines
from rcwt.spend import plan
from rcwt.spend.asked_again import asked_again, notes
from rcwt.spend.plan import PlannedCells, Planner
from rcwt.study.study import Study
from rcwt.wire.reading import reading_digest
from rcwt.wire.received import Received

#: 4 conditions x 3 trials; prompt tokens are given, so that dollars can be reckoned by hand.
TOKENS = 1000
CONFIG: dict[str, Any] = {
    "models": ["paid", "reader"],
    "judges": ["rules", "judge"],
    "experiments": ["main"],
    "designs": {
        "main": {
            "task": "spec_recall",
            "windows": [{"window": 4096, "shares": [0, 50], "trials": 3}],
            "params": {"temperature": 0.3, "max_tokens": 100},
        }
    },
    "registry": {
        "paid": {"litellm": "openai/paid", "token_factor": 1.19},
        "judge": {"litellm": "openai/judge", "token_factor": 1.5},
        "reader": {"litellm": "embedded/reader", "token_factor": 1.0},
    },
    "prices": {
        "paid": {"input": 0.1, "cached_input": 0.01, "output": 0.7, "as_of": "2026-11-01"},
        "judge": {"input": 1, "output": 10, "as_of": "2026-11-02"},
        "reader": {"input": 0, "output": 0, "as_of": "2026-11-03"},
    },
}


@pytest.fixture
def study(root: Path) -> Study:
    return Study(Config.model_validate(CONFIG), root / "resources/templates")


@pytest.fixture
def planner(study: Study, tmp_path: Path) -> Planner:
    return Planner(study, ResponseCache(tmp_path), dict.fromkeys(study.conditions, TOKENS))


def response(completion: int | None, text: str = "A reply.", status: str = "ok") -> Response:
    return Response.model_validate(
        {
            **dict.fromkeys(Response.model_fields),
            **{"status": status, "text": text, "usage": Usage(prompt=7, completion=completion), "sent_params": {}},
            **{"time_utc": "2026-11-01T00:00:00+00:00", "latency_s": 1, "attempts": 1},
        }
    )


def keep(planner: Planner, condition: str, model: str, sample: int, kept: Response) -> str:
    request = replace(planner.requests(condition, model)[0], sample=sample)
    planner.kept.cache.put(request, kept)
    return request.key


def rows_by(rows: list[plan.PlanRow]) -> dict[tuple[str, str], plan.PlanRow]:
    return {(row.model, row.role): row for row in rows}


def test_an_empty_cache(planner: Planner, study: Study) -> None:
    rows = planner.rows(PlannedCells.everything(study))
    by = rows_by(rows)
    assert [(row.experiment, row.model, row.role) for row in rows] == [
        ("main", "paid", "target"),
        ("main", "reader", "target"),
        ("main", "judge", "judge"),
        (None, "paid", "preflight"),
        (None, "judge", "preflight"),
    ]
    target = by["paid", "target"]
    assert (target.calls, target.cached_calls) == (12, 0)
    assert (target.input_tokens, target.output_tokens_expected, target.output_tokens_max) == (12_000, 1200, 1200)
    # Expected: 12 000 x 0.1 + 1 200 x 0.7 = 2 040 millionths. At most: 12 x (1 190 x 0.1 + 100 x 0.7) = 2 268.
    assert target.usd_expected == Decimal("0.00204")
    assert target.usd_worst == Decimal("0.002268")
    reader = by["reader", "target"]
    assert (reader.calls, reader.usd_expected, reader.usd_worst) == (12, 0, 0)
    # One a trial and target, of a reply at its cap of 100 tokens.
    judge = by["judge", "judge"]
    frame = plan.judge_frame(study, next(iter(study.conditions)), "judge")
    assert (judge.calls, judge.input_tokens) == (24, 24 * (frame.tokens + 100))
    assert judge.output_tokens_max == judge.output_tokens_expected == 24 * frame.cap
    assert judge.usd_worst == 24 * (Decimal(-(-(frame.tokens + 100) * 3 // 2)) + frame.cap * 10) / 1_000_000
    # "This is a test." and "Reply with the single word: ready" are 5 and 7 tokens of cl100k_base, and 2 for each
    # message; then pieces of 1 024 and 1 023 tokens in the place of the first. The cap is 16.
    preflight = by["paid", "preflight"]
    assert (preflight.calls, preflight.input_tokens, preflight.output_tokens_max) == (3, 16 + 1035 + 1034, 48)
    # 16, 1 035 and 1 034 x 1.19, each rounded up: (20 + 1 232 + 1 231) x 0.1 + 48 x 0.7 = 281.9 millionths.
    assert preflight.usd_worst == Decimal("0.0002819")


def test_what_is_cached_is_not_asked_and_gives_the_expected_length(planner: Planner, study: Study) -> None:
    first, *_ = study.conditions
    for sample, completion in enumerate((10, 25, None)):
        keep(planner, first, "paid", sample, response(completion))
    row = rows_by(planner.rows(PlannedCells.everything(study)))["paid", "target"]
    assert (row.calls, row.cached_calls, row.output_tokens_max) == (9, 3, 900)
    # The mean of 10 and 25 is 17.5; 9 x 17.5 = 157.5, rounded half up. A missing length is not a zero.
    assert row.output_tokens_expected == 158
    assert row.usd_expected == Decimal("0.0010106")  # 9 000 x 0.1 + 158 x 0.7 = 1 010.6 millionths


def test_only_the_cells_asked_for(planner: Planner, study: Study) -> None:
    first, second, *_ = study.conditions
    for sample in range(3):
        keep(planner, first, "paid", sample, response(40))
    rows = planner.rows(PlannedCells(((second, "paid"),)))
    # Expected from the whole configuration's cache, calls from the cell alone.
    assert [(row.role, row.calls, row.output_tokens_expected) for row in rows] == [
        ("target", 3, 120),
        ("preflight", 3, 48),
    ]
    [row] = planner.rows(PlannedCells(((first, "paid"),)))
    assert (row.calls, row.cached_calls, row.usd_worst) == (0, 3, 0)
    assert planner.rows(PlannedCells()) == []


def test_a_request_that_two_models_share_is_made_once(root: Path, tmp_path: Path) -> None:
    shared = json.loads(json.dumps(CONFIG))
    shared["models"], shared["judges"] = ["paid", "twin"], ["rules"]
    shared["registry"]["twin"] = shared["registry"]["paid"]
    shared["prices"]["twin"] = shared["prices"]["paid"]
    study = Study(Config.model_validate(shared), root / "resources/templates")
    rows = plan.plan(study, PlannedCells.everything(study), ResponseCache(tmp_path))
    assert [(row.model, row.role, row.calls, row.cached_calls) for row in rows] == [
        ("paid", "target", 12, 0),
        ("twin", "target", 0, 12),
        ("paid", "preflight", 3, 0),
    ]


def test_a_judge_is_not_asked_about_what_holds_no_answer(planner: Planner, study: Study) -> None:
    first, *_ = study.conditions
    keep(planner, first, "paid", 0, response(5, "", "empty"))
    keep(planner, first, "paid", 1, response(5, "I can't.", "refused"))
    keep(planner, first, "paid", 2, response(5, "Redis Streams take 5 ms."))
    rows = rows_by(planner.rows(PlannedCells(judged=((first, "paid", "judge"),))))
    assert {key: (row.calls, row.cached_calls) for key, row in rows.items()} == {
        ("judge", "judge"): (1, 0),
        ("judge", "preflight"): (2, 0),
    }


def test_the_line(planner: Planner, study: Study) -> None:
    rows = planner.rows(PlannedCells(((next(iter(study.conditions)), "paid"),)))
    # 3 000 + 2 085 and 3 x 100 + 48 tokens; expected 510 + 242.1 and at most 567 + 281.9 millionths, rounded up.
    assert plan.line(rows) == "spend: 6 calls to make, 0 cached, 5085/348 tokens, $0.0008 expected, $0.0009 at most"
    assert plan.line([]) == "spend: 0 calls to make, 0 cached, 0/0 tokens, $0.0000 expected, $0.0000 at most"


def test_the_cap_refuses_above_the_worst_case_and_not_at_it(planner: Planner, study: Study) -> None:
    rows = planner.rows(PlannedCells(((next(iter(study.conditions)), "paid"),)))
    assert plan.worst_case(rows) == Decimal("0.0008489")
    assert plan.refusal(rows, 0.0008489) is None
    reason = plan.refusal(rows, 0.0008488)
    assert reason is not None
    for part in ("max_usd", "$0.0009", "paid (target): 3 calls", "paid (preflight): 3 calls", "on_cap: stop", "trials"):
        assert part in reason


def test_keys_of_samples_are_those_of_requests() -> None:
    # Texts that look like the number itself do not mislead it.
    awkward = Request("e", "m", (("user", 'a "sample":0 b'),), {"sample": 0, "z": '"sample":0'}, '"sample":0', 0)
    assert awkward.sample_keys([0, 1, 12]) == [replace(awkward, sample=number).key for number in (0, 1, 12)]


def test_planning_changes_nothing_in_the_cache(planner: Planner, study: Study) -> None:
    first, *_ = study.conditions
    key = keep(planner, first, "paid", 0, response(5))
    file = planner.kept.cache.path(key)
    file.write_text("{")
    before = sorted(planner.kept.cache.folder.rglob("*"))
    [row] = [row for row in planner.rows(PlannedCells(((first, "paid"),))) if row.role == "target"]
    assert row.cached_calls == 1  # the file is there; a run would find it broken and ask again
    assert sorted(planner.kept.cache.folder.rglob("*")) == before


def respelled(study: Study, **params: Any) -> Study:
    """The same study with other parameters of its design."""
    design = study.config.designs["main"]
    changed = design.model_copy(update={"params": {**design.params, **params}})
    return Study(study.config.model_copy(update={"designs": {"main": changed}}), study.templates)


def test_what_is_kept_under_another_spelling_is_not_asked_again_nor_judged_again(study: Study, tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    study = respelled(study, temperature=1)
    first, *_ = study.conditions
    before = Planner(study, cache, dict.fromkeys(study.conditions, TOKENS))
    # As they were kept when 1.0 was spelled as it stood in the configuration; the judge's request names that key.
    target = before.requests(first, "paid")[0]
    former = target.sample_keys([0], {**target.params, "temperature": 1.0})[0]
    assert former != target.key
    target.adopt(former)
    cache.put(target, response(5))
    judge = plan.judge_frame(study, first, "judge").request(former, "A reply.")
    cache.put(judge, response(5, "{}"))
    for temperature in (1, 1.0):
        spelled = respelled(study, temperature=temperature)
        rows = rows_by(plan.plan(spelled, PlannedCells(((first, "paid"),), ((first, "paid", "judge"),)), cache))
        assert (rows["paid", "target"].calls, rows["paid", "target"].cached_calls) == (2, 1)
        assert (rows["judge", "judge"].calls, rows["judge", "judge"].cached_calls) == (2, 1)
        # A run goes by the key that the response is kept under: in the cell's record, and so with the judge.
        [request, *_] = asked = [replace(spelled_request(spelled, first), sample=sample) for sample in range(3)]
        cache.locate(asked)
        assert (request.key, cache.get(request.key)) == (former, response(5))
        prompt = {"condition": first, "prompt_sha256": "0" * 64}
        assert records(prompt, "paid", [request], [response(5)], USUAL)[0].request_key == former


def spelled_request(study: Study, condition: str) -> Request:
    return Planner(study, ResponseCache(Path("nowhere"))).requests(condition, "paid")[0]


def test_stale_responses_are_planned_anew_and_named(study: Study, tmp_path: Path) -> None:
    study = respelled(study, reasoning_effort="low")
    cache = ResponseCache(tmp_path)
    first, *_ = study.conditions
    planner = Planner(study, cache, dict.fromkeys(study.conditions, TOKENS))
    for sample, effort in enumerate(["low", "high", "high"]):
        kept = response(40).model_copy(update={"sent_params": {"reasoning_effort": effort}})
        keep(planner, first, "paid", sample, kept)
    row = rows_by(planner.rows(PlannedCells(((first, "paid"),))))["paid", "target"]
    assert (row.calls, row.cached_calls, row.input_tokens) == (2, 1, 2 * TOKENS)
    [line] = stale_lines(planner)
    for part in ("paid: 2 kept responses are stale", 'sent reasoning_effort: "high" for reasoning_effort: "low"'):
        assert part in line
    # The others are not read, and nothing is said of them.
    plain = Planner(respelled(study, reasoning_effort=None), cache, dict.fromkeys(study.conditions, TOKENS))
    plain.rows(PlannedCells(((first, "paid"),)))
    assert stale_lines(plain) == []


def make_failure(cache: ResponseCache, key: str) -> None:
    """A kept response with a record that says it would be a failure today."""
    kept = json.loads(cache.path(key).read_text())
    kept["response"]["finish_reason"] = "error"
    kept |= {"checksum": digest(kept["response"]), "reading": reading_digest(), "failure": "error"}
    cache.path(key).write_text(json.dumps(kept))


def test_what_would_be_a_failure_today_is_cached_and_told_or_asked_again_on_request(
    planner: Planner, study: Study, root: Path
) -> None:
    first, *_ = study.conditions
    cells = PlannedCells(((first, "paid"),), ((first, "paid", "judge"),))
    frame = plan.judge_frame(study, first, "judge")
    cache, text, keys, judged = planner.kept.cache, "Redis Streams take 5 ms.", [], []
    for sample in range(3):
        keys.append(keep(planner, first, "paid", sample, response(5, text)))
        asked = frame.request(keys[-1], text)
        cache.put(asked, response(5, "{}"))
        judged.append(asked.key)
    make_failure(cache, keys[0])
    make_failure(cache, judged[1])
    rows = rows_by(planner.rows(cells))
    assert {key: (row.calls, row.cached_calls) for key, row in rows.items()} == {
        ("paid", "target"): (0, 3),
        ("judge", "judge"): (0, 3),
    }
    assert planner.failing == {("paid", "error"): 1, ("judge", "error"): 1}
    assert [line.partition(":")[0] for line in notes(planner)] == ["judge", "paid"]
    assert all("ask_again=true asks them again" in line for line in notes(planner))
    assert asked_again(planner, first, "paid") == asked_again(planner, first, "paid", "judge") == ""

    asking = Study(Config.model_validate({**CONFIG, "ask_again": True}), root / "resources/templates")
    planner = Planner(asking, cache, dict.fromkeys(study.conditions, TOKENS))
    rows = rows_by(planner.rows(cells))
    # The judge is asked about the reply that is asked for again, and again about another.
    assert {key: (row.calls, row.cached_calls) for key, row in rows.items()} == {
        ("paid", "target"): (1, 2),
        ("judge", "judge"): (2, 1),
        ("paid", "preflight"): (3, 0),
        ("judge", "preflight"): (2, 0),
    }
    assert asked_again(planner, first, "paid") == keys[0]
    assert asked_again(planner, first, "paid", "judge") == judged[1]
    assert asked_again(planner, first, "paid", "rules") == asked_again(planner, first, "reader") == ""


def test_paid_answers_that_cannot_be_read_are_no_calls_to_make(planner: Planner, study: Study) -> None:
    first, *_ = study.conditions
    received = Received("openai", 200, {}, "<html>", {}, "2026-11-30T00:00:00+00:00", 0.5)
    body = KeptBody(received, 1, planner.terms("paid").price)
    for sample, answers in enumerate((MOST_UNREAD, MOST_UNREAD - 1)):
        request = replace(planner.requests(first, "paid")[0], sample=sample)
        for _ in range(answers):
            planner.kept.cache.put_unread(request, body)
    row = rows_by(planner.rows(PlannedCells(((first, "paid"),))))["paid", "target"]
    assert (row.calls, row.cached_calls) == (2, 1)
    [told] = notes(planner)
    assert told.startswith(
        "paid: 1 calls whose paid answers cannot be read; they stay as they were read, and --config "
    )
