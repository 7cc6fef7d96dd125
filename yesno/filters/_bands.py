"""What guardrails say about a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from yesno.errors import AnswerError
from yesno.evidence import Usage
from yesno.questions import YesNoAnswer

__all__ = ["Band", "CheckResult", "Verdict"]

Band: TypeAlias = Literal["pass", "review", "block"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    name: str
    band: Band
    probability: float
    """Probability (0..1) of the answer that means reject."""
    answer: YesNoAnswer
    """The answer to the check's question, with its bounds."""
    block: float
    """From this probability on it blocks."""
    review: float | None = None
    """From this one on it wants a review; None when there is no such band."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worst band that a check fell into, and what to do about it."""

    band: Band
    checks: tuple[CheckResult, ...] = ()
    """In the order of the guardrails; empty when there was no text to check."""
    message: str | None = None
    """Names the checks that blocked, in order, and no numbers; None unless blocked."""
    reprompt: str | None = None
    """What to ask the model to do over; None unless a response was blocked and there is an instruction for it."""
    usage: Usage | None = None
    """Tokens and requests spent; None when not known."""

    @property
    def passed(self) -> bool:
        """Whether no check wants a review or blocks."""
        return self.band == "pass"

    @property
    def blocked(self) -> bool:
        """Whether a check blocks."""
        return self.band == "block"

    @property
    def is_fatal(self) -> bool:
        """Whether the text is blocked and nothing is to be asked again."""
        return self.blocked and self.reprompt is None

    def names(self, band: Band) -> tuple[str, ...]:
        """Return the names of the checks in a band, in order."""
        return tuple(check.name for check in self.checks if check.band == band)

    def probability_of(self, name: str) -> float:
        """Return the probability (0..1) that one check rejects, by its name.

        Raises:
            AnswerError: It is not among the results.
        """
        for check in self.checks:
            if check.name == name:
                return check.probability
        known = ", ".join(repr(check.name) for check in self.checks) or "none"
        raise AnswerError(f"there is no result of a check {name!r}; the results are {known}")
