"""How well a tool filter finds the tools that a request needs, beside BM25: `python -m benchmarks.tools --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.runs import command, count, limits, measured, mixed, options_of, spent, way_of
from benchmarks.tools.items import SETS, Item, load
from benchmarks.tools.report import report
from yesno import DecisionModel, UsageListener
from yesno.errors import NoAnswer
from yesno.filters import ToolFilter


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask about every request's tools, keep the rows, write the report and return the exit code."""
    options = parsed(arguments)
    sets = limits(options.sets, options.limit, SETS)
    shortlist = options.shortlist or None
    way = way_of(options, shortlist=shortlist)
    tool_filter = ToolFilter(shortlist=shortlist, fallback="fail")
    todo = mixed({name: load(name, options.split, limit) for name, limit in sets.items()})
    rows = measured(options, way, todo, partial(asked, tool_filter))
    text = report(rows, sets, way, options.split, command("tools", arguments))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = options_of("tools", __doc__, limit=3)
    parser.add_argument(
        "--sets",
        default=",".join(SETS),
        help="names, separated by commas, or name:requests for a limit of its own",
    )
    parser.add_argument(
        "--shortlist",
        type=count,
        default=10,
        help="most tools to ask about per request (default 10), 0 for all",
    )
    return parser.parse_args(arguments)


def asked(tool_filter: ToolFilter, model: DecisionModel, usage: UsageListener, item: Item) -> dict[str, Any]:
    """Ask about the tools of one request; a question without an answer keeps all, as the filter does by default."""
    before, start = usage.total, time.perf_counter()
    try:
        selection = model.run(tool_filter.explain(item.tools, item.messages))
    except NoAnswer as error:
        found: dict[str, Any] = {
            "probabilities": [None] * len(item.tools),
            "kept": list(range(len(item.tools))),
            "fell_back": type(error).__name__,
        }
    else:
        found = {
            "probabilities": [verdict.probability for verdict in selection.verdicts],
            "kept": [place for place, verdict in enumerate(selection.verdicts) if verdict.kept],
            "fell_back": None,
        }
    return {**found, **spent(before, usage.total, start)}


if __name__ == "__main__":
    sys.exit(main())
