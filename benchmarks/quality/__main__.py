"""Compare yesno with the naive reading on labelled items: `python -m benchmarks.quality --help`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.quality.items import SETS, Item, load
from benchmarks.quality.readers import Result, naive, with_yesno
from benchmarks.quality.report import report
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


def measured(options: argparse.Namespace) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the row of each set, item and reader, asking what is not in the rows file yet."""
    rows = kept(options.rows)
    names = [name for name in options.sets.split(",") if name]
    lists = [[(name, item) for item in load(name, options.split, options.limit)] for name in names]
    items = [pair for row in zip_longest(*lists) for pair in row if pair is not None]
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


def kept(path: Path | None) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Read the rows of an earlier run."""
    if path is None or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [json.loads(line) for line in lines if line.endswith("\n")]  # the last may be torn
    return {(row["set"], row["id"], row["reader"]): row for row in rows}


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
