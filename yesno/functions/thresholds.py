"""From which probability on a `bool` is True."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from yesno.errors import QuestionError

__all__ = ["ThresholdContext", "Thresholds", "threshold_for"]

DEFAULT = 0.5


@dataclass(frozen=True, slots=True)
class ThresholdContext:
    """What a threshold is wanted for."""

    service: str
    """The class or `Protocol` of a method, the module of a function."""
    function: str
    """Name of the function or method."""
    question: str
    """Name of the question: that of the function, or of a field."""
    model: str | None
    """The model that answered, as the provider reports it, else the one asked for."""


Thresholds: TypeAlias = Callable[[ThresholdContext], float | None]
"""Called for every `bool` of every call, in whatever thread decides; None leaves the question's own threshold."""


def threshold_for(context: ThresholdContext, provider: Thresholds | None, fixed: float | None) -> float:
    """Return the threshold that the provider gives, else the question's own, else 0.5.

    Raises:
        QuestionError: The provider gave something else than a number from 0 to 1.
    """
    given: Any = None if provider is None else provider(context)
    if given is None:
        return DEFAULT if fixed is None else fixed
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise QuestionError(
            f"the threshold for question {context.question!r} of `{context.function}` must be a number from 0 to 1, "
            f"not {given!r}; correct what `thresholds` returns"
        )
    return float(given)
