"""A wrong configuration is one message: file and line, key, what was found, what is accepted."""

import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from rcwt.base.errors import ConfigError
from rcwt.config import results_folder
from rcwt.config.check import load
from rcwt.config.schema import schema_text
from rcwt.config.yaml_files import ConfigFile

FILES = ("models", "prices", "config")


@pytest.fixture
def paths(root: Path) -> list[Path]:
    return [root / "config" / f"{name}.yaml" for name in FILES]


@pytest.fixture
def merged(paths: list[Path]) -> dict[str, Any]:
    return {key: value for path in paths for key, value in yaml.safe_load(path.read_text()).items()}


def refused(merged: dict[str, Any], paths: list[Path], command_line: dict[str, Any] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(merged, paths, command_line)
    return str(caught.value)


def test_the_default_is_the_papers_experiments_without_a_key(merged: dict[str, Any], paths: list[Path]) -> None:
    config = load(merged, paths)
    assert (config.models, config.judges) == (["reader"], ["rules"])
    # The paper's, and the arm of the ablation that it lacks.
    assert config.experiments == ["fixed_budget", "intact", "intact_open", "algorithmic", "gsm8k", "mmlu_pro", "drop"]
    first, *larger = config.designs["fixed_budget"].windows
    # Paper, Table A1: nine shares; 20 calls an order.
    assert (first.window, first.trials) == (4096, 20)
    assert [int(share) for share in first.shares] == [0, 25, 50, 75, 90, 92, 94, 96, 98]
    # Paper, Table 1, and one window more (issue: all experiments).
    assert [(entry.window, entry.trials) for entry in larger] == [(8192, 20), (16384, 10), (32768, 10)]
    assert [float(share) for share in larger[2].shares] == [0, 50, 90, 97.5, 98.5, 99, 99.25, 99.5]


def test_the_intact_designs_are_those_of_the_issue(merged: dict[str, Any], paths: list[Path]) -> None:
    designs = load(merged, paths).designs
    intact, arm, main = designs["intact"], designs["intact_open"], designs["fixed_budget"]
    # Issue "All experiments": N = 5 an order, temperature 0, 700 output tokens; the arm is the main task's.
    assert ([int(share) for share in intact.shares], intact.trials) == ([0, 50, 75, 90, 95], 5)
    assert intact.params == {"temperature": 0, "max_tokens": 700}
    assert (arm.question, arm.task, arm.params) == (None, main.task, main.params)
    # c = floor(q (4096 - 337)) at the main experiment's shares.
    c = [int(share / 100 * (4096 - 337)) for share in main.windows[0].shares]
    assert arm.coordination_tokens == c == [0, 939, 1879, 2819, 3383, 3458, 3533, 3608, 3683]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("designs", "fixed_budget", "windows", 0, "trials"), 0, "greater than or equal to 1"),
        (("designs", "fixed_budget", "windows", 0, "trials"), True, "integer"),
        (("designs", "fixed_budget", "windows", 0, "trials"), "many", "integer"),
        (("designs", "fixed_budget", "windows", 0, "window"), -4, "greater than or equal to 1"),
        (("designs", "fixed_budget", "windows", 0, "shares"), [0, 100], "less than 100"),
        (("designs", "fixed_budget", "windows", 0, "shares"), [-1], "greater than or equal to 0"),
        (("designs", "fixed_budget", "windows", 0, "shares"), [90, 90.0], "more than once"),
        (("designs", "fixed_budget", "windows", 0, "shares"), [], "at least 1 item"),
        (("designs", "fixed_budget", "orders"), ["coord_first", "coord_first"], "more than once"),
        (("designs", "fixed_budget", "orders"), ["sideways"], "'coord_first' or 'reason_first'"),
        (("designs", "fixed_budget", "params"), {"temperature": 0.3}, "max_tokens"),
        (("designs", "fixed_budget", "params"), {"max_tokens": 9, "api_key": "x"}, "api_key"),
        (("designs", "fixed_budget", "params"), {"max_tokens": 9, "temperature": 3}, "from 0 to 2"),
        (("designs", "fixed_budget", "task"), "../x", "letters, digits"),
        (("models",), ["reader", "reader"], "more than once"),
        (("models",), ["gpt"], "a key of 'registry' (reader, "),
        (("models",), [], "at least one name"),
        (("judges",), [], "at least 1 item"),
        (("judges",), ["somebody"], "a key of 'registry'"),
        (
            ("experiments",),
            ["other"],
            "a key of 'designs' (fixed_budget, intact, intact_open, algorithmic, gsm8k, mmlu_pro, drop)",
        ),
        (("bootstrap", "B"), 3, "greater than or equal to 100"),
        (("on_cap",), "go", "'refuse' or 'stop'"),
        (("max_missing",), 2, "less than or equal to 1"),
        (("prices", "reader", "input"), -1, "greater than or equal to 0"),
        (("registry", "reader", "token_factor"), 0, "greater than or equal to 1"),
    ],
)
def test_a_wrong_value_names_key_found_and_accepted(
    merged: dict[str, Any], paths: list[Path], path: tuple[Any, ...], value: Any, expected: str
) -> None:
    changed = copy.deepcopy(merged)
    target = changed
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    message = refused(changed, paths)
    assert expected in message
    assert str(path[-1]) in message
    assert "found" in message
    assert "accepted" in message
    assert ".yaml" in message


def test_an_unknown_key_is_refused_with_the_nearest_known_one(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["designs"]["fixed_budget"]["tusk"] = "x"
    message = refused(merged, paths)
    assert "designs.fixed_budget.tusk" in message
    assert "Did you mean 'task'?" in message


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ({"kind": "sideways"}, ["designs.other.kind", "found 'sideways'", "fixed_budget, intact, algorithmic, packs"]),
        ({"kind": "intact", "trials": 0}, ["key 'designs.other.trials'", "found 0", "calls a cell"]),
        ({"kind": "intact", "trials": 5}, ["key 'designs.other'", "one of 'shares' and 'coordination_tokens'"]),
        ({"kind": "intact", "trial": 5, "shares": [0]}, ["'designs.other.trial' is unknown", "mean 'trials'"]),
        ({"kind": "intact", "shares": [0]}, ["'designs.other.trials' is missing", "calls a cell"]),
        ({"kind": "algorithmic"}, ["'designs.other.windows' is missing"]),
        ({"kind": "packs", "windows": [], "pack": 3}, ["'designs.other.pack' is unknown", "mean 'packs'"]),
    ],
)
def test_a_fault_of_a_design_is_told_by_its_kind(
    merged: dict[str, Any], paths: list[Path], design: dict[str, Any], expected: list[str]
) -> None:
    merged["designs"]["other"] = {"task": "spec_recall", "params": {"max_tokens": 9}, **design}
    message = refused(merged, paths)
    for part in expected:
        assert part in message


PIN = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("design", "key", "expected"),
    [
        ({"path": "q.jsonl"}, "path", "found 'q.jsonl' with source 'bundled'; accepted: source: path with 'path'"),
        ({"repo": "a/b"}, "repo", "found 'a/b' with source 'bundled'; accepted: source: hub with 'repo' and 'file'"),
        ({"file": "a.json"}, "file", "found 'a.json' with source 'bundled'; accepted: source: hub"),
        ({"revision": PIN}, "revision", f"found '{PIN}' with source 'bundled'; accepted: source: hub"),
        ({"source": "path", "path": "a", "file": "b"}, "file", "found 'b' with source 'path'; accepted: source: hub"),
        ({"source": "path"}, "path", "found nothing with source 'path'; accepted: a value (of source 'path': a file"),
        ({"source": "hub", "repo": "a/b", "file": "c"}, "revision", "found nothing with source 'hub'; accepted: a val"),
        ({"source": "hub", "revision": "main"}, "revision", "found 'main'; accepted: 40 hexadecimal digits"),
        ({"source": "hub", "repo": "main"}, "repo", "found 'main'; accepted: owner/name"),
        ({"benchmark": "drop"}, "benchmark", "found 'drop' with task 'gsm8k'"),
    ],
)
def test_questions_are_those_that_the_keys_name(
    merged: dict[str, Any], paths: list[Path], design: dict[str, Any], key: str, expected: str
) -> None:
    merged["designs"]["gsm8k"] |= design
    (line,) = refused(merged, paths).splitlines()
    assert f"key 'designs.gsm8k.{key}': {expected}" in line


@pytest.mark.parametrize(
    "design",
    [
        {"path": None, "repo": None, "file": None, "revision": None},
        {"benchmark": "gsm8k"},
        {"task": "my_task", "benchmark": "drop"},
        {"source": "path", "path": "q.jsonl", "repo": None},
        {"source": "hub", "repo": "a/b", "file": "c.json", "revision": PIN},
    ],
)
def test_keys_that_agree_are_accepted(merged: dict[str, Any], paths: list[Path], design: dict[str, Any]) -> None:
    merged["designs"]["gsm8k"] |= design
    load(merged, paths)


def test_every_fault_is_told_at_once(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["bootstrap"] = {"B": 1, "seed": -1}
    assert len(refused(merged, paths).splitlines()) == 2


def test_the_file_that_set_the_value_is_named(tmp_path: Path, merged: dict[str, Any], paths: list[Path]) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("offline: false\nbootstrap:\n  B: 10000\n  seed: -3\n")
    merged["bootstrap"]["seed"] = -3
    assert f"{mine}:4" in refused(merged, [*paths, mine])
    assert "--config: key 'bootstrap.seed'" in refused(merged, [*paths, mine], {"bootstrap": {"seed": -3}})


def test_a_model_without_a_price_names_the_key_to_add(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["registry"]["mine"] = {"litellm": "openai/mine"}
    merged["models"] = ["reader", "mine"]
    message = refused(merged, paths)
    assert "the price of 'mine' is unknown" in message
    assert "prices: {mine:" in message


def test_the_embedded_reader_is_no_judge(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["judges"] = ["rules", "reader"]
    assert "key 'judges[1]': found 'reader', the embedded reader, which can judge nothing" in refused(merged, paths)


@pytest.mark.parametrize("name", ["rules", "human"])
def test_a_model_cannot_bear_the_name_of_another_judge(merged: dict[str, Any], paths: list[Path], name: str) -> None:
    merged["registry"][name] = {"litellm": "openai/mine"}
    merged["judges"] = [name]
    assert f"key 'registry.{name}'" in refused(merged, paths)


def test_a_persons_judgement_needs_a_scored_copy_of_the_sample(
    merged: dict[str, Any], paths: list[Path], tmp_path: Path
) -> None:
    merged["judges"], merged["results_dir"] = ["rules", "human"], str(tmp_path)
    results_folder.mark(tmp_path, "")
    assert "key 'judges[1]': found 'human' without the key 'audit'" in refused(merged, paths)
    merged["audit"] = str(tmp_path / "nothing.csv")
    assert "nothing.csv' (no such file)" in refused(merged, paths)
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit/sample.csv").touch()
    merged["audit"] = str(tmp_path / "audit/../audit/sample.csv")
    assert "a run may write anew" in refused(merged, paths)
    (tmp_path / "scored.csv").touch()
    merged["audit"] = str(tmp_path / "scored.csv")
    assert load(merged, paths).judges == ["rules", "human"]


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", "x:\n  a: 1\n  a: 2\n", "x: [{a: 1, a: 2}]\n"])
def test_a_key_written_twice_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "twice.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"twice\.yaml:\d+: key '.*a' is written twice \(first on line \d\)"):
        ConfigFile.read(file)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a: \xff\n", "not UTF-8 (byte 3)"),
        (b"a: [\n", "not valid YAML: line 2, column 1"),
        (b"- a\n", "found list at the top"),
        (b"as_of: 2026-02-31\n", "not valid YAML: day is out of range"),
        (b"a: !!int x\n", "not valid YAML: invalid literal for int()"),
        (b"a: &x [*x]\n", "not valid YAML: nested too deep, or an alias holds itself"),
        (b"a: " + b"[" * 5000 + b"]" * 5000, "not valid YAML"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        ConfigFile.read(file)
    assert expected in str(caught.value)


def test_lines_of_keys_are_known(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("# comment\na:\n  - {b: 1}\n  - b: 2\n")
    read = ConfigFile.read(file)
    assert read.content == {"a": [{"b": 1}, {"b": 2}]}
    assert (read.line_of(("a",)), read.line_of(("a", 1, "b")), read.line_of(("z",))) == (2, 4, None)


def test_merged_keys_are_content_and_no_second_writing(tmp_path: Path) -> None:
    # YAML's `<<` takes what it does not find beside it from another mapping.
    file = tmp_path / "a.yaml"
    file.write_text("base: &base {a: 1, b: 2}\nmine:\n  <<: *base\n  a: 3\n")
    read = ConfigFile.read(file)
    assert read.content["mine"] == {"a": 3, "b": 2}
    assert read.line_of(("mine", "a")) == 4


def test_shares_are_decimals(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["designs"]["fixed_budget"]["windows"][0]["shares"] = [97.5]
    config = load(merged, paths)
    assert config.designs["fixed_budget"].windows[0].shares == [Decimal("97.5")]


def test_the_published_schema_is_the_records(root: Path) -> None:
    assert (root / "workflow/schemas/config.schema.json").read_text() == schema_text(), (
        "run: python -m rcwt.config.schema > workflow/schemas/config.schema.json"
    )


def test_every_key_of_the_default_configuration_has_a_comment(root: Path) -> None:
    lines = (root / "config/config.yaml").read_text().splitlines()
    for number, line in enumerate(lines):
        key = line.split(":")[0].strip()
        if ":" in line and not line.lstrip().startswith(("#", "-")) and key not in {"designs", "on_cap"}:
            assert lines[number - 1].lstrip().startswith("#"), f"line {number + 1}: '{key}' has no comment above it"


def test_values_of_the_command_line_are_read_as_yaml_reads_them(merged: dict[str, Any], paths: list[Path]) -> None:
    # Snakemake hands over `--config offline=true "bootstrap={B: 200}"` with these as text.
    given = {"offline": "true", "bootstrap": {"B": "200"}, "max_usd": "2.5"}
    merged |= {"offline": "true", "max_usd": "2.5"}
    merged["bootstrap"]["B"] = "200"
    config = load(merged, paths, given)
    assert (config.offline, config.bootstrap.B, config.bootstrap.seed, config.max_usd) == (True, 200, 0, 2.5)


@pytest.mark.parametrize("value", ["no", 1, "false"])
def test_a_flag_in_a_file_is_true_or_false(merged: dict[str, Any], paths: list[Path], value: Any) -> None:
    merged["offline"] = value
    assert "key 'offline': found" in refused(merged, paths)


@pytest.mark.parametrize("key", ["max_usd", "max_missing"])
def test_true_is_no_number(merged: dict[str, Any], paths: list[Path], key: str) -> None:
    merged[key] = True
    assert f"key '{key}': found True" in refused(merged, paths)


@pytest.mark.parametrize(
    "folder",
    [
        "o$(touch x)",
        "a{b}",
        "../up",
        "workflow",
        "workflow/x",
        ".",
        "",
        "/a/../b",
        "-x",
        "~/x",
        "s3://b/x",
        "a\nb",
        "\x1b[2J",
    ],
)
def test_results_go_nowhere_else_than_meant(merged: dict[str, Any], paths: list[Path], folder: str) -> None:
    merged["results_dir"] = folder
    said = refused(merged, paths)
    assert "key 'results_dir': found" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("given", "kept"),
    [("out/", "out"), ("/tmp/a-b_c.d", "/tmp/a-b_c.d"), ("./x//y", "x/y"), ("//tmp/é 1", "/tmp/é 1")],
)
def test_a_results_folder_has_one_spelling(merged: dict[str, Any], paths: list[Path], given: str, kept: str) -> None:
    merged["results_dir"] = given
    assert load(merged, paths).results_dir == kept


def test_an_artifact_that_names_nothing_is_refused(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["artifact"] = None
    assert "--config: key 'artifact': found nothing" in refused(merged, paths, {"artifact": None})
    merged["artifact"] = "pub/k{13}"
    assert "without braces" in refused(merged, paths)


@pytest.mark.parametrize(
    "path", ["a{b}.csv", "-a.csv", "~/a.csv", "a\x1b[2J.csv", "x" * 300, "é" * 200, "", "s3://a/b.csv"]
)
@pytest.mark.parametrize("key", ["audit", "artifact"])
def test_a_file_that_no_rule_can_name_is_refused(
    merged: dict[str, Any], paths: list[Path], key: str, path: str
) -> None:
    merged[key] = path
    merged["judges"] = ["rules", "human"]
    said = refused(merged, paths)
    assert f"config.yaml:{ConfigFile.read(paths[2]).line_of((key,))}: key '{key}': found " in said
    assert "\x1b" not in said


def test_a_folder_is_no_scored_sample(merged: dict[str, Any], paths: list[Path], tmp_path: Path) -> None:
    merged["judges"], merged["audit"] = ["human"], str(tmp_path)
    assert "(a folder); accepted: a scored audit sample" in refused(merged, paths)


SECRET = "sk-planted-77"
ADDRESSES = [
    *(f"http://h/v1?key={SECRET}", f"http://h/v1#{SECRET}", "http://h/v1?", f"http://{SECRET}@h/v1"),
    *("http://h:65536/v1", "http://h:0", "http://h:", "http://h:80a", "http://h:+80", "http://h:\uff18\uff10"),
    *("ftp://h", "h:80/v1", "http://", "http:///v1", "http://:80", "http:/h", "", f"{SECRET}"),
    *("http://h /v1", "http://h/v 1", "http://h\n/v1", "\thttp://h", 'http://h/"', "http://h/{x}", "http://h\\@evil/"),
    *("http://m\u00fcnchen.de", "http://h/\u00e9", "http://[::1", "http://::1/v1", "http://[1.2.3.4]", "http://h%41"),
    *("http://" + "a" * 64, "http://" + "a." * 150 + "a", "http://a..b", "http://-a"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_could_hold_a_key_or_reaches_nothing_is_refused_unseen(
    merged: dict[str, Any], paths: list[Path], address: str
) -> None:
    add_paid(merged, {"api_base": address})
    said = refused(merged, paths)
    assert "key 'registry.paid.api_base': found a text that is not shown" in said
    assert SECRET not in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1:1/v1", "https://api.openai.com/v1", "http://[::1]:8000/v1", "http://localhost"),
        *(
            "http://node_1.cluster:65535",
            "https://x.y.:443/",
            "http://[fe80::1%25eth0]:80/v1",
            "http://xn--mnchen-3ya.de",
        ),
        "https://h/openai/deployments/gpt-4.1-mini",
    ],
)
def test_an_address_of_a_server_is_kept_as_it_is(merged: dict[str, Any], paths: list[Path], address: str) -> None:
    # Letter for letter: the cache's keys hold it.
    add_paid(merged, {"api_base": address})
    assert load(merged, paths).registry["paid"].api_base == address


@pytest.mark.parametrize("name", ["x" * 101, "x" * 300, "a.", "a/b", "a b", "a\n", ".a", "-a", "\u00e9"])
def test_a_name_that_makes_no_file_name_is_refused(merged: dict[str, Any], paths: list[Path], name: str) -> None:
    merged["registry"][name] = {"litellm": "openai/x"}
    merged["models"] = [name]
    merged["designs"]["fixed_budget"]["task"] = name
    said = refused(merged, paths)
    assert "models[0]" in said
    assert "designs.fixed_budget.task" in said


def test_the_longest_names_make_file_names(merged: dict[str, Any], paths: list[Path]) -> None:
    name, experiment = "m" * 100, "e" * 100
    merged["registry"][name] = {"litellm": "openai/x"}
    merged["prices"][name] = {"input": 0, "output": 0, "as_of": "2026-11-29"}
    merged["designs"][experiment] = copy.deepcopy(merged["designs"]["gsm8k"])
    merged["designs"][experiment]["windows"] = [{"window": 10_000_000, "shares": [99.9999], "trials": 1}]
    merged["designs"][experiment] |= {"packs": 1000}
    config = load({**merged, "models": [name], "experiments": [experiment]}, paths)
    window, share = 10_000_000, config.designs[experiment].windows[0].shares[0]
    longest = f"{experiment}-w{window}-q{share}-pack_1000-reason_first"
    # What a writer puts before and behind it: a dot, a process id, an ending.
    assert len(f".{longest}.jsonl.4194304") <= 255


def test_names_that_differ_in_case_alone_are_refused(merged: dict[str, Any], paths: list[Path]) -> None:
    merged["registry"]["Reader"] = {"litellm": "openai/x"}
    merged["registry"]["RULES"] = {"litellm": "openai/x"}
    merged["designs"]["intact"]["task"] = "Spec_Recall"
    said = refused(merged, paths)
    assert "key 'registry.Reader': found 'Reader' beside 'reader'" in said
    assert "key 'registry.RULES': found 'RULES' beside 'rules'" in said
    assert "key 'designs.intact.task': found 'Spec_Recall' beside 'spec_recall'" in said


def add_paid(merged: dict[str, Any], entry: dict[str, Any]) -> None:
    """Add a model behind a server, with a price."""
    merged["registry"]["paid"] = {"litellm": "openai/x", "api_base": "http://127.0.0.1:1/v1", **entry}
    merged["prices"]["paid"] = {"input": 1, "output": 1, "as_of": "2026-11-29"}


UNBOUNDED = [
    ({"params": {"extra_body": {"n": 5}}}, "n, which the pipeline sets itself"),
    ({"params": {"best_of": 4}}, "best_of, which the pipeline sets itself"),
    ({"params": {"extra_body": {"generationConfig": {"candidateCount": 4}}}}, "candidateCount, which"),
    ({"params": {"seed": 1}, "param_names": {"seed": "n"}}, "n, which the pipeline sets itself"),
    ({"params": {"max_completion_tokens": 9000}}, "more than one output cap: max_tokens: 1024, max_completion"),
    ({"params": {"maxOutputTokens": 9000}}, "more than one output cap"),
    ({"params": {"extra_body": {"generation_config": {"max_output_tokens": 9000}}}}, "more than one output cap"),
    ({"param_names": {"max_tokens": None}}, "no output cap"),
    ({"param_names": {"max_tokens": "num_predict"}}, "no output cap"),
    ({"params": {"extra_body": {"max_tokens": "9000"}}}, "max_tokens: '9000', which is no whole number from 1"),
    ({"params": {"extra_body": 5}}, "'extra_body' as a mapping"),
]


@pytest.mark.parametrize("role", ["models", "judges"])
@pytest.mark.parametrize(("entry", "problem"), UNBOUNDED)
def test_a_call_without_a_known_worst_case_is_refused(
    merged: dict[str, Any], paths: list[Path], entry: dict[str, Any], problem: str, role: str
) -> None:
    # A reply past the cap that was reserved for, or several replies, would pass `max_usd` unseen.
    add_paid(merged, entry)
    merged[role] = ["paid"]
    merged["experiments"] = ["fixed_budget"]
    message = refused(merged, paths)
    assert "registry.paid" in message
    assert problem.replace("1024", "the judge's own" if role == "judges" else "1024") in message


@pytest.mark.parametrize(
    "entry",
    [
        {"params": {"max_tokens": 50}},
        {"param_names": {"max_tokens": "max_completion_tokens"}},
        {"params": {"max_completion_tokens": 50}, "param_names": {"max_tokens": None}},
        {"params": {"extra_body": {"max_tokens": 50, "metadata": {"model": "a tag"}}}},
    ],
)
def test_one_output_cap_by_whichever_name_is_taken(
    merged: dict[str, Any], paths: list[Path], entry: dict[str, Any]
) -> None:
    add_paid(merged, entry)
    load({**merged, "models": ["paid"], "judges": ["rules"]}, paths)


@pytest.mark.parametrize(
    ("entry", "accepted"),
    [
        ({"api_base": "127.0.0.1:8123/v1"}, "begins with http:// or https://"),
        ({"api_base": "ftp://host/v1"}, "begins with http:// or https://"),
        ({"api_base": "http:///v1"}, "names a host"),
        ({"api_base": "http://user:sk-planted-77@host/v1"}, "without a user or key"),
        ({"api_key_env": "sk-planted-77"}, "the name of a variable"),
        ({"params": {"api_key": "sk-planted-77"}}, "the parameters api_key; accepted"),
        ({"params": {"extra_headers": {"Authorization": "Bearer sk-planted-77"}}}, "the parameters extra_headers"),
        ({"params": {"extra_body": {"api_key": "sk-planted-77"}}}, "without api_key"),
    ],
)
def test_a_key_in_a_wrong_place_is_refused_and_not_shown(
    merged: dict[str, Any], paths: list[Path], entry: dict[str, Any], accepted: str
) -> None:
    add_paid(merged, entry)
    message = refused(merged, paths)
    assert accepted in message
    assert "sk-planted-77" not in message
