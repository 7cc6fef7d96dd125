"""The report as Markdown."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import ndcg_score

from benchmarks.rerank.items import SET, Item, load
from benchmarks.rows import Rows, date_of
from benchmarks.runs import left_out
from benchmarks.tools.scores import Difference
from yesno.filters._shortlist import bm25

__all__ = ["CUT", "ndcg_of_order", "ndcg_of_words", "report", "scores_of_words"]

CUT = 10
HEAD = f"""| queries | documents | reader | nDCG@{CUT} | without a score | requests | tokens in | tokens out | s |
|---:|---:|---|---:|---:|---:|---:|---:|---:|"""
GAPS = """| yesno − BM25 | value | 95 % interval | yesno is |
|---|---:|---:|---|"""


def report(rows: Rows, limit: int, way: str, split: str, made_by: str) -> str:
    """Return the scores of both readers on the queries that were asked about, and of BM25 on all shipped ones.

    Args:
        rows: What was measured.
        limit: Most queries.
        way: How they were asked about; rows of other ways do not count.
        split: `dev` or `heldout`.
        made_by: The command.
    """
    planned = load(split, limit)
    items = [item for item in planned if (SET, item.id, way) in rows]
    lines = [
        f"# Reranking, {split} queries",
        "",
        f"Made by `{made_by}` on {date_of(rows)}; asked: {way}.",
        "",
        *left_out({SET: len(planned)}, {SET: len(items)}),
    ]
    if items:
        lines += _measured(items, [rows[SET, item.id, way] for item in items])
    everything = load()
    mean = np.mean([ndcg_of_words(item) for item in everything])
    lines += [f"BM25 on all {len(everything)} shipped queries, both splits: nDCG@{CUT} {mean:.3f}.", ""]
    return "\n".join(lines)


def ndcg_of_order(item: Item, order: Sequence[int]) -> float:
    """Return nDCG@10 of documents' places, best first; documents that are in no place share what is left."""
    places = np.zeros(len(item.documents))
    for rank, place in enumerate(order):
        places[place] = len(item.documents) - rank
    return float(ndcg_score([item.grades], [places], k=CUT))


def ndcg_of_words(item: Item) -> float:
    """Return nDCG@10 of the BM25 scores; equal ones share their places."""
    return float(ndcg_score([item.grades], [scores_of_words(item)], k=CUT))


def scores_of_words(item: Item) -> list[float]:
    """Return the BM25 score of each document."""
    return bm25(item.query, item.documents) or [0.0] * len(item.documents)


def _measured(items: Sequence[Item], found: Sequence[Mapping[str, Any]]) -> list[str]:
    ours = np.asarray([ndcg_of_order(item, row["order"]) for item, row in zip(items, found, strict=True)])
    start = time.perf_counter()
    theirs = np.asarray([ndcg_of_words(item) for item in items])
    seconds = (time.perf_counter() - start) / len(items)
    documents = np.mean([len(item.documents) for item in items])
    mean = {key: np.mean([row[key] for row in found]) for key in ("requests", "tokens_in", "tokens_out")}
    missing = sum(len(row["unscored"]) for row in found)
    gap = ours - theirs
    difference = Difference.of(
        f"nDCG@{CUT}", lambda picked: float(gap[picked].mean()), [item.id for item in items]
    )
    alarms = Counter(alarm for row in found for alarm in row["alarms"])
    seen = ", ".join(f"`{name}` for {count}" for name, count in sorted(alarms.items())) or "none"
    return [
        HEAD,
        f"| {len(items)} | {documents:.0f} | yesno | {ours.mean():.3f} | {missing} | {mean['requests']:.1f} "
        f"| {mean['tokens_in']:,.0f} | {mean['tokens_out']:,.0f} | {np.median([r['seconds'] for r in found]):.2f} |",
        f"| {len(items)} | {documents:.0f} | BM25 | {theirs.mean():.3f} | 0 | 0 | 0 | 0 | {seconds:.3f} |",
        "",
        GAPS,
        str(difference),
        "",
        f"yesno is better for {int((gap > 0).sum())} queries and worse for {int((gap < 0).sum())}.",
        f"Alarms: {seen} of {len(items)} queries.",
        "",
    ]
