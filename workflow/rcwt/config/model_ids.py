"""Ids of models that no chat request reaches, known before anything is sent.

The vendors' lists of what is served where are in a file of litellm's, which is read without importing litellm. What is
newer than that file is known by its name. A server of one's own may offer other ids as chat models, but not those that
litellm would send to /v1/responses.
"""

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rcwt.config.thinking import protocol_of

_LIST = "model_prices_and_context_window_backup.json"
#: The vendors' own hosts; OpenAI has some for regions, as eu.api.openai.com.
_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "gemini": "generativelanguage.googleapis.com",
}
_RESPONSES = (
    "is answered by OpenAI's Responses API (/v1/responses) alone, which this version does not speak; a server of your "
    "own that answers it in a chat can serve it under another name"
)
_DATED = r"(-latest|-preview)?(-\d{4}-\d\d-\d\d)?"
#: By name: what vendors serve to no chat request, whatever the list says or does not say yet.
_BY_NAME = (
    (r"openai/codex\b.*", _RESPONSES),
    (r"gemini/(.*-)?deep-research\b.*", "is no chat model but an agent of the Interactions API"),
    (r"openai/o1-(mini|preview)\b.*", "takes no system message, which each prompt here has"),
)
#: Anywhere: litellm sends these by a client of its own, or as another id.
_ANYWHERE = (
    (rf"openai/(gpt-[\d.]+(-[a-z]+)?-(pro|codex)(-mini|-max)?|codex-mini|computer-use){_DATED}", _RESPONSES),
    (rf"openai/(o\d+-pro|[^/]*-deep-research){_DATED}", _RESPONSES),
    (r"openai/responses/.*", "is sent to /v1/responses, which this version does not speak"),
    (r"openai/.*ft:(babbage|davinci)-002\b.*", "is a model for text completion"),
    (r"anthropic/claude-(2|instant-1)", "is a model for text completion"),
)


def why_no_chat(model: str, api_base: str | None) -> str | None:
    """Why the model of an id cannot be asked in a chat, as the end of a sentence about the id; None where it can be."""
    protocol = protocol_of(model)
    listed, named = _listed(protocol, model.partition("/")[2]), _named(_ANYWHERE, model)
    if named is not None or listed == _RESPONSES:
        return named or listed
    return listed or _named(_BY_NAME, model) if _at_vendor(protocol, api_base) else None


def _at_vendor(protocol: str, api_base: str | None) -> bool:
    host = _HOSTS.get(protocol)
    asked = urlsplit(api_base).hostname if api_base else host
    return host is not None and asked is not None and (asked == host or asked.endswith(f".{host}"))


def _named(patterns: tuple[tuple[str, str], ...], model: str) -> str | None:
    return next((reason for pattern, reason in patterns if re.fullmatch(pattern, model, re.IGNORECASE)), None)


def _listed(protocol: str, name: str) -> str | None:
    entry = _models().get(f"{protocol}/{name}", _models().get(name))
    if not entry or not str(entry.get("litellm_provider")).endswith(protocol):
        return None
    mode = entry.get("mode")
    served = [str(path) for path in entry.get("supported_endpoints") or []]
    if mode == "responses" or served == ["/v1/responses"]:
        return _RESPONSES
    if mode not in (None, "chat"):
        return f"is a model for {str(mode).replace('_', ' ')}"
    if served and "/v1/chat/completions" not in served:
        return f"is served at {', '.join(served)} alone"
    return None


@cache
def _models() -> Mapping[str, Any]:
    """litellm's list by id; empty where this litellm has none in that place."""
    package = importlib.util.find_spec("litellm")
    try:
        found = json.loads((Path(package.origin or "").parent / _LIST).read_bytes()) if package else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
