"""Plain values: text, numbers, booleans, None, mappings and lists, at any depth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict, FrozenList
from yesno.errors import QuestionError

__all__ = ["FrozenValues", "freeze_values", "thawed"]

FrozenValues: TypeAlias = FrozenDict[str, Any]
"""Names and plain values that nothing changes any more."""


def freeze_values(value: Mapping[Any, Any], path: str) -> FrozenValues:
    """Return a deep, unchangeable copy of a mapping of plain values; its keys become texts.

    Args:
        value: The mapping.
        path: What an error calls it.

    Raises:
        QuestionError: A value is of another type, is no finite number, or holds itself.
    """
    if isinstance(value, FrozenDict):
        return value
    if not isinstance(value, Mapping):
        raise QuestionError(f"`{path}` must be a mapping, not {type(value).__name__}")
    try:
        return FrozenDict({str(key): _freeze(item, f"{path}.{key}") for key, item in value.items()})
    except RecursionError:
        raise QuestionError(f"`{path}` holds itself or is nested too deeply; pass plain values") from None


def thawed(value: Any) -> Any:  # noqa: ANN401 - plain JSON values
    """Return frozen values as the dicts and lists that `json` writes."""
    if isinstance(value, Mapping):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list | tuple) else value


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
