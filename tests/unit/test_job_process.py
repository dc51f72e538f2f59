"""What a job's own process does: it ends soon when it is told to, and prints no key."""

import logging
import signal
import subprocess
import sys

import pytest

from rcwt.base import keys
from rcwt.base.keys import SCRUBBED

SLEEPER = """
import os, signal, subprocess
from rcwt.run import signals
def say(what):  # in one write: print() ends its line in a second one, and two threads speak here
    os.write(1, f"{what}\\n".encode())
signals.watch(lambda: say("interrupted"))
# As Snakemake does, after the Snakefile was read.
signal.signal(signal.SIGTERM, lambda *_: say("handler"))
child = subprocess.Popen(["sleep", "600"])
say("ready")
say(f"child {child.wait()}")
"""


def test_a_signal_reaches_the_calls_whoever_sets_its_handler() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=300)[0].splitlines()  # the child alone would take 600 s
    # Calls are interrupted and children ended, beside what the handler does.
    assert sorted(said) == sorted(["interrupted", "handler", f"child {-signal.SIGTERM}"])


STARTED = """
import signal, time
from rcwt.run import signals
signals.install(lambda: print("interrupted"), has_jobs=True)
try:
    print("ready", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("Ctrl-C")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN], ids=["terminal", "in a script with &"])
def test_a_run_with_jobs_ends_as_by_ctrl_c_however_it_was_started(
    number: signal.Signals, before: signal.Handlers
) -> None:
    # KeyboardInterrupt is what Snakemake cancels its jobs on; POSIX shells have SIGINT ignored in asynchronous lists.
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, before),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.communicate(timeout=300)[0] == "interrupted\nCtrl-C\n"


STUCK = """
import signal, threading
from rcwt.run import signals
signals.watch(lambda: None, within_s=0.5)
lock = threading.Lock()
def handler(*_):
    with lock:
        print("ready", flush=True)
        signal.raise_signal(signal.SIGTERM)
signal.signal(signal.SIGTERM, handler)
signal.raise_signal(signal.SIGTERM)
"""


def test_a_handler_that_hangs_does_not_keep_a_job_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert process.communicate(timeout=300)[0] == "ready\n"
    assert process.returncode == 128 + signal.SIGTERM


def test_no_key_passes_a_guarded_logger(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-4711-secret-value")
    logger = logging.getLogger("guarded")
    keys.guard(logger, ["SOME_KEY", "NOT_SET", None])
    with caplog.at_level(logging.DEBUG):
        logger.debug("environment: %s", {"SOME_KEY": "sk-4711-secret-value"})
        logger.info("nothing to hide: %d", 7)
    assert [record.getMessage() for record in caplog.records] == [
        f"environment: {{'SOME_KEY': '{SCRUBBED}'}}",
        "nothing to hide: 7",
    ]
