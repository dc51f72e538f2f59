"""A process of a run for the tests of shared state: `python shared_process.py FOLDER HOW [ARGUMENT...]`."""

import asyncio
import atexit
import json
import random
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

from rcwt.base.errors import CallError
from rcwt.base.records import Response
from rcwt.calls.progress import Progress
from rcwt.calls.remote import Remote
from rcwt.calls.responses import Request, ResponseCache
from rcwt.calls.run_state import RunState
from rcwt.calls.runtime import Runtime
from rcwt.calls.shared_ledger import SharedLedger
from rcwt.calls.shared_limits import SharedLimiter
from rcwt.calls.verdicts import Verdicts
from rcwt.config.schema import Config
from rcwt.study.preflight import Preflight


def spend(run: RunState, cap: str, calls: str, seed: str) -> None:
    """Calls of at most one dollar at four at a time, each settled at what chance says; the actual sum is printed."""
    chance, ledger, paid = random.Random(seed), SharedLedger(run, Decimal(cap)), Decimal(0)

    async def call(actual: Decimal) -> None:
        nonlocal paid
        async with turns:
            held = await ledger.reserve_when_free(Decimal(1))
            if held is None:
                return
            await asyncio.sleep(0.002)
            balance = ledger.balance()
            assert balance.spent + balance.reserved <= Decimal(cap)
            if actual == 0:
                ledger.release(held)
            else:
                ledger.settle(held, actual)
                paid += actual

    async def all_calls() -> None:
        await asyncio.gather(*(call(Decimal(chance.randrange(11)) / 10) for _ in range(int(calls))))

    turns = asyncio.Semaphore(4)
    asyncio.run(all_calls())
    print(json.dumps({"paid": str(paid)}))


def hold(run: RunState, cap: str, usd: str) -> None:
    """Set money aside and say so; then do nothing, until killed."""
    assert SharedLedger(run, Decimal(cap)).reserve(Decimal(usd)) is not None
    print("held", flush=True)
    time.sleep(600)


def sit(run: RunState, seats: str) -> None:
    """Take all seats of an endpoint and say so; then do nothing, until killed."""
    limiter = SharedLimiter(run, "endpoint", int(seats))

    async def one() -> None:
        async with limiter.slot():
            await asyncio.sleep(600)

    async def all_seats() -> None:
        tasks = [asyncio.create_task(one()) for _ in range(int(seats))]
        while limiter.state().in_flight < int(seats):
            await asyncio.sleep(0.01)
        print("held", flush=True)
        await asyncio.gather(*tasks)

    asyncio.run(all_seats())


def call(run: RunState, calls: str, hold_s: str, seats: str, rpm: str, period_s: str, together: str = "1") -> None:
    """Calls as fast as the endpoint lets them; when each began and ended is printed, by the clock of this machine.

    The first is not made before `together` processes are there.
    """
    while len((run.folder / "members.jsonl").read_bytes().splitlines()) < int(together):
        time.sleep(0.01)
    limiter = SharedLimiter(run, "endpoint", int(seats), int(rpm) or None, period_s=float(period_s))
    times: list[tuple[float, float]] = []

    async def one() -> None:
        async with limiter.slot():
            began = time.time()
            await asyncio.sleep(float(hold_s))
            times.append((began, time.time()))

    async def all_calls() -> None:
        await asyncio.gather(*(one() for _ in range(int(calls))))

    asyncio.run(all_calls())
    print(json.dumps(times))


def ask(run: RunState, seconds: str) -> None:
    """Find out about a good and a bad model unless another process has; what was asked and learnt is printed."""
    asked: list[str] = []

    async def find_out(verdicts: Verdicts, name: str, failure: str) -> str:
        try:
            async with verdicts.turn(name):
                if not verdicts.known(name):
                    asked.append(name)
                    await asyncio.sleep(float(seconds))
                    verdicts.tell(name, failure)
            verdicts.known(name)
        except CallError as error:
            return str(error)
        return ""

    async def both() -> str:
        verdicts = Verdicts(run)
        good = await find_out(verdicts, "good", "")
        assert good == ""
        return await find_out(verdicts, "bad", "bad: wrong_key")

    bad = asyncio.run(both())
    print(json.dumps({"asked": sorted(asked), "bad": bad}))


def fetch(run: RunState, config: str, cache: str, sample: str) -> None:
    """One call to the model `t`, after its preflight unless another process has made that; the response is printed."""
    messages = (("system", "word " * 4000), ("user", "Question?"))
    request = Request("e", "openai/served", messages, {"max_tokens": 9}, "coord_first", int(sample))
    preflight = Preflight(pieces={"text": "word " * 1000}, parts={messages: ("text",)})

    async def one() -> Response:
        checked = Config.model_validate_json(Path(config).read_text())
        return await Remote(checked, ResponseCache(Path(cache)), Progress(), None, run).fetch(request, "t", preflight)

    print(asyncio.run(one()).model_dump_json())


def leave(run: RunState, config: str, cache: str) -> None:
    """One call, and the end of the process without `finish`; at its very end the threads of calls are printed."""
    atexit.register(lambda: print([one.name for one in threading.enumerate() if one.name == "rcwt-calls"]))
    checked = Config.model_validate_json(Path(config).read_text())
    request = Request("e", "openai/served", (("user", "Question?"),), {"max_tokens": 9}, "coord_first", 0)
    print(Runtime(checked, ResponseCache(Path(cache))).answer([request], "t", "target", "cell")[0].status)


if __name__ == "__main__":
    {"spend": spend, "hold": hold, "sit": sit, "call": call, "ask": ask, "fetch": fetch, "leave": leave}[sys.argv[2]](
        RunState(Path(sys.argv[1])), *sys.argv[3:]
    )
