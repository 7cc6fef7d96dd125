"""`POST /v1/decisions` and `POST /v1/systemone`: from a body to a decision and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from yesno.errors import QuestionError, RequestProblem
from yesno.questions import Refusal, Undecided
from yesno.request import Parameters
from yesno.response import DecisionResponse
from yesno.serve.bodies import read_json
from yesno.serve.exchange import Exchange
from yesno.serve.leaving import while_wanted
from yesno.serve.models import Models
from yesno.wire import openai_decisions, systemone
from yesno.wire.decisions import Asked

if TYPE_CHECKING:
    from starlette.types import Receive

__all__ = ["decided"]

_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


async def decided(models: Models, exchange: Exchange, receive: Receive) -> bytes:
    """Return the body that answers a request.

    Sets the protocol of the exchange by the body, since vendors use one path for both shapes.

    Raises:
        RequestProblem: The body is no request, or System One has no form for what came of it.
        YesnoError: The model failed.
    """
    body = await read_json(exchange, receive)
    asked = _asked(models, exchange, body)
    alias = exchange.alias or ""
    model = models.by_alias[alias]
    own = Parameters(model.model_name or alias, exchange.settings.timeout_s)
    response = await while_wanted(model.decide(asked.request, parameters=own), receive)
    _note(exchange, response)
    if exchange.protocol == "openai":
        return _WRITER.encode(openai_decisions.encode_response(asked, response)).encode()
    answer = systemone.encode_response(asked, response)
    if "x_refused" in answer or "x_undecided" in answer:
        raise _unanswered(answer)
    return _WRITER.encode(answer).encode()


def _asked(models: Models, exchange: Exchange, body: Any) -> Asked:  # noqa: ANN401 - JSON
    if not isinstance(body, dict):
        raise RequestProblem(
            "the body must be a JSON object with `model`, `questions` and what they are about"
        )
    questions = body.get("questions")
    if isinstance(questions, dict | list):
        _check_shape(exchange, body, questions)
        most = exchange.settings.max_questions
        if len(questions) > most:
            raise RequestProblem(
                f"this server takes at most {most} questions in one request, not {len(questions)}; ask in parts",
                code="too_many_questions",
                where=("questions",),
            )
        exchange.questions = len(questions)
    name = body.get("model")
    if isinstance(name, str):
        exchange.alias = models.alias_of(name, exchange.allowed)
    read = openai_decisions.decode_request if exchange.protocol == "openai" else systemone.decode_request
    return read(body)


def _check_shape(exchange: Exchange, body: Mapping[str, Any], questions: dict[str, Any] | list[Any]) -> None:
    if isinstance(questions, dict):
        if "state" not in body and "input" in body:
            raise RequestProblem(
                "a map of questions is System One's shape, whose input is called `state`, not `input`",
                code="missing",
                where=("state",),
            )
        exchange.protocol = "systemone"
    elif exchange.protocol == "systemone":
        raise RequestProblem(
            "a list of questions is OpenAI's shape, which belongs to /v1/decisions; here `questions` is a map",
            where=("questions",),
        )
    elif any(
        isinstance(item, dict) and "question" in item and "instructions" not in item for item in questions
    ):
        raise QuestionError(
            "questions with `question` in place of `instructions` are SGLang's shape, which this server does not "
            "speak; send OpenAI's or System One's",
            where=("questions",),
        )


def _note(exchange: Exchange, response: DecisionResponse) -> None:
    counts = exchange.outcomes
    for outcome in response.answers.values():
        kind = type(outcome)
        word = "refused" if kind is Refusal else "undecided" if kind is Undecided else "answered"
        counts[word] = counts.get(word, 0) + 1
    if response.usage is not None:
        exchange.usage = response.usage


def _unanswered(answer: Mapping[str, Any]) -> RequestProblem:
    """Return the error for answers that System One cannot carry: it knows neither a refusal nor an undecided answer."""
    parts = {name: answer[name] for name in ("x_refused", "x_undecided") if name in answer}
    names = [name for reasons in parts.values() for name in reasons]
    told = ", ".join(repr(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
    return RequestProblem(
        f"the model gave no answer to {told}; `x_refused` and `x_undecided` say why, `x_answers` holds the others",
        kind="no_answer",
        code="refused" if "x_refused" in parts else "undecided",
        details={**parts, "x_answers": answer["answers"]},
    )
