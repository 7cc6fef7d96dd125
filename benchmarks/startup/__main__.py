"""Time imports and the program's help in fresh processes; `python -m benchmarks.startup --help`."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

BARE = "python -c pass"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to start, and the most it may take beyond a bare interpreter."""

    arguments: tuple[str, ...]
    most_ms: float | None = None


STEPS = {
    BARE: Step(("-c", "pass")),
    "import yesno": Step(("-c", "import yesno"), 150.0),
    "from yesno import DecisionModel, YesNo": Step(("-c", "from yesno import DecisionModel, YesNo")),
    "yesno --help": Step(("-m", "yesno", "--help"), 300.0),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its table and return the exit code: 1 when a step takes too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, help="starts of each; medians are shown")
    options = parser.parse_args(arguments)
    times: dict[str, list[float]] = {name: [] for name in STEPS}
    for _ in range(options.rounds + 1):
        for name, step in STEPS.items():
            times[name].append(_milliseconds(step.arguments))
    medians = {name: statistics.median(found[1:]) for name, found in times.items()}  # the first fills caches
    table = Table("in a fresh process", "ms in all", "ms beyond bare Python", "most")
    slow = False
    for name, median in medians.items():
        own, most = median - medians[BARE], STEPS[name].most_ms
        slow = slow or (most is not None and own > most)
        table.add_row(name, f"{median:.0f}", f"{own:.0f}", "" if most is None else f"{most:.0f}")
    Console().print(table)
    return int(slow)


def _milliseconds(arguments: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
