"""Every request passes the hooks, asks the model that was named, at its chat address; whatever litellm does.

litellm is the real one, the server tests/fixtures/fault_server.py, which answers at any path, /v1/responses too.
"""

import asyncio
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from wire_helpers import CAP, MESSAGES, asked, endpoint, outcome, run

from rcwt.base.errors import CallError
from rcwt.base.request import Request
from rcwt.calls.ledger import Balance
from rcwt.calls.progress import Progress
from rcwt.calls.remote import Remote
from rcwt.calls.responses import ResponseCache
from rcwt.calls.terms import Terms, output_cap, request_tokens
from rcwt.config.model_ids import _models, why_no_chat
from rcwt.config.parameters import changed_messages
from rcwt.config.schema import Config
from rcwt.study.preflight import SHORT, Preflight
from rcwt.wire import wire
from rcwt.wire.exchange import load_litellm
from rcwt.wire.faults import PermanentFault
from rcwt.wire.replies import WireReply

pytestmark = pytest.mark.usefixtures("planted_key")


def listed() -> list[str]:
    """The ids of litellm's list that the three vendors answer in a chat."""
    found = []
    for name, entry in _models().items():
        provider = entry.get("litellm_provider")
        if provider in ("openai", "anthropic", "gemini"):
            model = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            if why_no_chat(model, None) is None:
                found.append(model)
    return found


def test_every_chat_model_of_litellms_list_gets_what_was_asked_or_says_why_not() -> None:
    models = listed()
    assert len(models) > 150
    assert {"openai/o3", "openai/o3-mini", "openai/o4-mini", "openai/gpt-5", "gemini/gemini-2.5-flash"} <= set(models)

    async def inner() -> dict[str, str]:
        async with FaultServer() as server:
            refused = {}
            for model in models:
                before = server.stats()["received"]
                result = await outcome(endpoint(server, model.partition("/")[0], model=model), CAP)
                sent = server.requests[before:]
                if isinstance(result, WireReply):
                    [request] = sent
                    assert request.model == model.partition("/")[2]
                    assert changed_messages(MESSAGES, request.body) is None
                    extra = {"model", "messages", "system", "contents", "system_instruction", "generationConfig"}
                    assert request.body.keys() <= extra | {"max_tokens", "max_completion_tokens"}, model
                else:
                    assert sent == []
                    assert isinstance(result, PermanentFault)
                    refused[model] = result.kind
            return refused

    # Those of which the list says that the vendor takes no system text.
    assert run(inner()) == dict.fromkeys(
        [
            *("gemini/gemma-3-27b-it", "gemini/lyria-3-clip-preview", "gemini/lyria-3-pro-preview"),
            *("gemini/lyria-3.5-clip-preview", "gemini/lyria-3.5-pro-preview", "gemini/lyria-3.5"),
            "gemini/lyria-realtime-exp",
        ],
        "changed_messages",
    )


@pytest.mark.parametrize("model", ["o3", "o3-mini", "o4-mini", "o3-2025-04-16", "openai/o3-mini"])
def test_o_models_get_the_system_text_as_such(model: str) -> None:
    # A temperature of 1 is the only one they take, and max_completion_tokens the name of their cap.
    reply, server = asked(f"openai/{model}", {**CAP, "temperature": 1, "reasoning_effort": "low"})
    assert isinstance(reply, WireReply), str(reply)
    [request] = server.requests
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    assert {name: request.body[name] for name in ("max_completion_tokens", "temperature", "reasoning_effort")} == {
        "max_completion_tokens": 64,
        "temperature": 1,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize("model", ["gpt-5-pro", "gpt-5-codex", "o1-pro", "o3-deep-research", "openai/gpt-5.1-codex"])
def test_a_responses_model_at_ones_own_server_is_asked_in_a_chat(model: str) -> None:
    reply, server = asked(f"openai/{model}")
    assert isinstance(reply, WireReply), str(reply)
    assert [request.protocol for request in server.requests] == ["openai"]


def test_a_model_that_is_registered_for_responses_is_asked_in_a_chat() -> None:
    litellm = load_litellm()
    litellm.register_model({"my-own-thinker": {"litellm_provider": "openai", "mode": "responses"}})
    reply, server = asked("openai/my-own-thinker")
    assert isinstance(reply, WireReply), str(reply)
    assert [request.protocol for request in server.requests] == ["openai"]


@pytest.mark.parametrize(
    ("model", "to"),
    [
        ("openai/responses/gpt-4.1", "openai/gpt-4.1"),
        ("openai/gpt-mini-latest", "openai/gpt-5.4-mini"),
        ("openai/ft:babbage-002", "/v1/completions"),
        ("anthropic/claude-2", "anthropic_text/claude-2"),
        ("anthropic/claude-haiku-latest", "anthropic/claude-haiku-5-5"),
    ],
)
def test_another_model_or_address_than_named(model: str, to: str) -> None:
    fault, server = asked(model)
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, server.stats()["received"], fault.maybe_billed) == ("rerouted", 0, False)
    assert model in fault.cause
    assert to in fault.cause


@pytest.mark.parametrize(
    "name", ["custom_llm_provider", "deployment_id", "model_list", "mock_tool_calls", "use_litellm_proxy", "azure"]
)
def test_parameters_that_would_lead_elsewhere_are_reserved(name: str) -> None:
    fault, server = asked("openai/mine", {**CAP, name: "azure"})
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, server.stats()["received"]) == ("unbounded", 0)


VARIABLES = [
    "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES",
    "USE_LITELLM_PROXY",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER",
    "LITELLM_ANTHROPIC_DISABLE_URL_SUFFIX",
    "LITELLM_REASONING_AUTO_SUMMARY",
    "LITELLM_ENABLE_ANTHROPIC_PROMPT_CACHING",
    "LITELLM_MODIFY_CAP",
    "LITELLM_DROP_CAP",
]


def test_variables_that_would_reroute_or_change_a_request_are_reset() -> None:
    # litellm reads them when it is imported: so in a process of its own.
    code = (
        "import sys; from wire_helpers import CAP, asked\n"
        "for model in ('openai/gpt-4.1-mini', 'openai/gpt-5', 'anthropic/claude-haiku-4-5'):\n"
        "    reply, server = asked(model)\n"
        "    assert type(reply).__name__ == 'WireReply', str(reply)\n"
        "    [request] = server.requests\n"
        "    assert request.protocol == model.partition('/')[0], request.protocol\n"
        "    assert 'cache_control' not in str(request.body), request.body\n"
        "fault, server = asked('anthropic/claude-haiku-4-5', {**CAP, 'seed': 7})\n"
        "assert fault.kind == 'unsupported_parameter', fault\n"
    )
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, **dict.fromkeys(VARIABLES, "true"), "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that the real litellm asks by a client of its own, as if nothing had known of it before."""
    model = "anthropic/claude-2"
    monkeypatch.setattr(wire, "_route", lambda model, address: model)
    return model


@pytest.mark.parametrize("act", ["ok", "401", "429", "500", "html", "drop"])
def test_a_request_that_passed_no_hook_may_be_billed(unwatched: str, act: str) -> None:
    async def inner() -> tuple[Any, int]:
        async with FaultServer({"always": act}) as server:
            return await outcome(endpoint(server, "anthropic", model=unwatched), CAP), server.stats()["received"]

    fault, received = run(inner())
    assert received > 0  # litellm did send it
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, fault.maybe_billed) == ("unwatched", True)


def test_a_call_that_returns_without_the_hook_may_be_billed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def elsewhere(**_: Any) -> str:
        return "a reply that nobody saw"

    monkeypatch.setattr(load_litellm(), "acompletion", elsewhere)
    fault, server = asked("openai/mine")
    assert isinstance(fault, PermanentFault)
    assert (fault.kind, fault.maybe_billed, server.stats()["received"]) == ("unwatched", True, 0)


def test_what_litellm_refuses_before_sending_costs_nothing() -> None:
    for model, params in (
        ("anthropic/claude-haiku-4-5", {"reasoning_effort": "auto"}),
        ("openai/gpt-5", {"temperature": 0.3}),
    ):
        fault, server = asked(model, {**CAP, **params})
        assert isinstance(fault, PermanentFault)
        assert (fault.maybe_billed, server.stats()["received"]) == (False, 0)


def test_it_is_booked_at_its_worst_case_and_stops_its_model(unwatched: str, tmp_path: Path) -> None:
    async def inner() -> tuple[list[Any], int, Balance, Decimal]:
        async with FaultServer() as server:
            config = Config.model_validate(
                {
                    **{"models": ["m"], "judges": ["rules"], "experiments": [], "designs": {}},
                    "registry": {"m": {"litellm": unwatched, "api_base": f"http://127.0.0.1:{server.port}"}},
                    "prices": {"m": {"input": 1, "output": 10, "as_of": "2026-11-01"}},
                }
            )
            remote = Remote(config, ResponseCache(tmp_path), Progress(), Decimal(1))
            calls = [
                Request("e", unwatched, (("system", "A text."), ("user", "?")), CAP, "coord_first", sample)
                for sample in range(9)
            ]
            sent = [remote.fetch(call, "m", Preflight()) for call in calls]
            outcomes = await asyncio.gather(*sent, return_exceptions=True)
            first = Preflight().requests(calls[0], None)[SHORT]
            worst = Terms.of(config, "m").worst_case(request_tokens(first), output_cap(first.params))
            return outcomes, server.stats()["received"], remote.ledger.balance(), worst

    outcomes, received, balance, worst = asyncio.run(inner())
    assert all(isinstance(one, CallError) and "unwatched" in str(one) for one in outcomes)
    # litellm makes two requests of this one; the other eight calls of the model are not made.
    assert 1 <= received <= 2
    assert (balance.spent, balance.reserved) == (worst, 0)
