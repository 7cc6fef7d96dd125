"""Compare packed with separate yes/no questions on labelled inputs: `python -m benchmarks.packing --help`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.packing.items import SETS, Item, load
from benchmarks.packing.report import WAYS, Rows, report
from yesno import DecisionModel, YesNoAnswer


def main() -> None:
    """Ask about every input both ways, keep the rows, write the report."""
    options = arguments()
    sets = limits(options.sets, options.limit)
    settings = {"base_url": options.base_url, "template": options.template, "prior": "off"}
    if options.threads:
        settings["threads"] = options.threads
    with DecisionModel(options.model, packing="packed", strategy=options.strategy, **settings) as packed:
        separate = DecisionModel(
            packed.provider, strategy=options.strategy, template=packed.asking.templates, prior="off"
        )
        rows = measured(options, sets, {"separate": separate, "packed": packed})
        about = {
            "model": options.model,
            "method": options.strategy,
            "template": packed.asking.templates.template("packed").id,
        }
    command = f"python -m benchmarks.packing {' '.join(sys.argv[1:])}"
    text = report(rows, sets, options.split, command, about)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packing", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--base-url")
    parser.add_argument("--template")
    parser.add_argument("--strategy", default="logprobs", choices=["logprobs", "sampled"])
    parser.add_argument("--threads", type=int, help="threads of a local model")
    parser.add_argument(
        "--sets",
        default=",".join(SETS),
        help="names, separated by commas, or name:inputs for a limit of its own",
    )
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--limit", type=int, default=12, help="inputs per set")
    parser.add_argument("--minutes", type=float, default=60, help="ask nothing new after so long, and report")
    parser.add_argument("--rows", type=Path, help="JSON lines to keep results in and to resume from")
    parser.add_argument("--out", type=Path, help="write the report here")
    return parser.parse_args()


def limits(sets: str, limit: int) -> dict[str, int]:
    """Return how many inputs of each set to ask about."""
    parts = [part.partition(":") for part in sets.split(",") if part]
    return {name: int(own) if own else limit for name, _, own in parts}


def measured(options: argparse.Namespace, sets: dict[str, int], models: dict[str, DecisionModel]) -> Rows:
    """Return the row of each set, input and way, asking what is not in the rows file yet."""
    rows = kept(options.rows)
    lists = [[(name, item) for item in load(name, options.split, limit)] for name, limit in sets.items()]
    items = [pair for row in zip_longest(*lists) for pair in row if pair is not None]
    items = [(name, i) for name, i in items if any((name, i.id, way) not in rows for way in WAYS)]
    if items:
        opening = {"q": next(iter(items[0][1].questions.values()))}
        models["separate"].decide("x", opening)  # opens the model outside the measurement
    end = time.monotonic() + 60 * options.minutes
    for number, (name, item) in enumerate(track(items, "asking", console=Console(stderr=True))):
        if time.monotonic() > end:
            break
        for way in WAYS if number % 2 else reversed(WAYS):
            if (name, item.id, way) not in rows:
                row = {"set": name, "id": item.id, "way": way, "at": now(), **asked(models[way], item)}
                rows[name, item.id, way] = row
                keep(options.rows, row)
    return rows


def asked(model: DecisionModel, item: Item) -> dict[str, Any]:
    """Ask all questions about one input in one decision."""
    start = time.perf_counter()
    response = model.decide(item.input, item.questions)
    seconds = time.perf_counter() - start
    outcomes = {name: response.outcome(name) for name in item.questions}
    answers = {n: o.probability if isinstance(o, YesNoAnswer) else None for n, o in outcomes.items()}
    usage = response.usage
    assert usage is not None
    return {
        "answers": answers,
        "packed": sum(isinstance(o, YesNoAnswer) and "packed" in o.flags for o in outcomes.values()),
        "why": sorted({a.result for o in outcomes.values() for a in o.attempts if a.result != "answered"}),
        "requests": usage.requests,
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "seconds": seconds,
    }


def kept(path: Path | None) -> Rows:
    """Read the rows of an earlier run."""
    if path is None or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [json.loads(line) for line in lines if line.endswith("\n")]  # the last may be torn
    return {(row["set"], row["id"], row["way"]): row for row in rows}


def keep(path: Path | None, row: dict[str, Any]) -> None:
    """Append one row."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def now() -> str:
    """Return the date and time of a measurement."""
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    main()
