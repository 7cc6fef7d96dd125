"""Requests, the tools on offer, and which of them are needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.splits import split_of
from yesno.filters._shortlist import bm25
from yesno.filters.tool_filter import query_of
from yesno.messages import Window, last_user_message, messages_of
from yesno.tools import tools_of

__all__ = ["SETS", "Item", "load", "scores_of_words"]

HERE = Path(__file__).parent
TURNS = HERE.parent / "filters" / "data"
SETS = ("own", "pool", "multi_turn")
"""A request with its own 2 to 12 tools, with 20 to 60 from anywhere, and a conversation with 51 to 60."""


@dataclass(frozen=True, slots=True)
class Item:
    """One request."""

    id: str
    group: str
    """Requests of one group were offered the same tools of their own; they stay together when resampling."""
    messages: list[dict[str, str]]
    tools: list[Mapping[str, Any]]
    relevant: frozenset[str]
    """Names of the tools that are needed; none for some."""

    @property
    def names(self) -> list[str]:
        """The names of the tools on offer, in order."""
        return [tool["name"] for tool in self.tools]


def load(name: str, split: str | None = None, limit: int | None = None) -> list[Item]:
    """Return the items of a set and split (`dev` or `heldout`, None for both), in a fixed shuffled order."""
    items = _conversations() if name == "multi_turn" else _requests(name)
    return [item for item in items if split in (None, split_of(item.id))][:limit]


def scores_of_words(item: Item) -> list[float] | None:
    """Return the BM25 score of each tool, of the words that a shortlist looks for; None when nothing matches."""
    conversation = messages_of(item.messages)
    newest = last_user_message(conversation)
    assert newest is not None
    query = query_of(Window(10, 2000).cut(conversation), newest)
    return bm25(query, [tool.words for tool in tools_of(item.tools)])


def _requests(name: str) -> list[Item]:
    catalogue = _lines(HERE / "data" / "tools.jsonl")
    return [
        Item(
            row["id"],
            row["group"],
            row["messages"],
            [catalogue[place] for place in row["tools"]],
            frozenset(row["relevant"]),
        )
        for row in _lines(HERE / "data" / f"{name}.jsonl")
    ]


def _conversations() -> list[Item]:
    """Return the last turn of each conversation that calls tools; what the assistant said is not in the data."""
    catalogue = {row["id"]: row for row in _lines(TURNS / "tools.jsonl")}
    items = []
    for row in _lines(TURNS / "turns.jsonl"):
        last = max(number for number, turn in enumerate(row["turns"]) if turn["called"])
        messages = [{"role": "user", "content": turn["user"]} for turn in row["turns"][: last + 1]]
        called = frozenset(catalogue[tool]["name"] for tool in row["turns"][last]["called"])
        items.append(Item(row["id"], row["id"], messages, [catalogue[t] for t in row["tools"]], called))
    return items


@cache
def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
