"""All methods of a `Protocol`, decided by one model."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from yesno.errors import QuestionError
from yesno.functions.decisions import AsyncDecisionFunction, DecisionFunction, decision_function
from yesno.functions.decorator import unwrapped_method
from yesno.functions.hints import local_names
from yesno.functions.marks import MARK
from yesno.functions.models import AnyModel, kind_of
from yesno.functions.plans import drafted
from yesno.functions.stubs import is_stub
from yesno.functions.thresholds import Thresholds

__all__ = ["implement"]

S = TypeVar("S")


def implement(
    service: Callable[..., S], *, model: AnyModel | None = None, thresholds: Thresholds | None = None
) -> S:
    """Return an object whose methods a model decides.

    ```python
    class Desk(Protocol):
        @Asks("Is this spam?")
        def is_spam(self, message: str) -> bool: ...

    desk = implement(Desk, model=model)
    ```

    Each method without a body of its own is decided as `decide` would decide it: its question stands in `@Asks`
    above it or in its return type, or on the fields of the object that it returns. Methods with a body are kept, and
    may call the others. Each method is a decision function: `desk.is_spam.answer(...)`.

    Args:
        service: The `Protocol` (annotated as a callable, because type checkers want concrete classes otherwise).
        model: The model that decides; else the one of `with using(model):` or `set_default_model`.
        thresholds: Gives the threshold of each `bool` at each call; goes before a question's own.

    Raises:
        QuestionError: It is no `Protocol`, or a method cannot be a decision; the reason is named.
        ConfigError: The model is none, or of another kind than a method.
    """
    kind: Any = service
    if not isinstance(kind, type) or Protocol not in kind.__bases__:
        raise QuestionError(
            f"only a Protocol can be implemented, and {_shown(kind)} is none; derive it from Protocol"
        )
    names = local_names(sys._getframe(1))
    decided = {
        name: _decided(kind, name, member, names, model=model, thresholds=thresholds)
        for name, member in _members(kind)
        if _is_decision(member)
    }
    _refuse_the_rest(kind, decided)
    made = types.new_class(
        kind.__name__, (kind,), exec_body=lambda space: space.update(decided, __repr__=_repr)
    )
    made.__module__, made.__qualname__ = kind.__module__, kind.__qualname__
    if model is not None:
        kind_of(model)
    return made()  # type: ignore[no-any-return]  # it has all methods of S


def _decided(
    kind: type,
    name: str,
    member: Any,  # noqa: ANN401 - a method as written
    names: Mapping[str, Any],
    *,
    model: Any,  # noqa: ANN401 - a model of either kind
    thresholds: Thresholds | None,
) -> Any:  # noqa: ANN401 - a decision function
    inner, binding = unwrapped_method(member)
    if isinstance(inner, DecisionFunction | AsyncDecisionFunction):
        binding = inner.draft.binding if binding == "instance" else binding
        draft = drafted(inner.draft.function, inner.draft.asks, inner.draft.thresholds, binding)
        own = model if inner.own_model is None else inner.own_model
    else:
        draft, own = drafted(inner, getattr(inner, MARK, None), None, binding), model
    draft = replace(draft, thresholds=draft.thresholds or thresholds)
    if binding == "instance" and not draft.receives:
        raise QuestionError(f"method `{name}` of {kind.__name__} does not begin with `self`; add it")
    return decision_function(draft, names, model=own, service=kind.__qualname__)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a Protocol as written, inherited ones first."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base not in (object, Protocol, Generic):
            found.update({name: value for name, value in vars(base).items() if not name.startswith("__")})
    yield from found.items()


def _is_decision(member: Any) -> bool:  # noqa: ANN401 - a method as written
    inner, _ = unwrapped_method(member)
    if isinstance(inner, DecisionFunction | AsyncDecisionFunction):
        return True
    return inspect.isfunction(inner) and (hasattr(inner, MARK) or is_stub(inner))


def _refuse_the_rest(kind: type, decided: Mapping[str, Any]) -> None:
    if not decided:
        raise QuestionError(
            f'{kind.__name__} has no method to decide; write `@Asks("…")` above one without a body'
        )
    members = dict(_members(kind))
    bare = [name for base in kind.__mro__ for name in inspect.get_annotations(base) if name not in members]
    bare += [
        n for n, m in members.items() if isinstance(m, property) and m.fget is not None and is_stub(m.fget)
    ]
    if bare:
        raise QuestionError(
            f"`{bare[0]}` of {kind.__name__} is no method, so no model can decide it; make it one, or take it out"
        )


def _repr(self: Any) -> str:  # noqa: ANN401 - what `implement` made
    return f"<{type(self).__qualname__}, decided by a model>"


def _shown(thing: Any) -> str:  # noqa: ANN401 - anything
    return thing.__name__ if isinstance(thing, type) else type(thing).__name__
