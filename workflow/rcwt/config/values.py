"""What all records of the configuration are made of: names, numbers and parameters of a call."""

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rcwt.config.parameters import reserved_in

#: A name is part of file names, beside a window, a share and an order: no more than 255 bytes together.
LONGEST_NAME = 100
Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$",
        max_length=LONGEST_NAME,
        description="letters, digits, '.', '_', '-', with no '.' at the end",
    ),
]
ExperimentName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=LONGEST_NAME, description="lower case, digits, '_'"),
]
#: Name of an environment variable.
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
Variable = Annotated[str, Field(pattern=VARIABLE)]


# Strict: YAML reads yes and on as true, which would otherwise count as 1.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
#: Which block of the system message comes first.
Order = Literal["coord_first", "reason_first"]


def _tags(pair: tuple[str, str]) -> tuple[str, str]:
    if any(len(tag) < 2 or tag != tag.strip() for tag in pair) or pair[0].casefold() == pair[1].casefold():
        raise ValueError("an opening and another closing tag, each of two characters or more, without spaces around it")
    return pair


#: An opening and a closing tag, as in `["<think>", "</think>"]`.
TagPair = Annotated[tuple[str, str], AfterValidator(_tags)]


def distinct(values: list[Any]) -> list[Any]:
    """The values, if each is there once; raises ValueError."""
    doubled = sorted({str(value) for value in values if values.count(value) > 1})
    if doubled:
        raise ValueError(f"each value once; {', '.join(doubled)} is there more than once")
    return values


def _call_params(params: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(params.get("extra_body") or {}, dict):
        raise ValueError(f"'extra_body' as a mapping of keys, not {params['extra_body']!r}")
    reserved = reserved_in(params)
    if reserved:
        raise ValueError(f"parameters of the model call, without {', '.join(reserved)}, which the pipeline sets itself")
    cap = params.get("max_tokens")
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap < 1):
        raise ValueError(f"'max_tokens' as a whole number from 1, not {cap!r}")
    temperature = params.get("temperature")
    if temperature is not None and (not isinstance(temperature, int | float) or not 0 <= temperature <= 2):
        raise ValueError(f"'temperature' as a number from 0 to 2, not {temperature!r}")
    return params


Params = Annotated[dict[str, Any], AfterValidator(_call_params)]


_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:(?P<port>.*))?", re.DOTALL)
#: A part of a host's name.
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
#: What a path of an address holds; whatever else there is to say goes percent-encoded.
_PATH = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*")


def _address(text: str) -> str:
    """The text, if it is an address; raises ValueError, which never shows it, because keys are put into addresses."""
    scheme, _, rest = text.partition("://")
    if any(sign in text for sign in "?#"):
        raise ValueError(
            "an address without '?' and '#': a key goes into the variable that api_key_env names, a parameter of the "
            "request into 'params'"
        )
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise ValueError("an address without a user or key in it; a key goes into the variable that api_key_env names")
    parts = _AUTHORITY.fullmatch(authority)
    if scheme.lower() not in ("http", "https") or parts is None or not _is_host(parts["host"]):
        raise ValueError(
            "an address that begins with http:// or https:// and names a host, in ASCII letters (of another script its "
            "xn-- form), or an IPv6 address in brackets"
        )
    port = parts["port"]
    if port is not None and not (re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= 65535):
        raise ValueError("an address whose port, if it names one, is a number from 1 to 65535")
    if not _PATH.fullmatch(slash + path):
        raise ValueError("an address whose path holds no spaces, quotes, braces or letters beyond ASCII")
    return text


def _is_host(text: str) -> bool:
    if text.startswith("["):
        try:
            return ipaddress.ip_address(text[1:-1].replace("%25", "%")).version == 6
        except ValueError:
            return False
    labels = text.removesuffix(".").split(".")
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in labels)


#: Where a server is.
Address = Annotated[str, AfterValidator(_address)]


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
