"""How long a bench of kept replies takes, and how much memory: `python -m benchmarks.sets.load --rows 10000`."""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from yesno import FakeProvider, SqliteCache
from yesno._rows import Row
from yesno.bench import report_of, run, write_report
from yesno.labelled import LabelledSet, set_of

SETS, MODELS = 5, 2
QUESTION = {"type": "yesno", "text": "Is it spam?"}


def made(name: str, count: int) -> LabelledSet:
    """Return a set of messages of about 200 characters with labels drawn evenly."""
    draw = random.Random(name)  # noqa: S311 - not for secrets
    lines = (
        {
            "id": f"{name}-{number}",
            "input": f"message {number} of {name}: {'some words ' * 18}",
            "question": QUESTION,
            "label": draw.choice(["yes", "no"]),
        }
        for number in range(count)
    )
    return set_of((Row(number, line) for number, line in enumerate(lines, start=1)), name)


def scripted(name: str) -> Callable[[str], Mapping[str, float]]:
    """Return a model that answers at random, and the same each time."""

    def reply(prompt: str) -> Mapping[str, float]:
        yes = random.Random(name + prompt).random()  # noqa: S311 - not for secrets
        return {"Yes": yes, "No": 1 - yes}

    return reply


def main() -> None:
    """Ask once to fill the cache, and measure the second run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sets.load", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--unkept", action="store_true", help="measure the first run, for memory alone")
    options = parser.parse_args()
    sets = [made(f"set {number}", options.rows // SETS // MODELS) for number in range(SETS)]
    with tempfile.TemporaryDirectory() as name, SqliteCache(Path(name) / "replies.db") as cache:
        for attempt in ("first", "second")[: 1 if options.unkept else 2]:
            folder, wall, cpu = Path(name) / attempt, time.perf_counter(), time.process_time()
            models = {f"m{n}": FakeProvider(scripted(f"m{n}"), model=f"m{n}") for n in range(MODELS)}
            done = run(sets, models=models, out=folder, cache=cache)
            asked = time.perf_counter() - wall
            write_report(report_of([done]), folder)
        kept = sum(row.cache_hits for row in done.rows)
        seconds, computing = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(
        f"{len(done.rows):,} rows, {kept:,} of them from the cache: asked in {asked:.1f} s, reported after "
        f"{seconds:.1f} s ({computing:.1f} s of CPU); at most {peak / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
