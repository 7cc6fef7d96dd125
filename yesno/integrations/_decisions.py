"""Requests and answers in System One's shape, which LangChain and pydantic-ai took over for their decision models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yesno.questions import Refusal, Undecided
from yesno.questions.scale import MAX_LEVELS
from yesno.request import Parameters
from yesno.response import DecisionResponse, no_answer_error
from yesno.wire.decisions import Asked, Limits
from yesno.wire.systemone import Dialect, decode_request, encode_response

__all__ = ["answers_of", "asked_in"]

_DIALECT = Dialect(Limits(levels=MAX_LEVELS))


def asked_in(
    state: Any,  # noqa: ANN401 - JSON
    questions: Mapping[str, Mapping[str, Any]],
    *,
    timeout_s: float | None = None,
) -> Asked:
    """Return what a state and questions in System One's shape ask.

    Raises:
        QuestionError: It cannot be asked; the message says where.
    """
    body = {"model": "yesno", "state": state, "questions": questions}
    asked = decode_request(body, dialect=_DIALECT)
    return replace(asked, request=asked.request.with_parameters(Parameters(timeout_s=timeout_s)))


def answers_of(asked: Asked, response: DecisionResponse) -> dict[str, dict[str, Any]]:
    """Return the answers in System One's shape, by the names that were asked under; numbers are not rounded.

    Raises:
        Refused, UndecidedError: A question has no answer, or not the whole distribution that this shape has.
    """
    for name, outcome in response.answers.items():
        if isinstance(outcome, Refusal | Undecided):
            raise no_answer_error(outcome, name)
    body = encode_response(asked, response)
    for name, reason in body.get("x_undecided", {}).items():
        raise no_answer_error(Undecided(reason), name)
    answers: dict[str, dict[str, Any]] = body["answers"]
    return answers
