"""Items of OpenAI's Responses API that are no messages: calls, outputs, reasoning.

Item types as in openai 3.57.0 (`types/responses/response_input_item.py`; 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yesno.errors import QuestionError
from yesno.messages.blocks import result_parts
from yesno.messages.message import Attachment, Message, ToolCall, json_arguments

__all__ = ["spoken_items"]

_SILENT = {"reasoning", "compaction", "mcp_list_tools"}
"""Items that are no part of what was said."""
_GIVEN = ("arguments", "input", "action", "queries", "code", "operation")
"""Where the various calls keep what they were called with."""
_BACK = ("output", "outputs", "results")


def spoken_items(item: Mapping[str, Any], kind: str, where: str) -> Iterator[Message | ToolCall]:
    """Yield what an item says: a call that belongs to the assistant's turn, a tool's message, or nothing.

    Raises:
        QuestionError: The item only refers to something kept elsewhere, or is of an unknown type.
    """
    if kind in _SILENT:
        return
    if kind.endswith("_output"):
        yield Message("tool", tuple(result_parts(item.get("output"), where)), tool_call_id=_number(item))
    elif kind == "mcp_approval_response":
        word = "approved" if item.get("approve") else "not approved"
        reason = item.get("reason")
        text = f"{word}: {reason}" if isinstance(reason, str) and reason else word
        yield Message("tool", text, tool_call_id=_text(item, "approval_request_id"))
    elif kind.endswith("_call") or kind == "mcp_approval_request":
        yield from _call(item, kind, where)
    elif kind == "item_reference":
        raise QuestionError(f"{where} only refers to an item kept by the server; pass the item itself")
    else:
        raise QuestionError(f"{where} is an item of type {kind!r}, which is not known; leave it out")


def _call(item: Mapping[str, Any], kind: str, where: str) -> Iterator[Message | ToolCall]:
    name = _text(item, "name") or kind.removesuffix("_call")
    if kind in ("function_call", "custom_tool_call") and not _text(item, "name"):
        raise QuestionError(f"{where} is a tool call without a name; give `name`")
    key = next((key for key in _GIVEN if item.get(key) is not None), "arguments")
    given = item.get(key)
    number = _number(item)
    # only `arguments` is JSON text already; a program or a command is text
    arguments = json_arguments({key: given} if key != "arguments" and isinstance(given, str) else given, name)
    yield ToolCall(name, arguments, number)
    if kind == "image_generation_call" and item.get("result"):
        yield Message("tool", [Attachment("image")], tool_call_id=number, name=name)
    elif any(item.get(key) for key in _BACK):
        back = next(item[key] for key in _BACK if item.get(key))
        yield Message("tool", tuple(result_parts(back, where)), tool_call_id=number, name=name)


def _number(item: Mapping[str, Any]) -> str | None:
    return _text(item, "call_id") or _text(item, "id")


def _text(item: Mapping[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None
