"""What annotations say to a decision function: the question, the words for an option, the name of an argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from yesno.errors import QuestionError
from yesno.questions.base import checked_text

__all__ = ["Asks", "Name", "Option"]

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__yesno_asks__"
"""Where a function keeps the question that it was marked with."""


@dataclass(frozen=True, slots=True)
class Asks:
    """The question behind a field, a return type or a method.

    Write it into an annotation, `urgent: Annotated[bool, Asks("Does this need attention today?")]`, or above
    the method of a `Protocol`, which stays the plain method that it is.
    """

    text: str
    """The question."""
    _: KW_ONLY
    threshold: float | None = None
    """Least probability (0..1) at which a `bool` is True; 0.5 unless given."""
    yes_when: str | None = None
    """When the answer is yes, in words the model reads."""
    no_when: str | None = None
    """When the answer is no."""
    options: Mapping[Any, str] | None = field(default=None, hash=False)
    """Member of an enum, or name of an option -> its description."""

    def __call__(self, function: F) -> F:
        """Mark the method of a `Protocol` with this question, and return it unchanged.

        Raises:
            QuestionError: It is no method, or has a question already.
        """
        method = getattr(function, "__func__", function)  # of a staticmethod or classmethod
        if not inspect.isfunction(method):
            raise QuestionError(f"`Asks` marks the method of a Protocol, not a {type(method).__name__}")
        if hasattr(method, MARK):
            raise QuestionError(f"`{method.__qualname__}` is marked with two questions; keep one")
        setattr(method, MARK, self)
        return function


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """What an option means, in words the model reads.

    It is the value of an enum's member, `BILLING = Option("payments, payouts")`, or annotates a literal:
    `Annotated[Literal["billing"], Option("payments, payouts")] | Annotated[Literal["support"], Option("…")]`.
    No two are equal, so that members with the same description stay two members.

    Raises:
        QuestionError: The description is blank.
    """

    description: str

    def __post_init__(self) -> None:
        checked_text("description", self.description)


@dataclass(frozen=True, slots=True)
class Name:
    """The name under which an argument is sent: `Annotated[str, Name("customer message")]`.

    Raises:
        QuestionError: The name is blank.
    """

    text: str

    def __post_init__(self) -> None:
        checked_text("name", self.text)
