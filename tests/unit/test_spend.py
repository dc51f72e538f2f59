"""Plan against actual, by hand arithmetic and today's prices."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.errors import StaleResultError
from rcwt.base.records import Response, Usage
from rcwt.calls.preflights import PREFLIGHT_FILE, keep_preflight, read_preflights
from rcwt.spend.actual import COLUMNS, spend_rows, write_spend

PRICE = {"input": "0.1", "cached_input": "0.01", "output": "0.7", "batch_discount": "0", "as_of": "2026-11-01"}
#: Tokens and cap of each call.
PREFLIGHT = [[16, 16], [1035, 16], [1035, 16]]
JUDGED = {"sizes": {"spec_recall": [400, 50]}, "preflight": [[16, 16], [1035, 16]]}
TERMS: dict[str, Any] = {
    "targets": {"paid": {"price": PRICE, "token_factor": 1.19, "preflight": PREFLIGHT, "caps": {"main": 100}}},
    "judges": {"judge": {"price": PRICE, "token_factor": 1, **JUDGED}},
}
MANIFEST = [
    {"experiment": "main", "task": "spec_recall", "scored_by": "judges", "trials": 3, "prompt_tokens": 1000},
    {"experiment": "main", "task": "spec_recall", "scored_by": "judges", "trials": 2, "prompt_tokens": 500},
]


def response(usage: Usage) -> Response:
    content = {**dict.fromkeys(Response.model_fields), "status": "ok", "usage": usage, "sent_params": {}}
    return Response.model_validate(
        {**content, "time_utc": "2026-11-01T00:00:00+00:00", "latency_s": 1, "attempts": 1, "cost_usd": 9}
    )


def test_planned_is_all_and_actual_is_priced_today() -> None:
    trials = [("paid", Usage(prompt=1100, cached=100, completion=30)), ("paid", Usage(prompt=None, completion=None))]
    target, judge, preflight, judges_own = spend_rows(TERMS, MANIFEST, trials, [], [])
    assert (target.calls_planned, target.input_tokens_planned, target.output_tokens_max) == (5, 4000, 500)
    # 3 x (1 190 x 0.1 + 70) + 2 x (595 x 0.1 + 70) = 567 + 259 millionths.
    assert target.usd_worst == Decimal("0.000826")
    assert (target.calls_actual, target.calls_without_usage) == (2, 1)
    assert (target.input_tokens_actual, target.output_tokens_actual) == (1100, 30)
    # 1 000 x 0.1 + 100 x 0.01 + 30 x 0.7 = 122 millionths, whatever the price of the moment was.
    assert target.usd_actual == Decimal("0.000122")
    # 5 replies at their cap of 100: 5 x 500 tokens in, 5 x 50 out.
    assert (judge.calls_planned, judge.input_tokens_planned, judge.output_tokens_max) == (5, 2500, 250)
    assert judge.usd_worst == Decimal("0.000425")
    assert (preflight.role, preflight.calls_planned, preflight.output_tokens_max) == ("preflight", 3, 48)
    assert preflight.input_tokens_planned == 16 + 2 * 1035
    # (20 + 2 x 1 232) x 0.1 + 48 x 0.7 = 282 millionths: 19.04 and 1 231.65 tokens, each rounded up.
    assert preflight.usd_worst == Decimal("0.000282")
    # (16 + 1 035) x 0.1 + 32 x 0.7 = 127.5 millionths.
    assert (judges_own.model, judges_own.role, judges_own.calls_planned) == ("judge", "preflight", 2)
    assert judges_own.usd_worst == Decimal("0.0001275")


def test_preflights_of_this_run_are_found_again(tmp_path: Path) -> None:
    keep_preflight(tmp_path, Path("results/a"), "paid", "short", 16, response(Usage(prompt=10, completion=2)))
    keep_preflight(tmp_path, Path("results/b"), "paid", "short", 16, response(Usage(prompt=99, completion=99)))
    found = read_preflights(tmp_path, Path("results/a/"))
    assert len(found) == 1
    *_, preflight, _ = spend_rows(TERMS, MANIFEST, [], [], found)
    assert (preflight.calls_actual, preflight.usd_actual) == (1, Decimal("0.0000024"))
    assert read_preflights(tmp_path / "nowhere", Path("results/a")) == []


@pytest.mark.parametrize(
    "line", ['{"results_dir": "results/a", "mod', "5", "[]", "{}", "", "\x00", '"usage"', "[" * 9999]
)
def test_a_line_that_is_no_preflight_is_named_and_not_left_out_of_the_sum(tmp_path: Path, line: str) -> None:
    for name in ("a", "b"):
        keep_preflight(tmp_path, Path(f"results/{name}"), "paid", "short", 16, response(Usage(prompt=10, completion=2)))
    with (tmp_path / PREFLIGHT_FILE).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(StaleResultError, match=r"preflights\.jsonl:3: not the line of a preflight.* Delete the line"):
        read_preflights(tmp_path, Path("results/a"))


def test_a_preflight_file_that_is_cut_anywhere_is_refused_or_ends_with_a_line(tmp_path: Path) -> None:
    for name in ("a", "a"):
        keep_preflight(tmp_path, Path(f"results/{name}"), "paid", "short", 16, response(Usage(prompt=10, completion=2)))
    path = tmp_path / PREFLIGHT_FILE
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        try:
            found = len(read_preflights(tmp_path, Path("results/a")))
        except StaleResultError:
            continue
        # What ends with a line is what it was before the next preflight.
        assert found == (1 if end in (first, first + 1) else 2 if end == len(whole) - 1 else None)


def test_the_file_has_the_columns_of_the_contract_and_plain_numbers(tmp_path: Path) -> None:
    write_spend(spend_rows(TERMS, MANIFEST, [], [], []), tmp_path / "spend.csv")
    lines = (tmp_path / "spend.csv").read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert lines[0].startswith(
        "model,role,calls_planned,calls_actual,input_tokens_planned,input_tokens_actual,output_tokens_max,"
        "output_tokens_actual,usd_worst,usd_actual,price_as_of"
    )
    assert lines[1] == "paid,target,5,0,4000,0,500,0,0.000826,0,2026-11-01,0"
