"""A tool that can be run, and the rules it brings along."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yesno.errors import ToolDefinitionError
from yesno.toolcalls.binding import Binding
from yesno.toolcalls.reading import AnyReader, FunctionReader, Reader, SchemaReader
from yesno.tools import NO_PARAMETERS
from yesno.tools import Tool as DescribedTool
from yesno.tools.functions import Taken, arguments_taken, tool_of_function
from yesno.tools.tool import Schema

__all__ = ["Confirm", "Tool", "ToolAnnotations"]

Confirm: TypeAlias = bool | Literal["auto"] | Callable[..., Any]
"""False, True (always a person), `"auto"` (the gate decides), or a function of call and context."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """What a tool does to the world; None is unknown, and counts as the worst."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    @property
    def is_safe(self) -> bool:
        """Whether it only reads; a tool that is said to be read-only and destructive does not."""
        return self.read_only is True and self.destructive is not True

    @property
    def may_repeat(self) -> bool:
        """Whether running it twice does no more than running it once."""
        return self.is_safe or self.idempotent is True


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Tool(DescribedTool):
    """A tool that a model may call, how it is run, and when a person is asked first.

    Args:
        name: What it is called by.
        description: What it does, for the model. Without one it is made from the name, with a warning.
        input_schema: JSON Schema of its arguments, or a function that makes it. Without one any object is taken: only
            `Tool.from_function` reads the signature of a function.
        run: What is called with the arguments by name; may be a coroutine function. None for a tool that is only
            described: it can be planned, not executed.
        confirm: Whether a person is asked before it runs: False, True (always, no judge waives it), `"auto"` (the
            gate decides; without one a person is asked), or `fn(call, context) -> bool`, where anything but a real
            bool, and an exception, means that a person is asked.
        annotations: What it does to the world.
        return_direct: Its result may go to the user without another word of the model.
        strict: Read arguments strictly: `"5"` is no int, and names that are not known are refused.
        timeout: Seconds that one run may take; None for no limit.
        max_calls: Most calls per turn; None leaves it to `ToolLimits`.
        editable: A person may change the arguments.
        source: Where it comes from: `"local"`, or `"mcp:server"`.
        trusted: Whether hints of a source that is not local are believed.

    Raises:
        ToolDefinitionError: A value is impossible, the schema is none, or checking it needs the extra `toolcalls`.
    """

    run: Callable[..., Any] | None = field(repr=False)
    confirm: Confirm
    annotations: ToolAnnotations
    return_direct: bool
    strict: bool
    timeout: float | None
    max_calls: int | None
    editable: bool
    source: str
    trusted: bool
    wire_name: str
    """What its server calls it."""
    _taken: Taken | None = field(repr=False)
    _reader: Reader | None = field(repr=False)
    _binding: Binding | None = field(repr=False)

    def __init__(
        self,
        name: str,
        description: str | None = "",
        input_schema: Schema | Callable[[], Schema] = NO_PARAMETERS,
        *,
        run: Callable[..., Any] | None = None,
        confirm: Confirm = False,
        annotations: ToolAnnotations | None = None,
        return_direct: bool = False,
        strict: bool = True,
        timeout: float | None = None,
        max_calls: int | None = None,
        editable: bool = False,
        source: str = "local",
        trusted: bool = False,
        always_visible: bool = False,
        original: Any = None,  # noqa: ANN401 - any object
        wire_name: str | None = None,
        _taken: Taken | None = None,
    ) -> None:
        described = DescribedTool(
            name, description, parameters=input_schema, always_visible=always_visible, original=original
        )
        if not described.description.strip():
            described = _with_description(described)
        for slot in ("name", "description", "always_visible", "_parameters"):
            object.__setattr__(self, slot, getattr(described, slot))
        object.__setattr__(self, "original", self if original is None else original)
        settings = {
            "run": run,
            "confirm": confirm,
            "annotations": annotations or ToolAnnotations(),
            "return_direct": return_direct,
            "strict": strict,
            "timeout": timeout,
            "max_calls": max_calls,
            "editable": editable,
            "source": source,
            "trusted": trusted,
            "wire_name": name if wire_name is None else wire_name,
            "_taken": _taken,
            "_reader": None,
            "_binding": None,
        }
        for slot, value in settings.items():
            object.__setattr__(self, slot, value)
        _check(self)
        if _taken is not None or isinstance(input_schema, Mapping):
            _ = self.reader

    @property
    def input_schema(self) -> Schema:
        """The JSON Schema of its arguments; raises as `parameters` does."""
        return self.parameters

    @property
    def reader(self) -> Reader:
        """What reads and checks its arguments; made once.

        Raises:
            ToolDefinitionError: The schema is none, or checking it needs the extra `toolcalls`.
        """
        if self._reader is None:
            object.__setattr__(self, "_reader", self._made_reader())
        return self._reader  # type: ignore[return-value]  # set in the line before

    def _made_reader(self) -> Reader:
        if self._taken is not None:
            return FunctionReader(self._taken)
        schema = self.parameters
        return AnyReader() if schema is NO_PARAMETERS else SchemaReader(self.name, schema)

    @property
    def binding(self) -> Binding:
        """How `run` is called; made once.

        Raises:
            ToolDefinitionError: There is no `run`.
        """
        if self.run is None:
            raise ToolDefinitionError(f"tool {self.name!r} is only described; give it `run` to execute it")
        if self._binding is None:
            context = None if self._taken is None else self._taken.context
            object.__setattr__(self, "_binding", Binding(self.run, context))
        return self._binding  # type: ignore[return-value]  # set in the line before

    @property
    def only_reads(self) -> bool:
        """Whether it is known to change nothing: its own word counts when it is local or trusted."""
        return self.annotations.is_safe and (self.is_local or self.trusted)

    @property
    def may_repeat(self) -> bool:
        """Whether running it twice is known to do no more than running it once."""
        return self.annotations.may_repeat and (self.is_local or self.trusted)

    @property
    def is_local(self) -> bool:
        """Whether it is a function of this program and no tool of a server."""
        return self.source == "local"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's result
        """Call the function itself, without any check."""
        if self.run is None:
            raise ToolDefinitionError(f"tool {self.name!r} is only described; give it `run` to execute it")
        return self.run(*args, **kwargs)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        **settings: Any,
    ) -> Tool:
        """Return a function as a tool: name, docstring and signature say what it takes.

        A parameter with a default is optional, `**kwargs` allow other names, a `ToolContext` is filled in by the
        caller, one that may only be given by position is. Coroutine functions are awaited.

        Args:
            function: The function, method or `functools.partial`.
            name: By default the function's.
            description: By default the docstring without its sections.
            settings: The others of `Tool`.

        Raises:
            ToolDefinitionError: It takes `*args`, or its annotations have no schema.
        """
        described = tool_of_function(function)
        taken = arguments_taken(function)
        return cls(
            described.name if name is None else name,
            described.description if description is None else description,
            taken.schema,
            run=function,
            original=function,
            _taken=taken,
            **{"always_visible": described.always_visible, **settings},
        )

    @classmethod
    def from_openai(
        cls, tool: Mapping[str, Any], run: Callable[..., Any] | None = None, **settings: Any
    ) -> Tool:
        """Return a tool described as OpenAI takes it, in either of its APIs; `settings` are those of `Tool`."""
        from yesno.toolcalls.shapes import tool_of_mapping

        return tool_of_mapping(tool, run, **settings)

    @classmethod
    def from_anthropic(
        cls, tool: Mapping[str, Any], run: Callable[..., Any] | None = None, **settings: Any
    ) -> Tool:
        """Return a tool described as Anthropic takes it; `settings` are those of `Tool`."""
        from yesno.toolcalls.shapes import tool_of_mapping

        return tool_of_mapping(tool, run, **settings)

    @classmethod
    def from_mcp(cls, tool: Any, call: Any = None, *, server: str | None = None, **settings: Any) -> Tool:  # noqa: ANN401 - duck-typed
        """Return a tool of an MCP server.

        Args:
            tool: What the server lists, as an object of the SDK (1 or 2) or as a dict.
            call: The session, or its `call_tool`: called with the server's own name and the arguments.
            server: The server's name; the tool is then called `server__tool`, cut to 64 characters.
            settings: Those of `Tool`; `trusted=True` believes the server's hints.
        """
        from yesno.toolcalls.mcp import tool_of_mcp

        return tool_of_mcp(tool, call, server=server, **settings)

    @classmethod
    def from_langchain(cls, tool: Any, **settings: Any) -> Tool:  # noqa: ANN401 - duck-typed
        """Return a LangChain tool; it is run by its `invoke`, or its `ainvoke` when it is asynchronous only."""
        from yesno.toolcalls.shapes import tool_of_langchain

        return tool_of_langchain(tool, **settings)

    def to_langchain(
        self,
        manager: Any = None,  # noqa: ANN401 - a manager, of a file that needs this one
        *,
        model: Any = None,  # noqa: ANN401 - of a room above
        decide: Callable[..., Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - LangChain's type
        """Return the tool as LangChain's `BaseTool`, which runs it through a manager's checks.

        Arguments, rules, confirmation, timeouts and the log are the manager's, and a call that fails is a `ToolMessage`
        with the status "error". Each call is a reply and a turn of its own: limits that count over a turn need
        `ToolCallingManager.execute_tool_calls` in the loop.

        Args:
            manager: The `ToolCallingManager`; by default one without settings.
            model: The decision model that answers what the manager's gate asks. An `AsyncDecisionModel` serves
                `ainvoke` alone.
            decide: From the record of a waiting call to the decisions about it; with LangGraph it may `interrupt`. With
                `ainvoke` it may be a coroutine function. Without it `ConfirmationRequired` is raised, and nothing ran.
            context: Values for the tool and for rules, which no model sees.

        Raises:
            ConfigError: `langchain-core` is not installed, or `decide` is no function.
        """
        from yesno.tools.langchain import needed

        with needed():
            from yesno.toolcalls.langchain import langchain_tool
        return langchain_tool(self, manager, model, decide, context)


def _with_description(tool: DescribedTool) -> DescribedTool:
    words = " ".join(_WORD.findall(tool.name)).lower() or tool.name
    made = words[0].upper() + words[1:] + "."
    warnings.warn(
        f"tool {tool.name!r} has no description, so the model reads {made!r}; say what it does and when to use it",
        UserWarning,
        stacklevel=4,
    )
    return DescribedTool(tool.name, made, parameters=tool._parameters, always_visible=tool.always_visible)


def _check(tool: Tool) -> None:
    name = tool.name
    if tool.run is not None and not callable(tool.run):
        raise ToolDefinitionError(
            f"tool {name!r} has a `run` of type {type(tool.run).__name__}; give a function"
        )
    if inspect.isasyncgenfunction(tool.run):
        raise ToolDefinitionError(f"tool {name!r} is an asynchronous generator; return its result as a whole")
    if not (isinstance(tool.confirm, bool) or tool.confirm == "auto" or callable(tool.confirm)):
        raise ToolDefinitionError(
            f"tool {name!r} has confirm={tool.confirm!r}; give True, False, 'auto' or a function"
        )
    timeout = tool.timeout
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf
    ):
        raise ToolDefinitionError(f"tool {name!r} has timeout={timeout!r}; give seconds above 0, or None")
    if tool.max_calls is not None and (type(tool.max_calls) is not int or tool.max_calls < 1):
        raise ToolDefinitionError(
            f"tool {name!r} has max_calls={tool.max_calls!r}; give a whole number from 1"
        )
    for flag in ("return_direct", "strict", "editable", "trusted"):
        if not isinstance(getattr(tool, flag), bool):
            raise ToolDefinitionError(f"tool {name!r} has {flag}={getattr(tool, flag)!r}; give True or False")
    if not isinstance(tool.source, str) or not tool.source:
        raise ToolDefinitionError(
            f"tool {name!r} has source={tool.source!r}; give 'local', or a text such as 'mcp:server'"
        )
    if not isinstance(tool.annotations, ToolAnnotations):
        raise ToolDefinitionError(
            f"tool {name!r} needs `ToolAnnotations`, not {type(tool.annotations).__name__}"
        )
