"""One request to a model, sent by litellm and judged by what the server answered.

`send` makes exactly one HTTP request. It returns a `WireReply`, or raises a `TransientFault` that is worth
another attempt or a `PermanentFault` that is not; retries belong to `rcwt.calls.retries`, queueing to
`rcwt.calls.limits`. No key is in anything that it returns or raises.
"""

import asyncio
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from rcwt.base.errors import ConfigError
from rcwt.base.keys import read_key
from rcwt.config.parameters import OUTPUT_CAPS, Message, renamed, unbounded
from rcwt.wire import reading
from rcwt.wire.exchange import READ_TIMEOUT_S, Exchange, Settled, clients, load_litellm, rerouted, watched
from rcwt.wire.faults import PermanentFault, TransientFault, permanent
from rcwt.wire.received import Received, kept_headers
from rcwt.wire.replies import Protocol, WireReply

# Given always, so that no environment variable can send a paid request elsewhere.
_VENDORS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}
# A server without keys still gets a header: the OpenAI client refuses to be made without one.
_NO_KEY = "none"


@dataclass(frozen=True)
class Endpoint:
    """One model at one address, as a registry entry describes it.

    `model` is litellm's id, `openai/…`, `anthropic/…` or `gemini/…`; any server that speaks OpenAI's protocol
    is `openai/…` with its `api_base`.

    Raises `ConfigError` for an id of another kind.
    """

    name: str
    model: str
    api_base: str | None = None
    api_key_env: str | None = None

    def __post_init__(self) -> None:
        if self.model.partition("/")[0] not in _VENDORS or not self.model.partition("/")[2]:
            raise ConfigError(
                f"registry: {self.name}: litellm: found {self.model!r}; accepted are openai/<model>, "
                "anthropic/<model> and gemini/<model>. A server that speaks OpenAI's protocol is "
                "openai/<model> with its api_base"
            )

    @property
    def protocol(self) -> Protocol:
        """The protocol that the server speaks."""
        return cast(Protocol, self.model.partition("/")[0])

    @property
    def address(self) -> str:
        """The base URL that requests go to."""
        return self.api_base or _VENDORS[self.protocol]


async def send(
    endpoint: Endpoint,
    messages: Sequence[Message],
    params: Mapping[str, Any],
    deadline_s: float,
    on_leave: Callable[[], None] = lambda: None,
) -> WireReply:
    """Send one request and read its reply.

    `messages` are dicts with `role` and `content`; `params` must cap the output (`max_tokens`); `deadline_s`
    bounds the whole exchange in seconds, from the request's leaving to the reply's last byte; `on_leave` is called when
    it leaves.

    Raises `TransientFault` (408, 409, 425, 429, 5xx, 529, no or half an answer, not JSON, deadline) and
    `PermanentFault` (everything else, and a parameter that litellm would have dropped).
    """
    asked = renamed(params, {})
    _check(endpoint, asked)
    _check_route(endpoint)
    exchange = Exchange(endpoint.model, asked, messages)
    error = await _run(endpoint, exchange, deadline_s, on_leave)
    # Raised out here, and not where the error was caught: a chained traceback would carry its text.
    return _judged(endpoint, exchange, error)


def _check(endpoint: Endpoint, asked: Mapping[str, Any]) -> None:
    problem = unbounded(asked)
    if problem is not None:
        raise PermanentFault(
            "unbounded",
            None,
            f"the call would have {problem}",
            f"Give {endpoint.name} exactly one output cap in `params`: {' or '.join(OUTPUT_CAPS)}",
        )
    key = read_key(endpoint.api_key_env)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise PermanentFault(
            "wrong_key",
            None,
            f"the value of {endpoint.api_key_env} holds a space, a line break or another character no key has",
            f"Put the key for {endpoint.name} alone into {endpoint.api_key_env}",
        )
    if endpoint.api_key_env and key is None:
        raise PermanentFault(
            "missing_key",
            None,
            f"the environment variable {endpoint.api_key_env} is not set",
            f"Put the key for {endpoint.name} into {endpoint.api_key_env}",
        )


def _check_route(endpoint: Endpoint) -> None:
    """Ask litellm whom it would take the model for; some it sends by a client of its own, which no hook sees."""
    to = _route(endpoint.model, endpoint.address)
    if to != endpoint.model:
        raise rerouted(endpoint.model, to)


@cache
def _route(model: str, address: str) -> str:
    litellm = load_litellm()
    name, provider, _, _ = litellm.get_llm_provider(model=model, api_base=address)
    return f"{provider}/{name}"


async def _run(
    endpoint: Endpoint, exchange: Exchange, deadline_s: float, on_leave: Callable[[], None]
) -> BaseException | None:
    """Let litellm make the request; return the exception it ended in, if any."""
    litellm = load_litellm()
    _introduce(litellm, endpoint)
    api_key = read_key(endpoint.api_key_env) or _NO_KEY
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as limit:

            def leave() -> None:
                # Counted from here: what litellm computes before waits for no one else.
                limit.reschedule(loop.time() + deadline_s)
                on_leave()

            exchange.on_leave = leave
            with watched(exchange):
                await litellm.acompletion(
                    model=endpoint.model,
                    messages=[dict(message) for message in exchange.messages],
                    api_base=endpoint.address,
                    api_key=api_key,
                    client=clients().of(endpoint.protocol, endpoint.address, api_key),
                    timeout=READ_TIMEOUT_S,
                    num_retries=0,
                    max_retries=0,
                    # Else it sends models of its list to /v1/responses, by a client of its own.
                    _skip_responses_api_bridge=True,
                    **_as_litellm_takes(endpoint, exchange.asked),
                )
    except Settled:
        return None
    except asyncio.CancelledError:
        # What is here whole has been paid, and is kept whatever ends the call.
        if exchange.body is None:
            raise
        return None
    except TimeoutError as timeout:
        return timeout
    except Exception as error:
        return error
    return None


def _as_litellm_takes(endpoint: Endpoint, asked: Mapping[str, Any]) -> dict[str, Any]:
    """`asked` as keywords; a copy, because litellm writes into what it is given."""
    given = copy.deepcopy(dict(asked))
    if endpoint.protocol == "openai" and "thinking" in given:
        # A parameter of many servers, which litellm takes for one of other vendors only.
        given["extra_body"] = {"thinking": given.pop("thinking")}
    return given


def _introduce(litellm: Any, endpoint: Endpoint) -> None:
    """Tell litellm that a model takes system messages, where its list does not know the model or says nothing of it.

    It would make the system text a turn of the user's, and of Gemini's schemas a part of the prompt.
    """
    gemini = endpoint.protocol == "gemini"
    # litellm looks at the last part of a gateway's id too, as in openai/openai/o3-mini.
    name = endpoint.model if gemini else endpoint.model.rpartition("/")[2]
    known = litellm.model_cost.get(name, {"supports_response_schema": True} if gemini else None)
    if known is None or "supports_system_messages" in known:
        return
    if known.get("litellm_provider", endpoint.protocol) == endpoint.protocol:
        entry = {"litellm_provider": endpoint.protocol, "mode": "chat", **known, "supports_system_messages": True}
        litellm.register_model({name: entry})


def _judged(endpoint: Endpoint, exchange: Exchange, error: BaseException | None) -> WireReply:
    """Return the reply, or raise the fault, that the exchange amounts to.

    What was received in full is judged first: it has been paid for, whatever litellm or the deadline
    made of it afterwards.
    """
    if exchange.status is not None and exchange.body is not None:
        return replace(reading.read(_received(endpoint, exchange), exchange.headers), requested=dict(exchange.asked))
    if exchange.fault is not None:
        raise exchange.fault
    raise _unanswered(exchange, error)


def _received(endpoint: Endpoint, exchange: Exchange) -> Received:
    assert exchange.status is not None
    assert exchange.body is not None
    return Received(
        endpoint.protocol,
        exchange.status,
        kept_headers(exchange.headers),
        exchange.body,
        dict(exchange.sent),
        exchange.time_utc,
        exchange.latency_s,
    )


def _unanswered(exchange: Exchange, error: BaseException | None) -> TransientFault | PermanentFault:
    """Say what happened where no complete answer came."""
    left = exchange.left_at is not None
    if isinstance(error, TimeoutError) and left:
        return TransientFault(exchange.status, "no complete reply before the call's deadline", maybe_billed=True)
    if left:
        names, cause = _connection_errors(error)
        # A connection that was never made carried no request.
        refused = bool(names & {"ConnectError", "ConnectTimeout", "ClientConnectorError"})
        what = "connection refused" if refused else "connection lost"
        return TransientFault(exchange.status, f"{what}: {cause}", maybe_billed=not refused)
    litellm = load_litellm()
    if isinstance(error, litellm.UnsupportedParamsError):
        # What follows is its advice to drop parameters.
        return permanent("unsupported_parameter", None, f"refused by litellm: {str(error).partition(' To drop')[0]}")
    if isinstance(error, litellm.BadRequestError) and not (error.__cause__ or error.__context__):
        return PermanentFault(
            "not_sent",
            None,
            f"litellm could not make the request: {type(error).__name__}: {error}",
            "Correct the model's `litellm`, `api_base` or `params` in the registry",
        )
    how = f"failed ({type(error).__name__}: {error})" if error else "returned"
    return PermanentFault(
        "unwatched",
        None,
        f"litellm {how} without the request having passed the project's hooks; it may have been sent and billed, "
        "and is booked at its worst case",
        "Correct the model's `litellm`, `api_base` or `params` in the registry",
        maybe_billed=True,
    )


def _connection_errors(error: BaseException | None) -> tuple[set[str], str]:
    """Return the class names in an exception's chain, and the innermost message that says something."""
    names: set[str] = set()
    cause = "no answer"
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        names.add(type(error).__name__)
        cause = str(error) or cause
        error = error.__cause__ or error.__context__
    return names, cause
