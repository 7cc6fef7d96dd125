"""Arguments that come as values, as text."""

from __future__ import annotations

import json
from typing import Any

from yesno.toolcalls.canonical import plain_numbers

__all__ = ["written"]


def written(values: Any) -> str:  # noqa: ANN401 - JSON values
    """Write values as JSON with sorted keys and 1.0 as 1, so that the text survives a store which rewrites JSON.

    NaN is written too: reading it refuses it, for its own call alone.

    Raises:
        TypeError, ValueError, RecursionError: They are no JSON values.
    """
    return json.dumps(plain_numbers(values), ensure_ascii=False, sort_keys=True)
