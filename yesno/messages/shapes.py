"""Conversations in the shapes in which others keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from yesno.errors import QuestionError
from yesno.messages.blocks import Result, blocks_of, fields_of, said, the_call
from yesno.messages.items import spoken_items
from yesno.messages.message import Attachment, Message, Part, Role, TextPart, ToolCall, call_list

__all__ = ["messages_of"]

_ALIASES = {"human": "user", "ai": "assistant", "function": "tool"}
_LANGCHAIN = {"human", "ai", "system", "developer", "tool", "function", "chat"}
_NAMES = ("name", "tool_name", "tool")
_SPOKEN = ("content", "text", "tool_calls", "function_call", "refusal", "audio")


def messages_of(conversation: Any) -> tuple[Message, ...]:  # noqa: ANN401 - any of many shapes
    """Read a conversation in any of the usual shapes.

    Takes a text (one user message), a `Message`, one message or item of the shapes below, a list of them in any
    mixture, or a request body that holds them (`messages` with `system`, or `input` with `instructions`):

    - OpenAI Chat: roles with `content`, `tool_calls`, `refusal`, `audio`; dicts or the SDK's objects.
    - OpenAI Responses: messages, `function_call`, `function_call_output` and the calls of hosted tools.
    - Anthropic: content blocks `text`, `tool_use`, `tool_result`, `image`, `document` and those of server tools.
    - LangChain: message objects, `(role, text)` pairs, and their dict forms.
    - Plain: dicts with `role` and `text`, or with what `Message.as_dict` gives.

    An image, a sound, a video or a file becomes an `Attachment`, which keeps its kind alone. Calls of one assistant's
    turn stand in one message, each result of a tool in its own, and a result without a name gets that of the call it
    answers. Thinking and reasoning are left out, and so is what the Responses API notes for itself (`compaction`,
    `mcp_list_tools`): they are not part of the conversation.

    Raises:
        QuestionError: A message, a block or an item is of an unknown shape, or a call's arguments are no JSON.
            Nothing is left out silently.
    """
    messages: list[Message] = []
    for number, item in enumerate(_items(conversation), start=1):
        for found in _read(item, f"message {number}"):
            if isinstance(found, Message):
                messages.append(found)
            elif messages and messages[-1].role == "assistant":
                messages[-1] = messages[-1].changed(tool_calls=(*messages[-1].tool_calls, found))
            else:
                messages.append(Message("assistant", tool_calls=[found]))
    return tuple(_named(messages))


def _items(given: Any) -> Iterable[Any]:  # noqa: ANN401 - any of many shapes
    if isinstance(given, str):
        return [Message("user", given)]
    if isinstance(given, Message) or _langchain_type(given):
        return [given]
    fields = fields_of(given)
    if fields is not None:
        return [fields] if "role" in fields or "type" in fields else _body(fields)
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray | set | frozenset):
        return given
    if hasattr(given, "role"):
        return [given]
    raise QuestionError(f"a conversation must be a text or a list of messages, not {type(given).__name__}")


def _body(fields: Mapping[str, Any]) -> Iterable[Any]:
    for key, system in (("messages", "system"), ("input", "instructions")):
        if key in fields:
            first = fields.get(system)
            before = [{"role": "system", "content": first}] if first else []
            inner = fields[key]
            if isinstance(inner, Mapping) and "role" not in inner and "type" not in inner:
                break
            return [*before, *_items(inner)]
    raise QuestionError("a conversation given as one mapping needs `role`, `messages` or `input`")


def _read(item: Any, where: str) -> Iterator[Message | ToolCall]:  # noqa: ANN401 - any of many shapes
    if isinstance(item, Message):
        yield item
        return
    kind = _langchain_type(item)
    if kind:
        yield from _of_langchain(_langchain_fields(item), kind, where)
        return
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
        yield from _spoken({"role": item[0], "content": item[1]}, where)
        return
    fields = fields_of(item) or _attributes(item)
    if fields is None:
        raise QuestionError(
            f"{where} is a {type(item).__name__} without a role; give a `Message`, or `role` and `text`"
        )
    kind = fields.get("type")
    kind = kind if isinstance(kind, str) else None
    if "role" in fields and kind in (None, "message"):
        yield from _spoken(fields, where)
    elif kind in _LANGCHAIN and isinstance(fields.get("data"), Mapping):
        yield from _of_langchain(fields["data"], kind, where)
    elif kind in _LANGCHAIN and "content" in fields:
        yield from _of_langchain(fields, kind, where)
    elif "role" in fields:
        yield from _spoken(fields, where)
    elif isinstance(kind, str):
        yield from spoken_items(fields, kind, where)
    else:
        raise QuestionError(f"{where} has neither `role` nor `type`; give a `Message`, or `role` and `text`")


def _attributes(item: Any) -> Mapping[str, Any] | None:  # noqa: ANN401 - any object
    if not isinstance(getattr(item, "role", None), str):
        return None
    names = ("role", *_SPOKEN, "tool_call_id", *_NAMES)
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}


def _langchain_type(item: Any) -> str | None:  # noqa: ANN401 - any object
    """Return the type of a LangChain message, `chat` for one with a role of its own; None for anything else."""
    if isinstance(item, Mapping | str | type) or not hasattr(item, "content"):
        return None
    kind = getattr(item, "type", None)
    short = kind.removesuffix("MessageChunk").lower() if isinstance(kind, str) else None
    return short if short in _LANGCHAIN and (short == "chat" or not hasattr(item, "role")) else None


def _langchain_fields(item: Any) -> dict[str, Any]:  # noqa: ANN401 - duck-typed
    names = (
        "content",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_id",
        "name",
        "role",
        "additional_kwargs",
    )
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}


def _of_langchain(given: Mapping[str, Any], kind: str, where: str) -> Iterator[Message | ToolCall]:
    extra = given.get("additional_kwargs")
    attributes = extra.get("attributes") if isinstance(extra, Mapping) else None
    calls = [*call_list(given.get("tool_calls")), *call_list(given.get("invalid_tool_calls"))]
    content = blocks_of(given.get("content"), where)
    if calls:  # its blocks say the calls a second time
        content = [block for block in content if not _is_call(block)]
    fields = {
        "role": given.get("role") if kind == "chat" else kind,
        "content": content,
        "tool_calls": calls,
        "tool_call_id": given.get("tool_call_id"),
        "name": given.get("name"),
        "attributes": attributes,
    }
    yield from _spoken(fields, where)


def _is_call(block: Any) -> bool:  # noqa: ANN401 - any block
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind in (
        "tool_use",
        "tool_call",
        "function_call",
        "tool_call_chunk",
        "input_json_delta",
        "invalid_tool_call",
    )


def _spoken(fields: Mapping[str, Any], where: str) -> Iterator[Message]:
    """Yield the messages that one message in another's shape holds: its own, and a `tool` message per result."""
    if not any(key in fields for key in _SPOKEN):
        raise QuestionError(f"{where} has neither `content` nor `text`; give one of them")
    content = fields.get("content")
    blocks = blocks_of(fields.get("text") if content is None else content, where)
    found = [part for block in blocks for part in said(block, where)]
    found += [*_apart(fields), *(the_call(_call_fields(call, where), where) for call in _calls(fields))]
    waiting: list[Part | ToolCall] = []
    for part in found:
        if isinstance(part, Result):
            if waiting:
                yield _message(fields, waiting)
            waiting = []
            yield Message("tool", part.content, tool_call_id=part.call_id)
        else:
            waiting.append(part)
    if waiting or not (found or blocks):
        yield _message(fields, waiting)


def _message(fields: Mapping[str, Any], found: Iterable[Part | ToolCall]) -> Message:
    role, number = fields.get("role"), fields.get("tool_call_id")
    name = next((fields[key] for key in _NAMES if isinstance(fields.get(key), str)), None)
    parts = list(found)
    return Message(
        cast("Role", _ALIASES.get(role, role) if isinstance(role, str) else role),
        [part for part in parts if not isinstance(part, ToolCall)],
        tool_calls=[part for part in parts if isinstance(part, ToolCall)],
        tool_call_id=number if isinstance(number, str) else None,
        name=name,
        attributes=fields.get("attributes"),
    )


def _apart(fields: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what OpenAI keeps beside the content: a refusal, a spoken answer."""
    refusal, audio = fields.get("refusal"), fields_of(fields.get("audio"))
    if isinstance(refusal, str) and refusal:
        yield TextPart(refusal)
    if audio is not None:
        yield Attachment("audio")
        if isinstance(audio.get("transcript"), str):
            yield TextPart(audio["transcript"])


def _calls(fields: Mapping[str, Any]) -> list[Any]:
    calls = call_list(fields.get("tool_calls"))
    return [*calls, fields["function_call"]] if fields.get("function_call") else calls


def _call_fields(call: Any, where: str) -> Mapping[str, Any]:  # noqa: ANN401 - any object
    if isinstance(call, ToolCall):
        return {"name": call.name, "arguments": call.arguments, "id": call.id}
    fields = fields_of(call)
    if fields is None:
        raise QuestionError(
            f"{where} has a tool call of type {type(call).__name__}; give a mapping or a `ToolCall`"
        )
    if fields.get("type") == "custom" and isinstance(fields.get("custom"), Mapping):
        custom = fields["custom"]
        return {
            "name": custom.get("name"),
            "arguments": {"input": custom.get("input")},
            "id": fields.get("id"),
        }
    return fields


def _named(messages: Iterable[Message]) -> Iterator[Message]:
    names: dict[str, str] = {}
    for message in messages:
        names.update({call.id: call.name for call in message.tool_calls if call.id})
        if message.role == "tool" and message.name is None and message.tool_call_id in names:
            yield message.changed(name=names[message.tool_call_id])
        else:
            yield message
