"""Run decisions through a server that fails and through one that does not; `python -m benchmarks.faults --help`."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp
from rich.console import Console
from rich.table import Table

from benchmarks.faults.kinds import expected
from benchmarks.faults.server import running
from yesno import AsyncDecisionModel, YesNo, YesnoError

MOST_REQUESTS = 1.6
MOST_TIME = 2.5
IN_HAND = 2
"""Decisions in hand per request under way, as `map` holds them: one that waits for its next try keeps nobody."""
QUESTION = YesNo("Is this message about billing?")


@dataclass(frozen=True, slots=True)
class Run:
    """What came of all decisions at one server."""

    answered: int
    failed: Counter[str]
    """Errors by their type."""
    wrong: int
    lost: int
    twice: int
    requests: int
    """Requests as the server counted them."""
    kinds: Counter[str]
    seconds: float
    growth_mb: float
    """How much the process's largest size grew."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its tables and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="decisions")
    parser.add_argument("--concurrency", type=int, default=64, help="requests under way at once")
    parser.add_argument("--seed", type=int, default=0, help="of the plan of failures")
    parser.add_argument("--fail-share", type=float, default=0.3, help="share of requests that fail")
    options = parser.parse_args(arguments)
    calm = measured(options, 0.0)
    rough = measured(options, options.fail_share)
    _print(calm, rough, options)
    missed = verdict(calm, rough, options.count)
    for words in missed:
        print(f"missed: {words}", file=sys.stderr)
    return 1 if missed else 0


def measured(options: argparse.Namespace, fail_share: float) -> Run:
    """Make all decisions once at a server of its own."""
    with running(options.seed, fail_share) as base_url:
        return asyncio.run(_run(options, base_url))


async def _run(options: argparse.Namespace, base_url: str) -> Run:
    outcomes: dict[int, list[float | str]] = {number: [] for number in range(options.count)}
    model = AsyncDecisionModel("openai-compatible:m", base_url=base_url, concurrency=options.concurrency)
    waiting = iter(range(options.count))

    async def work() -> None:
        for number in waiting:
            text = f"Ticket {number}: I was charged twice for my order this month."
            try:
                outcomes[number].append((await model.decide(text, QUESTION)).probability)
            except YesnoError as error:
                outcomes[number].append(type(error).__name__)

    async with model:
        await model.decide(f"Ticket {options.count}: a first one, to open what is opened once.", QUESTION)
        before, began = _peak_mb(), time.perf_counter()
        await asyncio.gather(*(work() for _ in range(IN_HAND * options.concurrency)))
        seconds = time.perf_counter() - began
    growth = _peak_mb() - before
    async with aiohttp.ClientSession() as session, session.get(f"{base_url}/stats") as response:
        stats = json.loads(await response.read())
    read = {n: got[0] for n, got in outcomes.items() if got and isinstance(got[0], float)}
    return Run(
        answered=len(read),
        failed=Counter(str(got[0]) for got in outcomes.values() if got and isinstance(got[0], str)),
        wrong=sum(abs(probability - expected(number)) > 1e-6 for number, probability in read.items()),
        lost=sum(not got for got in outcomes.values()),
        twice=sum(len(got) > 1 for got in outcomes.values()),
        requests=stats["requests"],
        kinds=Counter(stats["kinds"]),
        seconds=seconds,
        growth_mb=growth,
    )


def verdict(calm: Run, rough: Run, count: int) -> list[str]:
    """Return which targets were missed."""
    missed = []
    for name, run in (("without faults", calm), ("with faults", rough)):
        if run.wrong or run.lost or run.twice:
            missed.append(f"{name}: {run.wrong} wrong, {run.lost} lost, {run.twice} twice")
        if run.answered < count:
            missed.append(f"{name}: {dict(run.failed)} in place of answers")
    if rough.requests / count > MOST_REQUESTS:
        missed.append(f"{rough.requests / count:.2f} requests per decision, at most {MOST_REQUESTS}")
    if rough.seconds / calm.seconds > MOST_TIME:
        missed.append(f"{rough.seconds / calm.seconds:.2f} times as long, at most {MOST_TIME}")
    return missed


def _peak_mb() -> float:
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1024 / (1024 if sys.platform == "darwin" else 1)


def _print(calm: Run, rough: Run, options: argparse.Namespace) -> None:
    console = Console()
    table = Table(title=f"{options.count:,} decisions, {options.concurrency} requests at once")
    for heading in ("", "without faults", "with faults"):
        table.add_column(heading, justify="right" if heading else "left")
    rows: dict[str, Callable[[Run], str]] = {
        "answered": lambda run: f"{run.answered:,}",
        "failed": lambda run: str(run.failed.total()),
        "wrong / lost / twice": lambda run: f"{run.wrong} / {run.lost} / {run.twice}",
        "requests per decision": lambda run: f"{run.requests / options.count:.3f}",
        "seconds": lambda run: f"{run.seconds:.1f}",
        "times as long": lambda run: f"{run.seconds / calm.seconds:.2f}",
        "peak memory growth, MB": lambda run: f"{run.growth_mb:.1f}",
    }
    for name, shown in rows.items():
        table.add_row(name, shown(calm), shown(rough))
    console.print(table)
    kinds = Table(title="replies with faults")
    kinds.add_column("kind")
    kinds.add_column("requests", justify="right")
    for kind, count in rough.kinds.most_common():
        kinds.add_row(kind, f"{count:,}")
    console.print(kinds)


if __name__ == "__main__":
    raise SystemExit(main())
