"""Yes/no questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from yesno.questions.base import Answer, Question, checked_probability, checked_text, checked_threshold
from yesno.questions.examples import Examples, checked_examples

__all__ = ["YesNo", "YesNoAnswer"]


@dataclass(frozen=True, slots=True)
class YesNoAnswer(Answer):
    """The probability of "yes"."""

    probability: float
    """Probability of "yes" (0..1), calibrated when a calibration is loaded."""
    raw: float | None = None
    """The probability as read: before calibration, and before a prior was taken out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", checked_probability("probability", self.probability))

    def is_yes(self, threshold: float = 0.5) -> bool:
        """Return whether the probability of "yes" is at least `threshold` (0..1)."""
        return self.probability >= checked_threshold(threshold)


@dataclass(frozen=True, slots=True)
class YesNo(Question[YesNoAnswer]):
    """A question with the answers yes and no."""

    kind: ClassVar[str] = "yes_no"
    yes_when: str | None = field(default=None, kw_only=True)
    """When the answer is yes, in words the model reads."""
    no_when: str | None = field(default=None, kw_only=True)
    """When the answer is no."""
    examples: Examples[bool] = field(default=(), kw_only=True)
    """Worked examples: pairs of an input and True or False."""

    def __post_init__(self) -> None:
        checked_text("text", self.text)
        for name in ("yes_when", "no_when"):
            if getattr(self, name) is not None:
                checked_text(name, getattr(self, name))
        object.__setattr__(self, "examples", checked_examples(self.examples, (True, False)))
