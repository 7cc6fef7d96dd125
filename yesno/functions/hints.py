"""Type hints: find what they name, and take them apart."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

__all__ = ["is_union", "local_names", "peeled", "resolved", "resolved_each", "shown"]

_WRAPPERS = ("Required", "NotRequired", "ReadOnly")


def resolved(thing: Any, names: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a function or class
    """Return the hints of a function or class, with what `Annotated` adds.

    Raises:
        NameError: A hint in quotes, or under `from __future__ import annotations`, names something that does not
            exist yet.
    """
    return get_type_hints(thing, localns=dict(names) or None, include_extras=True)


def resolved_each(function: Callable[..., Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hints of a function, `Any` for a parameter whose hint names what never exists at run time.

    Raises:
        NameError: The return type cannot be found.
    """
    hints: dict[str, Any] = {}
    for name, hint in function.__annotations__.items():
        one = types.SimpleNamespace(__annotations__={name: hint})
        try:
            hints |= get_type_hints(one, function.__globals__, dict(names), include_extras=True)
        except NameError:
            if name == "return":
                raise
            hints[name] = Any
    return hints


def local_names(frame: types.FrameType | None) -> dict[str, Any]:
    """Return what can be named where a function or class is being defined inside another function."""
    names: dict[str, Any] = {}
    while frame is not None and frame.f_code.co_name != "<module>":
        names = {**frame.f_locals, **names}
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            break
        frame = frame.f_back  # a class body sees the function around it
    return names


def peeled(hint: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - any hint
    """Return a hint without aliases, `Annotated` and `Required`, and what `Annotated` added to it."""
    added: tuple[Any, ...] = ()
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            hint, added = hint.__origin__, (*hint.__metadata__, *added)
        elif getattr(origin, "__name__", getattr(origin, "_name", None)) in _WRAPPERS:
            (hint,) = get_args(hint)
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint, added


def is_union(hint: Any) -> bool:  # noqa: ANN401 - any hint
    """Return whether a hint is `X | Y`."""
    return get_origin(hint) in (Union, types.UnionType)


def shown(hint: Any) -> str:  # noqa: ANN401 - any hint
    """Return a hint as one would write it, without modules."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_union(hint):
        return " | ".join(shown(argument) for argument in arguments)
    if origin is Annotated:
        return shown(arguments[0])
    if origin is not None and arguments:
        kind = "Literal" if origin is Literal else shown(origin)
        return f"{kind}[{', '.join(map(repr if origin is Literal else shown, arguments))}]"
    if hint is type(None):
        return "None"
    return getattr(hint, "__name__", str(hint))
