"""What a tool is called, what it does, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import ToolDefinitionError

__all__ = ["NO_PARAMETERS", "Schema", "Tool"]

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema."""

NO_PARAMETERS: Schema = FrozenDict({"type": "object", "properties": FrozenDict()})
"""The schema of a tool that takes nothing."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Tool:
    """A tool that a model may call.

    Args:
        name: What it is called by.
        description: What it does, for the model; may be empty.
        parameters: JSON Schema of its arguments, an object, or a function that makes it when it is first needed.
            It is neither copied nor checked.
        always_visible: It is offered in any case; filters ask nothing about it.
        original: The object it was made from; by default the tool itself.

    Two tools are equal when name, description, parameters and visibility are.

    Raises:
        ToolDefinitionError: The name is blank or no text, or the description is no text.
    """

    name: str
    description: str
    always_visible: bool
    original: Any = field(repr=False)
    _parameters: Schema | Callable[[], Schema] = field(repr=False)

    def __init__(
        self,
        name: str,
        description: str | None = "",
        *,
        parameters: Schema | Callable[[], Schema] = NO_PARAMETERS,
        always_visible: bool = False,
        original: Any = None,  # noqa: ANN401 - any object
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            kind = "a blank name" if isinstance(name, str) else f"a name of type {type(name).__name__}"
            raise ToolDefinitionError(f"a tool has {kind}; give it a text that is not blank")
        if description is not None and not isinstance(description, str):
            raise ToolDefinitionError(
                f"tool {name!r} has a description of type {type(description).__name__}; give a text"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "description", description or "")
        object.__setattr__(self, "always_visible", always_visible is True)
        object.__setattr__(self, "original", self if original is None else original)
        object.__setattr__(self, "_parameters", parameters)

    @property
    def parameters(self) -> Schema:
        """The JSON Schema of its arguments.

        Raises:
            ToolDefinitionError: It cannot be made, or is no mapping.
        """
        schema = self._parameters() if callable(self._parameters) else self._parameters
        if not isinstance(schema, Mapping):
            raise ToolDefinitionError(
                f"tool {self.name!r} has parameters of type {type(schema).__name__}; give a JSON Schema as a mapping"
            )
        object.__setattr__(self, "_parameters", schema)
        return schema

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        return self._told() == other._told() and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash(self._told())

    def _told(self) -> tuple[str, str, bool]:
        return self.name, self.description, self.always_visible

    @property
    def words(self) -> str:
        """Name, description and, where the schema is at hand, names and descriptions of the arguments: for a search."""
        schema = self._parameters
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        parts = [self.name, self.description]
        for name, field_ in fields.items() if isinstance(fields, Mapping) else ():
            told = field_.get("description") if isinstance(field_, Mapping) else None
            parts += [str(name), told if isinstance(told, str) else ""]
        return "\n".join(part for part in parts if part)

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as OpenAI's Chat Completions API takes it."""
        return {"type": "function", "function": self._fields("parameters")}

    def to_openai_responses(self) -> dict[str, Any]:
        """Return the tool as OpenAI's Responses API takes it."""
        return {"type": "function", **self._fields("parameters")}

    def to_anthropic(self) -> dict[str, Any]:
        """Return the tool as Anthropic's Messages API takes it."""
        return self._fields("input_schema")

    def to_mcp(self) -> dict[str, Any]:
        """Return the tool as an MCP server lists it."""
        return self._fields("inputSchema")

    def to_langchain(self) -> Any:  # noqa: ANN401 - LangChain's type
        """Return the tool as LangChain's `StructuredTool`, a description that its models can be bound to.

        There is nothing in it to run; `yesno.toolcalls.Tool.to_langchain` has that.

        Raises:
            ConfigError: `langchain-core` is not installed.
        """
        from yesno.tools.langchain import needed

        with needed():
            from langchain_core.tools import StructuredTool
        fields = self._fields("args_schema")
        return StructuredTool(
            **{"description": "", **fields},
            metadata={"always_visible": True} if self.always_visible else None,
        )

    def _fields(self, schema: str) -> dict[str, Any]:
        # an empty description is left out: some hosts refuse it
        described = {"description": self.description} if self.description else {}
        return {"name": self.name, **described, schema: _plain(self.parameters)}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Return a schema of ours as the dicts that `json` writes; the caller's own stays as it is."""
    if isinstance(value, FrozenDict):
        return {key: _plain(item) for key, item in value.items()}
    return value
