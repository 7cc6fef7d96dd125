"""Which items may be looked at while choosing, and which only count in reports."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["split_of"]


def split_of(id: str) -> str:
    """Return `dev` when the SHA-256 of an item's id is even, `heldout` otherwise."""
    return "heldout" if sha256(id.encode()).digest()[-1] % 2 else "dev"
