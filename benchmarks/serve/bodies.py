"""The requests that the benchmark posts, one per protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["BODIES", "PATHS"]

_TICKET = "Hi, I was charged twice for my March invoice and the refund I was promised has not arrived."
_QUESTION = "Is the customer asking for money back?"

BODIES: Mapping[str, Mapping[str, Any]] = {
    "decisions": {
        "model": "fake",
        "input": _TICKET,
        "questions": [{"type": "predicate", "name": "refund", "instructions": _QUESTION}],
    },
    "systemone": {
        "model": "fake",
        "state": _TICKET,
        "questions": {"refund": {"type": "noul", "instructions": _QUESTION}},
    },
}
PATHS = {name: f"/v1/{name}" for name in BODIES}
