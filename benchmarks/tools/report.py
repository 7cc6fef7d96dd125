"""The report as Markdown."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.rows import Rows, date_of
from benchmarks.runs import left_out
from benchmarks.tools.items import Item, load, scores_of_words
from benchmarks.tools.scores import Judged, Scores, compared, ranking, score

__all__ = ["by_model", "by_words", "report"]

RANKED = """| set | requests (need a tool) | tools on offer | reader | R@1 | R@3 | R@5 | AUROC, tools | AUROC, requests |
|---|---:|---:|---|---:|---:|---:|---:|---:|"""
PICKED = """| set | reader | tools kept | recall | precision | fell back | requests | tokens in | tokens out | s |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"""
GAPS = """| set | yesno − BM25 | value | 95 % interval | yesno is |
|---|---|---:|---:|---|"""


def report(rows: Rows, sets: Mapping[str, int], way: str, split: str, made_by: str) -> str:
    """Return tables of both readers on the requests that were asked about, and of BM25 on all shipped ones.

    Args:
        rows: What was measured.
        sets: Most requests of each set, by its name.
        way: How they were asked about; rows of other ways do not count.
        split: `dev` or `heldout`.
        made_by: The command.
    """
    ranked, picked, gaps = [RANKED], [PICKED], [GAPS]
    planned = {name: load(name, split, limit) for name, limit in sets.items()}
    asked = {n: [item for item in items if (n, item.id, way) in rows] for n, items in planned.items()}
    for name, items in asked.items():
        if not items:
            continue
        found = [rows[name, item.id, way] for item in items]
        ours = [by_model(item, row) for item, row in zip(items, found, strict=True)]
        theirs, seconds = _timed(items, [len(one.kept) for one in ours])
        ranked += [_ranks(name, "yesno", score(ours)), _ranks(name, "BM25", score(theirs))]
        picked += [_picks(name, score(ours), found), _free_picks(name, score(theirs), seconds)]
        groups = [item.group for item in items]
        gaps += [f"| {name} {difference}" for difference in compared(ours, theirs, groups)]
    return "\n".join(
        [
            f"# Tools, {split} requests",
            "",
            f"Made by `{made_by}` on {date_of(rows)}; asked: {way}.",
            "",
            *left_out(_sizes(planned), _sizes(asked)),
            *ranked,
            "",
            "BM25 keeps as many tools of each request as yesno did, its best.",
            "",
            *picked,
            "",
            *gaps,
            "",
            "BM25 on all shipped requests, both splits:",
            "",
            RANKED,
            *(_ranks(name, "BM25", score([by_words(item, 0) for item in load(name)])) for name in sets),
            "",
        ]
    )


def by_model(item: Item, row: Mapping[str, Any]) -> Judged:
    """Return what the model said, from its row."""
    return Judged(tuple(row["probabilities"]), _relevant(item), tuple(row["kept"]))


def by_words(item: Item, count: int) -> Judged:
    """Return what BM25 says; it keeps its best `count` tools."""
    scores: Sequence[float | None] = scores_of_words(item) or [None] * len(item.tools)
    return Judged(tuple(scores), _relevant(item), tuple(ranking(scores)[:count]))


def _sizes(items: Mapping[str, Sequence[Item]]) -> dict[str, int]:
    return {name: len(found) for name, found in items.items()}


def _relevant(item: Item) -> tuple[bool, ...]:
    return tuple(name in item.relevant for name in item.names)


def _timed(items: Sequence[Item], counts: Sequence[int]) -> tuple[list[Judged], float]:
    start = time.perf_counter()
    found = [by_words(item, count) for item, count in zip(items, counts, strict=True)]
    return found, (time.perf_counter() - start) / len(items)


def _ranks(name: str, reader: str, s: Scores) -> str:
    cuts = " | ".join(map(_shown, s.recall_at))
    return (
        f"| {name} | {s.n} ({s.needing}) | {s.offered:.1f} | {reader} | {cuts} "
        f"| {_shown(s.auroc_tools)} | {_shown(s.auroc_requests)} |"
    )


def _picks(name: str, s: Scores, rows: Sequence[Mapping[str, Any]]) -> str:
    mean = {key: np.mean([row[key] for row in rows]) for key in ("requests", "tokens_in", "tokens_out")}
    fell_back = sum(row["fell_back"] is not None for row in rows)
    seconds = np.median([row["seconds"] for row in rows])
    return (
        f"| {name} | yesno | {s.kept:.2f} | {_shown(s.recall)} | {_shown(s.precision)} | {fell_back} "
        f"| {mean['requests']:.1f} | {mean['tokens_in']:,.0f} | {mean['tokens_out']:,.0f} | {seconds:.2f} |"
    )


def _free_picks(name: str, s: Scores, seconds: float) -> str:
    return (
        f"| {name} | BM25 | {s.kept:.2f} | {_shown(s.recall)} | {_shown(s.precision)} | – "
        f"| 0 | 0 | 0 | {seconds:.3f} |"
    )


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
