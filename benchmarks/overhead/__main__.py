"""Measure decisions per second and CPU time per decision; `python -m benchmarks.overhead --help`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.overhead.clients import RAW, YESNO, Batch, Run, Server, batch, opened
from benchmarks.overhead.stub import running

LEAST_RATIO = 2.5
"""Times as many decisions per second as the SDK's `create` that yesno has to reach."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One client in one round."""

    rate: float
    """Decisions per second."""
    cpu_ms: float
    """CPU time of this process per decision, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """One client over all rounds: medians."""

    client: str
    rate: float
    cpu_ms: float
    ratio: float
    """Rate over that of the SDK's `create` in the same round."""
    slowest_ratio: float
    """The least of these ratios."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its table and return the exit code."""
    options = _options(arguments)
    with running() as base_url, asyncio.Runner() as runner:
        server = Server(base_url, options.concurrency)
        with opened(server, runner) as runs:
            rounds = _measured(runs, server, options)
    rows = _rows(rounds)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print(rows, options)
    reached = next(row.ratio for row in rows if row.client == YESNO)
    if reached < LEAST_RATIO:
        print(
            f"yesno reached {reached:.2f} times the SDK's rate; it has to reach {LEAST_RATIO}",
            file=sys.stderr,
        )
        return 1
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds through all clients; medians are shown")
    parser.add_argument("--count", type=int, default=1000, help="decisions per client and round")
    parser.add_argument("--concurrency", type=int, default=32, help="requests under way at once")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    return parser.parse_args(arguments)


def _measured(
    runs: Mapping[str, Run], server: Server, options: argparse.Namespace
) -> list[dict[str, Measurement]]:
    work, warm_up = batch(server, options.count), batch(server, 4 * options.concurrency)
    for run in runs.values():
        run(warm_up)
    steps = [name for _ in range(options.rounds) for name in runs]
    rounds: list[dict[str, Measurement]] = [{} for _ in range(options.rounds)]
    shown = Console(stderr=True)
    for number, name in enumerate(track(steps, "Measuring", console=shown, transient=True)):
        rounds[number // len(runs)][name] = _measurement(runs[name], work)
    return rounds


def _measurement(run: Run, work: Batch) -> Measurement:
    count = len(work.texts)
    gc.collect()  # nobody pays for what another client has left
    wall, cpu = time.perf_counter(), time.process_time()
    run(work)
    return Measurement(
        rate=count / (time.perf_counter() - wall), cpu_ms=(time.process_time() - cpu) / count * 1000
    )


def _rows(rounds: Sequence[Mapping[str, Measurement]]) -> list[Row]:
    rows = []
    for name in rounds[0]:
        ratios = [one[name].rate / one[RAW].rate for one in rounds]
        rate = statistics.median(one[name].rate for one in rounds)
        cpu_ms = statistics.median(one[name].cpu_ms for one in rounds)
        rows.append(Row(name, rate, cpu_ms, statistics.median(ratios), min(ratios)))
    return rows


def _print(rows: Sequence[Row], options: argparse.Namespace) -> None:
    table = Table(
        title=f"{options.count:,} decisions, {options.concurrency} at once, median of {options.rounds} rounds"
    )
    table.add_column("client")
    for heading in ("decisions/s", "CPU ms/decision", "x SDK create", "least"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.client,
            f"{row.rate:,.0f}",
            f"{row.cpu_ms:.3f}",
            f"{row.ratio:.2f}",
            f"{row.slowest_ratio:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    raise SystemExit(main())
