"""Queries, their passages, and how well people found that each passage answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.splits import split_of

__all__ = ["SET", "Item", "load"]

DATA = Path(__file__).parent / "data"
SET = "noveleval"


@dataclass(frozen=True, slots=True)
class Item:
    """One query."""

    id: str
    query: str
    documents: list[str]
    grades: list[int]
    """Of each document: 0 not relevant, 1 partly, 2 an answer."""


def load(split: str | None = None, limit: int | None = None) -> list[Item]:
    """Return the queries of a split (`dev` or `heldout`, None for both), in a fixed shuffled order."""
    lines = (DATA / f"{SET}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if split in (None, split_of(row["id"]))]
    return [
        Item(
            row["id"],
            row["query"],
            [document["text"] for document in row["documents"]],
            [document["grade"] for document in row["documents"]],
        )
        for row in rows[:limit]
    ]
