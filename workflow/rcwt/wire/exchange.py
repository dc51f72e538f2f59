"""What goes over the wire in one request: watched at the HTTP client that litellm sends through.

litellm takes a caller's own client, and httpx calls that client's hooks with each request before it leaves
and each response when it has come. So the exact body sent, the true status and the bytes received are known,
whatever litellm makes of them, and a request that is not what was asked for is stopped before it costs.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

from rcwt.base.keys import SURELY_A_SECRET, scrub
from rcwt.config.parameters import Message, changed_messages, sent_parameters, unsent
from rcwt.config.thinking import GEMINI_BUDGETS, REMEDIES, THINKING, shown
from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.received import UnreadableFault

if TYPE_CHECKING:
    import httpx

#: Seconds a connection may stay silent. The same for every call: another value would open a new
#: connection each time. What ends a call is its own deadline.
READ_TIMEOUT_S = 600.0
#: No model's reply is longer, in bytes: 128 000 tokens, each sign escaped, are less. A server may send without end.
LONGEST_BODY = 8 * 2**20


class Settled(BaseException):
    """Raised inside a hook when all that can be learnt is in the exchange.

    What litellm would do after that is a third of its time a call: reading the reply, pricing, logging, going
    on with replies that it thinks unfinished. No `except Exception` on the way up takes this for a failure.
    """


@dataclass
class Exchange:
    """The record of one request, filled in while it runs; `on_leave` is called when the request leaves.

    `model` is the id as the registry has it, `asked` the parameters by the names that it takes.
    `fault` is set where the request was stopped before it left, or its answer at `LONGEST_BODY`; `status`
    and `headers` where an answer began; `body` where it came to its end. Times are seconds of
    `time.monotonic`.
    """

    model: str
    asked: Mapping[str, Any]
    messages: Sequence[Message]
    on_leave: Callable[[], None] = lambda: None
    fault: PermanentFault | TransientFault | None = None
    sent: Mapping[str, Any] = field(default_factory=dict)
    left_at: float | None = None
    time_utc: str = ""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    done_at: float = 0.0

    def leave(self, url: str, content: bytes) -> None:
        """Check and record a request; raises `Settled` where it must not leave."""
        body = _json_object(content)
        self.fault = _fault(self, urlsplit(url).path, body)
        if self.fault is not None:
            raise Settled
        self.sent = sent_parameters(body)
        self.time_utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.left_at = time.monotonic()
        self.on_leave()

    def arrive(self, status: int, headers: Mapping[str, str]) -> None:
        """Record that an answer has begun."""
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}

    def finish(self, content: bytes) -> None:
        """Record that the answer has been read to its end."""
        text = content.decode("utf-8-sig", errors="replace")
        # An error may echo the key; a reply is the model's own words, in which only what can be no word is cut.
        succeeded = self.status is not None and self.status < 300
        self.body = scrub(text, SURELY_A_SECRET if succeeded else 0)
        self.done_at = time.monotonic()

    @property
    def latency_s(self) -> float:
        """Seconds from the request's start to the last byte of its answer."""
        return self.done_at - self.left_at if self.left_at is not None and self.done_at else 0.0


#: Where a request of each protocol goes: the end of its path.
_PATHS = {"openai": "/chat/completions", "anthropic": "/v1/messages", "gemini": "/models/{name}:generateContent"}


def _fault(exchange: Exchange, path: str, body: Mapping[str, Any]) -> PermanentFault | None:
    """What keeps a request from leaving: another address, model, parameter or conversation than asked for."""
    protocol, _, name = exchange.model.partition("/")
    named = body.get("model", name)
    if named != name or not unquote(path).endswith(_PATHS[protocol].format(name=name)):
        return rerouted(exchange.model, f"{protocol}/{named}, to {path}")
    lost = unsent(protocol, exchange.asked, body)
    if lost:
        asked = {name: exchange.asked[name] for name in lost}
        thought = f"; it would send {shown(protocol, asked, body)}" if asked.keys() & THINKING else ""
        wanted = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        return PermanentFault(
            "unsupported_parameter",
            None,
            f"litellm would not send what was asked for: {wanted}{thought}",
            REMEDIES[protocol] if thought else "Rename it or set it to null under the model's `param_names`",
        )
    change = changed_messages(exchange.messages, body)
    if change is not None:
        return PermanentFault(
            "changed_messages",
            None,
            f"litellm would send another conversation than asked for: {change}",
            "Address the model so that it takes the messages as they are, for instance as openai/<model>; one that "
            "takes no system message cannot be measured",
        )
    return None


def rerouted(model: str, to: str) -> PermanentFault:
    """The fault of a request that would not go where the id of its model says."""
    return PermanentFault(
        "rerouted",
        None,
        f"{model} would be sent by litellm as {to}",
        "Name in `litellm` the model itself, by an id that its server answers in a chat",
    )


def _json_object(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextlib.contextmanager
def watched(exchange: Exchange) -> Any:
    """Fill in `exchange` from the request made inside this block."""
    token = _current.set(exchange)
    try:
        yield exchange
    finally:
        _current.reset(token)


async def _on_request(request: "httpx.Request") -> None:
    exchange = _current.get()
    if exchange is not None:
        exchange.leave(str(request.url), request.content)


async def _on_response(response: "httpx.Response") -> None:
    exchange = _current.get()
    if exchange is not None:
        exchange.arrive(response.status_code, response.headers)
        received = bytearray()
        async for part in response.aiter_bytes():
            received += part
            if len(received) > LONGEST_BODY:
                cause = f"the body is longer than {LONGEST_BODY >> 20} MB, and was read no further"
                exchange.fault = UnreadableFault(exchange.status, cause, None)
                raise Settled
        exchange.finish(bytes(received))
        raise Settled


#: Variables by which litellm would send a request elsewhere, or another one than asked for.
_REROUTING = (
    "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES",
    "USE_LITELLM_PROXY",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER",
    "LITELLM_ANTHROPIC_DISABLE_URL_SUFFIX",
    "LITELLM_REASONING_AUTO_SUMMARY",
)


@cache
def load_litellm() -> Any:
    """Import litellm (some seconds of CPU) so that it asks the network nothing and prints nothing.

    Safe to call early from another thread, so that the import overlaps with other work.
    """
    os.environ.update(
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS="True",
        # At DEBUG it prints prompts, and in its default mode it reads keys from any .env file around.
        LITELLM_LOG="ERROR",
        LITELLM_MODE="PRODUCTION",
        # Its own budgets for a Gemini that is asked for an effort are a fraction of Google's.
        **{
            f"DEFAULT_REASONING_EFFORT_{effort.upper()}_THINKING_BUDGET": str(GEMINI_BUDGETS[effort])
            for effort in ("low", "medium", "high")
        },
        DEFAULT_REASONING_EFFORT_DISABLE_THINKING_BUDGET=str(GEMINI_BUDGETS["none"]),
    )
    for name in _REROUTING:
        os.environ.pop(name, None)
    # Its own types make pydantic warn at the first Gemini call, and again for each of them.
    warnings.filterwarnings("ignore", message=r"(?s).*using the `ReadOnly` qualifier", category=UserWarning)
    # A call that is cancelled before its request is made leaves the coroutine that would have made it.
    warnings.filterwarnings(
        "ignore", message=r"coroutine '\w*(Completion|VertexLLM|ServiceLogging)\.", category=RuntimeWarning
    )
    litellm = _import_without_collecting("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Each of these may be set by an environment variable, and would change a request behind our back.
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.enable_anthropic_prompt_caching = False
    litellm.route_all_chat_openai_to_responses = False
    return litellm


def _import_without_collecting(name: str) -> Any:
    """Import a module that makes very many objects; searching them for garbage meanwhile takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        module = importlib.import_module(name)
        # They live as long as the process: later searches pass them over.
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()
    return module


class Clients:
    """The HTTP clients of one event loop: one pool of connections for all endpoints."""

    def __init__(self) -> None:
        load_litellm()
        handler: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")
        hooks = {"request": [_on_request], "response": [_on_response]}
        self._handler: Any = handler.AsyncHTTPHandler(timeout=READ_TIMEOUT_S, event_hooks=hooks)
        self._openai: dict[tuple[str, str], Any] = {}

    def of(self, protocol: str, api_base: str, api_key: str) -> Any:
        """Return the client that litellm takes as `client` for a protocol."""
        if protocol != "openai":
            return self._handler
        found = self._openai.get((api_base, api_key))
        if found is None:
            sdk: Any = importlib.import_module("openai")
            found = sdk.AsyncOpenAI(
                api_key=api_key,
                base_url=api_base,
                http_client=self._handler.client,
                max_retries=0,
                timeout=READ_TIMEOUT_S,
            )
            self._openai[api_base, api_key] = found
        return found

    async def close(self) -> None:
        """Close all connections."""
        await self._handler.close()


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Clients] = WeakKeyDictionary()


def clients() -> Clients:
    """Return the running event loop's clients, made at the first call."""
    loop = asyncio.get_running_loop()
    found = _clients.get(loop)
    if found is None:
        found = _clients[loop] = Clients()
    return found


async def close_clients() -> None:
    """Close the running event loop's connections, if it has any."""
    found = _clients.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()
