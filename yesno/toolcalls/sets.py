"""The tools of a request."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from yesno.errors import DuplicateToolError, ToolDefinitionError
from yesno.messages.plain import thawed
from yesno.toolcalls.canonical import digest_of
from yesno.toolcalls.shapes import as_tool
from yesno.toolcalls.tool import Tool
from yesno.tools.tool import Schema

__all__ = ["ToolDefinition", "ToolSet", "meaning_of"]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model is told of a tool."""

    name: str
    description: str
    input_schema: Schema = field(repr=False)


class ToolSet:
    """Tools in their order, each with a name of its own; made once, used for many requests.

    Args:
        tools: Tools in any shape that `as_tool` reads.

    Raises:
        ToolDefinitionError: One cannot be read, or checking its arguments needs the extra `toolcalls`.
        DuplicateToolError: Two have one name.
    """

    __slots__ = ("_digests", "_tools")

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
            raise ToolDefinitionError(
                f"tools must be a list, not {type(tools).__name__}; put one tool into a list"
            )
        self._tools: dict[str, Tool] = {}
        self._digests: dict[str, str] = {}
        for number, value in enumerate(tools, start=1):
            try:
                tool = as_tool(value)
                _ = tool.reader
            except ToolDefinitionError as error:
                raise ToolDefinitionError(f"tool {number} of the list: {error}") from error
            if tool.name in self._tools:
                raise DuplicateToolError(
                    f"two tools are called {tool.name!r}, and a call could mean either; rename or remove one"
                )
            self._tools[tool.name] = tool

    @classmethod
    def of(cls, tools: Any) -> ToolSet:  # noqa: ANN401 - a set, or what makes one
        """Return a set as it is, and anything else as one."""
        return tools if isinstance(tools, ToolSet) else cls(tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of exactly this name, None when there is none."""
        return self._tools.get(name)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"ToolSet([{', '.join(self._tools)}])"

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._tools)

    def close_to(self, name: str) -> list[str]:
        """Return up to three names that look like one, the most alike first."""
        return difflib.get_close_matches(name[:128], self._tools, n=3, cutoff=0.6)

    def digest(self, name: str) -> str:
        """Return the SHA-256 of what a call of a tool means: its name, its source and its schema.

        Raises:
            KeyError: There is no such tool.
        """
        if name not in self._digests:
            self._digests[name] = meaning_of(self._tools[name])
        return self._digests[name]

    def definitions(self) -> list[ToolDefinition]:
        """Return what a model is told of the tools, in their order."""
        return [ToolDefinition(tool.name, tool.description, tool.parameters) for tool in self]


def meaning_of(tool: Tool) -> str:
    """Return the SHA-256 of what a call of a tool means; see `ToolSet.digest`."""
    return digest_of({"name": tool.name, "source": tool.source, "schema": thawed(tool.parameters)})
