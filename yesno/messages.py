"""Inputs: a text, a mapping of plain values, or a list of messages."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from yesno._frozen import FrozenDict, FrozenList
from yesno.errors import QuestionError

__all__ = ["Input", "InputLike", "Message", "Part", "TextPart", "ToolCall", "freeze_input"]

ROLES = ("system", "developer", "user", "assistant", "tool")
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text in a message."""

    text: str
    type: Literal["text"] = "text"


Part: TypeAlias = TextPart
"""A piece of a message's content; text is the only kind today."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the assistant asked for."""

    name: str
    arguments: str
    """The arguments as JSON text."""
    id: str | None = None


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """One message of a conversation.

    Args:
        role: `system`, `developer`, `user`, `assistant` or `tool`.
        content: A text, or a list of parts (`TextPart`, or mappings with `type` "text").
        tool_calls: Calls that an assistant asked for, as `ToolCall` or in OpenAI's shape.
        tool_call_id: Of a `tool` message: the call it answers.
        name: The speaker's or the tool's name.

    Raises:
        QuestionError: The role is unknown, or a part or call is of an unsupported type.
    """

    role: Role
    content: tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str | None
    name: str | None

    def __init__(
        self,
        role: Role,
        content: str | Iterable[Any] = (),
        *,
        tool_calls: Iterable[Any] = (),
        tool_call_id: str | None = None,
        name: str | None = None,
    ) -> None:
        if role not in ROLES:
            raise QuestionError(f"message role {role!r} is unknown; use one of {', '.join(ROLES)}")
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "content", _parts(content))
        object.__setattr__(self, "tool_calls", tuple(_tool_call(call) for call in tool_calls))
        object.__setattr__(self, "tool_call_id", tool_call_id)
        object.__setattr__(self, "name", name)

    @property
    def text(self) -> str:
        """All text parts, joined by line breaks."""
        return "\n".join(part.text for part in self.content)


Input: TypeAlias = str | Mapping[str, Any] | tuple[Message, ...]
"""What a question is about, frozen."""

InputLike: TypeAlias = str | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]]
"""What callers may give as an input."""


def freeze_input(value: Any) -> Input:  # noqa: ANN401 - the check is the point
    """Return a deep, unchangeable copy of an input.

    Takes a text, a mapping of texts, numbers, booleans, None, mappings and lists, or a list of messages
    (`Message` objects or mappings with a `role`).

    Raises:
        QuestionError: The input is missing, blank or empty, or holds a value of another type.
    """
    if isinstance(value, str):
        if not value.strip():
            raise QuestionError("`input` is blank; give it some text")
        return value
    if isinstance(value, Mapping):
        if not value:
            raise QuestionError("`input` is an empty mapping; give it at least one field")
        return cast("Mapping[str, Any]", _freeze(value, "input"))
    if isinstance(value, list | tuple):
        if not value:
            raise QuestionError("`input` is an empty list; give it at least one message")
        return tuple(_message(item, number) for number, item in enumerate(value, start=1))
    raise QuestionError(
        f"`input` must be a text, a mapping or a list of messages, not {type(value).__name__}"
        if value is not None
        else "`input` is missing; give it a text, a mapping or a list of messages"
    )


def _freeze(value: Any, path: str) -> Any:  # noqa: ANN401 - the check is the point
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise QuestionError(f"`{path}` is {value!r}; an input takes finite numbers only")
        return value
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict({str(key): _freeze(item, f"{path}.{key}") for key, item in value.items()})
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)  # the order of a set differs between processes, a prompt must not
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return FrozenList(_freeze(item, f"{path}[{i}]") for i, item in enumerate(value))
    raise QuestionError(
        f"`{path}` has the type {type(value).__name__}; allowed are text, number, boolean, None, mapping and list. "
        "Choose the fields that may leave the process and pass those"
    )


def _message(value: Any, number: int) -> Message:  # noqa: ANN401 - user input
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping) or "role" not in value:
        raise QuestionError(
            f"item {number} of the input list is a {type(value).__name__} without a role; "
            "a list must hold messages, other values go into a mapping"
        )
    return Message(
        role=value["role"],
        content=value.get("content") or (),
        tool_calls=tuple(value.get("tool_calls") or ()),
        tool_call_id=value.get("tool_call_id"),
        name=value.get("name"),
    )


def _parts(content: Any) -> tuple[Part, ...]:  # noqa: ANN401 - user input
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    if isinstance(content, Mapping) or not isinstance(content, Iterable):
        raise QuestionError(
            f"message content must be a text or a list of parts, not {type(content).__name__}"
        )
    return tuple(_part(part) for part in content)


def _part(part: Any) -> Part:  # noqa: ANN401 - user input
    if isinstance(part, TextPart):
        return part
    if isinstance(part, str):
        return TextPart(part)
    kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
    if kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    raise QuestionError(f"content part of type {kind!r} is not supported; only text parts are")


def _tool_call(call: Any) -> ToolCall:  # noqa: ANN401 - user input
    if isinstance(call, ToolCall):
        return call
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise QuestionError(f"a tool call needs a function with a name, not {type(call).__name__}")
    arguments = function.get("arguments", "{}")
    return ToolCall(
        name=function["name"],
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
        id=call.get("id"),
    )
