"""Kept bodies in real runs: an edit of the reading code asks nothing, what cannot be read is paid thrice at most."""

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from projects import Project
from servers import PREFLIGHTS, Server, configuration, write
from small_disk import fill, small_disk

from rcwt.base.digests import digest
from rcwt.calls.kept_bodies import KeptBody
from rcwt.trials.schema import read_table

TARGET = "results/trials.parquet"
TRIALS = 8  # two cells of four calls
REPLIES = "workflow/rcwt/wire/replies.py"
TEXT = "ProseMirror serves rich text."
WEB_PAGE = {"status": 200, "body": "<html><body>Sign in to the network</body></html>"}
#: In no protocol a reply, though it may be one for all that is known.
NO_REPLY = {"status": 200, "body": "Sign in to go on."}


def run(project: Project, arguments: list[str], *more: str) -> str:
    return project.succeed(TARGET, "--cores", "8", *arguments, *more)


def records(project: Project) -> list[Path]:
    return sorted((project.folder / ".cache/responses").glob("??/*.json"))


def jobs(output: str) -> dict[str, int]:
    return {rule: int(number) for rule, number in re.findall(r"^(\w+)\s+(\d+)$", output, re.MULTILINE)}


def without_bodies(project: Project) -> None:
    """The cache as versions before kept bodies have left it."""
    for record in records(project):
        kept = json.loads(record.read_text())
        kept.pop("reading")
        record.write_text(json.dumps(kept))
        record.with_suffix(".body.gz").unlink()


def make_failure(record: Path) -> None:
    """A response that other code took for a whole one, of an answer that is an error."""
    path = record.with_suffix(".body.gz")
    body, asked = KeptBody.from_bytes(path.read_bytes(), record.stem)
    fields = {**vars(body.received), "body": json.dumps({"error": {"message": "upstream failed"}})}
    path.write_bytes(KeptBody(type(body.received)(**fields), body.attempts, body.price).to_bytes(record.stem, asked))
    kept = json.loads(record.read_text())
    kept["response"]["finish_reason"] = "error"
    kept |= {"reading": "0" * 64, "checksum": digest(kept["response"])}
    record.write_text(json.dumps(kept))


def test_after_an_edit_of_the_reading_code_all_is_read_anew_and_nothing_asked(project: Project, server: Server) -> None:
    server.script(text={"literal": TEXT})
    arguments = write(project.folder, configuration(server))
    run(project, arguments)
    assert len(records(project)) == TRIALS
    server.reset()
    project.edit(REPLIES, lambda text: text.replace("text=text if text else", "text=text.upper() if text else"))
    planned = project.succeed(TARGET, "-n", *arguments)
    assert jobs(planned)["calls"] == jobs(planned)["scores"] == 2
    assert planned.rstrip().splitlines()[-1].startswith(f"spend: 0 calls to make, {TRIALS} cached")
    run(project, arguments)
    assert server.stats()["received"] == 0
    assert set(read_table(project.folder / TARGET)["text"]) == {TEXT.upper()}
    assert "Nothing to be done" in run(project, arguments)


def test_an_edit_of_the_reading_code_leaves_the_embedded_reader_alone(finished: Project) -> None:
    finished.edit(REPLIES, lambda text: text + "\n# edited\n")
    assert finished.plan() == {}


def test_responses_of_before_stay_as_they_were_read_and_are_not_asked_again(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server))
    run(project, arguments)
    before = read_table(project.folder / TARGET)
    without_bodies(project)
    server.reset()
    for name in ("results", ".snakemake"):
        shutil.rmtree(project.folder / name)
    project.edit(REPLIES, lambda text: text.replace("text=text if text else", "text=text.upper() if text else"))
    run(project, arguments)
    assert server.stats()["received"] == 0
    pd.testing.assert_frame_equal(read_table(project.folder / TARGET), before)


def test_what_would_be_a_failure_today_is_told_and_asked_again_on_request(project: Project, server: Server) -> None:
    server.script(text={"literal": TEXT})
    arguments = write(project.folder, configuration(server))
    run(project, arguments)
    make_failure(records(project)[0])
    project.edit(REPLIES, lambda text: text + "\n# edited\n")
    server.reset()
    told = "t: 1 kept responses with the finish word 'error', a failure if they came today; they"
    planned = project.succeed(TARGET, "-n", *arguments)
    assert f"{told} stay as they were read, and --config ask_again=true asks them again" in planned
    assert planned.rstrip().splitlines()[-1].startswith(f"spend: 0 calls to make, {TRIALS} cached")
    assert f"{told} stay as they were read" in run(project, arguments)
    assert server.stats()["received"] == 0
    reasons = read_table(project.folder / TARGET)["finish_reason"].value_counts().to_dict()
    assert reasons == {"stop": TRIALS - 1, "error": 1}
    # On request, of results that are up to date, the one cell is made again.
    again = ["--config", "ask_again=true"]
    planned = project.succeed(TARGET, "-n", *arguments, *again)
    assert jobs(planned)["calls"] == jobs(planned)["scores"] == 1
    assert f"{told} are asked again" in planned
    # One call and its preflight.
    assert planned.rstrip().splitlines()[-1].startswith(f"spend: {1 + PREFLIGHTS} calls to make, 3 cached")
    run(project, arguments, *again)
    assert server.stats()["received"] == PREFLIGHTS + 1
    assert set(read_table(project.folder / TARGET)["finish_reason"]) == {"stop"}
    assert len(list((project.folder / ".cache/responses").glob("??/*.before-1"))) == 1
    server.reset()
    assert "a failure if they came today" not in run(project, arguments)
    assert "a failure if they came today" not in run(project, arguments, *again)
    assert server.stats()["received"] == 0


def test_paid_answers_that_cannot_be_read_are_paid_three_times_at_most(project: Project, server: Server) -> None:
    content = configuration(server)
    content["designs"]["fixed_budget"]["windows"][0]["trials"] = 1
    arguments = write(project.folder, content)
    server.script(sequence=["ok"] * PREFLIGHTS, always=NO_REPLY)
    output = project.refuse(TARGET, "--cores", "8", *arguments)
    assert server.stats()["received"] == PREFLIGHTS + 2 * 3
    assert "unreadable" in output
    unread = sorted((project.folder / ".cache/responses").glob("??/*.unread-*.gz"))
    assert len(unread) == 6
    assert any(str(path.relative_to(project.folder)) in output for path in unread)
    # What is on disk is not paid again, and the plan says so.
    server.reset()
    planned = project.succeed(TARGET, "-n", *arguments)
    assert "t: 2 calls whose paid answers cannot be read; they" in planned
    assert planned.rstrip().splitlines()[-1].startswith("spend: 0 calls to make, 2 cached")
    project.refuse(TARGET, "--cores", "8", *arguments)
    assert server.stats()["received"] == 0
    # Better code may read them,
    project.edit(
        REPLIES,
        lambda text: text.replace(
            "    try:\n        parsed = read_json(body)\n",
            '    if "Sign in" in body:\n        body = \'{"choices": [{"message": {"content": "read"}}]}\'\n'
            "    try:\n        parsed = read_json(body)\n",
            1,
        ),
    )
    run(project, arguments)
    assert server.stats()["received"] == 0
    assert set(read_table(project.folder / TARGET)["text"]) == {"read"}


def test_unreadable_answers_are_asked_again_on_request(project: Project, server: Server) -> None:
    content = configuration(server)
    content["designs"]["fixed_budget"]["windows"][0]["trials"] = 1
    arguments = write(project.folder, content)
    server.script(sequence=["ok"] * PREFLIGHTS, always=NO_REPLY)
    project.refuse(TARGET, "--cores", "8", *arguments)
    server.script(text={"literal": TEXT})
    server.reset()
    run(project, arguments, "--config", "ask_again=true")
    assert server.stats()["received"] == PREFLIGHTS + 2
    assert set(read_table(project.folder / TARGET)["text"]) == {TEXT}
    # Without the request the cells are made again from the cache.
    server.reset()
    run(project, arguments)
    assert server.stats()["received"] == 0


def test_a_web_page_in_place_of_the_preflight_costs_three_calls(project: Project, server: Server) -> None:
    server.script(always=WEB_PAGE)
    output = project.refuse(TARGET, "--cores", "8", *write(project.folder, configuration(server)))
    # Three of the short call; those that measure may have left before the third.
    assert 3 <= server.stats()["received"] <= 3 * PREFLIGHTS
    assert "t: preflight: unreadable" in output


def test_a_web_page_in_place_of_a_reply_is_asked_three_times_by_each_run(project: Project, server: Server) -> None:
    """No code will ever read it, and it passes with whatever stands between here and the model."""
    content = configuration(server)
    content["designs"]["fixed_budget"]["windows"][0]["trials"] = 1
    arguments = write(project.folder, content)
    server.script(sequence=["ok"] * PREFLIGHTS, always=WEB_PAGE)
    project.refuse(TARGET, "--cores", "8", *arguments)
    assert server.stats()["received"] == PREFLIGHTS + 2 * 3
    server.script(text={"literal": TEXT})
    server.reset()
    run(project, arguments)
    assert server.stats()["received"] == PREFLIGHTS + 2


@pytest.mark.parametrize("act", ["events", "raw"])
def test_what_can_be_read_is_paid_once(project: Project, server: Server, act: str) -> None:
    piece: dict[str, Any] = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "ready"}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    bodies = {
        "events": "".join(f"data: {json.dumps(event)}\n\n" for event in (piece, end)) + "data: [DONE]\n\n",
        "raw": '{"choices": [{"message": {"content": "two\nlines\there"}, "finish_reason": "stop"}]}',
    }
    server.script(always={"status": 200, "body": bodies[act]})
    run(project, write(project.folder, configuration(server)))
    assert server.stats()["received"] == TRIALS + PREFLIGHTS
    texts = {"events": "ready", "raw": "two\nlines\there"}
    assert set(read_table(project.folder / TARGET)["text"]) == {texts[act]}


def test_a_disk_that_fills_up_in_a_run_loses_nothing_that_arrived(project: Project, server: Server) -> None:
    content = configuration(server)
    content["designs"]["fixed_budget"]["windows"][0] |= {"trials": 100}
    arguments = write(project.folder, content)
    server.script(latency_s=1.0, text={"literal": "A long reply of many words. " * 100})
    with small_disk(project.folder / ".cache", "24m") as disk:
        process = project.start(TARGET, "--cores", "8", *arguments)
        while server.stats()["received"] < 70:
            assert process.poll() is None, (project.folder / "run.log").read_text()
            time.sleep(0.05)
        fill(disk)
        assert process.wait(timeout=300) != 0
        stats = server.stats()
        output = (project.folder / "run.log").read_text()
        # All that arrived is on disk, the preflight aside. And no more is sent than what was in flight.
        assert stats["received"] == stats["successes"] == len(records(project)) + PREFLIGHTS < 200
        assert "cannot be written" in output
        assert "Make room" in output
        (disk / "filler").unlink()
        server.script()
        server.reset()
        run(project, arguments)
        assert server.stats()["received"] == 200 - (stats["successes"] - PREFLIGHTS) + PREFLIGHTS
        assert list((disk / "responses/.writing").iterdir()) == []


def test_a_full_results_disk_is_told_with_what_to_do(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server, results_dir="disk/results"))
    with small_disk(project.folder / "disk", "4m") as disk:
        fill(disk, leave=60_000)
        output = project.refuse("disk/results/trials.parquet", "--cores", "2", *arguments)
        assert "No space left on device. Make room or allow access there" in output
        assert "Traceback" not in output
        (disk / "filler").unlink()
        project.succeed("disk/results/trials.parquet", "--cores", "2", *arguments)
        assert server.stats()["by_role"]["target"] <= TRIALS + 2 * PREFLIGHTS


def test_a_results_folder_that_cannot_be_made_is_told_before_the_first_job(project: Project, server: Server) -> None:
    arguments = write(project.folder, configuration(server))
    output = project.refuse("/proc/rcwt/manifest.csv", "--cores", "2", *arguments, "--config", "results_dir=/proc/rcwt")
    assert "The run cannot start:\n/proc/rcwt: No such file or directory. Make room or allow access" in output
    assert "Traceback" not in output
