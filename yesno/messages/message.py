"""One message of a conversation and what it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from yesno.errors import QuestionError
from yesno.messages.plain import FrozenValues, freeze_values, thawed

__all__ = ["Attachment", "Message", "Part", "Role", "TextPart", "ToolCall", "call_list", "json_arguments"]

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
AttachmentKind: TypeAlias = Literal["image", "audio", "video", "pdf", "file"]
ROLES: tuple[Role, ...] = get_args(Role)
KINDS: tuple[AttachmentKind, ...] = get_args(AttachmentKind)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text in a message."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a message brings along beside its text; its bytes and its address are not kept.

    Raises:
        QuestionError: The kind is unknown.
    """

    kind: AttachmentKind
    type: Literal["attachment"] = "attachment"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise QuestionError(f"attachment kind {self.kind!r} is unknown; use one of {', '.join(KINDS)}")

    @property
    def text(self) -> str:
        """The marker that stands for it in a prompt, such as `[attached image]`."""
        return f"[attached {self.kind}]"


Part: TypeAlias = TextPart | Attachment
"""A piece of a message's content."""


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
        content: A text, or a list of parts (`TextPart`, `Attachment`, or mappings with `type` "text").
        tool_calls: Calls that an assistant asked for, as `ToolCall` or in OpenAI's shape.
        tool_call_id: Of a `tool` message: the call it answers.
        name: The speaker's or the tool's name.
        attributes: Plain values for programs, such as the route that answered; never part of a prompt.

    Raises:
        QuestionError: The role is unknown, or a part, a call or an attribute is of an unsupported type.
    """

    role: Role
    content: tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str | None
    name: str | None
    attributes: FrozenValues

    def __init__(
        self,
        role: Role,
        content: str | Iterable[Any] = (),
        *,
        tool_calls: Iterable[Any] = (),
        tool_call_id: str | None = None,
        name: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        if role not in ROLES:
            raise QuestionError(f"message role {role!r} is unknown; use one of {', '.join(ROLES)}")
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "content", _parts(content))
        object.__setattr__(self, "tool_calls", tuple(_tool_call(call) for call in call_list(tool_calls)))
        object.__setattr__(self, "tool_call_id", tool_call_id)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "attributes", freeze_values(attributes or {}, "attributes"))

    @property
    def text(self) -> str:
        """All parts, joined by line breaks; an attachment is its marker."""
        return "\n".join(part.text for part in self.content)

    @property
    def has_text(self) -> bool:
        """Whether there is any text beside attachments and white space."""
        return any(isinstance(part, TextPart) and part.text.strip() for part in self.content)

    def changed(self, **fields: Any) -> Message:
        """Return a copy in which these arguments of `Message` are others; the rest is kept."""
        kept = {
            "content": self.content,
            "tool_calls": self.tool_calls,
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "attributes": self.attributes,
        }
        role = fields.pop("role", self.role)
        return Message(role, **{**kept, **fields})

    def with_attributes(self, **attributes: Any) -> Message:
        """Return a copy that carries these attributes too."""
        return self.changed(attributes={**self.attributes, **attributes})

    def as_dict(self) -> dict[str, Any]:
        """Return the message as JSON values, which `messages_of` reads back as an equal message."""
        fields: dict[str, Any] = {"role": self.role, "content": self._content_dicts()}
        if self.tool_calls:
            fields["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        if self.tool_call_id is not None:
            fields["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            fields["name"] = self.name
        if self.attributes:
            fields["attributes"] = thawed(self.attributes)
        return fields

    def _content_dicts(self) -> str | list[dict[str, str]]:
        match self.content:
            case ():
                return ""
            case (TextPart(text),) if text:
                return text
        return [
            {"type": "text", "text": part.text}
            if isinstance(part, TextPart)
            else {"type": "attachment", "kind": part.kind}
            for part in self.content
        ]


def json_arguments(value: Any, tool: str) -> str:  # noqa: ANN401 - arguments of any kind
    """Return a call's arguments as JSON text; a text is taken to be that already.

    Raises:
        QuestionError: They hold themselves, are nested too deeply, or hold what JSON has no form for.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps({} if value is None else value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        kind = "they hold themselves" if isinstance(error, ValueError) else type(error).__name__
        raise QuestionError(
            f"the arguments of a call of {tool!r} cannot be written as JSON ({kind}); give JSON text or plain values"
        ) from None


def call_list(calls: object) -> list[Any]:
    """Return tool calls as a list; None is none.

    Raises:
        QuestionError: They are no list.
    """
    if calls is None:
        return []
    if isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Iterable):
        raise QuestionError(
            f"`tool_calls` must be a list, not {type(calls).__name__}; put one call into a list"
        )
    return list(calls)


def _parts(content: Any) -> tuple[Part, ...]:  # noqa: ANN401 - user input
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    if isinstance(content, Mapping) or not isinstance(content, Iterable):
        raise QuestionError(
            f"message content must be a text or a list of parts, not {type(content).__name__}"
        )
    return tuple(_part(part) for part in content)


def _part(part: Any) -> Part:  # noqa: ANN401 - user input
    if isinstance(part, TextPart | Attachment):
        return part
    if isinstance(part, str):
        return TextPart(part)
    kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
    if kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if kind == "attachment":
        return Attachment(part.get("kind"))
    raise QuestionError(
        f"content part of type {kind!r} is not supported; only text parts are. "
        "`yesno.messages.messages_of` puts a marker in the place of images and files"
    )


def _tool_call(call: Any) -> ToolCall:  # noqa: ANN401 - user input
    if isinstance(call, ToolCall):
        return call
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise QuestionError(f"a tool call needs a function with a name, not {type(call).__name__}")
    name = function["name"]
    return ToolCall(name, json_arguments(function.get("arguments", "{}"), name), call.get("id"))
