"""The progress line: what it says, and how it is shown with and without a terminal."""

import io
import time
from collections.abc import Callable
from decimal import Decimal

import pytest

from rcwt.calls import progress
from rcwt.calls.limits import LimiterState
from rcwt.calls.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_says_what_is_done_and_what_is_waited_for() -> None:
    shown = Progress(io.StringIO())
    shown.planned, shown.asked, shown.done, shown.cached, shown.retries = 100, 60, 25, 7, 3
    shown.dollars = lambda: Decimal("1.23456")
    shown.limiters = {
        "slow": lambda: LimiterState(3, 9, "pause", "retry-after: 429 too many requests", 12.4),
        "busy": lambda: LimiterState(64, 9, "concurrency", "64 calls in flight", 0.0),
    }
    line = shown.line()
    for part in ("calls 25/100", "7 cached", "3 retried", "slow waits 12 s (retry-after: 429", "$1.2346", "left"):
        assert part in line
    assert "busy" not in line  # a full pipe is no wait


def test_without_a_plan_the_calls_asked_for_are_the_total() -> None:
    shown = Progress(io.StringIO())
    shown.asked, shown.done = 8, 8
    assert shown.line() == "calls 8/8 · 0 cached · $0.0000"


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (65, "1 min 5 s"), (3660, "1 h 1 min")])
def test_the_time_left_is_words(seconds: float, text: str) -> None:
    assert progress._duration(seconds) == text


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_terminal_has_one_line_that_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TERMINAL_PERIOD_S", 0.01)
    terminal = Terminal()
    shown = Progress(terminal)
    shown.start()
    wait_for(lambda: terminal.getvalue().count("\r") >= 2)
    assert terminal.getvalue().count("\n") == 0
    shown.stop()
    assert terminal.getvalue().endswith("\n")


def test_without_a_terminal_there_are_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PLAIN_PERIOD_S", 0.01)
    stream = io.StringIO()
    shown = Progress(stream)
    shown.start()
    wait_for(lambda: len(stream.getvalue().splitlines()) >= 2)
    shown.stop()
    shown.stop()  # twice is once
    lines = stream.getvalue().splitlines()
    assert set(lines) == {shown.line()}
    assert "\r" not in stream.getvalue()


class Closed(Terminal):
    """A terminal that somebody has closed."""

    def write(self, _: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_closed_terminal_stops_nothing() -> None:
    shown = Progress(Closed())
    shown.start()
    shown.stop()
