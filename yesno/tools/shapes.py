"""Tools in the shapes in which others describe them.

Shapes as in openai 3.57.0, anthropic 2.14.0, mcp 2.3.0 (and the attribute names of mcp 1), langchain-core 1.8.3 and
pydantic-ai 2.68.0 (2026-11); nothing of these is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from yesno.errors import DuplicateToolError, ToolDefinitionError
from yesno.tools.functions import tool_of_function
from yesno.tools.tool import NO_PARAMETERS, Schema, Tool

__all__ = ["tool_of", "tools_of"]

_SCHEMA_KEYS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "params_json_schema",
    "format",
)
_SCHEMA_ATTRIBUTES = (
    "parameters_json_schema",  # pydantic-ai, ToolDefinition
    "params_json_schema",
    "inputSchema",  # MCP 1
    "input_schema",  # MCP 2
    "parameters",
)


def tools_of(values: Iterable[Any]) -> tuple[Tool, ...]:
    """Return the descriptions of many tools, in their order; see `tool_of`.

    Raises:
        ToolDefinitionError: One cannot be read; the message says which.
        DuplicateToolError: Two have one name.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ToolDefinitionError(
            f"tools must be a list, not {type(values).__name__}; put one tool into a list"
        )
    tools: dict[str, Tool] = {}
    for number, value in enumerate(values, start=1):
        try:
            tool = tool_of(value)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"tool {number} of the list: {error}") from error
        if tool.name in tools:
            raise DuplicateToolError(
                f"two tools are called {tool.name!r}, and a call could mean either; rename or remove one"
            )
        tools[tool.name] = tool
    return tuple(tools.values())


def tool_of(value: Any) -> Tool:  # noqa: ANN401 - any of many shapes
    """Return the description of a tool in any of the usual shapes; `original` is what was given.

    Takes a `Tool`, a function, a pydantic model class, the dicts of OpenAI (both APIs, hosted tools by their
    `type`), Anthropic and MCP, and the tool objects of MCP, LangChain, pydantic-ai and others that have a `name`, a
    `description` and a schema. It is always visible when `always_visible` is true on it or in its `metadata`.

    Raises:
        ToolDefinitionError: It is none of these, has no name, or its description is no text.
    """
    if isinstance(value, Tool):
        return value
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if isinstance(value, type):
        return _of_class(value)
    if inspect.isroutine(value) or isinstance(value, partial):
        return tool_of_function(value)
    if hasattr(value, "name"):
        return _of_object(value)
    raise ToolDefinitionError(
        f"a {type(value).__name__} is no tool; give a function, a `Tool`, or a tool as OpenAI, Anthropic, MCP, "
        "LangChain or pydantic-ai describe it"
    )


def _of_mapping(given: Mapping[str, Any]) -> Tool:
    kind = given.get("type")
    inner = given.get(kind) if isinstance(kind, str) else None
    inside = inner if isinstance(inner, Mapping) and kind in ("function", "custom") else given
    name = inside.get("name")
    if name is None and isinstance(kind, str) and kind not in ("function", "custom"):
        name = _hosted_name(given, kind)
    if name is None:
        raise ToolDefinitionError("a tool given as a mapping has no `name`; give it one")
    schema = next(
        (inside[key] for key in _SCHEMA_KEYS if isinstance(inside.get(key), Mapping)), NO_PARAMETERS
    )
    return Tool(
        name,
        inside.get("description"),
        parameters=schema,
        always_visible=_is_always_visible(given.get) or _is_always_visible(inside.get),
        original=given,
    )


def _hosted_name(given: Mapping[str, Any], kind: str) -> str:
    label = given.get("server_label")  # a list may hold several MCP servers
    return f"{kind}_{label}" if isinstance(label, str) else kind


def _of_class(value: type) -> Tool:
    make = getattr(value, "model_json_schema", None)
    if not callable(make):
        raise ToolDefinitionError(
            f"class {value.__name__!r} is no tool; give an instance, or a pydantic model class"
        )
    description = inspect.cleandoc(value.__doc__) if value.__doc__ else ""
    return Tool(value.__name__, description, parameters=_made(make, value.__name__), original=value)


def _of_object(value: Any) -> Tool:  # noqa: ANN401 - duck-typed
    def attribute(name: str) -> Any:  # noqa: ANN401 - duck-typed
        return getattr(value, name, None)

    return Tool(
        value.name,
        attribute("description"),
        parameters=_schema_of(value, attribute),
        always_visible=_is_always_visible(attribute),
        original=value,
    )


def _schema_of(value: Any, attribute: Callable[[str], Any]) -> Schema | Callable[[], Schema]:  # noqa: ANN401
    for name in _SCHEMA_ATTRIBUTES:
        if isinstance(attribute(name), Mapping):
            return attribute(name)  # type: ignore[no-any-return]  # checked in the line before
    inner = getattr(attribute("function_schema"), "json_schema", None)  # pydantic-ai, Tool
    if isinstance(inner, Mapping):
        return inner
    for name in ("tool_call_schema", "args_schema"):  # LangChain; making it is slow, so not before it is read
        if name in dir(type(value)) or attribute(name) is not None:
            return lambda: _langchain_schema(attribute(name))
    return NO_PARAMETERS


def _langchain_schema(schema: Any) -> Schema:  # noqa: ANN401 - a mapping, or a pydantic model class
    if isinstance(schema, Mapping):  # LangChain puts the tool's description into it
        return {key: value for key, value in schema.items() if key not in ("title", "description")}
    make = getattr(schema, "model_json_schema", None) or getattr(schema, "schema", None)
    return _made(make, "args_schema")() if callable(make) else NO_PARAMETERS


def _made(make: Callable[[], Schema], name: str) -> Callable[[], Schema]:
    def schema() -> Schema:
        try:
            made = dict(make())
        except (TypeError, ValueError, NameError, RuntimeError) as error:
            raise ToolDefinitionError(
                f"{name!r} gives no JSON Schema ({type(error).__name__}); give a `Tool` with `parameters`"
            ) from error
        return {key: value for key, value in made.items() if key not in ("title", "description")}

    return schema


def _is_always_visible(get: Callable[[str], Any]) -> bool:
    if get("always_visible") is True:
        return True
    for key in ("metadata", "meta", "_meta"):
        mark = get(key)
        if mark is not None and isinstance(mark, Mapping) and mark.get("always_visible") is True:
            return True
    return False
