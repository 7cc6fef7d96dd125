"""Read the arguments of a call strictly, so that a reviewer and the tool see one and the same value."""

from __future__ import annotations

import json
import re
from typing import Any

from yesno._json import JSONFault, strict_json

__all__ = ["MAX_BYTES", "MAX_DEPTH", "ArgumentsProblem", "read_arguments"]

MAX_BYTES = 256 * 1024
"""Most bytes of UTF-8 that arguments may have."""
MAX_DEPTH = 64
"""Most objects and lists that may be nested in each other."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class ArgumentsProblem(ValueError):
    """Arguments cannot be read; the text says where and why, for the model that wrote them."""


def read_arguments(text: str) -> dict[str, Any]:
    """Return the arguments that JSON text holds; a blank text is no arguments.

    Refused are keys given twice, NaN and infinities, numbers beyond a float, lone surrogates, anything but an object
    at the top, more than `MAX_BYTES` and more than `MAX_DEPTH` levels.

    Raises:
        ArgumentsProblem: They cannot be read so.
    """
    if not text.strip():
        return {}
    if len(text) > MAX_BYTES or _bytes_of(text) > MAX_BYTES:
        raise ArgumentsProblem(f"the arguments are longer than {MAX_BYTES // 1024} KiB")
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise ArgumentsProblem(f"the arguments are nested more than {MAX_DEPTH} levels deep")
    try:
        value = strict_json(text)
    except JSONFault as fault:
        raise ArgumentsProblem(_told(fault)) from None
    if not isinstance(value, dict):
        raise ArgumentsProblem(f"the arguments must be one JSON object, not {_kind(value)}")
    if "\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise ArgumentsProblem("a text holds half of a surrogate pair")
    return value


def _bytes_of(text: str) -> int:
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise ArgumentsProblem("a text holds half of a surrogate pair") from None


def _depth(text: str) -> int:
    deepest = depth = 0
    for letter in _STRING.sub("", text):
        if letter in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "}]":
            depth -= 1
    return deepest


def _told(fault: JSONFault) -> str:
    match fault.kind:
        case "syntax":
            assert fault.at is not None  # noqa: S101 - it is of every fault of syntax
            return f"not valid JSON: {fault.at.msg} (character {fault.at.pos + 1})"
        case "constant":
            return f"not valid JSON: {fault.name} is no JSON value"
        case "twice":
            return f"the key {json.dumps(fault.name[:64])} is given twice"
        case "too_large":
            return "a number is too large"
        case "depth":
            return "the arguments are nested too deeply"
        case _:
            return str(fault)


def _kind(value: Any) -> str:  # noqa: ANN401 - any JSON value
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
