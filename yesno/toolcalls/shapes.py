"""Tools in the shapes in which others describe them, made ready to run.

LangChain's objects as in langchain-core 1.8.3 (2026-11); nothing of it is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, overload

from yesno.errors import ToolDefinitionError
from yesno.toolcalls.mcp import tool_of_mcp
from yesno.toolcalls.tool import Tool
from yesno.tools import NO_PARAMETERS, tool_of
from yesno.tools import Tool as DescribedTool

__all__ = ["as_tool", "tool", "tool_of_langchain", "tool_of_mapping"]


@overload
def tool(function: Callable[..., Any], /) -> Tool:  # noqa: D418 - every public name has one
    """Make a function a `Tool`."""


@overload
def tool(**settings: Any) -> Callable[[Callable[..., Any]], Tool]:  # noqa: D418 - every public name has one
    """Return what makes a function a `Tool` with these settings."""


def tool(
    function: Callable[..., Any] | None = None, /, **settings: Any
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a `Tool`: `@tool`, or `@tool(confirm="auto", timeout=30)` with the settings of `Tool`.

    The result can still be called like the function.

    Raises:
        ToolDefinitionError: As `Tool.from_function`.
    """
    if function is None:
        return partial(Tool.from_function, **settings)
    return Tool.from_function(function, **settings)


def as_tool(value: Any) -> Tool:  # noqa: ANN401 - any of many shapes
    """Return a tool in any of the usual shapes as one that can be run, as far as its shape holds something to run.

    Takes a `Tool`, a function, the dicts of OpenAI, Anthropic and MCP, the tool objects of MCP and LangChain, and all
    else that `yesno.tools.tool_of` reads. Dicts and MCP's objects are descriptions only: give `run` or `call` with
    `Tool.from_openai`, `Tool.from_anthropic` or `Tool.from_mcp`.

    Raises:
        ToolDefinitionError: It cannot be read, or checking its arguments needs the extra `toolcalls`.
    """
    if isinstance(value, Tool):
        return value
    if isinstance(value, DescribedTool) and value.original is not value:
        return as_tool(value.original)
    if inspect.isroutine(value) or isinstance(value, partial):
        return Tool.from_function(value)
    if _is_mcp(value):
        return tool_of_mcp(value)
    if isinstance(value, Mapping):
        return tool_of_mapping(value)
    if callable(getattr(value, "invoke", None)) and hasattr(value, "args_schema"):
        return tool_of_langchain(value)
    return _described(tool_of(value), None)


def tool_of_mapping(given: Mapping[str, Any], run: Callable[..., Any] | None = None, **settings: Any) -> Tool:
    """Return a tool given as a dict of OpenAI or Anthropic, see `Tool.from_openai`."""
    return _described(tool_of(given), run, **settings)


def tool_of_langchain(given: Any, **settings: Any) -> Tool:  # noqa: ANN401 - duck-typed
    """Return a LangChain tool, see `Tool.from_langchain`."""
    only_async = getattr(given, "coroutine", None) is not None and getattr(given, "func", None) is None
    method = "ainvoke" if only_async else "invoke"
    if not callable(getattr(given, method, None)):
        raise ToolDefinitionError(f"a {type(given).__name__} is no tool of LangChain; it has no `{method}`")

    def invoke(**arguments: Any) -> Any:  # noqa: ANN401 - the tool's result
        return given.invoke(arguments)

    async def ainvoke(**arguments: Any) -> Any:  # noqa: ANN401 - the tool's result
        return await given.ainvoke(arguments)

    direct = getattr(given, "return_direct", False) is True
    return _described(
        tool_of(given), ainvoke if only_async else invoke, **{"return_direct": direct, **settings}
    )


def _is_mcp(value: Any) -> bool:  # noqa: ANN401 - any object
    if isinstance(value, Mapping):
        return "inputSchema" in value
    # LangChain's tools have an `input_schema` too: a class
    schema = getattr(value, "inputSchema", None) or getattr(value, "input_schema", None)
    return isinstance(schema, Mapping) and not callable(getattr(value, "invoke", None))


def _described(described: DescribedTool, run: Callable[..., Any] | None, **settings: Any) -> Tool:
    schema = described._parameters
    return Tool(
        described.name,
        described.description,
        NO_PARAMETERS if schema is NO_PARAMETERS else schema,
        run=run,
        original=described.original,
        **{"always_visible": described.always_visible, **settings},
    )
