"""Run what a model asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from yesno.flow import Flow
from yesno.toolcalls.calls import Plan, ToolRun
from yesno.toolcalls.gates import Gate
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.sets import ToolDefinition, ToolSet

__all__ = ["ToolCallingManager"]


class ToolCallingManager:
    """Runs the calls of one reply: all are checked before the first runs, and each gets exactly one result.

    It holds no model and no state of a conversation; share it between threads. Its flows are run by a model, which
    answers what the gate asks (nothing without one)::

        run = model.run(manager.execute_tool_calls(messages, reply, tools=tools))
        run = await async_model.run(manager.aexecute_tool_calls(messages, reply, tools=tools))

    The gate is any `yesno.toolcalls.Gate`: `gate.judge(calls, messages) -> Flow[Sequence[Verdict]]`. It is asked once
    per reply, after names, arguments, limits, policy, `confirm` and hints, about the calls marked `"auto"` and, with
    `gate.check_all`, about those that would run. The first tool starts after its last question is answered.
    """

    def __init__(
        self,
        *,
        policy: Callable[..., Any] | None = None,
        gate: Gate | None = None,
        limits: ToolLimits | None = None,
    ) -> None:
        self.policy = policy
        self.gate = gate
        self.limits = limits or ToolLimits()

    def resolve_tool_definitions(self, tools: Iterable[Any] | ToolSet) -> list[ToolDefinition]:
        """Return what a model is told of tools, in their order."""
        return ToolSet.of(tools).definitions()

    def plan(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        *,
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None = None,
    ) -> Flow[Plan]:
        """Return the flow that says what would become of each call, and runs nothing."""
        raise NotImplementedError

    def execute_tool_calls(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        *,
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None = None,
        decisions: Any = None,  # noqa: ANN401 - checked
        pending: Any = None,  # noqa: ANN401 - checked
        audience: str | None = None,
    ) -> Flow[ToolRun]:
        """Return the flow that runs the calls of a reply."""
        raise NotImplementedError
