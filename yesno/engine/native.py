"""From a decision endpoint's reply to a response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yesno.errors import AnswerError, ConfigError, InvalidResponse
from yesno.evidence import Completion, NativeAnswers, Reply
from yesno.questions import (
    Answer,
    Attempt,
    ChoiceAnswer,
    Outcome,
    Question,
    Refusal,
    ScaleAnswer,
    Undecided,
    YesNoAnswer,
)
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["joined", "left_by", "native_response"]


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


def left_by(request: DecisionRequest, response: DecisionResponse | None) -> dict[str, Question[Any]]:
    """Return the questions of a request that a decision endpoint has not answered; all without a response."""
    if response is None:
        return dict(request.questions)
    answers = response.answers
    return {name: q for name, q in request.questions.items() if isinstance(answers.get(name), Undecided)}


def joined(
    request: DecisionRequest,
    response: DecisionResponse | None,
    later: Mapping[str, Outcome],
    reason: str,
) -> dict[str, Outcome]:
    """Return the outcomes of all questions: those of the endpoint, and those of later steps with its attempt before.

    Args:
        request: What was asked.
        response: What the endpoint answered; None for nothing.
        later: The outcomes of the questions that it left.
        reason: Why there is no response.
    """
    outcomes: dict[str, Outcome] = {}
    for name in request.questions:
        first = None if response is None else response.answers.get(name)
        if name not in later:
            if first is not None:
                outcomes[name] = first
            continue
        tried = (Attempt("native", reason),) if first is None else first.attempts
        outcomes[name] = replace(later[name], attempts=(*tried, *later[name].attempts))
    return outcomes


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
