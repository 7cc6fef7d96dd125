"""What benchmarks that put items to a model share: their options, the model, and the loop that resumes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console
from rich.progress import track

from benchmarks.rows import Rows, keep, kept, now
from yesno import DecisionModel, UsageListener, YesNo
from yesno.evidence import Usage

__all__ = [
    "Identified",
    "command",
    "count",
    "limits",
    "measured",
    "mixed",
    "opened",
    "options_of",
    "spent",
    "way_of",
]

T = TypeVar("T")


class Identified(Protocol):
    """An item of a benchmark."""

    @property
    def id(self) -> str:
        """What tells it from the others of its set."""


I = TypeVar("I", bound=Identified)  # noqa: E741 - an item
KEY = ("set", "id", "way")


def options_of(name: str, about: str | None, *, limit: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all have.

    Args:
        name: The benchmark.
        about: What it does.
        limit: Items per set when `--limit` is not given.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--base-url")
    parser.add_argument("--template")
    parser.add_argument("--packing", default="separate", choices=["separate", "packed", "auto"])
    parser.add_argument("--threads", type=count, help="threads of a local model")
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--limit", type=count, default=limit, help=f"items per set (default {limit})")
    parser.add_argument("--minutes", type=float, default=60, help="ask nothing new after so long, and report")
    parser.add_argument("--rows", type=Path, help="JSON lines to keep results in and to resume from")
    parser.add_argument("--out", type=Path, help="write the report here")
    return parser


def command(name: str, arguments: Sequence[str] | None) -> str:
    """Return the command line that a report was made by."""
    given = sys.argv[1:] if arguments is None else arguments
    return " ".join([f"python -m benchmarks.{name}", *given])


def way_of(options: argparse.Namespace, **settings: object) -> str:
    """Return how the items are asked about, so that no other run's rows are taken for these.

    Args:
        options: Of the command line.
        settings: Of the benchmark; those that are None do not count.
    """
    names = ("base_url", "template", "packing")
    said = {name: getattr(options, name) for name in names} | settings
    return ", ".join(
        [options.model, *(f"{name} {value}" for name, value in said.items() if value is not None)]
    )


def opened(options: argparse.Namespace, usage: UsageListener) -> DecisionModel:
    """Return the model that the options name."""
    settings = {} if options.threads is None else {"threads": options.threads}
    return DecisionModel(
        options.model,
        base_url=options.base_url,
        template=options.template,
        packing=options.packing,
        listeners=[usage],
        **settings,
    )


def limits(sets: str, limit: int, known: Collection[str]) -> dict[str, int]:
    """Return how many items of each set to ask about, from `name,name:own_limit`.

    Raises:
        SystemExit: A set is not known, or its limit is no number.
    """
    found = {}
    for name, colon, own in (part.strip().partition(":") for part in sets.split(",") if part.strip()):
        if name not in known:
            raise SystemExit(f"there is no set {name!r}, only {', '.join(known)}")
        if colon and not own.isdecimal():
            raise SystemExit(f"{own!r} is no number of items; write {name}:{limit}")
        found[name] = int(own) if colon else limit
    return found


def count(text: str) -> int:
    """Return a whole number from 0 on, of an option.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def mixed(lists: Mapping[str, Sequence[I]]) -> list[tuple[str, I]]:
    """Take the sets' items in turns, so that a run that is stopped has some of each."""
    named = [[(name, item) for item in items] for name, items in lists.items()]
    return [pair for row in zip_longest(*named) for pair in row if pair is not None]


def measured(
    options: argparse.Namespace,
    way: str,
    todo: Iterable[tuple[str, I]],
    ask: Callable[[DecisionModel, UsageListener, I], Mapping[str, Any]],
) -> Rows:
    """Return the row of each set, item and way, asking what is not in the rows file yet."""
    rows = kept(options.rows, KEY)
    new = [(name, item) for name, item in todo if (name, item.id, way) not in rows]
    if not new:
        return rows
    usage = UsageListener()
    end = time.monotonic() + 60 * options.minutes
    with opened(options, usage) as model:
        model.decide("x", {"opening": YesNo("Is this a letter?")})  # opens the model outside the measurement
        for name, item in track(new, "asking", console=Console(stderr=True)):
            if time.monotonic() > end:
                break
            row = {"set": name, "id": item.id, "way": way, "at": now(), **ask(model, usage, item)}
            rows[name, item.id, way] = row
            keep(options.rows, row)
    return rows


def left_out(planned: Mapping[str, int], measured: Mapping[str, int]) -> list[str]:
    """Return the line of a report that says how many items of each set were not asked about; none when all were."""
    missing = {name: count - measured.get(name, 0) for name, count in planned.items()}
    said = [f"{number} of {planned[name]} of {name}" for name, number in missing.items() if number]
    return [f"Not asked about when the time was up: {', '.join(said)}.", ""] if said else []


def spent(before: Usage, after: Usage, start: float) -> dict[str, float]:
    """Return requests, tokens and seconds since a start on `time.perf_counter`."""
    return {
        "requests": after.requests - before.requests,
        "tokens_in": after.input_tokens - before.input_tokens,
        "tokens_out": after.output_tokens - before.output_tokens,
        "seconds": round(time.perf_counter() - start, 4),
    }
