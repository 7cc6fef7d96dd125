"""What was decided lately out of the cache alone: the same again needs no prompt, no reading and no parsing.

The cache stays the judge: a decision is repeated only while the cache gives the same bytes for every reply that it was
made of, so that an emptied, expired or overwritten cache is asked anew. No clock, no I/O of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from yesno.evidence import Kept
from yesno.questions import Outcome
from yesno.request import DecisionRequest

__all__ = ["Era", "Recent", "Recents"]

MOST = 1024
"""Decisions remembered; the one that was asked for longest ago is forgotten first."""
Era: TypeAlias = tuple[int, ...]
"""How often a model object has learned something that may change what it does about the same request."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A decision that the cache held whole."""

    request: DecisionRequest
    outcomes: Mapping[str, Outcome]
    model: str | None
    kept: tuple[Kept, ...]
    """The replies that it was made of."""


class Recents:
    """The newest such decisions of one model object, for its threads and tasks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Hashable, tuple[Era, Recent]] = OrderedDict()

    def find(self, request: DecisionRequest, era: Era, get: Callable[[str], bytes | None]) -> Recent | None:
        """Return the decision about an equal request that the cache still holds.

        Args:
            request: What is asked.
            era: The model's own; a decision of an earlier one is out of date.
            get: Reads the cache.
        """
        name = _name(request)
        with self._lock:
            found = self._known.get(name) if name is not None else None
            if found is None:
                return None
            self._known.move_to_end(name)
        since, recent = found
        if since != era or not _asks_the_same(request, recent.request):
            return None
        return recent if all(get(kept.key) == kept.value for kept in recent.kept) else None

    def note(self, era: Era, recent: Recent) -> None:
        """Remember a decision."""
        name = _name(recent.request)
        if name is None:
            return
        with self._lock:
            self._known[name] = era, recent
            self._known.move_to_end(name)
            while len(self._known) > MOST:
                self._known.popitem(last=False)


def _name(request: DecisionRequest) -> Hashable:
    if not isinstance(request.input, str):
        return None
    texts = tuple((name, question.text) for name, question in request.questions.items())
    return request.input, request.parameters.model_name, texts


def _asks_the_same(request: DecisionRequest, other: DecisionRequest) -> bool:
    # True, 1 and 1.0 are equal to Python and not to a reader of a prompt
    pairs = zip(request.questions.values(), other.questions.values(), strict=True)
    return all(one is another or (one == another and repr(one) == repr(another)) for one, another in pairs)
