"""What is watched of an outcome: numbers from 0 to 1."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from yesno.errors import AnswerError, DataError
from yesno.questions import Answer, ChoiceAnswer, Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer

__all__ = ["Label", "Signal", "judged", "signals_of"]

Signal: TypeAlias = Literal[
    "probability", "label_mass", "unanswered", "logprobs", "native", "sampled", "error", "bias"
]
Label: TypeAlias = bool | int | str
"""True or False of a yes/no question; the option of a choice; the level of a scale, or its number from 0."""


def signals_of(outcome: Outcome) -> dict[Signal, float]:
    """Return the numbers from 0 to 1 that are watched of an outcome.

    Raises:
        AnswerError: It is none.
    """
    if isinstance(outcome, Refusal | Undecided):
        return {"unanswered": 1.0}
    if not isinstance(outcome, Answer):
        raise AnswerError(
            f"a monitor watches answers, refusals and undecided ones, not {type(outcome).__name__}"
        )
    found: dict[Signal, float] = {"unanswered": 0.0}
    probability = _probability(outcome)
    if probability is not None:
        found["probability"] = min(1.0, max(0.0, probability))
    if outcome.label_mass is not None:
        found["label_mass"] = min(1.0, max(0.0, outcome.label_mass))
    if outcome.method is not None:
        for method in ("logprobs", "native", "sampled"):
            found[method] = float(outcome.method == method)
    return found


def _probability(answer: Answer) -> float | None:
    match answer:
        case YesNoAnswer():
            return answer.probability
        case ChoiceAnswer():
            return answer.none_probability if answer.is_none else answer.probabilities.get(answer.value)
        case ScaleAnswer() if len(answer.levels) > 1:
            return answer.mean / (len(answer.levels) - 1)
        case _:
            return None


def judged(outcome: Outcome, label: Label, *, row: int | None) -> dict[Signal, float]:
    """Return how far an answer was from its label, and to which side; nothing when there is no answer.

    Raises:
        DataError: The label does not fit the answer.
    """
    said = None if isinstance(outcome, Refusal | Undecided) else _probability(outcome)
    if said is None:
        return {}
    right = _right(outcome, label, row)
    return {"error": (said - right) ** 2, "bias": (right - said + 1) / 2}


def _right(answer: Any, label: Label, row: int | None) -> float:  # noqa: ANN401 - any answer
    match answer:
        case YesNoAnswer():
            if label in (True, False):
                return float(label)
            rule = "True or False"
        case ChoiceAnswer():
            known = answer.options or tuple(answer.probabilities)
            if label in known:
                return float(label == answer.value)
            rule = f"one of {len(known)} options"
        case _:
            if label in answer.levels:
                return float(answer.levels.index(label) / (len(answer.levels) - 1))
            if type(label) is int and 0 <= label < len(answer.levels):
                return label / (len(answer.levels) - 1)
            rule = f"one of {len(answer.levels)} levels"
    raise DataError(f"a label must be {rule}, not {label!r}", row=row, value=label)
