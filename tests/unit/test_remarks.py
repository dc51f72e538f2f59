"""What the summary says of replies that are not what was asked for, and which records say so."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from capped_trials import CAPS, CUT, GOOD, trials
from judge_helpers import record
from main_task import make_trials, reader_cells

from rcwt.base.digests import file_digest
from rcwt.base.records import write_records
from rcwt.report.remarks import remarks
from rcwt.report.summary import WIDTH, summary
from rcwt.scoring.outcomes import CellScores, non_answer, write_scores
from rcwt.trials.aggregation import CellFiles, gather


def test_nothing_is_said_where_all_is_well() -> None:
    assert not list(remarks(trials(GOOD, GOOD | {"other_model": False, "returned_model": "m-2026-01-01"}), CAPS))
    assert not list(remarks(trials(), CAPS))


def test_unknown_words_are_named_with_their_number() -> None:
    unknown = [GOOD | {"status": "unknown_finish", "finish_reason": word} for word in ("moon", "sun", "moon")]
    [(name, said)] = remarks(trials(GOOD, *unknown), CAPS)
    assert name == "unknown finish"
    assert said.startswith("3 replies")
    assert said.endswith("'moon' (2), 'sun' (1)")


def test_models_that_answered_in_the_place_of_the_one_asked_are_named() -> None:
    other = GOOD | {"other_model": True, "returned_model": "gpt-4o-mini"}
    [(name, said)] = remarks(trials(GOOD, other, other), CAPS)
    assert (name, said) == ("another model", "2 of 3 calls were answered by 'gpt-4o-mini' (2)")


def test_replies_cut_before_any_text_come_with_the_remedy() -> None:
    [(_, said)] = remarks(trials(GOOD, CUT), CAPS)
    assert said.startswith("1 of 2 calls. Raise `max_tokens` to 2048")
    # Of calls that no run made there is no cap to raise.
    assert not list(remarks(trials(GOOD, CUT), {}))


def test_a_servers_words_cannot_act_on_a_terminal_or_fill_it() -> None:
    words = ["\x1b[2J\x9b31m\u202e", "x" * 10**5, *(f"word {n}" for n in range(50))]
    said = dict(remarks(trials(*[{"status": "unknown_finish", "finish_reason": word} for word in words]), CAPS))
    text = said["unknown finish"]
    assert text.isprintable()
    assert text.isascii() or set(text) - set(map(chr, range(128))) == {"…"}
    assert len(text) < 600
    assert "and 47 more" in text


def test_the_summary_has_the_remarks_of_each_model(tmp_path: Path) -> None:
    calls = make_trials(tmp_path, "reader")
    calls.loc[:2, ["status", "finish_reason"]] = ["unknown_finish", "moon"]
    calls.loc[3:6, "other_model"] = True
    calls.loc[3:6, "returned_model"] = "another"
    text = summary(calls, [reader_cells()], pd.DataFrame())
    lines = [line.strip() for line in text.splitlines()]
    assert "unknown finish      3 replies ended with a word nobody knows, scored as whole: 'moon' (3)" in lines
    assert "another model       4 of 360 calls were answered by 'another' (4)" in lines
    assert all(len(line) <= WIDTH for line in text.splitlines())


@pytest.mark.parametrize(
    ("requested", "returned", "other"),
    [
        ("openai/gpt-4o", "gpt-4o-2024-08-06", False),
        ("openai/gpt-4o", "gpt-4o-mini", True),
        ("openai/openai/gpt-4o", "openai/gpt-4o", False),
        ("openai/gpt-4o", None, None),
        ("openai/gpt-4o", " ", None),
        ("embedded/reader", "reader", None),
    ],
)
def test_a_trial_says_whether_another_model_answered(
    tmp_path: Path, requested: str, returned: str | None, other: bool | None
) -> None:
    one = record(0, "text", requested_model=requested)
    one = one.model_copy(update={"response": one.response.model_copy(update={"returned_model": returned})})
    files = CellFiles(tmp_path)
    calls, scores = files.calls("m", "c1"), files.scores("rules", "m", "c1")
    for path in (calls, scores):
        path.parent.mkdir(parents=True)
    write_records([one], calls)
    found = (non_answer(one, ()),)
    digests = {"judge_digest": "", "calls_sha256": file_digest(calls)}
    write_scores(CellScores(condition="c1", model="m", judge="rules", scores=found, **digests), scores)
    condition: dict[str, Any] = {
        "condition": "c1",
        "prompt_sha256": "p",
        "trials": 1,
        "scored_by": "rules",
        "pack": None,
    }
    condition |= {"experiment": "main", "window": 4096, "order": "coord_first", "q": 0.0, "ceiling_lenient": 1.0}
    table, _ = gather([condition], files, ["m"], ["rules"], {})
    assert table["other_model"].tolist() == [other]
