"""The response cache: what makes a key, and what a broken file does."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from rcwt.base.records import Response, Usage
from rcwt.base.request import Request
from rcwt.calls.responses import ResponseCache

REQUEST = Request(
    endpoint="vendor",
    model="openai/gpt-4.1-mini",
    messages=(("system", "Reference – ünïcode"), ("user", "Question?")),
    params={"temperature": 0.3, "max_tokens": 1024},
    order="coord_first",
    sample=0,
)
RESPONSE = Response(
    status="ok",
    text="line\u2028separator",
    finish_reason="stop",
    returned_model="m",
    response_id=None,
    system_fingerprint=None,
    usage=Usage(prompt=3, completion=None),
    sent_params={"max_tokens": 1024},
    time_utc="2026-11-29T00:00:00+00:00",
    latency_s=0.5,
    attempts=1,
    cost_usd=None,
    price_as_of=None,
)


def test_the_golden_key() -> None:
    # Computed once outside the package, with json.dumps(sort_keys, no spaces, UTF-8) and hashlib. If it changes,
    # every response that anybody has paid for is lost to the cache.
    import hashlib

    spelled = (
        '{"endpoint":"vendor","messages":[{"content":"Reference – ünïcode","role":"system"},'
        '{"content":"Question?","role":"user"}],"model":"openai/gpt-4.1-mini","order":"coord_first",'
        '"params":{"max_tokens":1024,"temperature":0.3},"sample":0,"version":1}'
    )
    assert REQUEST.key == hashlib.sha256(spelled.encode()).hexdigest()
    assert REQUEST.key == "9142cf0df696e9a0f8abb8a9d095a31732b72bbc83f9bc8a1682d362651f5024"


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://other"},
        {"model": "openai/gpt-4.1"},
        {"messages": (("system", "Reference"), ("user", "Question?"))},
        {"params": {"temperature": 0.31, "max_tokens": 1024}},
        {"params": {"temperature": 0.3, "max_tokens": 1025}},
        {"params": {"temperature": 0.3, "max_tokens": 1024, "seed": 0}},
        {"params": {"max_tokens": 1024}},
        {"order": "reason_first"},
        {"sample": 1},
    ],
)
def test_each_difference_is_another_key(change: dict[str, Any]) -> None:
    assert dataclasses.replace(REQUEST, **change).key != REQUEST.key


def test_a_response_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    assert cache.get(REQUEST.key) is None
    cache.put(REQUEST, RESPONSE)
    assert cache.get(REQUEST.key) == RESPONSE
    assert [path.name for path in tmp_path.rglob("*.json")] == [f"{REQUEST.key}.json"]
    assert list(tmp_path.rglob("*.part")) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other key", "not json"])
def test_a_broken_file_is_set_aside_and_asked_again(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(REQUEST, RESPONSE)
    path = cache.path(REQUEST.key)
    kept = json.loads(path.read_text())
    broken = {
        "cut": path.read_text()[:-40],
        "empty": "",
        "changed": json.dumps(kept | {"response": kept["response"] | {"text": "another"}}),
        "other key": json.dumps(kept | {"key": "0" * 64}),
        "not json": "<html>",
    }[damage]
    path.write_text(broken)
    assert cache.get(REQUEST.key) is None
    assert not path.exists()
    assert str(path) in caplog.text
    assert len(list(path.parent.glob("*.broken-*"))) == 1


def test_the_cache_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RCWT_CACHE", str(tmp_path / "elsewhere"))
    assert ResponseCache().folder == tmp_path / "elsewhere"
    monkeypatch.delenv("RCWT_CACHE")
    assert ResponseCache().folder == Path(".cache/responses")
