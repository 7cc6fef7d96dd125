"""The `input` of OpenAI's decisions endpoint, both ways.

Read in openai 3.57.0 (`types/decision_create_params.py`; 2026-11). Images are refused: yesno asks about text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yesno.errors import QuestionError
from yesno.messages import Input, InputLike, Message, ToolCall
from yesno.wire.decisions import Where, json_text, misshaped, plain

__all__ = ["input_items", "input_of", "text_of"]

CALLS = ("function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
MAX_DEPTH, MAX_VALUES, MAX_BYTES = 32, 10_000, 256 * 1024
"""Most containers inside each other, values and compact UTF-8 bytes of an `input_json` part."""


def input_items(given: Input) -> Any:  # noqa: ANN401 - JSON
    """Return an input as the endpoint takes it.

    A mapping becomes one `input_json` part, or a text of JSON when it is beyond what such a part may hold. A call
    of a tool without an id gets one.

    Raises:
        QuestionError: A tool's output names no call that came before it.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        data = plain(given)
        if not _fits(data):
            return json_text(data)
        return [{"role": "user", "content": [{"type": "input_json", "data": data}]}]
    items: list[dict[str, Any]] = []
    called: set[str] = set()
    for message in given:
        items += _tool_output(message, called) if message.role == "tool" else _said(message, called)
    return items


def _fits(data: Any) -> bool:  # noqa: ANN401 - plain JSON values
    values, level, depth = 1, [data], 0
    while level:
        level = [inner for value in level for inner in _inside(value)]
        values, depth = values + len(level), depth + 1
        if depth > MAX_DEPTH or values > MAX_VALUES:
            return False
    size = len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    return size <= MAX_BYTES


def _inside(value: Any) -> Iterator[Any]:  # noqa: ANN401 - plain JSON values
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _said(message: Message, called: set[str]) -> Iterator[dict[str, Any]]:
    if message.content or not message.tool_calls:
        speaker = f"{message.name}: " if message.name else ""
        yield {"role": message.role, "content": speaker + message.text}
    for call in message.tool_calls:
        number = call.id or f"call_{len(called) + 1}"
        called.add(number)
        yield {"type": "function_call", "call_id": number, "name": call.name, "arguments": call.arguments}


def _tool_output(message: Message, called: set[str]) -> Iterator[dict[str, Any]]:
    if message.tool_call_id not in called:
        raise QuestionError(
            "a message with the role 'tool' answers no call before it; give `tool_call_id`, and keep the "
            "assistant's message with that call"
        )
    yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.text}


def input_of(items: Any) -> InputLike:  # noqa: ANN401 - JSON
    """Return the input that a request body holds.

    Raises:
        QuestionError: It is of another shape, holds an image, or a tool's output answers no call.
    """
    if isinstance(items, str):
        if not items.strip():
            raise misshaped(("input",), "is blank; give it some text")
        return items
    if not isinstance(items, list) or not items:
        raise misshaped(("input",), "must be a text or a list of items that is not empty")
    data = _only_json(items)
    if data is not None:
        return data
    messages: list[Message] = []
    called: set[str] = set()
    for place, item in enumerate(items):
        where = ("input", place)
        if not isinstance(item, Mapping):
            raise misshaped(where, "must be an object")
        _add(messages, item, where, called)
    return messages


def _only_json(items: Sequence[Any]) -> Mapping[str, Any] | None:
    match items:
        case [{"role": "user", "content": [{"type": "input_json", "data": Mapping() as data}]}] if data:
            return data
    return None


def _add(messages: list[Message], item: Mapping[str, Any], where: Where, called: set[str]) -> None:
    kind = item.get("type", "message")
    if kind == "message":
        role = item.get("role")
        if role not in ("user", "developer", "system", "assistant"):
            raise misshaped((*where, "role"), "must be user, developer, system or assistant")
        messages.append(Message(role, text_of(item.get("content"), (*where, "content"))))
        return
    if kind not in CALLS and kind not in OUTPUTS:
        raise misshaped((*where, "type"), "is unknown; an item is a message, a call or the output of one")
    number = _text(item, "call_id", where)
    if kind in CALLS:
        called.add(number)
        call = ToolCall(_text(item, "name", where), _arguments(item, kind, where), number)
        before = messages.pop() if messages and messages[-1].role == "assistant" else Message("assistant")
        messages.append(Message("assistant", before.content, tool_calls=(*before.tool_calls, call)))
        return
    if number not in called:
        raise misshaped((*where, "call_id"), "names no call before it")
    output = text_of(item.get("output"), (*where, "output"))
    messages.append(Message("tool", output, tool_call_id=number))


def _arguments(item: Mapping[str, Any], kind: str, where: Where) -> str:
    if kind == "function_call":
        return _text(item, "arguments", where)
    return json.dumps(_text(item, "input", where), ensure_ascii=False)


def _text(item: Mapping[str, Any], field: str, where: Where) -> str:
    value = item.get(field)
    if not isinstance(value, str):
        raise misshaped((*where, field), "must be a text")
    return value


def text_of(content: Any, where: Where) -> str:  # noqa: ANN401 - JSON
    """Return a text, or the parts of a list as one text; JSON stays JSON.

    Raises:
        QuestionError: It is neither, or a part is an image or unknown.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise misshaped(where, "must be a text or a list of parts")
    return "\n".join(_part(part, (*where, place)) for place, part in enumerate(content))


def _part(part: Any, where: Where) -> str:  # noqa: ANN401 - JSON
    match part:
        case {"type": "input_text" | "output_text", "text": str(text)}:
            return text
        case {"type": "refusal", "refusal": str(text)}:
            return text
        case {"type": "input_json", "data": dict() as data}:
            return json_text(data)
        case {"type": "input_json", "data": list() as data} if all(isinstance(item, dict) for item in data):
            return json_text(data)
        case {"type": "input_json"}:
            raise misshaped((*where, "data"), "must be an object or a list of objects")
        case {"type": "input_image"}:
            raise misshaped(where, "is an image; yesno asks about text only")
    raise misshaped(where, "is no part of a known type")
