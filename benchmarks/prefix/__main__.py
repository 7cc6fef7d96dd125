"""Time eight questions about one input against one question; `python -m benchmarks.prefix --help`."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.prefix.texts import QUESTIONS, text
from yesno import DecisionModel, DecisionResponse, Usage, YesNo

MOST = 1.4
"""Times the time of one question that all questions together may take."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One decision."""

    seconds: float
    usage: Usage
    undecided: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its table and return the exit code."""
    options = _options(arguments)
    first = dict([next(iter(QUESTIONS.items()))])
    one: list[Timing] = []
    all_of_them: list[Timing] = []
    with DecisionModel(
        options.model, base_url=options.base_url, timeout_s=3600, threads=options.threads
    ) as model:
        model.decide(text(options.seed), first)  # opens the model, and reads the set's own examples
        numbers = range(options.seed + 1, options.seed + 1 + options.rounds)
        for number in track(numbers, "Measuring", console=Console(stderr=True), transient=True):
            one.append(_timing(model, text(2 * number), first))
            all_of_them.append(_timing(model, text(2 * number + 1), QUESTIONS))
        name = model.model_name
    ratio = statistics.median(b.seconds / a.seconds for a, b in zip(one, all_of_them, strict=True))
    _print({"one question": one, f"{len(QUESTIONS)} questions": all_of_them}, ratio, name)
    if ratio > MOST:
        print(
            f"{len(QUESTIONS)} questions took {ratio:.2f} times one; at most {MOST} are allowed",
            file=sys.stderr,
        )
        return 1
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prefix", description=__doc__)
    parser.add_argument("--model", default="local", help="such as local:smollm2")
    parser.add_argument("--base-url", help="address of an OpenAI-compatible server")
    parser.add_argument(
        "--threads", type=int, help="threads of a local model; fewer when others use the machine"
    )
    parser.add_argument("--rounds", type=int, default=5, help="pairs of decisions; medians are shown")
    parser.add_argument(
        "--seed",
        type=int,
        default=int(time.time()) % 100_000,
        help="number of the first text; by default another one each time, so that no server remembers it",
    )
    return parser.parse_args(arguments)


def _timing(model: DecisionModel, given: str, questions: Mapping[str, YesNo]) -> Timing:
    begun = time.perf_counter()
    response: DecisionResponse = model.decide(given, questions)
    seconds = time.perf_counter() - begun
    undecided = sum(response.is_undecided(name) for name in questions)
    return Timing(seconds, response.usage or Usage(), undecided)


def _print(kinds: Mapping[str, Sequence[Timing]], ratio: float, model: str) -> None:
    table = Table(title=f"{model}: {ratio:.2f} times the time of one question")
    table.add_column("median of", no_wrap=True)
    for heading in ("seconds", "requests", "input tokens", "cached tokens", "undecided"):
        table.add_column(heading, justify="right")
    for name, timings in kinds.items():
        usages = [timing.usage for timing in timings]
        table.add_row(
            name,
            f"{statistics.median(timing.seconds for timing in timings):.2f}",
            f"{statistics.median(usage.requests for usage in usages):,.0f}",
            f"{statistics.median(usage.input_tokens for usage in usages):,.0f}",
            f"{statistics.median(usage.cached_tokens for usage in usages):,.0f}",
            f"{statistics.median(timing.undecided for timing in timings):.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    raise SystemExit(main())
