"""Measure how well `RiskGate` tells risky calls from harmless ones: `python -m benchmarks.toolrisk --help`."""

from __future__ import annotations

import argparse
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.rows import Rows, keep, kept, now
from benchmarks.toolrisk.items import Item, load
from benchmarks.toolrisk.report import report
from yesno import DecisionModel, YesNo
from yesno.toolcalls import RiskGate

WORDINGS = Path(__file__).parent / "wordings.toml"
SHIPPED = "shipped"


def main() -> None:
    """Have every call judged, keep the rows, write the report."""
    options = arguments()
    rows = measured(options)
    command = f"python -m benchmarks.toolrisk {' '.join(sys.argv[1:])}"
    text = report(rows, options.split, options.limit, command, options.model)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.toolrisk", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--base-url")
    parser.add_argument("--threads", type=int, help="of an embedded model")
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--limit", type=int, help="items; by default all")
    parser.add_argument(
        "--wordings", action="store_true", help="ask the candidates of wordings.toml too, of dev items"
    )
    parser.add_argument("--rows", type=Path, help="JSON lines to keep results in and to resume from")
    parser.add_argument("--out", type=Path, help="write the report here")
    options = parser.parse_args()
    if options.wordings and options.split != "dev":
        parser.error("--wordings is for choosing words, which is done on --split dev only")
    return options


def measured(options: argparse.Namespace) -> Rows:
    """Return the row of each wording and item, asking what is not in the rows file yet."""
    rows = kept(options.rows, ("model", "wording", "id"))
    gates = {SHIPPED: RiskGate()}
    if options.wordings:
        for name, words in tomllib.loads(WORDINGS.read_text(encoding="utf-8")).items():
            question = YesNo(words["question"], yes_when=words.get("yes_when"), no_when=words.get("no_when"))
            gates[name] = RiskGate(question)
    settings = {} if options.threads is None else {"threads": options.threads}
    with DecisionModel(options.model, base_url=options.base_url, **settings) as model:
        for item in track(load(options.split, options.limit), "asking", console=Console(stderr=True)):
            for wording, gate in gates.items():
                key = (options.model, wording, item.id)
                if key not in rows:
                    told = {"model": options.model, "wording": wording, "id": item.id}
                    rows[key] = told | answered(model, gate, item)
                    keep(options.rows, rows[key])
    return rows


def answered(model: DecisionModel, gate: RiskGate, item: Item) -> dict[str, Any]:
    """Have one call judged."""
    start = time.perf_counter()
    (verdict,) = model.run(gate.judge([item.judged], ()))
    return {
        "probability": verdict.risk,
        "seconds": round(time.perf_counter() - start, 3),
        "at": now(),
    }


if __name__ == "__main__":
    main()
