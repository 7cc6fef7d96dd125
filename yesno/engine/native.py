"""From a decision endpoint's reply to a response."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from yesno.errors import AnswerError, ConfigError, InvalidResponse
from yesno.evidence import Completion, NativeAnswers, Reply
from yesno.questions import (
    Answer,
    Attempt,
    ChoiceAnswer,
    Refusal,
    ScaleAnswer,
    Undecided,
    YesNoAnswer,
)
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["native_response"]


def native_response(
    request: DecisionRequest, reply: Reply, provider: str, min_label_mass: float
) -> DecisionResponse:
    """Turn a decision endpoint's reply into a response, its answers marked as such.

    Raises:
        ConfigError: The provider sends something else than answers.
        InvalidResponse: The answers make no response.
    """
    if isinstance(reply.evidence, Completion) and reply.evidence.finish == "content_filter":
        return DecisionResponse(
            dict.fromkeys(request.questions, _as_native(Refusal("content_filter"))),
            model=request.parameters.model_name,
            usage=reply.usage,
        )
    if not isinstance(reply.evidence, NativeAnswers):
        raise ConfigError(f"provider {provider!r} declares the strategy 'native' but sends no answers")
    answers = {name: _as_native(outcome, min_label_mass) for name, outcome in reply.evidence.answers.items()}
    model = reply.model or request.parameters.model_name
    try:
        return DecisionResponse(answers, model=model, usage=reply.usage)
    except AnswerError as error:
        raise InvalidResponse(f"the response is none: {error}", provider=provider) from error


def _as_native(outcome: Any, min_label_mass: float = 0.0) -> Any:  # noqa: ANN401 - whatever the provider sent
    if isinstance(outcome, Refusal | Undecided):
        return replace(outcome, attempts=outcome.attempts or (Attempt("native", outcome.reason),))
    if not isinstance(outcome, Answer) or outcome.method is not None:
        return outcome
    if outcome.label_mass is not None and outcome.label_mass < min_label_mass:
        bounds = (outcome.low, outcome.high) if isinstance(outcome, YesNoAnswer) else (None, None)
        attempts = (Attempt("native", "low_label_mass"),)
        return Undecided("low_label_mass", *bounds, label_mass=outcome.label_mass, attempts=attempts)
    attempts = (Attempt("native", "answered"),)
    match outcome:
        case YesNoAnswer():
            return replace(outcome, method="native", raw=outcome.probability, attempts=attempts)
        case ChoiceAnswer():
            return replace(outcome, method="native", raw=outcome.probabilities or None, attempts=attempts)
        case ScaleAnswer():
            return replace(outcome, method="native", raw=outcome.probabilities or None, attempts=attempts)
        case _:
            return replace(outcome, method="native", attempts=attempts)
