"""Questions about the same input travel in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yesno.flow import Ask, Outcomes
from yesno.questions import Outcome
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse, Metadata

__all__ = ["SINGLE", "name_of", "outcomes_of", "requests_of"]

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


def outcomes_of(
    asks: Sequence[Ask], places: Sequence[list[int]], responses: Sequence[DecisionResponse]
) -> Outcomes:
    """Put the outcomes of a batch's requests back into the order asked."""
    found: dict[int, tuple[Outcome, Metadata]] = {}
    for row, response in zip(places, responses, strict=True):
        for place in row:
            found[place] = (response.outcome(name_of(asks, place)), response.metadata)
    in_order = [found[place] for place in range(len(asks))]
    return Outcomes.of((outcome for outcome, _ in in_order), (metadata for _, metadata in in_order))


def name_of(asks: Sequence[Ask], place: int) -> str:
    """Return what a question of a batch is called in its request."""
    return asks[place].name or f"{SINGLE}_{place}"


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - inputs of any form
    # True, 1 and 1.0 are equal to Python and not to a reader of JSON
    return one is other or (one == other and (isinstance(one, str) or repr(one) == repr(other)))
