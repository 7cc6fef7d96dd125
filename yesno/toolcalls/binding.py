"""Call a function with arguments that are known by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args, get_type_hints

from yesno.tools import ToolContext

__all__ = ["Binding"]


class Binding:
    """How a tool's function is called: which parameters go by position, which get the caller's `ToolContext`."""

    __slots__ = ("_by_position", "_context", "_function", "is_async")

    def __init__(self, function: Callable[..., Any], context: tuple[str, ...] | None = None) -> None:
        self._function = function
        plain = function
        while isinstance(plain, partial):
            plain = plain.func
        self.is_async = inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(_of_class(plain))
        self._context = _context_names(plain) if context is None else context
        self._by_position: tuple[inspect.Parameter, ...] = ()
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # some functions written in C say nothing
            return
        self._by_position = tuple(p for p in parameters if p.kind is p.POSITIONAL_ONLY)

    def call(self, values: Mapping[str, Any], context: ToolContext) -> Any:  # noqa: ANN401 - the tool's result
        """Call the function; what it raises comes through, what it returns may have to be awaited."""
        given = {**values, **dict.fromkeys(self._context, context)}
        positional = [self._taken(parameter, given) for parameter in self._by_position]
        while positional and positional[-1] is inspect.Parameter.empty:
            positional.pop()
        return self._function(*positional, **given)

    @staticmethod
    def _taken(parameter: inspect.Parameter, given: dict[str, Any]) -> Any:  # noqa: ANN401 - any value
        return given.pop(parameter.name, parameter.default)


def _context_names(function: Callable[..., Any]) -> tuple[str, ...]:
    target = function if inspect.isroutine(function) else _of_class(function)
    try:
        hints = get_type_hints(target)
    except (NameError, TypeError):
        return ()
    return tuple(
        name
        for name, kind in hints.items()
        if name != "return" and (kind is ToolContext or ToolContext in get_args(kind))
    )


def _of_class(function: Any) -> Any:  # noqa: ANN401 - any callable object
    return type(function).__call__
