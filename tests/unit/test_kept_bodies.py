"""Bodies beside what was read of them: read anew by other code, found after a crash, and never asked again."""

import gzip
import json
import os
import threading
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.digests import code_digest, code_of, digest
from rcwt.base.keys import SCRUBBED, read_key
from rcwt.base.records import Response, Usage
from rcwt.base.request import Request
from rcwt.calls import ledger
from rcwt.calls.kept_bodies import KeptBody
from rcwt.calls.responses import MOST_UNREAD, UNREADABLE, Found, KeptResponses, ResponseCache
from rcwt.wire import reading
from rcwt.wire.reading import reading_digest
from rcwt.wire.received import Received

REQUEST = Request("vendor", "openai/m", (("user", "Question?"),), {"max_tokens": 64}, "coord_first", 0)
KEY = REQUEST.key
PRICE = ledger.Price.of(0.4, 0.1, 1.6, 0, date(2026, 11, 30))
REPLY = {
    "id": "chat-1",
    "model": "m-served",
    "choices": [{"message": {"content": "A reply – ünïcode."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500},
}
#: What older code might have taken for a reply, and none today does.
FAILURE = {"error": {"message": "upstream failed"}}


def answer(body: Any = REPLY, **changes: Any) -> KeptBody:
    text = body if isinstance(body, str) else json.dumps(body)
    received = Received("openai", 200, {"request-id": "r"}, text, {"max_tokens": 64}, "2026-11-30T00:00:00+00:00", 0.5)
    return KeptBody(replace(received, **changes), 2, PRICE)


RESPONSE = answer().response()


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return ResponseCache(tmp_path / "cache")


def edit(path: Path, **changes: Any) -> None:
    """Change a record as other code would have written it."""
    kept = json.loads(path.read_text())
    kept |= changes
    kept = {name: value for name, value in kept.items() if value is not None}
    path.write_text(json.dumps(kept | {"checksum": digest(kept["response"])}))


def as_older_code_read_it(cache: ResponseCache, **response: Any) -> None:
    """The record of a reader of another time, who read something else."""
    path = cache.path(KEY)
    edit(path, reading="0" * 64, response=json.loads(path.read_text())["response"] | response)


def files(cache: ResponseCache) -> list[str]:
    return sorted(path.name.removeprefix(KEY) for path in cache.path(KEY).parent.iterdir())


def test_a_body_holds_all_that_its_response_is_made_from(cache: ResponseCache) -> None:
    # 1 000 tokens at $0.4 and 500 at $1.6 a million.
    assert (RESPONSE.text, RESPONSE.cost_usd, RESPONSE.attempts) == ("A reply – ünïcode.", 0.0012, 2)
    cache.put(REQUEST, RESPONSE, answer())
    assert files(cache) == [".body.gz", ".json"]
    read, asked = KeptBody.from_bytes(cache.body_path(KEY).read_bytes(), KEY)
    assert read == answer()
    assert read.response() == RESPONSE
    assert asked == json.loads(cache.path(KEY).read_text())["request"] == REQUEST.asked()


@pytest.mark.parametrize("text", ["half \ud83d", "a\u2028b\x00\x1b", "–" * 50_000, ""])
def test_a_body_of_any_text_comes_back(text: str) -> None:
    kept = answer(text)
    assert KeptBody.from_bytes(kept.to_bytes(KEY, {}), KEY)[0] == kept


def test_a_record_of_older_code_is_read_anew_from_its_body_and_written(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    as_older_code_read_it(cache, text="misread", usage=Usage(prompt=1).model_dump(), cost_usd=None)
    before = cache.path(KEY).read_bytes()
    # A plan reads it anew and changes nothing.
    assert KeptResponses(cache).read(KEY) == RESPONSE
    assert cache.path(KEY).read_bytes() == before
    assert cache.get(KEY) == RESPONSE
    assert json.loads(cache.path(KEY).read_text())["reading"] == reading_digest()
    # From now on the record alone is read.
    cache.body_path(KEY).unlink()
    assert cache.get(KEY) == RESPONSE


def test_the_price_of_a_response_is_that_of_its_moment(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    as_older_code_read_it(cache, usage=Usage().model_dump(), cost_usd=None)
    again = cache.get(KEY)
    assert again is not None
    assert (again.cost_usd, again.price_as_of, again.time_utc) == (0.0012, "2026-11-30", RESPONSE.time_utc)


def test_a_response_of_before_bodies_stays_as_it_was_read(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE)
    edit(cache.path(KEY), reading=None)
    before = cache.path(KEY).read_bytes()
    assert cache.get(KEY) == RESPONSE
    assert cache.path(KEY).read_bytes() == before


def test_a_body_alone_is_a_paid_response(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    record = cache.path(KEY).read_bytes()
    cache.path(KEY).unlink()  # as where the machine stopped between the two
    kept = KeptResponses(cache)
    assert KEY in kept
    assert kept.read(KEY) == RESPONSE
    assert not cache.path(KEY).exists()
    assert cache.get(KEY) == RESPONSE
    assert cache.path(KEY).read_bytes() == record


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 900])
def test_a_broken_record_is_read_again_from_its_body(
    cache: ResponseCache, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    cache.path(KEY).write_bytes(damage)
    assert KeptResponses(cache).read(KEY) == RESPONSE
    assert cache.get(KEY) == RESPONSE
    assert "read again from its body" in caplog.text


def damaged(content: bytes) -> list[bytes]:
    other = answer().to_bytes("0" * 64, {})
    fields = json.loads(gzip.decompress(content))
    lacking = [gzip.compress(json.dumps({k: v for k, v in fields.items() if k != name}).encode()) for name in fields]
    wrong = [gzip.compress(json.dumps(fields | {"price": price}).encode()) for price in (None, {}, {"as_of": 3}, "x")]
    flipped = content[:40] + bytes([content[40] ^ 255]) + content[41:]
    return [b"", content[:-9], content[:50], flipped, b"plain", gzip.compress(b"[]"), other, *lacking, *wrong]


def test_a_broken_body_leaves_the_record_as_it_is(cache: ResponseCache, caplog: pytest.LogCaptureFixture) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    whole = cache.body_path(KEY).read_bytes()
    for content in damaged(whole):
        cache.body_path(KEY).write_bytes(content)
        as_older_code_read_it(cache, text="as it was read")
        assert KeptResponses(cache).read(KEY) == RESPONSE.model_copy(update={"text": "as it was read"})
        caplog.clear()
        kept = cache.get(KEY)
        assert kept is not None
        assert kept.text == "as it was read"
        assert "not a whole answer" in caplog.text
    cache.path(KEY).unlink()
    cache.body_path(KEY).write_bytes(whole[:-9])
    assert KEY not in KeptResponses(cache)
    assert cache.get(KEY) is None


def test_what_would_be_a_failure_today_stays_and_is_told_until_it_is_asked_again(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer(FAILURE))
    as_older_code_read_it(cache, text="taken for a reply", finish_reason="error")
    kept = RESPONSE.model_copy(update={"text": "taken for a reply", "finish_reason": "error"})
    assert KeptResponses(cache).failure(KEY) == "error"
    for _ in range(2):
        assert cache.get(KEY) == kept
        assert cache.get(KEY, again=True) is None
        assert KeptResponses(cache).look(KEY) == Found(kept, "error")
    record = cache.path(KEY).read_bytes()
    assert (cache.get(KEY), cache.path(KEY).read_bytes()) == (kept, record)  # it is not written each time
    cache.put(REQUEST, RESPONSE, answer())
    assert cache.get(KEY, again=True) == RESPONSE
    assert KeptResponses(cache).failure(KEY) is None
    # What was asked again is not lost.
    assert files(cache) == [".before-1", ".before-1.body.gz", ".body.gz", ".json"]
    assert json.loads(cache.path(KEY).with_suffix(".before-1").read_text())["response"]["text"] == "taken for a reply"


def test_one_asked_again_is_found_after_a_crash_before_its_record(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer(FAILURE))
    as_older_code_read_it(cache, finish_reason="error")
    cache.get(KEY)
    record = cache.path(KEY).read_bytes()
    cache.put(REQUEST, RESPONSE, answer())
    cache.path(KEY).write_bytes(record)
    assert KeptResponses(cache).failure(KEY) is None
    assert cache.get(KEY, again=True) == RESPONSE


def test_answers_that_cannot_be_read_are_counted_and_found_once_they_can(cache: ResponseCache) -> None:
    for number in range(1, MOST_UNREAD + 1):
        assert KEY not in KeptResponses(cache)
        assert cache.get(KEY) is None
        path = cache.put_unread(REQUEST, answer("<html>"))
        assert path.name == f"{KEY}.unread-{number}.gz"
    assert cache.unread(KEY)[-1] == path
    # No call is made for it any more, unless on request.
    assert KEY in KeptResponses(cache)
    assert KeptResponses(cache).look(KEY) == Found(None, UNREADABLE)
    assert cache.get(KEY) is None
    # As a better reader would find them: one of them holds a reply.
    cache.unread(KEY)[1].write_bytes(answer().to_bytes(KEY, REQUEST.asked()))
    assert KeptResponses(cache).read(KEY) == RESPONSE
    assert cache.get(KEY) == RESPONSE
    assert files(cache) == [".body.gz", ".json", ".unread-1.gz", ".unread-3.gz"]
    assert cache.get(KEY) == RESPONSE


def test_a_cache_that_cannot_be_written_is_read_all_the_same(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    as_older_code_read_it(cache, text="misread")

    def refuse(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(cache, "_write_once", refuse)
    assert cache.get(KEY) == RESPONSE
    assert "could not be written (Read-only file system)" in caplog.text


def test_many_threads_read_the_same_response_anew(cache: ResponseCache) -> None:
    cache.put(REQUEST, RESPONSE, answer())
    as_older_code_read_it(cache, text="misread")
    found: list[Response | None] = []
    threads = [threading.Thread(target=lambda: found.append(cache.get(KEY))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [RESPONSE] * 8
    assert list(cache.folder.rglob("*.part")) == []


def test_the_folder_is_synced_after_the_names_are_there(cache: ResponseCache, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, list[str]]] = []
    sync = os.fsync

    def note(file: int) -> None:
        path = Path(f"/proc/self/fd/{file}").readlink()
        synced.append((path.suffix or "folder", files(cache) if cache.path(KEY).parent.is_dir() else []))
        sync(file)

    monkeypatch.setattr(os, "fsync", note)
    cache.put(REQUEST, RESPONSE, answer())
    # After the folders of the cache: both files, the folder that theirs was made in, and last theirs with both names.
    assert [what for what, _ in synced][-4:] == [".part", ".part", "folder", "folder"]
    assert synced[-1][1] == [".body.gz", ".json"]


def test_no_stage_but_the_reading_of_answers_depends_on_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    # Else an edit of it would run again what has no answer of a server in it: the embedded reader's cells.

    stages = ("reader", "scoring", "run.score_cell", "study.manifest", "published.artifact", "spend.actual")
    for stage in (*stages, "analysis.cells", "trials.audit", "report.summary"):
        assert not code_of(stage) & {"wire.reading", "wire.replies", "calls.responses"}, stage
    assert code_digest("wire.reading") == reading_digest() != code_digest("scoring")


def test_an_answer_in_which_a_key_shows_only_once_it_is_read_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-planted-0123456789abcdef")
    key = read_key("SOME_KEY")
    assert key is not None
    parts = [{"type": "text", "text": f"It is {key[:9]}"}, {"type": "text", "text": f"{key[9:]}."}]
    split = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    escaped = json.dumps(REPLY).replace(
        "A reply", "It is " + "".join(f"\\u{ord(sign):04x}" for sign in key[:4]) + key[4:]
    )
    for body in (split, escaped):
        reply = reading.read(answer(body).received)
        assert SCRUBBED in (reply.text or "")
        assert reply.received is None
    assert reading.read(answer().received).received == answer().received
    # A text that says the words that stand for a key holds none.
    said = json.dumps(REPLY).replace("A reply", f"A {SCRUBBED} reply")
    assert reading.read(answer(said).received).received is not None
