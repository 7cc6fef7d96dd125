"""Values as text that every host and every file takes."""

from __future__ import annotations

import json
from typing import Any

from yesno.toolcalls.canonical import plain_numbers

__all__ = ["without_surrogates", "written"]

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def written(values: Any) -> str:  # noqa: ANN401 - JSON values
    """Write values as JSON with sorted keys and 1.0 as 1, so that the text survives a store which rewrites JSON.

    NaN is written too: reading it refuses it, for its own call alone.

    Raises:
        TypeError, ValueError, RecursionError: They are no JSON values.
    """
    return json.dumps(plain_numbers(values), ensure_ascii=False, sort_keys=True)


def without_surrogates(text: str) -> str:
    """Return a text with halves of surrogate pairs replaced: no host and no file would take them."""
    plain = str.__str__(text)  # what a subclass does is not asked for
    return plain if plain.isascii() else plain.translate(_SURROGATES)
