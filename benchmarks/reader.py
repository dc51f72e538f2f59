"""How long the embedded reader takes for a prompt, beside the floor of encoding the same prompt once.

python benchmarks/reader.py
"""

import statistics
import time
from decimal import Decimal
from pathlib import Path

from rcwt.base.tokens import count
from rcwt.reader import reader
from rcwt.study import prompts
from rcwt.study.design import Condition, split_window
from rcwt.study.tasks import load_task

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print seconds a prompt and the ratio to encoding it, at three windows."""
    task = load_task(ROOT / "resources/templates/spec_recall")
    u = count(task.instruction)
    for window in (4096, 16384, 32768):
        c, r = split_window(window, Decimal("0.5"), u)
        condition = Condition(
            "e", "spec_recall", "fixed_budget", task.coordination, window, "coord_first", Decimal("0.5"), c, u, r, 1
        )
        messages = prompts.build(condition, task).messages
        answer, encode = [], []
        for _ in range(7):
            started = time.perf_counter()
            sum(count(message["content"]) for message in messages)
            between = time.perf_counter()
            reader.answer(messages, 1024)
            encode.append(between - started)
            answer.append(time.perf_counter() - between)
        seconds, floor = statistics.median(answer), statistics.median(encode)
        print(f"W = {window:6}: {seconds * 1000:6.1f} ms a prompt, {seconds / floor:.1f} x encoding it once")


if __name__ == "__main__":
    main()
