"""Datasets of the hub: pinned, kept, and refused where they are not what was pinned."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import Hub, RunningHub

from rcwt.packs.hub import HubFile, fetch
from rcwt.packs.items import PackError
from rcwt.packs.sources import questions

COMMIT, OTHER = "a" * 40, "b" * 40
ROWS = "".join(json.dumps({"question": f"What is {n} plus 1?", "answer": f"#### {n + 1}"}) + "\n" for n in range(3))
WANTED = HubFile(repo="owner/sums", file="main/test.jsonl", revision=COMMIT)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    running = RunningHub(Hub("owner/sums", COMMIT, {"main/test.jsonl": ROWS.encode()}))
    monkeypatch.setenv("HF_ENDPOINT", running.hub.address)
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    yield running.hub
    running.stop()


def test_a_file_is_fetched_once_with_its_revision_and_licence(hub: Hub, tmp_path: Path) -> None:
    first = fetch(WANTED, offline=False, folder=tmp_path)
    assert (first.repo, first.revision, first.licence, first.kind) == ("owner/sums", COMMIT, "mit", "hub")
    assert len(questions(first.path, "gsm8k")) == 3
    asked = len(hub.requests)
    assert fetch(WANTED, offline=False, folder=tmp_path) == first
    assert fetch(WANTED, offline=True, folder=tmp_path) == first
    assert len(hub.requests) == asked, "a kept file needs no network"


def test_offline_without_a_kept_file_is_refused_saying_so(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"owner/sums .*main/test.jsonl: not fetched yet, and 'offline' is true"):
        fetch(WANTED, offline=True, folder=tmp_path)
    assert hub.requests == []


def test_another_revision_than_the_pinned_is_named(hub: Hub, tmp_path: Path) -> None:
    hub.commit = OTHER
    with pytest.raises(PackError, match=f"the hub gave revision {OTHER}; accepted: the pinned {COMMIT}"):
        fetch(WANTED, offline=False, folder=tmp_path)
    hub.commit = COMMIT
    assert fetch(WANTED, offline=False, folder=tmp_path).revision == COMMIT


def test_a_kept_file_whose_bytes_changed_is_named(hub: Hub, tmp_path: Path) -> None:
    path = fetch(WANTED, offline=False, folder=tmp_path).path
    path.resolve().write_text(ROWS.replace("#### 1", "#### 7"))
    with pytest.raises(
        PackError, match=r"the kept file .*test\.jsonl is changed since it was fetched; accepted: sha256"
    ):
        fetch(WANTED, offline=True, folder=tmp_path)


def test_a_new_pin_is_a_new_fetch(hub: Hub, tmp_path: Path) -> None:
    before = fetch(WANTED, offline=False, folder=tmp_path)
    hub.commit, hub.files["main/test.jsonl"] = OTHER, ROWS.replace("plus", "and").encode()
    after = fetch(WANTED.model_copy(update={"revision": OTHER}), offline=False, folder=tmp_path)
    assert (before.revision, after.revision) == (COMMIT, OTHER)
    assert before.sha256 != after.sha256
    assert fetch(WANTED, offline=True, folder=tmp_path) == before


@pytest.mark.parametrize("wanted", [{"file": "other.jsonl"}, {"repo": "owner/nothing"}])
def test_what_the_hub_does_not_have_is_named(hub: Hub, tmp_path: Path, wanted: dict[str, str]) -> None:
    with pytest.raises(PackError, match=r"cannot be fetched \(.*Correct 'repo', 'file' or 'revision'"):
        fetch(WANTED.model_copy(update=wanted), offline=False, folder=tmp_path)


def test_a_hub_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # its client would wait 23 s between six attempts
    with pytest.raises(PackError, match="cannot be fetched"):
        fetch(WANTED, offline=False, folder=tmp_path)


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ("---\nlicense: cc-by-sa-4.0\n---\n# Sums\n", "cc-by-sa-4.0"),
        ("---\nlicense: [mit, other]\n---\n", "mit, other"),
        ("# Sums\n", None),
        ("---\nlicense: [\n---\n", None),
    ],
)
def test_a_hub_that_serves_files_alone_tells_the_licence_by_the_card(
    hub: Hub, tmp_path: Path, card: str, licence: str | None
) -> None:
    hub.info, hub.files["README.md"] = False, card.encode()
    assert fetch(WANTED, offline=False, folder=tmp_path).licence == licence


def test_a_licence_that_nobody_tells_is_unknown(hub: Hub, tmp_path: Path) -> None:
    hub.info = False
    assert fetch(WANTED, offline=False, folder=tmp_path).licence is None
