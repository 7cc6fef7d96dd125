"""How well a reranker orders passages, beside BM25: `python -m benchmarks.rerank --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.rerank.items import SET, Item, load
from benchmarks.rerank.report import CUT, report, scores_of_words
from benchmarks.runs import command, count, measured, options_of, spent, way_of
from benchmarks.tools.scores import ranking
from yesno import DecisionModel, UsageListener
from yesno.filters import Reranker


def main(arguments: Sequence[str] | None = None) -> int:
    """Rank every query's passages, keep the rows, write the report and return the exit code."""
    options = parsed(arguments)
    levels = [level.strip() for level in options.levels.split(",")] if options.levels else None
    shortlist = options.shortlist or None
    way = way_of(options, shortlist=shortlist, levels=options.levels, refine=options.refine or None)
    reranker = Reranker(levels=levels, refine=options.refine)
    todo = [(SET, item) for item in load(options.split, options.limit)]
    rows = measured(options, way, todo, partial(ranked, reranker, shortlist))
    text = report(rows, options.limit, way, options.split, command("rerank", arguments))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = options_of("rerank", __doc__, limit=2)
    parser.add_argument(
        "--shortlist",
        type=count,
        default=10,
        help="passages to rank, the best by BM25 (default 10), 0 for all",
    )
    parser.add_argument("--levels", help="grades to ask for in place of yes or no, worst first, with commas")
    parser.add_argument("--refine", type=count, default=0, help="how many of the best to compare in pairs")
    return parser.parse_args(arguments)


def ranked(
    reranker: Reranker, shortlist: int | None, model: DecisionModel, usage: UsageListener, item: Item
) -> dict[str, Any]:
    """Rank the passages of one query, or the best by BM25 of them."""
    places = sorted(ranking(scores_of_words(item))[:shortlist])  # as given, so that BM25's order helps nobody
    given = [item.documents[place] for place in places]
    before, start = usage.total, time.perf_counter()
    found = model.run(reranker.rerank(item.query, given, CUT))
    cost = spent(before, usage.total, start)
    return {
        "order": [places[one.index] for one in found.ranked],
        "scores": [one.score for one in found.ranked],
        "unscored": [places[one.index] for one in found.unscored],
        "alarms": list(found.alarms),
        **cost,
    }


if __name__ == "__main__":
    sys.exit(main())
