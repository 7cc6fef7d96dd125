"""From readings to answers of the type that a question asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

from yesno._frozen import FrozenDict
from yesno.questions import (
    Answer,
    Attempt,
    Choice,
    ChoiceAnswer,
    Method,
    Scale,
    ScaleAnswer,
    YesNo,
    YesNoAnswer,
)
from yesno.questions.base import confidence_of
from yesno.reading.intervals import mean_bounds
from yesno.reading.outcome import Reading
from yesno.reading.samples import Z

__all__ = ["make_answer", "number_bounds"]


class _Origin(TypedDict):
    label_mass: float
    method: Method
    calibrated: bool
    samples: int | None
    stated_confidence: float | None
    flags: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    template: str | None


def make_answer(
    question: YesNo | Choice | Scale,
    reading: Reading,
    *,
    attempts: Sequence[Attempt] = (),
    template: str | None = None,
) -> Answer:
    """Turn a reading of a question's labels into its answer.

    The labels are yes and no; the options in order, then the way out if there is one; or the levels in order.
    """
    sampled = reading.sampled
    origin = _Origin(
        label_mass=reading.label_mass,
        method="logprobs" if sampled is None else "sampled",
        calibrated=reading.calibrated,
        samples=None if sampled is None else sampled.count,
        stated_confidence=None if sampled is None else sampled.confidence,
        flags=reading.flags,
        attempts=tuple(attempts),
        template=template,
    )
    match question:
        case YesNo():
            names = ("yes", "no")
            return YesNoAnswer(
                reading.probabilities[0],
                raw=_raw(reading)[0],
                standard_error=None if sampled is None else sampled.errors[0],
                low=reading.low[0],
                high=reading.high[0],
                missing=tuple(names[i] for i in reading.missing),
                **origin,
            )
        case Choice():
            return _choice_answer(question, reading, origin)
        case Scale():
            return _scale_answer(question, reading, origin)


def _choice_answer(question: Choice, reading: Reading, origin: _Origin) -> ChoiceAnswer:
    names = list(question.options)
    if any(name != name.strip() for name in names):
        origin["flags"] = (*origin["flags"], "padded_option")
    everything = names if question.none is None else [*names, question.none]
    best = max(range(len(everything)), key=reading.probabilities.__getitem__)
    shares = dict(zip(names, reading.probabilities, strict=False))
    return ChoiceAnswer(
        everything[best],
        FrozenDict(shares),
        confidence=confidence_of(reading.probabilities),
        options=tuple(names),
        none_probability=None if question.none is None else reading.probabilities[-1],
        raw=FrozenDict(zip(names, _raw(reading), strict=False)),
        bounds=FrozenDict({name: (reading.low[i], reading.high[i]) for i, name in enumerate(names)}),
        standard_error=None if reading.sampled is None else reading.sampled.errors[best],
        low=reading.low[best],
        high=reading.high[best],
        missing=tuple(everything[i] for i in reading.missing),
        **origin,
    )


def _scale_answer(question: Scale, reading: Reading, origin: _Origin) -> ScaleAnswer:
    mean = sum(i * p for i, p in enumerate(reading.probabilities))
    error = _error_of_mean(reading, mean)
    low, high = mean_bounds(reading) if error is None else (mean - Z * error, mean + Z * error)
    low, high = max(0.0, low), min(len(question.levels) - 1.0, high)
    return ScaleAnswer(
        mean,
        reading.probabilities,
        confidence=confidence_of(reading.probabilities),
        raw=_raw(reading),
        levels=question.levels,
        standard_error=error,
        low=min(low, mean),
        high=max(high, mean),
        missing=tuple(question.levels[i] for i in reading.missing),
        **origin,
    )


def _error_of_mean(reading: Reading, mean: float) -> float | None:
    """Return the standard deviation of the mean level under the posterior of the samples."""
    if reading.sampled is None:
        return None
    square = sum(i * i * p for i, p in enumerate(reading.probabilities))
    return math.sqrt(max(0.0, square - mean * mean) / (reading.sampled.count + 2.0))


def _raw(reading: Reading) -> tuple[float, ...]:
    return reading.probabilities if reading.uncorrected is None else reading.uncorrected


def number_bounds(
    question: YesNo | Choice | Scale, reading: Reading | None
) -> tuple[float | None, float | None]:
    """Return the bounds that even a reading too weak for an answer gives; None where it gives none."""
    if reading is None or not isinstance(question, YesNo):
        return None, None
    return reading.low[0], reading.high[0]
