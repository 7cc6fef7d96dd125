"""Questions about the same input travel in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yesno.flow import Ask
from yesno.request import DecisionRequest

__all__ = ["SINGLE", "name_of", "requests_of"]

SINGLE = "answer"
"""The name under which a question without one is asked."""


def requests_of(asks: Sequence[Ask]) -> list[tuple[DecisionRequest, list[int]]]:
    """Group questions about the same input into one request each, with the places of their outcomes."""
    groups: list[tuple[dict[str, int], Any]] = []
    for place, item in enumerate(asks):
        name = name_of(asks, place)
        for places, given in groups:
            if name not in places and _same(given, item.input):
                places[name] = place
                break
        else:
            groups.append(({name: place}, item.input))
    return [
        (
            DecisionRequest(given, [(name, asks[place].question) for name, place in places.items()]),
            [*places.values()],
        )
        for places, given in groups
    ]


def name_of(asks: Sequence[Ask], place: int) -> str:
    """Return what a question of a batch is called in its request."""
    return asks[place].name or f"{SINGLE}_{place}"


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - inputs of any form
    # True, 1 and 1.0 are equal to Python and not to a reader of JSON
    return one is other or (one == other and (isinstance(one, str) or repr(one) == repr(other)))
