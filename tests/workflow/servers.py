"""The fault server as a process of its own, and configurations that point the pipeline at it."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import yaml

SERVER = Path(__file__).parents[1] / "fixtures" / "fault_server.py"
KEY = "sk-planted-3f9a7c1e5b"
#: Calls of a preflight to a server of one's own, of `configuration`: the short one, a piece of the coordination content
#: (of the reference there is too little in the prompts at 90 % to count), and the largest prompt.
PREFLIGHTS = 3
#: The same where the reference is a larger part of some prompt.
ALL_PREFLIGHTS = 4
#: Those to a judge that is no target: the short one, and a piece of its questions, which the server takes for one.
JUDGE_PREFLIGHTS = 2
PRICES = {"input": 0.4, "cached_input": 0.1, "output": 1.6, "as_of": "2026-11-29"}


class Server:
    """A running fault server."""

    def __init__(self, folder: Path, **script: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "script.json").write_text(json.dumps(script))
        port_file = folder / "port"
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(SERVER),
                "--port",
                "0",
                "--script",
                str(folder / "script.json"),
                "--port-file",
                str(port_file),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 120
        while not (port_file.exists() and port_file.read_text().strip()):
            assert time.monotonic() < deadline, "the fault server did not start"
            assert self.process.poll() is None, "the fault server ended"
            time.sleep(0.02)
        self.port = int(port_file.read_text())

    def _post(self, path: str, body: Any = None) -> None:
        data = json.dumps(body or {}).encode()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data), timeout=120).read()

    def script(self, **script: Any) -> None:
        """Replace the script."""
        self._post("/script", script)

    def reset(self) -> None:
        """Forget the counts."""
        self._post("/reset")

    def stats(self) -> dict[str, Any]:
        """What the server has received."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=120) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def stop(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()


def api_base(server: Server, protocol: str) -> str:
    """The address litellm takes for a protocol (design: what litellm sends)."""
    return f"http://127.0.0.1:{server.port}" + {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}[protocol]


def configuration(server: Server, protocol: str = "openai", **changes: Any) -> dict[str, Any]:
    """Two cells of four calls on the server, as an overlay; `changes` replace its top keys."""
    entry = {"litellm": f"{protocol}/gemini-2.5-flash" if protocol == "gemini" else f"{protocol}/served"}
    entry |= {"api_base": api_base(server, protocol), "endpoint_id": "test-server", "api_key_env": "TEST_KEY"}
    window = {"window": 4096, "shares": [90], "trials": 4}
    return {
        "models": ["t"],
        "judges": ["rules"],
        "registry": {"t": {**entry, "max_concurrency": 64}},
        "prices": {"t": PRICES},
        "designs": {"fixed_budget": {"windows": [window]}},
        "bootstrap": {"B": 200},
        **changes,
    }


def write(folder: Path, content: dict[str, Any], name: str = "mine.yaml") -> list[str]:
    """Write an overlay and give the arguments that use it."""
    (folder / name).write_text(yaml.safe_dump(content))
    return ["--configfile", name]
