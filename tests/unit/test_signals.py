"""What a run does on a signal, in this process."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from rcwt.run import signals

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """The handlers of now, given back after a test."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_handler_that_needs_a_lock_of_the_main_thread_gets_it_later(number: signal.Signals) -> None:
    # Snakemake's takes the lock that its main thread holds while it finishes jobs; in that thread it never would.
    lock, taken, got, interrupts = threading.Lock(), threading.Event(), list[bool](), list[int]()

    def handler(*_: object) -> None:
        got.append(lock.acquire(timeout=120))
        taken.set()

    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signals.install(lambda: interrupts.append(1))
    with lock:
        os.kill(os.getpid(), number)
        assert interrupts == [1]
    assert taken.wait(timeout=300)
    assert got == [True]


def test_ctrl_c_is_raised_where_it_strikes_once() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts = list[int]()
    signals.install(lambda: interrupts.append(1))
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)  # passed over while the run ends by the first
    assert interrupts == [1]
