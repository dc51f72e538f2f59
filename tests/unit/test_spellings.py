"""Equal is equal: one key for equal parameters, and responses kept under earlier spellings are found."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.records import Response, Usage
from rcwt.base.request import Request
from rcwt.base.spellings import MOST_SPELLINGS, plain, same, spellings
from rcwt.calls.responses import KeptResponses, ResponseCache
from rcwt.config.schema import Config
from rcwt.study.study import Study

MESSAGES = (("system", "Reference – ünïcode"), ("user", "Question?"))
RESPONSE = Response.model_validate(
    {
        **dict.fromkeys(Response.model_fields),
        **{"status": "ok", "text": "A reply.", "usage": Usage(prompt=7), "sent_params": {"top_p": 1.0}},
        # Spelled with a point: the checksum of a file is over its own spelling.
        **{"time_utc": "2026-11-01T00:00:00+00:00", "latency_s": 2.0, "attempts": 1},
    }
)


def request(params: dict[str, Any], sample: int = 0) -> Request:
    return Request("vendor", "openai/m", MESSAGES, params, "coord_first", sample)


def former_key(params: dict[str, Any], sample: int = 0) -> str:
    """The key of a response kept before equal numbers had one spelling: the sha256 of the parameters as they stood."""
    identity = {
        **{"version": 1, "endpoint": "vendor", "model": "openai/m", "params": params, "order": "coord_first"},
        "messages": [{"role": role, "content": content} for role, content in MESSAGES],
        "sample": sample,
    }
    spelled = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(spelled.encode()).hexdigest()


def keep_formerly(cache: ResponseCache, params: dict[str, Any], sample: int = 0) -> str:
    """Keep a response as it was kept then."""
    kept = request(params, sample)
    kept.adopt(former_key(params, sample))
    cache.put(kept, RESPONSE)
    return kept.key


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1000, 1e3, True),
        ([0.0], [0], True),
        ((1, 2), [1.0, 2.0], True),
        ({"a": {"b": [1]}}, {"a": {"b": [1.0]}}, True),
        (1, True, False),
        (0, False, False),
        (0.0, None, False),
        (1, "1", False),
        (0.3, 0.30000000000000004, False),
        # Above 2^53 a float is not every whole number, and none may be taken for its neighbour.
        (2**53 + 1, float(2**53), False),
        (2**53, float(2**53), True),
        (10**400, 1e300, False),
    ],
)
def test_what_is_the_same(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal
    assert (request({"x": one}).key == request({"x": other}).key) is equal


def test_keys_of_responses_on_disk_are_the_keys_of_now() -> None:
    # Nothing is asked again where no number was spelled with a point that it does not need.
    for params in ({"temperature": 0.3, "max_tokens": 1024}, {"temperature": 0, "max_tokens": 256, "seed": 7}):
        assert request(params).key == former_key(params)


def test_equal_parameters_are_one_request_whichever_way_they_were_kept(tmp_path: Path) -> None:
    ways: list[dict[str, Any]] = [
        {"temperature": 1, "top_p": 1.0, "max_tokens": 9},
        {"temperature": 1.0, "top_p": 1, "max_tokens": 9},
        {"temperature": 1.0, "top_p": 1.0, "max_tokens": 9},
        {"temperature": 1, "top_p": 1, "max_tokens": 9},
    ]
    assert len({request(way).key for way in ways}) == 1
    for number, former in enumerate(ways):
        cache = ResponseCache(tmp_path / str(number))
        key = keep_formerly(cache, former)
        for now in ways:
            asked = request(now)
            cache.locate([asked])
            assert (asked.key, cache.get(asked.key)) == (key, RESPONSE)
            assert KeptResponses(cache).keys(request(now), [0, 1], request(now).sample_keys([0, 1])) == [
                key,
                request(now, 1).key,
            ]


def test_a_request_that_is_kept_under_no_spelling_goes_by_its_own_key(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    keep_formerly(cache, {"temperature": 1.0, "max_tokens": 9}, sample=1)
    asked = request({"temperature": 1.0, "max_tokens": 9})
    cache.locate([asked])
    assert asked.key == request({"temperature": 1, "max_tokens": 9}).key
    assert cache.get(asked.key) is None


def test_the_key_of_now_comes_first(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    keep_formerly(cache, {"top_p": 1.0, "max_tokens": 9})
    cache.put(request({"top_p": 1, "max_tokens": 9}), RESPONSE)
    asked = request({"top_p": 1.0, "max_tokens": 9})
    cache.locate([asked])
    assert asked.key == former_key({"top_p": 1, "max_tokens": 9})


# Nobody writes the negative zero, of which three spellings would be equal.
floats = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0)
numbers = st.integers(-(2**60), 2**60) | floats | st.booleans()
values = st.recursive(numbers | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@given(st.dictionaries(st.sampled_from(["temperature", "top_p", "seed", "top_k", "stop"]), values))
def test_one_key_and_every_spelling_among_the_looked_for(params: dict[str, Any]) -> None:
    def respelled(value: Any, spell: Any) -> Any:
        if isinstance(value, list):
            return [respelled(part, spell) for part in value]
        return value if isinstance(value, bool | str) else spell(value)

    def pointed(number: float) -> float:
        return float(number) if number == float(number) else number

    whole = {name: respelled(value, lambda n: int(n) if n == int(n) else n) for name, value in params.items()}
    floats = {name: respelled(value, pointed) for name, value in params.items()}
    asked = [request(way) for way in (params, whole, floats)]
    assert len({one.key for one in asked}) == 1
    assert plain(params) == params
    for one in asked:
        looked_for = {one.key, *(key for [key] in one.earlier_keys([0]))}
        assert {former_key(way) for way in (whole, floats, one.params)} <= looked_for


def test_the_spellings_are_bounded() -> None:
    many = {f"p{number:02}": 1 for number in range(40)}
    assert MOST_SPELLINGS - 3 <= len(list(spellings(many))) <= MOST_SPELLINGS + 1
    # A judge's schema and an output cap were never spelled otherwise: nothing is looked for in vain.
    schema = {"enum": [0, 1]}
    assert list(spellings({"temperature": 0.3, "max_tokens": 9, "response_format": schema})) == [
        {"temperature": 0.3, "max_tokens": 9, "response_format": schema}
    ]


def test_equal_shares_and_parameters_are_one_prompt_and_one_cell(root: Path) -> None:
    def study(shares: list[Any], params: dict[str, Any]) -> Study:
        window = {"window": 4096, "shares": shares, "trials": 1}
        design = {"task": "spec_recall", "windows": [window], "params": {"max_tokens": 9, **params}}
        content = {
            **{"models": ["paid"], "judges": ["rules", "paid"], "experiments": ["main"], "designs": {"main": design}},
            "registry": {"paid": {"litellm": "openai/paid", "params": {"top_p": params["temperature"]}}},
            "prices": {"paid": {"input": 1, "output": 1, "as_of": "2026-11-01"}},
        }
        return Study(Config.model_validate(content), root / "resources/templates")

    one, other = study([0, 25, 92.5], {"temperature": 1}), study([-0.0, "25.00", 92.5], {"temperature": 1.0})
    assert list(one.conditions) == list(other.conditions)
    for name in one.conditions:
        assert one.prompt_digest(name) == other.prompt_digest(name)
        assert one.calls_digest(name, "paid") == other.calls_digest(name, "paid")
        assert one.judge_digest(name, "paid") == other.judge_digest(name, "paid")


def test_only_what_asks_for_thinking_is_looked_for_anew(root: Path) -> None:
    def digest_of(**params: Any) -> str:
        window = {"window": 4096, "shares": [0], "trials": 1}
        design = {"task": "spec_recall", "windows": [window], "params": {"max_tokens": 9, **params}}
        content = {
            **{"models": ["m"], "judges": ["rules"], "experiments": ["main"], "designs": {"main": design}},
            "registry": {"m": {"litellm": "openai/m"}},
            "prices": {"m": {"input": 1, "output": 1, "as_of": "2026-11-01"}},
        }
        study = Study(Config.model_validate(content), root / "resources/templates")
        return study.calls_digest(next(iter(study.conditions)), "m")

    # As it was spelled before, whatever else it tells: nothing runs again.
    unmarked = '{"endpoint":"vendor","model":"openai/m","params":{"max_tokens":9,"temperature":0.3}'
    assert digest_of(temperature=0.3).startswith(unmarked)
    assert "compared" in digest_of(reasoning_effort="low")
