"""What a model counts in a prompt, and which counts say that its server has cut it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.records import PromptSize, Response, Usage
from rcwt.base.request import Request
from rcwt.calls.keeping import Keeper
from rcwt.calls.kept_bodies import believed
from rcwt.calls.probes import Probes
from rcwt.calls.prompt_counts import Gauge, gauge
from rcwt.calls.responses import ResponseCache
from rcwt.calls.verdicts import Verdicts
from rcwt.study.preflight import LARGEST, SHORT
from rcwt.wire.replies import WireReply

#: From .21 for scripts that cl100k knows badly to two tokens for one of code.
RATIOS = st.floats(0.21, 2.0)


def response(prompt: int | None, size: PromptSize | None, cached: int | None = None, status: str = "ok") -> Response:
    content: dict[str, Any] = {**dict.fromkeys(Response.model_fields), "status": status, "sent_params": {}}
    content |= {"usage": Usage(prompt=prompt, cached=cached), "time_utc": "", "latency_s": 1, "attempts": 1}
    return Response.model_validate({**content, "prompt_size": size})


@given(RATIOS, RATIOS, st.integers(0, 3000), st.integers(0, 30_000), st.integers(0, 30_000))
def test_a_whole_prompt_is_never_cut_and_less_than_seven_tenths_always(
    one: float, other: float, hidden: int, of_one: int, of_other: int
) -> None:
    """Any tokenizer, any template or hidden text, any mixture of the two texts."""
    found = gauge(
        {
            SHORT: (16, hidden + 16),
            "one": (1035, hidden + 16 + round(one * 1019)),
            "other": (1035, hidden + 16 + round(other * 1019)),
        }
    )
    tokens = of_one + of_other + 50
    size = found.size(tokens, ["one", "other"])
    assert size is not None
    whole = hidden + round(one * (50 + of_one) + other * of_other)
    assert not response(whole, size).prompt_cut
    assert size.ratio == pytest.approx(min(one, other), abs=0.002)
    least = min(one, other) * tokens
    assert response(int(size.overhead + 0.69 * least), size).prompt_cut
    assert not response(int(size.overhead + 0.71 * least) + 1, size).prompt_cut


def test_the_reference_is_the_smaller_ratio_of_the_texts_in_the_prompt() -> None:
    counted = {SHORT: (16, 86), "west": (1016, 1086), "east": (1016, 296), "code": (1016, 1586)}
    found = gauge(counted)
    assert found.ratios == {"west": 1.0, "east": 0.21, "code": 1.5}
    # 86 - 16 x 2: the most that the short call's own words may have had is taken from it.
    assert found.overhead == 54
    assert found.size(4097, ["west", "code"]) == PromptSize(tokens=4097, ratio=1.0, overhead=54)
    assert found.size(4097, ["west", "east"]) == PromptSize(tokens=4097, ratio=0.21, overhead=54)
    # Of a judge's question it is not known what it is made of.
    assert found.size(4097, []) == PromptSize(tokens=4097, ratio=0.21, overhead=54)
    # A text whose call failed might have a smaller ratio than all others.
    assert found.size(4097, ["west", "unmeasured"]) is None


def test_a_thousand_tokens_of_four_thousand_are_cut() -> None:
    """The case of issue 11: 1 000 counted for 4 097 sent, by a model that counts about as cl100k does."""
    size = PromptSize(tokens=4097, ratio=1.02, overhead=8)
    assert response(1000, size).prompt_cut
    assert not response(4187, size).prompt_cut
    # 8 + .7 x 1.02 x 4 097 = 2 933.3
    assert response(2933, size).prompt_cut
    assert not response(2934, size).prompt_cut


def test_what_is_not_known_is_not_judged() -> None:
    size = PromptSize(tokens=4097, ratio=1.0, overhead=0)
    assert not response(None, size).prompt_cut
    assert not response(1000, None).prompt_cut  # from before, or of a model whose preflight was not counted
    assert not response(1000, size, status="filtered").prompt_cut


def test_cached_tokens_that_a_server_counts_apart_are_no_cut() -> None:
    size = PromptSize(tokens=4097, ratio=1.0, overhead=0)
    # As vendors count, cached tokens are among the prompt's: they do not hide a cut.
    assert response(1000, size, cached=960).prompt_cut
    assert not response(4097, size, cached=4032).prompt_cut
    # A gateway that reports only what was new counts 4 032 cached tokens beside 65.
    assert not response(65, size, cached=4032).prompt_cut


@pytest.mark.parametrize(
    "counted",
    [
        {SHORT: (16, 10), "one": (1035, 10), "other": (1034, 10), LARGEST: (4097, 10)},
        {SHORT: (16, 1000), "one": (1035, 1000)},
        {SHORT: (16, 10), "one": (1035, 12), LARGEST: (32_000, 40)},  # only the user's words, or noise
    ],
)
def test_counts_that_do_not_grow_are_none(counted: dict[str, tuple[int, int | None]]) -> None:
    found = gauge(counted)
    assert not found.grows
    size = found.size(4097, ["one"])
    assert size is not None
    usage = Usage(prompt=10, cached=0, completion=20, note="a note")
    reply = believed(WireReply("ok", "Yes.", "stop", None, None, None, usage), size)
    assert (reply.usage.prompt, reply.usage.completion) == (None, 20)
    assert reply.usage.note == "a note; the server counts every prompt alike, as 10 tokens: that is no count"
    assert not response(10, size).prompt_cut


def test_a_server_that_cuts_has_counts() -> None:
    """Even one that takes 512 tokens: the preflight itself is cut, and the largest prompt still shows it."""
    found = gauge({SHORT: (16, 30), "one": (1035, 512), LARGEST: (4097, 512)})
    assert found.grows
    size = found.size(4097, ["one"])
    assert size is not None
    assert response(512, size).prompt_cut


@pytest.mark.parametrize(
    "counted",
    [
        {},
        {SHORT: (16, None), "one": (1035, 1100)},
        {SHORT: (16, 30)},
        {SHORT: (16, 30), "one": (1035, None)},
        {"one": (1035, 1100)},
        {SHORT: (16, 30), LARGEST: (4097, 1000)},  # nothing that the largest could be held against
    ],
)
def test_a_preflight_without_counts_says_nothing(counted: dict[str, tuple[int, int | None]]) -> None:
    found = gauge(counted)
    assert (found.grows, found.ratios, found.size(4097, ["one"])) == (True, {}, None)
    reply = WireReply("ok", "Yes.", "stop", None, None, None, Usage(prompt=10, cached=0, completion=20))
    assert believed(reply, None) is reply


def test_what_one_process_learns_others_can_read() -> None:
    found = gauge({SHORT: (16, 86), "one": (1016, 1086)})
    assert Gauge.model_validate_json(found.model_dump_json()) == found


def test_a_count_that_falls_for_the_same_prompt_is_no_cut(tmp_path: Path) -> None:
    """Some servers count of a prompt only what they had not kept of it: 1 token for each of its later trials."""
    probes = Probes(Keeper(ResponseCache(tmp_path)), tmp_path, Verdicts(), None, _never, set())
    one, other = (Request("e", "m", (("user", text),), {}, "coord_first", 0) for text in ("One.", "Another."))
    size = PromptSize(tokens=4000, ratio=1.0, overhead=10)

    def held_to(request: Request, counted: int) -> PromptSize | None:
        reply = WireReply("ok", "Yes.", "stop", None, None, None, Usage(prompt=counted))
        return probes.held_to("m", request, reply, size)

    assert held_to(one, 1) == size  # cut, as far as is known
    assert held_to(one, 4100) == size
    assert held_to(one, 1) is None  # the same prompt was counted whole
    assert held_to(other, 1) == size


def _never(*_: Any) -> Any:
    raise AssertionError("no call is made")
