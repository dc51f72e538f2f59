"""Bodies that servers send, read as JSON: whatever is in them, the reading ends in a value or in a ValueError."""

import json
from typing import Any

#: A whole number of more digits is no count and no code; Python refuses to read thousands of them.
_MOST_DIGITS = 300
_AROUND = "\ufeff \t\r\n\0"


def read_json(body: str) -> Any:
    """The JSON value of a body. Raises ValueError for one that is no JSON, or nested deeper than can be read.

    Raw control characters in texts, marks of byte order and zeros around the value are read over: there is one way to.
    """
    try:
        return json.loads(body.strip(_AROUND), parse_int=whole_number, strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def whole_number(digits: str) -> int | float:
    """A number written in digits; infinite where these are absurdly many."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


def text_of(value: object) -> str | None:
    """`value` where it is a text."""
    return value if isinstance(value, str) else None


def members_of(value: object) -> dict[str, Any]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def parts_of(value: object) -> list[Any]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []
