"""Tools as LangChain's, run through a manager's checks; needs `langchain-core`.

Read in langchain-core 1.8.3 (2026-11): a schema given as a dict is not applied by LangChain, so arguments arrive as the
model gave them.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any

from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, ToolException
from pydantic import Field

from yesno.errors import ConfigError
from yesno.toolcalls.calls import ToolRun
from yesno.toolcalls.manager import ToolCallingManager
from yesno.toolcalls.pending import ConfirmationRequired
from yesno.toolcalls.sets import ToolSet
from yesno.toolcalls.tool import Tool
from yesno.toolcalls.unasked import arun_without_model, run_without_model

__all__ = ["CheckedTool", "langchain_tool"]

_CALL_ID: ContextVar[str | None] = ContextVar("yesno_langchain_call_id", default=None)


def langchain_tool(
    tool: Tool,
    manager: ToolCallingManager | None,
    model: Any,  # noqa: ANN401 - of a room above
    decide: Callable[..., Any] | None,
    context: Mapping[str, Any] | None,
) -> CheckedTool:
    """Return a tool as LangChain's, see `Tool.to_langchain`."""
    if decide is not None and not callable(decide):
        raise ConfigError(f"`decide` must be a function of a record, not a {type(decide).__name__}")
    described = tool.to_anthropic()
    return CheckedTool(
        name=tool.name,
        description=tool.description,
        args_schema=described["input_schema"],
        return_direct=tool.return_direct,
        handle_tool_error=True,
        metadata={"always_visible": True} if tool.always_visible else None,
        tools=ToolSet([tool]),
        manager=manager or ToolCallingManager(),
        model=model,
        decide=decide,
        context=context,
    )


class CheckedTool(BaseTool):
    """A tool whose every call goes through a manager."""

    tools: Any = Field(exclude=True, repr=False)
    manager: Any = Field(exclude=True, repr=False)
    model: Any = Field(default=None, exclude=True, repr=False)
    decide: Any = Field(default=None, exclude=True, repr=False)
    context: Any = Field(default=None, exclude=True, repr=False)

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **more: Any) -> Any:  # noqa: ANN401 - LangChain's
        """Run the tool as LangChain does, and keep the id of the call."""
        token = _CALL_ID.set(tool_call_id)
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **more)
        finally:
            _CALL_ID.reset(token)

    async def arun(
        self,
        tool_input: Any,  # noqa: ANN401 - LangChain's
        *args: Any,
        tool_call_id: str | None = None,
        **more: Any,
    ) -> Any:  # noqa: ANN401 - LangChain's
        """Do what `run` does, awaited."""
        token = _CALL_ID.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **more)
        finally:
            _CALL_ID.reset(token)

    # no parameter of LangChain's may have the name of an argument, hence only these
    def _run(self, /, **arguments: Any) -> str:
        if inspect.iscoroutinefunction(getattr(self.model, "run", None)):
            raise ConfigError("an AsyncDecisionModel judges calls of `ainvoke` alone; give a DecisionModel")
        drive = run_without_model if self.model is None else self.model.run
        calls = self._calls(arguments)
        try:
            return _content(drive(self.manager.execute_tool_calls([], **calls)))
        except ConfirmationRequired as stop:
            if self.decide is None:
                raise
            said = {"pending": stop.pending, "decisions": self.decide(stop.pending)}
        return _content(drive(self.manager.execute_tool_calls([], **calls, **said)))

    async def _arun(self, /, **arguments: Any) -> str:
        if self.model is not None and not inspect.iscoroutinefunction(self.model.run):
            return await run_in_executor(None, partial(self._run, **arguments))
        drive = arun_without_model if self.model is None else self.model.run
        calls = self._calls(arguments)
        try:
            return _content(await drive(self.manager.aexecute_tool_calls([], **calls)))
        except ConfirmationRequired as stop:
            if self.decide is None:
                raise
            decided = self.decide(stop.pending)
            decisions = await decided if inspect.isawaitable(decided) else decided
            said = {"pending": stop.pending, "decisions": decisions}
        return _content(await drive(self.manager.aexecute_tool_calls([], **calls, **said)))

    def _calls(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        number = _CALL_ID.get() or f"call_{secrets.token_hex(8)}"
        call = {"id": number, "name": self.name, "arguments": arguments}
        return {"reply": {"calls": [call]}, "tools": self.tools, "context": self.context}


def _content(run: ToolRun) -> str:
    (result,) = run.results
    if not result.ok:
        raise ToolException(result.content)  # LangChain makes it a result with the status "error"
    return result.content
