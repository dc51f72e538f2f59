"""A configuration and requests for the call runtime, against a server of the tests."""

from pathlib import Path
from typing import Any

import yaml
from servers import Server, configuration

from rcwt.calls.responses import Request
from rcwt.config.check import load
from rcwt.config.schema import Config


def config_of(root: Path, server: Server, **changes: Any) -> Config:
    paths = [root / "config" / f"{name}.yaml" for name in ("models", "prices", "config")]
    merged: dict[str, Any] = {}
    for path in paths:
        merged |= yaml.safe_load(path.read_text())
    overlay = configuration(server)
    overlay["registry"]["t"] |= changes
    for key in ("registry", "prices"):
        merged[key] |= overlay[key]
    return load(merged | {"models": ["t"]}, paths)


def requests(number: int, **params: Any) -> list[Request]:
    messages = (("user", "Question?"),)
    return [
        Request("test-server", "openai/served", messages, {"max_tokens": 9, **params}, "coord_first", sample)
        for sample in range(number)
    ]
