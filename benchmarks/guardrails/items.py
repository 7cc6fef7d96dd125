"""Labelled texts for the ready checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["SETS", "DataSet", "Item", "load"]

HERE = Path(__file__).parent
QUALITY = HERE.parent / "quality" / "data"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where the items of a set lie, which check they are for, and how the card names them."""

    check: str
    path: Path
    title: str


SETS: Mapping[str, DataSet] = {
    "injection": DataSet("prompt_injection", QUALITY / "injection.jsonl", "bastioncorpus 0.6.0 (MIT)"),
    "email_injection": DataSet(
        "prompt_injection", QUALITY / "email_injection.jsonl", "BIPIA e-mails with planted tasks (MIT)"
    ),
    "off_topic_clinc": DataSet(
        "off_topic",
        HERE / "data" / "off_topic_clinc.jsonl",
        "CLINC150 (CC-BY-3.0), out of scope against five domains",
    ),
    "off_topic_snips": DataSet(
        "off_topic", HERE / "data" / "off_topic_snips.jsonl", "SNIPS (CC0-1.0), five intents"
    ),
    "personal_data": DataSet(
        "personal_data",
        HERE / "data" / "personal_data_presidio.jsonl",
        "sentences to a bank, from the templates of presidio-evaluator 0.3.2 (MIT), with invented data",
    ),
    "unsupported_claim": DataSet(
        "unsupported_claim",
        HERE / "data" / "unsupported_claims.jsonl",
        "24 short sources with a claim that follows and one that does not, written for this benchmark",
    ),
    "harmful_request": DataSet(
        "harmful_request",
        HERE / "data" / "harmful_harmbench.jsonl",
        "HarmBench (MIT) against everyday requests of CLINC150 (CC-BY-3.0)",
    ),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled text."""

    id: str
    group: str
    """Items of one group stay together when resampling."""
    text: str
    rejects: bool
    """Whether the right answer is yes."""
    topic: str | None = None
    """What the assistant is there for, of items of `off_topic`."""
    sources: tuple[str, ...] = ()
    """What a response must rest on, of items of `unsupported_claim`."""


def load(name: str, split: str, limit: int | None = None) -> list[Item]:
    """Return the items of a set and split (`dev` or `heldout`), in a fixed shuffled order."""
    lines = SETS[name].path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [_item(row) for row in rows if row["split"] == split][:limit]


def _item(row: dict[str, Any]) -> Item:
    return Item(
        row["id"],
        row.get("group", row["id"]),
        row["input"],
        row["label"] == "yes",
        row.get("topic"),
        tuple(row.get("sources", ())),
    )
