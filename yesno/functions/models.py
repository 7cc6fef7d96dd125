"""Which model decides: the one that a `with using(...)` names, the function's own, or the default."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from yesno.errors import ConfigError

if TYPE_CHECKING:
    from yesno.engine.aio import AsyncDecisionModel
    from yesno.engine.sync import DecisionModel

__all__ = ["AnyModel", "checked_model", "kind_of", "model_for", "set_default_model", "using"]

Kind: TypeAlias = Literal["sync", "async"]
AnyModel: TypeAlias = "DecisionModel | AsyncDecisionModel"
M = TypeVar("M", bound=AnyModel)

_used: ContextVar[tuple[tuple[Kind, Any], ...]] = ContextVar("yesno_functions_used", default=())
_defaults: dict[Kind, Any] = {}

_NAMES: dict[Kind, str] = {"sync": "a DecisionModel", "async": "an AsyncDecisionModel"}
_FORMS: dict[Kind, str] = {"sync": "a plain `def`", "async": "an `async def`"}
_OTHER: dict[Kind, Kind] = {"sync": "async", "async": "sync"}


@contextmanager
def using(model: M) -> Iterator[M]:
    """Let a model decide for all decision functions that are called inside the `with`.

    It goes before a function's own model, so that tests can put a scripted one in its place. A `DecisionModel`
    serves plain functions, an `AsyncDecisionModel` those written `async def`; one `with` inside another replaces
    the model of its kind and leaves the other.

    The model is a context variable: tasks started inside see it, and so does `asyncio.to_thread`. A thread that is
    started otherwise does not; name the model inside it, or run it in `contextvars.copy_context()`.

    Raises:
        ConfigError: It is no model.
    """
    token = _used.set(((kind_of(model), model), *_used.get()))
    try:
        yield model
    finally:
        _used.reset(token)


def set_default_model(model: AnyModel | None) -> None:
    """Let a model decide wherever none is named; None takes the defaults of both kinds away.

    A `DecisionModel` becomes the default of plain functions, an `AsyncDecisionModel` of those written `async def`.
    All threads and tasks see it.

    Raises:
        ConfigError: It is no model.
    """
    if model is None:
        _defaults.clear()
    else:
        _defaults[kind_of(model)] = model


def kind_of(model: Any) -> Kind:  # noqa: ANN401 - the check is the point
    """Return whether a model blocks or is awaited.

    Raises:
        ConfigError: It is no model.
    """
    if isinstance(model, type) or not callable(getattr(model, "decide", None)):
        raise ConfigError(
            f"a model must be a DecisionModel or an AsyncDecisionModel, not {_what(model)}; "
            'make one, such as `DecisionModel("local")`'
        )
    return "async" if inspect.iscoroutinefunction(model.decide) else "sync"


def checked_model(model: Any, wanted: Kind, label: str) -> Any:  # noqa: ANN401 - the check is the point
    """Return a function's own model when it is of the function's kind.

    Raises:
        ConfigError: It is not.
    """
    if model is not None and kind_of(model) != wanted:
        raise ConfigError(
            f"`{label}` is {_FORMS[wanted]} and was given {_NAMES[_OTHER[wanted]]}; "
            f"give it {_NAMES[wanted]}, or write {_FORMS[_OTHER[wanted]]}"
        )
    return model


def model_for(own: Any, wanted: Kind, label: str) -> Any:  # noqa: ANN401 - a model of either kind
    """Return the model that decides for a function.

    Raises:
        ConfigError: No model of the function's kind is named anywhere.
    """
    found = next((model for kind, model in _used.get() if kind == wanted), own)
    if found is None:
        found = _defaults.get(wanted)
    if found is not None:
        return found
    named = any(kind != wanted for kind, _ in _used.get()) or _OTHER[wanted] in _defaults
    lacks = f"is {_FORMS[wanted]}, and only {_NAMES[_OTHER[wanted]]} is named" if named else "has no model"
    raise ConfigError(
        f"`{label}` {lacks}; give {_NAMES[wanted]} as `model=` where it is defined, around the call by "
        "`with using(model):`, or for all by `set_default_model(model)`"
    )


def _what(model: Any) -> str:  # noqa: ANN401 - anything
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
