"""Questions on an ordered scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from yesno.errors import AnswerError, NoProbabilities, QuestionError
from yesno.questions.base import TOLERANCE, Answer, OptionT, Question, checked_probability, checked_text
from yesno.questions.examples import Examples, checked_examples

__all__ = ["Scale", "ScaleAnswer"]

MAX_LEVELS = 255


@dataclass(frozen=True, slots=True)
class ScaleAnswer(Answer, Generic[OptionT]):
    """Where on the scale, as a mean and a distribution over its levels.

    Levels are texts, and members of an enum or a `Literal` where a decision function returns them.
    """

    mean: float
    """Probability-weighted level number, from 0 (the first level) to n - 1; may fall between levels."""
    probabilities: tuple[float, ...] = ()
    """Probability (0..1) of each level, lowest first. Empty when the provider reports none."""
    confidence: float | None = None
    """`(n * max - 1) / (n - 1)` over the levels; not comparable between models."""
    raw: tuple[float, ...] | None = None
    """The probabilities as read: before calibration, and before a prior was taken out."""
    levels: tuple[OptionT, ...] = ()
    """The levels that were offered, lowest first."""

    def __post_init__(self) -> None:
        if (
            isinstance(self.mean, bool)
            or not isinstance(self.mean, int | float)
            or not math.isfinite(self.mean)
        ):
            raise AnswerError(f"`mean` must be a finite number, not {self.mean!r}")
        checked = tuple(
            checked_probability(f"probabilities[{i}]", p) for i, p in enumerate(self.probabilities)
        )
        object.__setattr__(self, "probabilities", checked)
        object.__setattr__(self, "levels", tuple(self.levels))
        if self.confidence is not None:
            object.__setattr__(self, "confidence", checked_probability("confidence", self.confidence))
        if self.levels:
            problem = misfit(self, len(self.levels))
            if problem is not None:
                raise AnswerError(f"the answer {problem}")

    def level(self) -> int:
        """Return the number of the most probable level, the lowest of equals.

        Raises:
            NoProbabilities: The answer carries none.
        """
        self._require_probabilities()
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)

    def most_likely(self) -> OptionT:
        """Return the most probable level, the lowest of equals; without probabilities the one nearest the mean.

        Half way between two levels is the upper one's.

        Raises:
            AnswerError: The answer does not know its levels.
        """
        number = self.level() if self.probabilities else math.floor(self.mean + 0.5)
        return self._known_levels()[number]

    def probability_of(self, level: OptionT) -> float:
        """Return the probability (0..1) of one level.

        Raises:
            AnswerError: The level was not offered.
            NoProbabilities: The answer carries none.
        """
        number = self._number_of(level)
        self._require_probabilities()
        return self.probabilities[number]

    def probability_at_least(self, level: OptionT) -> float:
        """Return the probability (0..1) of this level or a higher one; raises as `probability_of` does."""
        number = self._number_of(level)
        self._require_probabilities()
        return min(1.0, math.fsum(self.probabilities[number:]))

    def _number_of(self, level: OptionT) -> int:
        levels = self._known_levels()
        if level not in levels:
            raise AnswerError(f"{level!r} was not offered; the levels are {list(levels)!r}")
        return levels.index(level)

    def _known_levels(self) -> tuple[OptionT, ...]:
        if not self.levels:
            raise AnswerError("this answer does not know the names of its levels; give it `levels`")
        return self.levels

    def _require_probabilities(self) -> None:
        if not self.probabilities:
            raise NoProbabilities("this answer has no probabilities; the provider did not report any")


def misfit(answer: ScaleAnswer[Any], levels: int) -> str | None:
    """Return why an answer cannot be one on a scale of so many levels; None when it can."""
    if not -TOLERANCE <= answer.mean <= levels - 1 + TOLERANCE:
        return f"has the mean {answer.mean!r}, outside 0 to {levels - 1}"
    if answer.probabilities and len(answer.probabilities) != levels:
        return f"has {len(answer.probabilities)} probabilities for {levels} levels"
    return None


@dataclass(frozen=True, slots=True, init=False)
class Scale(Question[ScaleAnswer]):
    """A question whose answer is a level between the first and the last.

    Args:
        text: The question.
        levels: Names of 2 to 255 levels, lowest first; numbered from 0.
        examples: Worked examples: pairs of an input and a level.

    Raises:
        QuestionError: A text is blank, or there are fewer than 2 levels or more than 255.
    """

    kind: ClassVar[str] = "scale"
    levels: tuple[str, ...]
    examples: Examples[str]

    def __init__(self, text: str, levels: Iterable[str], *, examples: Examples[str] = ()) -> None:
        checked = _checked_levels(levels)
        object.__setattr__(self, "text", checked_text("text", text))
        object.__setattr__(self, "levels", checked)
        object.__setattr__(self, "examples", checked_examples(examples, checked))

    def with_level(self, level: str) -> Scale:
        """Return a copy with one more level at the upper end."""
        return self.with_levels((*self.levels, level))

    def with_levels(self, levels: Iterable[str]) -> Scale:
        """Return a copy with these levels in place of the earlier ones."""
        return Scale(self.text, levels, examples=self.examples)


def _checked_levels(levels: Any) -> tuple[str, ...]:  # noqa: ANN401 - user input
    if isinstance(levels, str):
        raise QuestionError(f"`levels` must be a list of texts, not the text {levels!r}")
    if not isinstance(levels, Iterable):
        raise QuestionError(f"`levels` must be a list of texts, not {levels!r}")
    checked = tuple(checked_text("level", level) for level in levels)
    if len(checked) < 2:
        raise QuestionError(f"a scale needs a minimum of two levels, not {len(checked)}")
    if len(checked) > MAX_LEVELS:
        raise QuestionError(f"a scale takes at most {MAX_LEVELS} levels, not {len(checked)}")
    return checked
