"""Let a decision model choose tools for a task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from yesno._frozen import FrozenDict
from yesno.errors import (
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    NoAnswer,
    ProviderError,
    QuestionError,
    SelectionError,
)
from yesno.flow import Ask, Flow, Later, arun, gather, run, spent_on
from yesno.messages import InputLike
from yesno.messages.plain import freeze_values, thawed
from yesno.messages.shorten import shortened
from yesno.questions import Choice, YesNo
from yesno.templates.layers import QuestionTemplate
from yesno.toolcalls.calls import CallResult, ToolRun
from yesno.toolcalls.choosing import Judged, call_of, read_choice, read_each
from yesno.toolcalls.filling import (
    ArgumentsRequest,
    ArgumentsSource,
    Filled,
    answered_by,
    checked_source,
    filled,
)
from yesno.toolcalls.manager import ToolCallingManager
from yesno.toolcalls.running import acall_each
from yesno.toolcalls.selection import (
    MAX_CHOICE,
    Rejected,
    SelectionResult,
    ToolSelectionConfig,
)
from yesno.toolcalls.sets import ToolSet

__all__ = ["ToolSelector"]

_NONE = "none of these"
_FAILURES = (ProviderError, DeadlineExceeded, BudgetExceeded, NoAnswer)


class ToolSelector:
    """Chooses tools for a task by the probabilities of the model's own tokens, then has their arguments written.

    ::

        selector = ToolSelector(arguments_from=openai_arguments(client, "gpt-5.4-mini"))
        result = model.run(selector.select_tools("Refund order 7", tools))
        done = model.run(selector.execute_tool_decisions(result))

    Args:
        config: How to choose.
        arguments_from: What writes the arguments of a chosen tool: `openai_arguments(client, model)`,
            `anthropic_arguments(client, model)`, or a function of an `ArgumentsRequest` that gives JSON text, a
            mapping, a pydantic model or a `Reply`. None will do for tools that need no arguments.
        manager: What runs the calls, with its limits, gate, confirmation and log.

    Raises:
        ConfigError: A setting is impossible, or `arguments_from` is a client without a model's name.
    """

    def __init__(
        self,
        config: ToolSelectionConfig | None = None,
        *,
        arguments_from: ArgumentsSource | None = None,
        manager: ToolCallingManager | None = None,
    ) -> None:
        if config is not None and not isinstance(config, ToolSelectionConfig):
            raise ConfigError(f"`config` must be a ToolSelectionConfig, not a {type(config).__name__}")
        self.config = config or ToolSelectionConfig()
        self.manager = manager or ToolCallingManager()
        self._source = checked_source(arguments_from)
        own = self.config.question_template
        each = self.config.mode == "each"
        self._each = QuestionTemplate(
            "tool_call", own if each else None, required=("name",), allowed=("name", "description")
        )
        self._choice = QuestionTemplate("tool_calls", None if each else own)

    def select_tools(
        self,
        task: str,
        tools: Any,  # noqa: ANN401 - any of many shapes
        context: Mapping[str, Any] | None = None,
    ) -> Flow[SelectionResult]:
        """Return the flow that chooses tools and their arguments; it runs none.

        Args:
            task: What is to be done, as the user said it.
            tools: Tools in any shape that `as_tool` reads, or a `ToolSet`.
            context: Plain values that help to choose; shown to the models as JSON data.

        Raises:
            SelectionError: The model failed or answered about no tool, or the arguments could not be written.
            QuestionError: The task is blank, or the context holds other than plain values.
            ToolDefinitionError, ConfigError: A tool or the set-up cannot be used.
        """
        judged = yield from self._judged(task, ToolSet.of(tools), context)
        picked, over = self._picked(judged)
        source = self._source
        asked = gather([self._steps(judged, name) for name in picked])
        found = run(asked, partial(answered_by, source)) if source is not None else run(asked, _nobody)
        return self._result(judged, picked, over, found)

    def aselect_tools(
        self,
        task: str,
        tools: Any,  # noqa: ANN401 - any of many shapes
        context: Mapping[str, Any] | None = None,
    ) -> Flow[Later[SelectionResult]]:
        """Return the flow that does what `select_tools` does, for an `AsyncDecisionModel`; arguments are awaited."""
        judged = yield from self._judged(task, ToolSet.of(tools), context)
        return Later(partial(self._afilled, judged))

    def execute_tool_decisions(
        self,
        result: SelectionResult,
        tools: Any = None,  # noqa: ANN401 - any of many shapes
        *,
        again: bool = False,
        **more: Any,
    ) -> Flow[list[CallResult]]:
        """Return the flow that runs what was selected, through the manager.

        Args:
            result: The selection; it is not changed.
            tools: By default those it was made from.
            again: Run it although it was run before.
            more: `context`, `decisions`, `pending` and `audience`, as `ToolCallingManager.execute_tool_calls` takes
                them.

        Returns:
            One result per call, in their order; none for no calls.

        Raises:
            SelectionError: It was run already, and `again` is not set.
            ConfirmationRequired: Calls wait for a person, nothing ran; resume with `pending` and `decisions`.
            ToolError: As `ToolCallingManager.execute_tool_calls`.
        """
        if not result.calls:
            return []
        is_first = result.claim(again=again)
        try:
            done: ToolRun = yield from self.manager.execute_tool_calls(
                result.task, _reply(result), tools=result.tools if tools is None else tools, **more
            )
        except BaseException as error:
            if is_first:
                _release_unrun(result, error)
            raise
        return list(done.results)

    def aexecute_tool_decisions(
        self,
        result: SelectionResult,
        tools: Any = None,  # noqa: ANN401 - any of many shapes
        *,
        again: bool = False,
        **more: Any,
    ) -> Flow[Later[list[CallResult]]]:
        """Return the flow that does what `execute_tool_decisions` does, for an `AsyncDecisionModel`."""
        if not result.calls:
            return Later(_nothing)
        is_first = result.claim(again=again)
        try:
            later = yield from self.manager.aexecute_tool_calls(
                result.task, _reply(result), tools=result.tools if tools is None else tools, **more
            )
        except BaseException as error:
            if is_first:
                _release_unrun(result, error)
            raise
        return Later(partial(_aexecuted, result, later, is_first=is_first))

    def _judged(self, task: str, tools: ToolSet, context: Mapping[str, Any] | None) -> Flow[Judged]:
        if not isinstance(task, str) or not task.strip():
            raise QuestionError("`task` must be a text that is not blank")
        shown = None if context is None else self._shown(context)
        given: InputLike = task if shown is None else {"task": task, "context": json.loads(shown)}
        choice = self._choice_of(tools) if self.config.mode == "choice" else None
        asks = [Ask(choice, given)] if choice is not None else self._one_each(tools, given)
        try:
            outcomes = (yield asks) if asks else []
            if choice is not None:
                return read_choice(outcomes, tools, task, shown)
            return read_each(outcomes, tools, task, shown)
        except _FAILURES as error:
            raise SelectionError(
                f"no tool could be selected: {type(error).__name__}; see the cause. This is not 'no tool fits'"
            ) from error

    def _shown(self, context: Mapping[str, Any]) -> str:
        if not isinstance(context, Mapping):
            raise QuestionError(f"`context` must be a mapping, not a {type(context).__name__}")
        kept = freeze_values(
            {key: value for key, value in context.items() if key not in self.config.leave_out}, "context"
        )
        limit = self.config.max_context_length
        short = {}
        for key, value in kept.items():
            text = value if isinstance(value, str) else json.dumps(thawed(value), ensure_ascii=False)
            short[key] = thawed(value) if len(text) <= limit else shortened(text, limit)
        return json.dumps(short, ensure_ascii=False)

    def _choice_of(self, tools: ToolSet) -> Choice | None:
        """Return the one question; None when it has to be asked of each tool."""
        if not 2 <= len(tools) <= MAX_CHOICE:
            return None
        options = [(tool.name, tool.description or None) for tool in tools]
        try:
            return Choice(self._choice.text(), options, none=_NONE if self.config.allow_none else None)
        except QuestionError:  # names that look alike, or like the way out
            return None

    def _one_each(self, tools: ToolSet, given: InputLike) -> list[Ask]:
        return [
            Ask(YesNo(self._each.text(name=tool.name, description=tool.description)), given, f"tool_{number}")
            for number, tool in enumerate(tools, start=1)
        ]

    def _picked(self, judged: Judged) -> tuple[list[str], list[str]]:
        """Return the names of the tools to call, the most probable first, and of those that are too many."""
        likely = [name for name, p in judged.probabilities.items() if p >= self.config.confidence_threshold]
        ranked = sorted(likely, key=lambda name: -judged.probabilities[name])
        kept = [name for name in ranked if name in self.config.always_include]
        room = max(0, self.config.max_tools_per_step - len(kept))
        kept += [name for name in ranked if name not in self.config.always_include][:room]
        return [name for name in ranked if name in kept], [name for name in ranked if name not in kept]

    def _steps(self, judged: Judged, name: str) -> Any:  # noqa: ANN401 - the generator of `filled`
        request = ArgumentsRequest(judged.task, judged.tools[name], judged.context)
        return filled(request, repair=self.config.repair, has_source=self._source is not None)

    async def _afilled(self, judged: Judged) -> SelectionResult:
        picked, over = self._picked(judged)
        source = self._source
        asked = gather([self._steps(judged, name) for name in picked])
        found = await arun(asked, partial(acall_each, source)) if source is not None else run(asked, _nobody)
        return self._result(judged, picked, over, found)

    def _result(
        self, judged: Judged, picked: Sequence[str], over: Sequence[str], found: Sequence[Filled]
    ) -> SelectionResult:
        arguments = dict(zip(picked, found, strict=True))
        calls = [
            call_of(judged, name, arguments[name].text) for name in picked if not arguments[name].problems
        ]
        rejected = []
        for name in judged.tools.names:
            p = judged.probabilities.get(name)
            if name in arguments:
                if arguments[name].problems:
                    rejected.append(Rejected(name, "invalid_arguments", p, arguments[name].problems))
            elif name in over:
                rejected.append(Rejected(name, "over_max", p))
            else:
                rejected.append(Rejected(name, judged.unanswered.get(name, "below_threshold"), p))
        return SelectionResult(
            tuple(calls),
            tuple(rejected),
            FrozenDict(judged.probabilities),
            judged.none_probability,
            judged.mode,
            judged.task,
            judged.tools,
            spent_on(judged.outcomes),
        )


def _reply(result: SelectionResult) -> dict[str, Any]:
    calls = [
        {"id": f"call_{number}", "name": call.name, "arguments": call.arguments_text}
        for number, call in enumerate(result.calls, start=1)
    ]
    return {"calls": calls}


def _release_unrun(result: SelectionResult, error: BaseException) -> None:
    """Let a selection be run another time when no tool of it ran."""
    if not hasattr(error, "call_results"):
        result.runs.release()


async def _aexecuted(result: SelectionResult, later: Later[ToolRun], *, is_first: bool) -> list[CallResult]:
    try:
        return list((await later.work()).results)
    except BaseException as error:
        if is_first:
            _release_unrun(result, error)
        raise


async def _nothing() -> list[CallResult]:
    return []


def _nobody(requests: Sequence[ArgumentsRequest]) -> list[Any]:
    raise AssertionError("without a source nothing is asked")
