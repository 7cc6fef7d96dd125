"""Compare packed with separate yes/no questions on labelled inputs: `python -m benchmarks.packing --help`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.packing.items import SETS, Item, load
from benchmarks.packing.report import WAYS, report
from benchmarks.rows import Rows, keep, kept, now
from benchmarks.runs import limits, mixed
from yesno import DecisionModel, YesNoAnswer


def main() -> None:
    """Ask about every input both ways, keep the rows, write the report."""
    options = arguments()
    sets = limits(options.sets, options.limit, SETS)
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


def measured(options: argparse.Namespace, sets: dict[str, int], models: dict[str, DecisionModel]) -> Rows:
    """Return the row of each set, input and way, asking what is not in the rows file yet."""
    rows = kept(options.rows, ("set", "id", "way"))
    items = mixed({name: load(name, options.split, limit) for name, limit in sets.items()})
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


if __name__ == "__main__":
    main()
