"""One way to write JSON values, so that equal values have equal digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["SAFE_INTEGER", "canonical", "digest_of", "plain_numbers"]

SAFE_INTEGER = 2**53
"""Whole numbers below it are the same in every language's JSON."""


def canonical(value: Any) -> str:  # noqa: ANN401 - JSON values
    """Write JSON values in ASCII, with sorted keys, without white space, and 1.0 as 1.

    Raises:
        ValueError, TypeError, RecursionError: It is no JSON value.
    """
    return json.dumps(plain_numbers(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any) -> str:  # noqa: ANN401 - JSON values
    """Return the SHA-256 of JSON values, 64 hexadecimal digits; raises as `canonical` does."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def plain_numbers(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Return JSON values with 1.0 as 1, as JavaScript writes it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < SAFE_INTEGER:
        return int(value)
    if isinstance(value, Mapping):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_numbers(item) for item in value]
    return value
