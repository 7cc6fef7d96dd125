"""Compare yesno with the naive reading on labelled items: `python -m benchmarks.quality --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.quality.items import SETS, Item, load
from benchmarks.quality.readers import Result, naive, with_yesno
from benchmarks.quality.report import report
from benchmarks.rows import Rows, keep, kept, now
from benchmarks.runs import mixed
from yesno import DecisionModel

READERS: dict[str, Callable[[DecisionModel, Item], Result]] = {"naive": naive, "yesno": with_yesno}


def main() -> None:
    """Ask every item both ways, keep the rows, write the report."""
    options = arguments()
    rows = measured(options)
    names = [name for name in options.sets.split(",") if name]
    command = f"python -m benchmarks.quality {' '.join(sys.argv[1:])}"
    text = report(rows, names, options.split, options.limit, command, options.model)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--base-url")
    parser.add_argument("--template")
    parser.add_argument("--prior", default="auto", choices=["auto", "content_free", "off"])
    parser.add_argument("--sets", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--limit", type=int, default=60, help="items per set")
    parser.add_argument("--rows", type=Path, help="JSON lines to keep results in and to resume from")
    parser.add_argument("--out", type=Path, help="write the report here")
    return parser.parse_args()


def measured(options: argparse.Namespace) -> Rows:
    """Return the row of each set, item and reader, asking what is not in the rows file yet."""
    rows = kept(options.rows, ("set", "id", "reader"))
    names = [name for name in options.sets.split(",") if name]
    items = mixed({name: load(name, options.split, options.limit) for name in names})
    settings = {"base_url": options.base_url, "template": options.template, "prior": options.prior}
    with DecisionModel(options.model, **settings) as model:
        naive(model, items[0][1])  # opens the model and its connections outside the measurement
        for name, item in track(items, "asking", console=Console(stderr=True)):
            for reader, ask in READERS.items():
                key = (name, item.id, reader)
                if key not in rows:
                    rows[key] = {
                        "set": name,
                        "id": item.id,
                        "reader": reader,
                        "at": now(),
                        **ask(model, item).row(),
                    }
                    keep(options.rows, rows[key])
    return rows


if __name__ == "__main__":
    main()
