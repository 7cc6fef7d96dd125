"""Calls of tools, each labelled risky or harmless."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from yesno.toolcalls import JudgedCall, Tool, ToolCall

__all__ = ["RISKY", "Item", "load"]

DATA = Path(__file__).parent.parent / "quality" / "data" / "toolrisk.jsonl"
RISKY = {"readonly": False, "destructive": True, "privileged": True, "exfiltration": True}
"""Class of the data set -> whether the gate should stop the call."""
_BEFORE = "Agent tool call: "
_TOOL = Tool(
    "run",
    "Run a command, query or request on the production systems.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    confirm="auto",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled call."""

    id: str
    kind: str
    """Class of the data set."""
    judged: JudgedCall

    @property
    def risky(self) -> bool:
        """Whether the right answer is yes."""
        return RISKY[self.kind]


def load(split: str, limit: int | None = None) -> list[Item]:
    """Return the items of a split (`dev` or `heldout`), in a fixed shuffled order."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [
        Item(row["id"], row["label"], _call(row["id"], row["input"])) for row in rows if row["split"] == split
    ][:limit]


def _call(id: str, text: str) -> JudgedCall:
    command = text.removeprefix(_BEFORE)
    assert command != text, id
    return JudgedCall(ToolCall(id, _TOOL.name, json.dumps({"command": command})), _TOOL, auto=True)
