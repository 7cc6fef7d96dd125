"""What the caller hands to tools and no model sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yesno.errors import ConfigError

__all__ = ["ToolContext"]


class ToolContext(Mapping[str, Any]):
    """The caller's values for the tools of a request, such as the user who asks: a read-only mapping.

    A parameter of a tool that is annotated with it is filled in and is no part of the tool's schema.

    Args:
        values: The caller's mapping; copied, its values are not.
        call_id: The call that is run or judged; None outside of one.
        tool_name: The tool that it calls.

    Raises:
        ConfigError: The values are no mapping.
    """

    __slots__ = ("_values", "call_id", "tool_name")

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        tool_name: str | None = None,
    ) -> None:
        if values is not None and not isinstance(values, Mapping):
            raise ConfigError(
                f"`context` must be a mapping of values for tools, not a {type(values).__name__}"
            )
        self._values = dict(values or {})
        self.call_id = call_id
        self.tool_name = tool_name

    def of(self, call_id: str, tool_name: str) -> ToolContext:
        """Return the same values for one call."""
        return ToolContext(self._values, call_id=call_id, tool_name=tool_name)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - the caller's values
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"ToolContext({', '.join(map(repr, self._values))})"  # names alone: values may be secrets
