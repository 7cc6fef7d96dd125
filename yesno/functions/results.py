"""What a decision function returns beside its content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from yesno.evidence import Usage
from yesno.response import DecisionResponse

__all__ = ["Result"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """The content of a decision with the response that it was made of."""

    content: T
    response: DecisionResponse
    """The answers by question name: that of the function, or of each field."""

    @property
    def model(self) -> str | None:
        """The model name that the provider reports."""
        return self.response.model

    @property
    def usage(self) -> Usage | None:
        """Tokens and requests spent."""
        return self.response.usage
