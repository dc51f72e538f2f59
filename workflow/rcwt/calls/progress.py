"""What a run is doing: one line that updates on a terminal, a plain line every half minute where there is none."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import TextIO

from rcwt.calls.limits import LimiterState

TERMINAL_PERIOD_S = 0.5
PLAIN_PERIOD_S = 30.0


class Progress:
    """Counters of a run and the thread that shows them."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        #: Calls the whole run has to make, where the plan is known; else those asked for so far count.
        self.planned: int | None = None
        self.asked = self.done = self.cached = self.retries = 0
        self.dollars: Callable[[], Decimal] = Decimal
        self.limiters: dict[str, Callable[[], LimiterState]] = {}
        self._started = time.monotonic()
        self._stop = threading.Event()

    def found(self) -> None:
        """Count a call that was to be made, and whose response another process has brought meanwhile, as cached."""
        self.asked -= 1
        self.cached += 1
        if self.planned is not None:
            self.planned -= 1

    def start(self) -> None:
        """Show the line until `stop`."""
        self._started = time.monotonic()
        threading.Thread(target=self._show, name="rcwt-progress", daemon=True).start()

    def stop(self) -> None:
        """Show the line once more and end."""
        if not self._stop.is_set():
            self._stop.set()
            self._print()

    def line(self) -> str:
        """Done of total, cached, retries, what calls are waiting on, dollars so far and time left."""
        total = max(self.planned or 0, self.asked)
        parts = [f"calls {self.done}/{total}", f"{self.cached} cached"]
        parts += [f"{self.retries} retried"] if self.retries else []
        parts += self._waiting()
        parts.append(f"${self.dollars():.4f}")
        if 0 < self.done < total and not self._stop.is_set():
            left = (time.monotonic() - self._started) / self.done * (total - self.done)
            parts.append(f"about {_duration(left)} left")
        return " · ".join(parts)

    def _waiting(self) -> list[str]:
        shown = []
        for name, state_of in list(self.limiters.items()):
            state = state_of()
            if state.waiting_on not in {None, "concurrency"}:
                shown.append(f"{name} waits {state.wait_s:.0f} s ({state.why})")
        return shown

    def _show(self) -> None:
        period = TERMINAL_PERIOD_S if self.stream.isatty() else PLAIN_PERIOD_S
        while not self._stop.wait(period):
            self._print()

    def _print(self) -> None:
        with contextlib.suppress(OSError):  # the terminal is closed: what is under way goes on without it
            if self.stream.isatty():
                end = "\n" if self._stop.is_set() else ""
                print(f"\r\033[K{self.line()}", end=end, file=self.stream, flush=True)
            else:
                print(self.line(), file=self.stream, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
