"""Errors in the forms that the two protocols give them, and what becomes of an error of ours."""

from __future__ import annotations

import math
from typing import Any

from yesno.errors import (
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    ProviderError,
    ProviderUnavailable,
    QuestionError,
    RequestProblem,
    YesnoError,
)
from yesno.serve.exchange import Protocol
from yesno.wire.decisions import path_of

__all__ = ["MOST_RETRY_S", "RETRY_S", "body_of", "problem_of", "status_of"]

RETRY_S = 2
"""Seconds after which a client should try again when the provider did not say; the official clients obey."""
MOST_RETRY_S = 120
"""openai 3.57.0 gives up when it is told to wait longer (2026-11)."""

_OPENAI_TYPES = {
    "rate_limit": "rate_limit_error",
    "server": "server_error",
    "permission": "permission_error",
    "authentication": "authentication_error",
}
_SYSTEMONE_TYPES = {
    "authentication": "authentication_error",
    "permission": "permission_error",
    "rate_limit": "rate_limit_error",
    "server": "api_error",
    "no_answer": "no_answer_error",
}


def status_of(problem: RequestProblem, protocol: Protocol) -> int:
    """Return the HTTP status: a bad body is 422 and an unknown model 400 in System One, 400 and 404 elsewhere."""
    if protocol == "systemone":
        return {"invalid": 422, "model": 400}.get(problem.kind, problem.status)
    return problem.status


def body_of(problem: RequestProblem, protocol: Protocol) -> dict[str, Any]:
    """Return the body of an error.

    OpenAI's is `{"error": {message, type, param, code}}` (openai 3.57.0). System One's `detail` is a list of places
    when the body is at fault, else an object (typesafe-sdk 0.7.5, JevCompat 0.1; 2026-11).
    """
    message = str(problem)
    if protocol == "openai":
        return {
            "error": {
                "message": message,
                "type": _OPENAI_TYPES.get(problem.kind, "invalid_request_error"),
                "param": path_of(problem.where) or None,
                "code": problem.code,
            }
        }
    if problem.kind == "invalid":
        place = {"loc": ["body", *problem.where], "msg": message, "type": problem.code or "value_error"}
        return {"detail": [place]}
    kind = _SYSTEMONE_TYPES.get(problem.kind, "api_usage_error")
    return {"detail": {"error_type": kind, "message": message, **(problem.details or {})}}


def problem_of(error: YesnoError, alias: str | None) -> RequestProblem:
    """Return what a client is told of an error of ours.

    A provider's failure is told without the provider's words, which are the operator's and may name accounts.
    """
    match error:
        case RequestProblem():
            return error
        case QuestionError():
            return RequestProblem(str(error), code="invalid_value", where=error.where)
        case BudgetExceeded():
            return RequestProblem(
                "the budget for this is spent; wait for its next day or month, or ask the operator to raise it",
                status=429,
                kind="rate_limit",
                code="insufficient_quota",
                headers=(("x-should-retry", "false"),),
            )
        case DeadlineExceeded():
            return _failed(f"model {alias!r} took too long; try again, or ask less at once", 503, "timeout")
        case ProviderUnavailable():
            words = f"model {alias!r} cannot be reached at the moment; try again"
            return _failed(words, 503, "model_unavailable", wait_s=error.retry_after)
        case ProviderError():
            words = (
                f"model {alias!r} failed ({type(error).__name__}); its operator finds why in the server's log"
            )
            return _failed(words, 502, "model_failed", again=error.retryable)
        case ConfigError():
            words = f"model {alias!r} is not set up; its operator finds why in the server's log"
            return _failed(words, 503, "model_not_set_up", again=False)
    return _failed(f"model {alias!r} failed ({type(error).__name__})", 502, "model_failed", again=False)


def _failed(
    message: str, status: int, code: str, *, wait_s: float | None = None, again: bool = True
) -> RequestProblem:
    seconds = RETRY_S if wait_s is None else min(MOST_RETRY_S, max(1, math.ceil(wait_s)))
    headers = (("retry-after", str(seconds)), *([] if again else [("x-should-retry", "false")]))
    return RequestProblem(message, status=status, kind="server", code=code, headers=headers)
