"""Guardrails and a tool filter for the OpenAI Agents SDK (`openai-agents`): `pip install 'yesno[openai-agents]'`.

```python
from agents import Agent, function_tool

from yesno import AsyncDecisionModel, FakeProvider
from yesno.filters import Check, Guardrails
from yesno.integrations.openai_agents import filtered_tools, input_guardrail, output_guardrail


@function_tool
def forecast(city: str) -> str:
    "Say how the weather will be."
    return "sunny"


model = AsyncDecisionModel(FakeProvider({"Yes": 0.1, "No": 0.9}))
cooking = Guardrails(["prompt_injection", Check("off_topic", topic="the weather")])
agent = Agent(
    "Weather",
    tools=filtered_tools([forecast], model=model),
    input_guardrails=[input_guardrail(cooking, model=model)],
    output_guardrails=[output_guardrail(Guardrails(["personal_data"]), model=model)],
)
assert [guardrail.name for guardrail in agent.input_guardrails] == ["yesno"]
```

Guardrails fail closed: a check that blocks trips the wire, and so does one that is refused or undecided; when the
provider fails, the run fails with its error.

Read in openai-agents 0.24.0 (2026-11).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from yesno.errors import NoAnswer
from yesno.filters import Guardrails, ToolFilter, Verdict
from yesno.flow import Flow, Runner
from yesno.integrations._shared import aran, missing

try:
    from agents import (
        FunctionTool,
        GuardrailFunctionOutput,
        InputGuardrail,
        OutputGuardrail,
        RunContextWrapper,
        Tool,
    )
except ImportError as error:
    raise missing("openai_agents") from error

__all__ = ["filtered_tools", "input_guardrail", "output_guardrail"]


def input_guardrail(
    guardrails: Guardrails[Any], *, model: Runner, name: str = "yesno", run_in_parallel: bool = False
) -> InputGuardrail[Any]:
    """Return a guardrail that checks what the user wrote.

    Args:
        guardrails: What to check; a verdict that wants a review does not trip the wire.
        model: A `yesno.DecisionModel`, which works in a thread, or a `yesno.AsyncDecisionModel`.
        name: What traces call it.
        run_in_parallel: Start the agent before the verdict is there; its tools may then have run already.

    `output_info` of the result is the `Verdict`, or the `Refused` or `UndecidedError` that tripped the wire.
    """

    async def check(context: object, agent: object, given: object) -> GuardrailFunctionOutput:
        return await _judged(model, guardrails.judge_input(given))

    return InputGuardrail(check, name=name, run_in_parallel=run_in_parallel)


def output_guardrail(
    guardrails: Guardrails[Any], *, model: Runner, name: str = "yesno"
) -> OutputGuardrail[Any]:
    """Return a guardrail that checks what the agent answers, an object as JSON; otherwise as `input_guardrail`."""

    async def check(
        context: RunContextWrapper[Any],
        agent: object,
        answer: object,
    ) -> GuardrailFunctionOutput:
        return await _judged(model, guardrails.judge_output(_text(answer), user=context.turn_input or None))

    return OutputGuardrail(check, name=name)


async def _judged(model: Runner, flow: Flow[Verdict]) -> GuardrailFunctionOutput:
    try:
        verdict = await aran(model, flow)
    except NoAnswer as error:
        return GuardrailFunctionOutput(error, tripwire_triggered=True)
    return GuardrailFunctionOutput(verdict, tripwire_triggered=verdict.blocked)


def _text(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    from pydantic import TypeAdapter

    return TypeAdapter(type(answer)).dump_json(answer).decode()


def filtered_tools(
    tools: Iterable[Tool], tool_filter: ToolFilter | None = None, *, model: Runner
) -> list[Tool]:
    """Return copies of tools that are enabled only where they help with what the user asks for.

    Args:
        tools: Function tools; others, such as hosted ones, are returned as they are.
        tool_filter: The filter; by default `ToolFilter()`. What happens when the decision fails is its `fallback`.
        model: A `yesno.DecisionModel`, which works in a thread, or a `yesno.AsyncDecisionModel`.

    They are asked about together, once per run and input. A tool that is disabled by its own `is_enabled` stays so.
    """
    given = list(tools)
    group = _Group(
        [tool for tool in given if isinstance(tool, FunctionTool)], tool_filter or ToolFilter(), model
    )
    return [group.gated(tool) if isinstance(tool, FunctionTool) else tool for tool in given]


@dataclass(slots=True)
class _Choice:
    """What was dropped for the input of a run."""

    lock: Any
    given: list[Any] | None = None
    dropped: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Group:
    """Tools that are asked about together."""

    tools: Sequence[FunctionTool]
    tool_filter: ToolFilter
    model: Runner
    choices: WeakKeyDictionary[Any, _Choice] = field(default_factory=WeakKeyDictionary)

    def gated(self, tool: FunctionTool) -> FunctionTool:
        own = tool.is_enabled

        async def is_enabled(context: RunContextWrapper[Any], agent: Any) -> bool:  # noqa: ANN401 - any agent
            return await _holds(own, context, agent) and tool.name not in await self._dropped(context, agent)

        copied = copy.copy(tool)
        copied.is_enabled = is_enabled
        return copied

    async def _dropped(self, context: RunContextWrapper[Any], agent: Any) -> frozenset[str]:  # noqa: ANN401
        from anyio import Lock

        if context not in self.choices:
            self.choices[context] = _Choice(Lock())
        choice = self.choices[context]
        async with choice.lock:  # the SDK asks about all tools of a turn at once
            if choice.given is None or choice.given != context.turn_input:
                tools = [tool for tool in self.tools if await _holds(tool.is_enabled, context, agent)]
                kept = await aran(self.model, self.tool_filter.select(tools, context.turn_input))
                choice.dropped = frozenset(tool.name for tool in tools) - {tool.name for tool in kept}
                choice.given = context.turn_input
        return choice.dropped


async def _holds(enabled: Any, context: RunContextWrapper[Any], agent: Any) -> bool:  # noqa: ANN401
    found = enabled(context, agent) if callable(enabled) else enabled
    return bool(await found if inspect.isawaitable(found) else found)
