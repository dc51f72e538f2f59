"""What all records of the configuration are made of: names, numbers and parameters of a call."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rcwt.parameters import reserved_in

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="letters, digits, '.', '_', '-'")]
ExperimentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="lower case, digits, '_'")]
#: Name of an environment variable.
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
Variable = Annotated[str, Field(pattern=VARIABLE)]


# Strict: YAML reads yes and on as true, which would otherwise count as 1.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
#: Which block of the system message comes first.
Order = Literal["coord_first", "reason_first"]


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


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address that begins with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address without a user or key in it; a key goes into the variable that api_key_env names")
    return text


#: Where a server is.
Address = Annotated[str, AfterValidator(_address)]


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
