"""What can go wrong with a reply, and how often: a plan that depends on nothing but the seed."""

from __future__ import annotations

import hashlib
import random
import struct
from typing import Literal, TypeAlias

__all__ = ["FAULTS", "ODDITIES", "Kind", "expected", "kind_of", "zstd"]

Kind: TypeAlias = Literal[
    "good",
    "429",
    "429 with headers",
    "500, 502 or 503",
    "never-ending body",
    "reset in the body",
    "HTML with status 200",
    "truncated JSON",
    "flat error body",
    "double-encoded error body",
    "zstd, not asked for",
    "slow body",
    "-Infinity",
    "gzip",
]

FAULTS: tuple[Kind, ...] = (
    "429",
    "429 with headers",
    "500, 502 or 503",
    "never-ending body",
    "reset in the body",
    "HTML with status 200",
    "truncated JSON",
    "flat error body",
    "double-encoded error body",
    "zstd, not asked for",
)
"""Requests that bring no answer."""
ODDITIES: tuple[Kind, ...] = ("slow body", "-Infinity", "gzip")
"""Replies that are unusual and have to be read all the same."""
ODD_SHARE = 0.05


def kind_of(seed: int, number: int, attempt: int, fail_share: float) -> Kind:
    """Return what happens to one try of one decision."""
    if fail_share <= 0:
        return "good"
    dice = random.Random(f"{seed}/{number}/{attempt}")  # noqa: S311 - a plan, not a secret
    drawn = dice.random()
    if drawn < fail_share:
        return dice.choice(FAULTS)
    return dice.choice(ODDITIES) if drawn < fail_share + ODD_SHARE else "good"


def expected(number: int) -> float:
    """Return the probability of yes that the server gives for a decision, different for each."""
    digest = hashlib.sha256(str(number).encode()).digest()
    return 0.05 + 0.9 * int.from_bytes(digest[:4], "big") / 2**32


def zstd(data: bytes) -> bytes:
    """Return a zstd frame that holds data as it is (RFC 8878: one raw block, its size in four bytes)."""
    size = struct.pack("<I", len(data))
    return b"\x28\xb5\x2f\xfd\xa0" + size + struct.pack("<I", len(data) << 3 | 1)[:3] + data
