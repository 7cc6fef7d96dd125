"""Inputs: a text, a mapping of plain values, or a list of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import QuestionError
from yesno.messages.message import Message
from yesno.messages.plain import freeze_values

__all__ = ["Input", "InputLike", "freeze_input"]

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
    if isinstance(value, FrozenDict) and value:
        return value
    if isinstance(value, str):
        if not value.strip():
            raise QuestionError("`input` is blank; give it some text")
        return value
    if isinstance(value, Mapping):
        if not value:
            raise QuestionError("`input` is an empty mapping; give it at least one field")
        return freeze_values(value, "input")
    if isinstance(value, list | tuple):
        if not value:
            raise QuestionError("`input` is an empty list; give it at least one message")
        return tuple(_message(item, number) for number, item in enumerate(value, start=1))
    raise QuestionError(
        f"`input` must be a text, a mapping or a list of messages, not {type(value).__name__}"
        if value is not None
        else "`input` is missing; give it a text, a mapping or a list of messages"
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
        tool_calls=value.get("tool_calls") or (),
        tool_call_id=value.get("tool_call_id"),
        name=value.get("name"),
        attributes=value.get("attributes"),
    )
