"""Where tools come from: a list, or something that gives them anew each time."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from yesno.errors import ToolDefinitionError

__all__ = ["is_dynamic", "offered"]

_ATTRIBUTES = ("tools", "get_tools")
"""Where pydantic-ai's toolsets and LangChain's toolkits keep their tools."""


def offered(source: object) -> list[Any] | None:
    """Return the tools that a source offers now; None when it is or gives None.

    Takes a list or another iterable, a function without arguments, or an object with `tools` or `get_tools` (a
    list, a mapping of names to tools, or a function without arguments). What these raise is not caught.

    Raises:
        ToolDefinitionError: It gives something else, or an awaitable.
    """
    inner = next((getattr(source, name) for name in _ATTRIBUTES if hasattr(source, name)), None)
    if inner is not None:
        found = inner() if callable(inner) else inner
        found = found.values() if isinstance(found, Mapping) else found
    else:
        found = source() if callable(source) and not isinstance(source, Iterable) else source
    if found is None:
        return None
    if inspect.isawaitable(found):
        if inspect.iscoroutine(found):
            found.close()
        raise ToolDefinitionError("the tools are awaitable; await them first and pass the list")
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise ToolDefinitionError(
            f"tools must be a list, not {type(found).__name__}; put one tool into a list"
        )
    return list(found)


def is_dynamic(source: object) -> bool:
    """Return whether a source may offer other tools at the next call: it says so, or is a function."""
    said = getattr(source, "is_dynamic", None)
    if said is not None:
        return bool(said() if callable(said) else said)
    return callable(source) and not isinstance(source, Iterable)
