"""Worked examples that a question may carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from yesno.errors import QuestionError

__all__ = ["Examples", "checked_examples"]

T = TypeVar("T")
Examples: TypeAlias = Sequence[tuple[Any, T]]
"""Pairs of an input (in any form that a request takes) and the right answer."""


def checked_examples(examples: Iterable[Any], answers: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return the examples as a tuple of pairs whose answers are all among `answers`."""
    pairs = []
    for number, example in enumerate(examples, start=1):
        try:
            given, answer = example
        except (TypeError, ValueError):
            raise QuestionError(f"example {number} must be a pair of an input and its answer") from None
        if not any(answer == known and type(answer) is type(known) for known in answers):
            raise QuestionError(f"example {number} has the answer {answer!r}; possible are {list(answers)!r}")
        pairs.append((given, answer))
    return tuple(pairs)
