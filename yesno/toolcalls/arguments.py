"""Read the arguments of a call strictly, so that a reviewer and the tool see one and the same value."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

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
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ArgumentsProblem(f"not valid JSON: {error.msg} (character {error.pos + 1})") from None
    except ArgumentsProblem:
        raise
    except ValueError:  # a whole number with more digits than Python reads
        raise ArgumentsProblem("a number has too many digits") from None
    except RecursionError:
        raise ArgumentsProblem("the arguments are nested too deeply") from None
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentsProblem(f"the key {json.dumps(twice[:64])} is given twice")
    return made


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ArgumentsProblem("a number is too large")
    return number


def _no_constant(written: str) -> NoReturn:
    raise ArgumentsProblem(f"not valid JSON: {written} is no JSON value")


def _kind(value: Any) -> str:  # noqa: ANN401 - any JSON value
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
