"""Benchmark packs through the real `snakemake`: a small run, what an edit reruns, and data that stop it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hub_server import Hub, RunningHub
from projects import Project, copy_project
from servers import Server, configuration, write

COMMIT = "c" * 40
#: Two packs of three questions at two shares in two orders: eight cells of two calls.
WINDOW = {"window": 1024, "shares": [0, 75], "trials": 2}


def overlay(**design: Any) -> dict[str, Any]:
    small = {"packs": 2, "items": 3, "windows": [WINDOW], **design}
    return {"experiments": ["gsm8k"], "designs": {"gsm8k": small}, "bootstrap": {"B": 200}}


def vendor_file(path: Path, changed: int | None = None, rows: int = 6) -> Path:
    """Six questions in the vendor's form; the text of one may be `changed`."""
    lines = [
        {"id": f"q{n}", "question": f"What is {n} plus 1{'?' if n == changed else ''}?", "answer": f"#### {n + 1}"}
        for n in range(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def small(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[str]]:
    project = copy_project(root, tmp_path_factory.mktemp("packs") / "project")
    vendor_file(project.folder / "data.jsonl")
    arguments = write(project.folder, overlay(source="path", path="data.jsonl"))
    project.succeed("--cores", "4", "results/tables/table_2.csv", "results/tables/pack_items.csv", *arguments)
    return project, arguments


def test_the_tables_build_alone_and_say_what_the_reader_is(small: tuple[Project, list[str]]) -> None:
    results = small[0].folder / "results"
    cells = pd.read_csv(results / "tables/packs_cells.csv")
    pooled = cells[cells["order"] == "pooled"]
    # 2 packs x 2 orders x 2 trials x 3 questions, and the reader answers none of them.
    assert pooled["possible"].tolist() == [24, 24]
    assert pooled["hits"].tolist() == [0, 0]
    table = pd.read_csv(results / "tables/table_2.csv", dtype=str).set_index("probe")
    assert table.loc["GSM8K-pack (W = 1024)", "logistic_p0_low"] == "not identified"
    assert "extractive reader, not a language model" in (results / "tables/table_2.md").read_text()
    assert not (results / "figures").exists()


def test_what_stands_in_a_prompt_is_known_before_any_call(small: tuple[Project, list[str]]) -> None:
    manifest = pd.read_csv(small[0].folder / "results/manifest.csv")
    assert len(manifest) == 8
    # c = floor(0.75 * 1024) = 768, r = 256; six short questions fit.
    assert set(manifest.loc[manifest["q"] == 0.75, "c"]) == {768}
    assert set(manifest["r"]) == {1024, 256}
    assert set(manifest["items_whole"]) == {"item_1 item_2 item_3"}
    assert set(manifest["ceiling_lenient"]) == {1.0}
    prompt = json.loads((small[0].folder / "results/prompts/gsm8k-w1024-q75-pack_2-coord_first.json").read_text())
    roles = [message["role"] for message in prompt["messages"]]
    assert roles == ["system", "user"]
    assert "Question 3:" in prompt["messages"][0]["content"]
    assert "ANSWER n:" in prompt["messages"][1]["content"]
    assert len(prompt["shown"]["items"]) == 3


CELL_RULES = ("prompt", "calls", "scores")


def planned(small: tuple[Project, list[str]]) -> tuple[int, ...]:
    project, arguments = small
    plan = project.plan(*arguments)
    return tuple(plan.get(rule, 0) for rule in CELL_RULES)


def test_one_question_reruns_the_cells_of_its_pack(small: tuple[Project, list[str]]) -> None:
    project, arguments = small
    project.succeed("--cores", "4", "results/scores.parquet", *arguments)
    assert planned(small) == (0, 0, 0)
    vendor_file(project.folder / "data.jsonl", changed=4)
    # One of two packs: two shares, two orders.
    assert planned(small) == (4, 4, 4)
    vendor_file(project.folder / "data.jsonl")
    assert planned(small) == (0, 0, 0)
    # Another seed deals the six questions anew: every pack has other ones.
    write(project.folder, overlay(source="path", path="data.jsonl", seed=1))
    assert planned(small) == (8, 8, 8)
    # The same questions in a file of another name and order are the same packs.
    lines = (project.folder / "data.jsonl").read_text().splitlines(keepends=True)
    (project.folder / "other.jsonl").write_text("".join(reversed(lines)))
    write(project.folder, overlay(source="path", path="other.jsonl"))
    assert planned(small) == (0, 0, 0)
    write(project.folder, overlay(source="path", path="data.jsonl"))


@pytest.mark.parametrize(
    ("design", "data", "message"),
    [
        ({}, None, "data.jsonl: no such file"),
        ({}, '{"question": "?", "answer": "2"}\n', "data.jsonl, line 1: column 'answer': found no '####'"),
        ({"packs": 3}, "", "found 6 different questions; accepted: at least 9 for 3 packs of 3"),
        ({"source": "hub"}, "", "'designs.gsm8k.repo': found nothing with source 'hub'"),
        ({"source": "elsewhere"}, "", "key 'designs.gsm8k.source': found 'elsewhere'"),
        ({"benchmark": "squad"}, "", "key 'designs.gsm8k.benchmark': found 'squad'"),
        ({"windows": [{**WINDOW, "window": 20}]}, "", "designs.gsm8k, window 20: the answer format alone has"),
    ],
)
def test_unusable_packs_are_refused_before_any_call(
    project: Project, design: dict[str, Any], data: str | None, message: str
) -> None:
    if data is not None:
        file = vendor_file(project.folder / "data.jsonl")
        file.write_text(data or file.read_text())
    arguments = write(project.folder, overlay(**{"source": "path", "path": "data.jsonl", **design}))
    output = project.refuse("--cores", "4", "all", *arguments)
    assert message in output
    assert "The run cannot start" in output
    assert not (project.folder / "results/calls").exists()


@pytest.fixture
def hub() -> Iterator[Hub]:
    running = RunningHub(Hub("owner/sums", COMMIT, {}, licence="cc-by-4.0"))
    yield running.hub
    running.stop()


def test_a_dataset_of_the_hub_is_fetched_once_and_recorded(project: Project, hub: Hub, tmp_path: Path) -> None:
    hub.files["test.jsonl"] = vendor_file(tmp_path / "test.jsonl").read_bytes()
    content = overlay(source="hub", repo="owner/sums", file="test.jsonl", revision=COMMIT)
    arguments = ["--cores", "4", "results/packs/gsm8k.json", *write(project.folder, content)]
    address = {"HF_ENDPOINT": hub.address}
    offline = [*arguments, "--config", "offline=true"]
    refused = project.run(*offline, environment=address)
    assert refused.returncode != 0
    assert "not fetched yet, and 'offline' is true" in refused.stdout
    result = project.run(*arguments, environment=address)
    assert result.returncode == 0, result.stdout
    record = json.loads((project.folder / "results/packs/gsm8k.json").read_text())
    assert (record["source"], record["repo"], record["revision"]) == ("hub", "owner/sums", COMMIT)
    assert record["licence"] == "cc-by-4.0"
    drawn = sorted(name for pack in record["packs"].values() for name in pack)
    assert drawn == [f"q{n}" for n in range(6)]
    asked = len(hub.requests)
    assert project.run(*offline, environment=address).returncode == 0
    assert len(hub.requests) == asked


#: Longer than the 4 x 12 characters to which the server cuts it.
REPLY = "ANSWER 1: {0}\nANSWER 2: $ {1}.00\n" + "So I now come to the third. " * 3


def test_a_models_answers_are_scored_and_what_the_cap_cut_is_told_apart(project: Project, server: Server) -> None:
    vendor_file(project.folder / "data.jsonl")
    content = overlay(source="path", path="data.jsonl", packs=1, windows=[{**WINDOW, "shares": [0]}])
    content["designs"]["gsm8k"]["params"] = {"max_tokens": 12}
    model = {name: value for name, value in configuration(server).items() if name in ("models", "registry", "prices")}
    # What is asked first depends on the seed: it stands in the record of the draw.
    arguments = write(project.folder, {**content, **model})
    project.succeed("--cores", "4", "results/packs/gsm8k.json", *arguments)
    drawn = json.loads((project.folder / "results/packs/gsm8k.json").read_text())["packs"]["pack_1"]
    right = [int(name[1:]) + 1 for name in drawn]
    server.script(text={"literal": REPLY.format(*right)})
    project.succeed("--cores", "4", "results/tables/packs_cells.csv", *arguments)
    scores = pd.read_parquet(project.folder / "results/scores.parquet")
    assert scores.groupby("item")["score"].unique().map(list).to_dict() == {"item_1": [1], "item_2": [1], "item_3": [0]}
    assert set(scores.loc[scores["item"] == "item_3", "score_status"]) == {"truncated"}
    cells = pd.read_csv(project.folder / "results/tables/packs_cells.csv").set_index("order")
    # One pack, two trials in each order, three questions.
    assert cells.loc["pooled", ["hits", "possible", "n_truncated", "n_cut_items"]].tolist() == [8, 12, 4, 4]
