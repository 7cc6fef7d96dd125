"""Tools of MCP servers: names, hints, results.

Attribute names as in mcp 1.30 (`inputSchema`, `readOnlyHint`, `isError`) and mcp 2.3 (`input_schema`,
`read_only_hint`, `is_error`) (2026-11); nothing of it is imported.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

from yesno.errors import RetryTool, ToolDefinitionError
from yesno.messages.blocks import fields_of
from yesno.toolcalls.tool import Tool, ToolAnnotations
from yesno.tools import tool_of

__all__ = ["MAX_NAME", "mcp_name", "tool_of_mcp"]

MAX_NAME = 64
"""Most characters of a tool's name (OpenAI and Anthropic; 2026-11)."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_HINTS = ("read_only", "destructive", "idempotent", "open_world")


def mcp_name(server: str | None, name: str) -> str:
    """Return what a model calls a server's tool: `server__tool`, at most 64 characters that every host takes.

    What is too long, or holds other characters, ends in eight digits of a hash, so that different tools keep different
    names.
    """
    full = name if server is None else f"{server}__{name}"
    plain = _NOT_IN_NAMES.sub("_", full)
    if plain == full and len(full) <= MAX_NAME:
        return full
    digest = hashlib.sha256(json.dumps([server, name]).encode()).hexdigest()[:8]
    return f"{plain[: MAX_NAME - 9]}_{digest}"


def tool_of_mcp(given: Any, call: Any = None, *, server: str | None = None, **settings: Any) -> Tool:  # noqa: ANN401 - duck-typed
    """Return a tool of an MCP server, see `Tool.from_mcp`."""
    described = tool_of(given)
    send = getattr(call, "call_tool", call)
    if send is not None and not callable(send):
        raise ToolDefinitionError(
            f"tool {described.name!r} needs a session or its `call_tool` as `call`, not a {type(call).__name__}"
        )

    async def run(**arguments: Any) -> Any:  # noqa: ANN401 - the tool's result
        result = send(described.name, arguments)
        return _told(await result if inspect.isawaitable(result) else result)

    return Tool(
        mcp_name(server, described.name),
        described.description,
        described._parameters,
        run=None if send is None else run,
        original=described.original,
        wire_name=described.name,
        **{
            "annotations": _annotations(given),
            "source": f"mcp:{server or ''}",
            "always_visible": described.always_visible,
            **settings,
        },
    )


def _annotations(given: Any) -> ToolAnnotations:  # noqa: ANN401 - duck-typed
    hints = given.get("annotations") if isinstance(given, Mapping) else getattr(given, "annotations", None)
    fields = fields_of(hints) or {name: getattr(hints, name, None) for name in _names()}
    found = {}
    for hint in _HINTS:
        value = next((fields[name] for name in _spellings(hint) if fields.get(name) is not None), None)
        found[hint] = value if isinstance(value, bool) else None
    return ToolAnnotations(**found)


def _spellings(hint: str) -> tuple[str, str]:
    first, *others = hint.split("_")
    return first + "".join(map(str.capitalize, others)) + "Hint", f"{hint}_hint"


def _names() -> list[str]:
    return [name for hint in _HINTS for name in _spellings(hint)]


def _told(result: Any) -> Any:  # noqa: ANN401 - duck-typed
    """Return what a server's result says, as text or as plain values; raises `RetryTool` for an error of the tool."""
    fields = fields_of(result)
    if fields is None or not ("content" in fields or "structuredContent" in fields):
        return result
    parts = []
    for block in fields.get("content") or ():
        inner = fields_of(block) or {}
        text = inner.get("text")
        parts.append(text if isinstance(text, str) else f"[{inner.get('type', 'content')}]")
    text = "\n".join(parts)
    if fields.get("isError") is True or fields.get("is_error") is True:
        raise RetryTool(
            text.strip() or "The server says that this failed, and not why."
        )  # a server's error is written for the model, and may say how to do better
    structured = fields.get("structuredContent", fields.get("structured_content"))
    return structured if not text and structured is not None else text
