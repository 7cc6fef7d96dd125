"""What all routers have in common: a model to ask, what counts as a failure of it, checked settings."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from yesno._log import get_logger
from yesno.errors import (
    AnswerError,
    AsyncUnsupported,
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    NoAnswer,
    ProviderError,
    Refused,
    UndecidedError,
)
from yesno.flow import Flow, Runner, run_with
from yesno.questions import Outcome, YesNoAnswer
from yesno.response import unwrapped

__all__ = [
    "FAILURES",
    "Router",
    "attempt",
    "checked_word",
    "failure_word",
    "is_async",
    "warn",
    "yes_of",
]

T = TypeVar("T")

Why: TypeAlias = Literal["refused", "undecided", "failed"]
FAILURES = (ProviderError, NoAnswer, DeadlineExceeded, BudgetExceeded)
"""What a failed decision raises; wrong questions and settings are no such failure."""


class Router:
    """Base of all routers: immutable settings and a flow; with a `model`, a function too.

    Args:
        model: A `DecisionModel` or an `AsyncDecisionModel`, for calling the router directly.
    """

    name: ClassVar[str]
    """Its name in the registry."""

    def __init__(self, model: Runner | None = None) -> None:
        if model is not None and not callable(getattr(model, "run", None)):
            raise ConfigError(
                f"`model` must be a DecisionModel or an AsyncDecisionModel, not a {type(model).__name__}"
            )
        self.model = model

    def _run(self, flow: Flow[Any]) -> Any:  # noqa: ANN401 - the result, or an awaitable of it
        return run_with(self.model, flow)

    def _asked(self) -> Runner:
        if self.model is None:
            raise ConfigError("there is no model; pass model=DecisionModel(...), or an AsyncDecisionModel")
        return self.model


def attempt(flow: Flow[T]) -> Flow[T | Exception]:
    """Return what a flow returns, or the failure of the decision that it raised.

    Wrong questions and settings, cancellation and a provider without an asynchronous form go through.
    """
    try:
        return (yield from flow)
    except AsyncUnsupported:
        raise
    except FAILURES as error:
        return error


def is_async(model: Runner) -> bool:
    """Return whether a model's `run` is awaited."""
    return iscoroutinefunction(model.run)


def yes_of(outcome: Outcome) -> float:
    """Return the probability of yes.

    Raises:
        Refused, UndecidedError: There is no answer.
        AnswerError: It is not one of yes and no.
    """
    answer = unwrapped(outcome)
    if not isinstance(answer, YesNoAnswer):
        raise AnswerError(f"a yes/no question was answered by a {type(answer).__name__}")
    return answer.probability


def failure_word(error: Exception) -> Why:
    """Return how a decision failed, in a word."""
    match error:
        case Refused():
            return "refused"
        case UndecidedError():
            return "undecided"
        case _:
            return "failed"


def warn(router: str, fallback: str, error: Exception) -> None:
    """Log that a decision failed and what happens in its place."""
    get_logger("routers").warning(
        "router_fell_back", router=router, fallback=fallback, error=type(error).__name__
    )


def checked_word(setting: str, value: Any, words: tuple[str, ...]) -> str:  # noqa: ANN401 - the check is the point
    """Return one of a setting's words, else raise `ConfigError`."""
    if value not in words:
        raise ConfigError(f"`{setting}` must be one of {', '.join(map(repr, words))}, not {value!r}")
    return str(value)
