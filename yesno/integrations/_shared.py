"""What all plugs need: the error of a missing extra, and a model of either kind run where a framework wants it."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from yesno.engine.aio import AsyncDecisionModel
from yesno.engine.sync import DecisionModel
from yesno.errors import ConfigError
from yesno.flow import Flow, Runner, run_with
from yesno.integrations import INTEGRATIONS
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse
from yesno.routers.base import is_async

__all__ = ["Decider", "adecided", "aran", "checked", "decided", "missing", "ran"]

T = TypeVar("T")

Decider: TypeAlias = DecisionModel | AsyncDecisionModel
"""A model of either kind."""


def missing(name: str) -> ConfigError:
    """Return the error that says how to install what a file of this room needs."""
    wanted = INTEGRATIONS[name]
    return ConfigError(
        f"yesno.integrations.{name} needs the package that holds {wanted.package!r}: "
        f"run `pip install 'yesno[{wanted.extra}]'`"
    )


def checked(model: Any) -> Decider:  # noqa: ANN401 - the check is the point
    """Return a model that answers requests.

    Raises:
        ConfigError: It is none, such as a name.
    """
    if not callable(getattr(model, "decide", None)):
        raise ConfigError(
            "`decision_model` must be a yesno.DecisionModel or a yesno.AsyncDecisionModel, "
            f"not a {type(model).__name__}"
        )
    return cast("Decider", model)


def decided(model: Decider, request: DecisionRequest) -> DecisionResponse:
    """Answer a request and return the response.

    Raises:
        ConfigError: The model is asynchronous.
    """
    return cast("DecisionModel", _blocking(model)).decide(request)


async def adecided(model: Decider, request: DecisionRequest) -> DecisionResponse:
    """Do what `decided` does without blocking the event loop; a blocking model works in a thread."""
    if isinstance(model, AsyncDecisionModel):
        return await model.decide(request)
    return cast("DecisionResponse", await _in_thread(partial(model.decide, request)))


def ran(model: Runner, flow: Flow[T]) -> T:
    """Run a flow and return its result.

    Raises:
        ConfigError: There is no model, or it is asynchronous.
    """
    return cast("T", run_with(_blocking(model), flow))


async def aran(model: Runner, flow: Flow[T]) -> T:
    """Do what `ran` does without blocking the event loop; a blocking model works in a thread."""
    if callable(getattr(model, "run", None)) and not is_async(model):
        return cast("T", await _in_thread(partial(model.run, flow)))
    return cast("T", await run_with(model, flow))


async def _in_thread(work: Any) -> Any:  # noqa: ANN401 - any function and its result
    from anyio.to_thread import run_sync

    # who is cancelled goes on at once; the thread ends with its request
    return await run_sync(work, abandon_on_cancel=True)


def _blocking(model: Any) -> Any:  # noqa: ANN401 - the check is the point
    if callable(getattr(model, "run", None)) and is_async(model):
        raise ConfigError(
            f"a call that blocks needs a DecisionModel; {type(model).__name__} is awaited; "
            "pass one, or use the framework's asynchronous call"
        )
    return model
