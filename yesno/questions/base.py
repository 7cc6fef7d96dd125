"""What every question and every answer has in common."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from yesno.errors import AnswerError, QuestionError

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

__all__ = [
    "Answer",
    "Attempt",
    "Method",
    "Outcome",
    "Question",
    "Refusal",
    "Undecided",
    "checked_probability",
    "checked_text",
    "checked_threshold",
    "confidence_of",
]

Method: TypeAlias = Literal["logprobs", "native", "sampled"]

TOLERANCE = 1e-6
"""A probability this far outside 0..1 is a rounding error and is clamped; further out is an error."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One step that was tried for a question."""

    method: Method
    result: str
    """`"answered"`, why this step gave no answer, or `"prior"` for requests that measured one."""
    requests: int = 1
    questions: int = 1
    """Questions that were packed into these requests and share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back for one question, and how it was obtained.

    The fields here are the same for all types of answers and may be missing on answers built by hand.
    """

    low: float | None = None
    """Least value of the answer's number that the evidence allows."""
    high: float | None = None
    """Greatest value of the answer's number that the evidence allows."""
    label_mass: float | None = None
    """Share (0..1) of the model's probability that fell on an offered label at all."""
    method: Method | None = None
    calibrated: bool = False
    missing: tuple[str, ...] = ()
    """Options that the reply did not list; their share is bounded, not known."""
    flags: tuple[str, ...] = ()
    """What was unusual about the evidence, such as `"censored"`, `"lossy"` or `"packed"`."""
    attempts: tuple[Attempt, ...] = ()
    """What was tried, in order."""
    samples: int | None = None
    """Sampled replies behind the number; None unless the method is `"sampled"`."""
    standard_error: float | None = None
    """Standard error of the answer's number that so few samples leave; `low` and `high` are a 95 % interval then."""
    stated_confidence: float | None = None
    """Mean of what the samples say about their own certainty (0..1): the model's words, not a probability."""
    template: str | None = None
    """Set, type, version and hash of the template: `"default/yes_no@1#1f0c2a9b"`."""


A = TypeVar("A", bound=Answer, covariant=True)

# the type of an option or level; type checkers take a bare `ChoiceAnswer` for `ChoiceAnswer[str]`
if TYPE_CHECKING:
    OptionT = TypeVarWithDefault("OptionT", default=str)
else:
    OptionT = TypeVar("OptionT")


@dataclass(frozen=True, slots=True)
class Question(Generic[A]):
    """Something a model can decide about an input.

    Subclass it for a question type of your own; a provider that cannot answer the type fails before
    it sends anything.
    """

    kind: ClassVar[str] = "custom"
    text: str

    def __post_init__(self) -> None:
        checked_text("text", self.text)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The provider declined the question. It is not a "no"."""

    reason: Literal["refusal", "content_filter"] = "refusal"
    category: str | None = None
    """The provider's own word for why, such as `"bio"`."""
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Undecided:
    """There is not enough evidence for an answer. It is neither a "no" nor 0.5."""

    reason: str
    """A word such as `"low_label_mass"`, `"no_logprobs"`, `"truncated"`, `"empty"`, `"tool_call"`."""
    low: float | None = None
    """Least value that the evidence allows; None when it says nothing."""
    high: float | None = None
    label_mass: float | None = None
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)


Outcome: TypeAlias = Answer | Refusal | Undecided


def checked_text(field_name: str, value: Any) -> str:  # noqa: ANN401 - the check is the point
    """Return `value` when it is a text with something in it, else raise `QuestionError`."""
    if not isinstance(value, str):
        raise QuestionError(f"`{field_name}` must be a text, not {type(value).__name__}")
    if not value.strip():
        raise QuestionError(f"`{field_name}` is blank ({value!r}); give it some words")
    return value


def checked_probability(field_name: str, value: Any) -> float:  # noqa: ANN401 - the check is the point
    """Return `value` as a float in 0..1, clamping a rounding error of up to 1e-6, else raise `AnswerError`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerError(f"`{field_name}` must be a number from 0 to 1, not {value!r}")
    if math.isnan(value) or not -TOLERANCE <= value <= 1 + TOLERANCE:
        raise AnswerError(f"`{field_name}` must be from 0 to 1, not {value!r}")
    return min(1.0, max(0.0, float(value)))


def checked_threshold(value: Any) -> float:  # noqa: ANN401 - the check is the point
    """Return a threshold in 0..1 unchanged, else raise `QuestionError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise QuestionError(f"a threshold must be a number from 0 to 1, not {value!r}")
    return float(value)


def confidence_of(probabilities: tuple[float, ...]) -> float:
    """Return `(n * max - 1) / (n - 1)`: 0 when all n options are equally likely, 1 when one is certain.

    The formula is the one TypeSafe publishes for System One (2026-11); vendors differ, so yesno always
    computes it anew and never copies a reported value.
    """
    n = len(probabilities)
    return max(0.0, (n * max(probabilities) - 1) / (n - 1))
