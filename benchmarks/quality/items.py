"""The labelled items and the questions they ask."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yesno import Choice, Scale, YesNo

__all__ = ["SETS", "Item", "load"]

DATA = Path(__file__).parent / "data"
SETS = (
    "sms_spam",
    "strategyqa",
    "injection",
    "email_injection",
    "snips",
    "clinc150",
    "toolrisk",
    "sentiment",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled item."""

    id: str
    group: str
    """Items of one group stay together when resampling."""
    input: str
    question: YesNo | Choice | Scale
    label: int
    """Index of the right answer: 0 for yes, 1 for no; else of the option or level."""


def load(name: str, split: str, limit: int | None = None) -> list[Item]:
    """Return the items of a set and split (`dev` or `heldout`), in a fixed shuffled order."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [_item(row) for row in rows if row["split"] == split][:limit]


def _item(row: dict[str, Any]) -> Item:
    asked, label = row["question"], row["label"]
    question: YesNo | Choice | Scale
    match asked["type"]:
        case "yesno":
            question = YesNo(asked["text"], yes_when=asked.get("yes_when"), no_when=asked.get("no_when"))
            index = 0 if label == "yes" else 1
        case "choice":
            question = Choice(asked["text"], [(o["name"], o.get("description")) for o in asked["options"]])
            index = list(question.options).index(label)
        case _:
            question = Scale(asked["text"], [level["name"] for level in asked["levels"]])
            index = [level["value"] for level in asked["levels"]].index(label)
    return Item(row["id"], row["group"], row["input"], question, index)
