"""Values of a program as values of JSON."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter, methodcaller
from typing import Any

from yesno.errors import QuestionError
from yesno.functions.objects import is_pydantic
from yesno.messages import Message

__all__ = ["plain"]

_SINGLE: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Enum, attrgetter("name")),
    (bool, bool),
    (str, str),
    (int, int),
    (float, float),
    (datetime.date, methodcaller("isoformat")),
    (datetime.time, methodcaller("isoformat")),
    (decimal.Decimal, str),
    (uuid.UUID, str),
)
"""What is sent as one value, and how it is written; the first type that fits holds, subclasses included."""


def plain(value: Any, place: str) -> Any:  # noqa: ANN401 - any argument
    """Return an argument as text, number, boolean, None, mapping or list, all the way down.

    An enum's member is its name; a dataclass, named tuple or pydantic model is a mapping of its fields; dates are
    in ISO 8601.

    Raises:
        QuestionError: There is something else in it.
    """
    if value is None:
        return None
    for kind, written in _SINGLE:
        if isinstance(value, kind):
            return written(value)
    if isinstance(value, Message):
        return _message(value)
    fields = value if isinstance(value, Mapping) else _fields(value)
    if fields is not None:
        return {str(plain(key, place)): plain(item, place) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [plain(item, place) for item in value]
    if isinstance(value, set | frozenset):
        # their order differs between processes, a prompt must not
        return sorted((plain(item, place) for item in value), key=repr)
    raise QuestionError(
        f"{place} holds a {type(value).__name__}, which cannot be sent; pass a text, a number, a boolean, an enum, "
        "a date, a mapping, a list, a dataclass or a pydantic model"
    )


def _fields(value: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any argument
    if isinstance(value, type):
        return None
    if is_pydantic(type(value)):
        return dict(value.model_dump())
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    return None


def _message(message: Message) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    shown = {"role": message.role, "name": message.name, "text": message.text, "tool_calls": calls}
    return {key: item for key, item in shown.items() if item}
