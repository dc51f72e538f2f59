"""The fault server itself: faults strike by hash, at the first arrivals only, and answers never change."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from wire_helpers import endpoint, outcome, run

from rcwt.wire.faults import PermanentFault, TransientFault
from rcwt.wire.replies import WireReply

HERE = Path(__file__).parents[1] / "fixtures" / "fault_server.py"


pytestmark = pytest.mark.usefixtures("planted_key")


def struck(script: dict[str, Any], requests: int = 40, arrivals: int = 3) -> list[list[bool]]:
    """Return for each of some requests which of its arrivals failed."""

    async def inner() -> list[list[bool]]:
        async with FaultServer(script) as server:
            at = endpoint(server, "openai")
            found = []
            for number in range(requests):
                messages = [{"role": "user", "content": f"Question {number}?"}]
                results = [await outcome(at, messages=messages) for _ in range(arrivals)]
                found.append([not isinstance(result, WireReply) for result in results])
            return found

    return run(inner())


def test_faults_strike_a_share_of_the_requests_at_their_first_arrivals() -> None:
    script = {"seed": 1, "faults": [{"share": 0.3, "act": "429"}, {"share": 0.1, "act": "500"}]}
    found = struck(script)
    assert {tuple(arrivals) for arrivals in found} == {
        (False, False, False),
        (True, False, False),
        (True, True, False),
    }
    first = [arrivals[:1] for arrivals in found]
    assert 8 <= sum(arrivals[0] for arrivals in found) <= 24
    assert first == struck(script, arrivals=1)
    assert first != struck({**script, "seed": 2}, arrivals=1)


def test_faults_by_arrival_never_strike_three_times_in_a_row() -> None:
    script = {"faults": [{"share": 0.7, "act": "500"}], "per": "arrival"}
    (found,) = struck(script, requests=1, arrivals=60)
    assert 20 <= sum(found) <= 45
    assert "111" not in "".join(str(int(failed)) for failed in found)


def test_sequence_keys_and_retired_models() -> None:
    async def inner() -> None:
        async with FaultServer({"sequence": ["429", {"status": 503, "retry_after": 2}, "ok"]}) as server:
            at = endpoint(server, "openai")
            kinds = [type(await outcome(at)) for _ in range(4)]
            assert kinds == [TransientFault, TransientFault, WireReply, WireReply]
            server.script.update(keys=["another"])
            refused = await outcome(at)
            assert isinstance(refused, PermanentFault)
            assert refused.kind == "wrong_key"
            server.script.update(keys=None, retired=["gpt-4.1-mini"])
            refused = await outcome(at)
            assert isinstance(refused, PermanentFault)
            assert refused.kind == "retired_model"
            assert server.stats()["successes"] == 2

    run(inner())


def test_bills_what_it_is_told() -> None:
    async def inner() -> None:
        async with FaultServer({"usage": {"prompt": 4875, "completion": "cap"}}) as server:
            for protocol in ("openai", "anthropic", "gemini"):
                reply = await outcome(endpoint(server, protocol))
                assert isinstance(reply, WireReply)
                assert (reply.usage.prompt, reply.usage.completion) == (4875, 64)

    run(inner())


def test_runs_as_a_program(tmp_path: Path) -> None:
    script, port_file = tmp_path / "script.json", tmp_path / "port"
    script.write_text(json.dumps({"always": "500"}))
    command = [
        sys.executable,
        str(HERE),
        "--port",
        "0",
        "--script",
        str(script),
        "--port-file",
        str(port_file),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            assert port_file.read_text() == str(port)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=10) as answer:
                assert json.load(answer)["received"] == 0
        finally:
            server.terminate()
