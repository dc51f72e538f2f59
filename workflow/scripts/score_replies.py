"""Score replies from a file as a run would, without a call: to try a task's patterns, or a benchmark's answer lines.

Each line of the file is a JSON object with `id` and `reply`; of a benchmark also `reference` (the right answer), with
`options` for mmlu_pro and `kind` (number, date or spans) for drop. Other keys are not looked at.
"""

import argparse
from pathlib import Path

from rcwt.base.scripting import exit_on_error
from rcwt.packs.items import BENCHMARKS
from rcwt.run.score_replies import OUTCOMES, of_benchmark, of_task, score_file
from rcwt.study.tasks import load_task


@exit_on_error
def main() -> None:
    """Read the replies, write their scores."""
    words = "\n".join(f"  {word:<12}{meaning}" for word, meaning in OUTCOMES.items())
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="A line that is written has `id`, `scores` (1, 0, or null without a score) and `outcomes`, one word an "
        f"item:\n{words}\nThe item of a benchmark is item_1, and its score the one of plain forms.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--task", type=Path, help="folder of a task, as resources/templates/spec_recall")
    what.add_argument("--benchmark", choices=BENCHMARKS, help="the replies answer question 1 of a pack")
    parser.add_argument("--question", help="with --task: the exact question that was asked, without .md")
    parser.add_argument("--replies", type=Path, required=True, help="JSON lines to read")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines to write")
    options = parser.parse_args()
    if options.benchmark and options.question:
        parser.error("--question is a question of a --task")
    score = of_benchmark(options.benchmark) if options.benchmark else of_task(load_task(options.task), options.question)
    score_file(options.replies, options.out, score)


if __name__ == "__main__":
    main()
