"""One request against the fault server, for the tests of the wire."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fault_server import FaultServer

from rcwt.wire.exchange import close_clients
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.replies import WireReply
from rcwt.wire.wire import Endpoint, send

PROTOCOLS = ("openai", "anthropic", "gemini")
PATHS = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}
MODELS = {
    "openai": "openai/gpt-4.1-mini",
    "anthropic": "anthropic/claude-haiku-4-5",
    "gemini": "gemini/gemini-2.5-flash",
}
KEY_ENV = "RCWT_TEST_KEY"
KEY = "sk-planted-0123456789"
MESSAGES = [
    {"role": "system", "content": "Redis Streams take 5 ms. Pub/Sub takes 1 ms! \n\nA role — “quoted”.\n"},
    {"role": "user", "content": "  What takes 5 ms?\n"},
]
PARAMS: dict[str, Any] = {"temperature": 0.3, "max_tokens": 64}
T = TypeVar("T")
Result = WireReply | TransientFault | PermanentFault


def endpoint(server: FaultServer, protocol: str, **more: Any) -> Endpoint:
    given = {"model": MODELS[protocol], "api_key_env": KEY_ENV, **more}
    return Endpoint("under-test", api_base=f"http://127.0.0.1:{server.port}{PATHS[protocol]}", **given)


async def outcome(at: Endpoint, params: Any = PARAMS, deadline_s: float = 10.0, messages: Any = MESSAGES) -> Result:
    try:
        return await send(at, messages, params, deadline_s)
    except (TransientFault, PermanentFault) as fault:
        return fault


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine in its own event loop, and close its connections."""

    async def closing() -> T:
        try:
            return await coroutine
        finally:
            await close_clients()

    return asyncio.run(closing())


def ask(protocol: str, act: Any, params: Any = PARAMS, deadline_s: float = 10.0, **more: Any) -> Result:
    """Return what one request comes to when the server plays `act`; asserts that it is one request."""

    async def once() -> Result:
        async with FaultServer({"always": act}) as server:
            result = await outcome(endpoint(server, protocol, **more), params, deadline_s)
            assert server.stats()["received"] == 1
            return result

    return run(once())
