"""One tool with which a model finds the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from yesno.errors import ConfigError, InvalidArgumentsError, ToolFailed
from yesno.filters._selector import Selector
from yesno.filters._sources import offered
from yesno.flow import Flow, Runner, run_with
from yesno.tools import Tool, tools_of

__all__ = ["FoundTools", "ToolSearch", "listed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundTools(Generic[T]):
    """What a search found, the most relevant first."""

    names: tuple[str, ...]
    tools: tuple[T, ...] = field(repr=False)
    """The caller's own objects."""
    probabilities: Mapping[str, float]
    """Name -> probability (0..1) that it helps, of every tool that was asked about."""
    text: str
    """The result to give to the model that searched."""

    def __str__(self) -> str:
        return self.text


class ToolSearch:
    """Gives a chat model one search tool in place of hundreds, and finds tools for its queries.

    Offer `search.openai()` (or `openai_responses`, `anthropic`, `mcp`) to the chat model; when it calls the tool,
    `model.run(search.find(call.arguments, tools))` gives the names, the tools and the text of the result.

    There is no fallback: an error of the model is raised, for the caller to report as the tool's error.

    Args:
        min_probability, max_results, max_tools_per_request, question_template, shortlist: As of `ToolFilter`;
            at most 5 results by default.
        name, description: Of the search tool.
        argument_name, argument_description: Of its one argument, a text.
        result_text: From the tools that were found, best first, to the text of the result.
        raise_invalid_arguments: Raise `InvalidArgumentsError` for arguments that cannot be used, in place of
            `ToolFailed`.
        model: The model to ask when the search is called.

    Raises:
        ConfigError: A setting is impossible; the message names it.
    """

    def __init__(
        self,
        *,
        min_probability: float = 0.5,
        max_results: int | None = 5,
        max_tools_per_request: int | None = None,
        question_template: str | None = None,
        shortlist: int | None = None,
        name: str = "tool_search_tool",
        description: str = "Finds tools that are not listed. Call it when no tool you have can do what is needed.",
        argument_name: str = "query",
        argument_description: str = "What you need a tool for, in a few words.",
        result_text: Callable[[Sequence[Tool]], str] | None = None,
        raise_invalid_arguments: bool = False,
        model: Runner | None = None,
    ) -> None:
        for setting, value in (("name", name), ("argument_name", argument_name)):
            if not isinstance(value, str) or not value.strip():
                raise ConfigError(f"`{setting}` must be a text that is not blank, not {value!r}")
        self._selector = Selector.checked(
            min_probability=min_probability,
            max_results=max_results,
            max_tools_per_request=max_tools_per_request,
            question_template=question_template,
            shortlist=shortlist,
        )
        self.argument_name = argument_name
        self.tool = Tool(
            name,
            description,
            parameters={
                "type": "object",
                "properties": {argument_name: {"type": "string", "description": argument_description}},
                "required": [argument_name],
                "additionalProperties": False,
            },
        )
        self._result_text = result_text or listed
        self._error = InvalidArgumentsError if raise_invalid_arguments else ToolFailed
        self._model = model

    def openai(self) -> dict[str, Any]:
        """Return the search tool as OpenAI's Chat Completions API takes it."""
        return self.tool.to_openai()

    def openai_responses(self) -> dict[str, Any]:
        """Return the search tool as OpenAI's Responses API takes it."""
        return self.tool.to_openai_responses()

    def anthropic(self) -> dict[str, Any]:
        """Return the search tool as Anthropic's Messages API takes it."""
        return self.tool.to_anthropic()

    def mcp(self) -> dict[str, Any]:
        """Return the search tool as an MCP server lists it."""
        return self.tool.to_mcp()

    def __call__(self, arguments: str | Mapping[str, Any], tools: object) -> Any:  # noqa: ANN401 - as `Runner.run`
        """Return what `model.run` gives for `find`; awaited with an async model.

        Raises:
            ConfigError: The search was made without a model.
        """
        return run_with(self._model, self.find(arguments, tools))

    @overload
    def find(self, arguments: str | Mapping[str, Any], tools: Iterable[T]) -> Flow[FoundTools[T]]: ...
    @overload
    def find(self, arguments: str | Mapping[str, Any], tools: object) -> Flow[FoundTools[Any]]: ...
    def find(self, arguments: str | Mapping[str, Any], tools: object) -> Flow[FoundTools[Any]]:
        """Return the flow that finds tools for a call of the search tool.

        Args:
            arguments: The call's arguments: JSON text, or the mapping that it says.
            tools: The tools to search, in any form that `ToolFilter.select` takes.

        Raises:
            ToolFailed, InvalidArgumentsError: The arguments are no JSON object, or lack the query.
            ToolDefinitionError: A tool cannot be read.
            Refused, UndecidedError, ProviderError: The model gave no answer.
        """
        query = self._query(arguments)
        given = offered(tools) or []
        described = tools_of(given)
        if not described:
            return FoundTools((), (), {}, self._result_text(()))
        judged = yield from self._selector.judge(described, query, query)
        found = [described[place] for place in judged.kept]
        return FoundTools(
            tuple(tool.name for tool in found),
            tuple(given[place] for place in judged.kept),
            {described[place].name: p for place, p in judged.probabilities.items()},
            self._result_text(found),
        )

    def _query(self, arguments: str | Mapping[str, Any]) -> str:
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as error:
                place = f" (character {error.pos})" if isinstance(error, json.JSONDecodeError) else ""
                raise self._error(f"the arguments of {self.tool.name!r} are no JSON{place}") from None
        if not isinstance(arguments, Mapping):
            raise self._error(
                f"the arguments of {self.tool.name!r} must be an object with {self.argument_name!r}, "
                f"not {type(arguments).__name__}"
            )
        value = arguments.get(self.argument_name)
        query = value if isinstance(value, str) else _written(value)
        if not query.strip():
            raise self._error(
                f"the arguments of {self.tool.name!r} lack {self.argument_name!r}, or it is blank"
            )
        return query


def listed(tools: Sequence[Tool]) -> str:
    """Return the text of a search's result: the names that were found, or that there are none."""
    if not tools:
        return "No tool matches this query."
    return "Found tools: " + ", ".join(tool.name for tool in tools)


def _written(value: object) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
