"""The inputs and the yes/no questions about each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from yesno import YesNo

__all__ = ["SETS", "Item", "load"]

DATA = Path(__file__).parent / "data"
SETS = ("toolrisk", "snips", "clinc150", "bfcl")
"""From the fewest questions per input (4) to the most (20)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One input."""

    id: str
    input: str
    questions: dict[str, YesNo]
    labels: dict[str, bool]
    """Whether yes is right, by the question's name."""


def load(name: str, split: str, limit: int | None = None) -> list[Item]:
    """Return the items of a set and split (`dev` or `heldout`), in a fixed shuffled order."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["split"] == split]
    return [
        Item(
            row["id"],
            row["input"],
            {asked["name"]: YesNo(asked["text"]) for asked in row["questions"]},
            {asked["name"]: asked["label"] for asked in row["questions"]},
        )
        for row in rows[:limit]
    ]
