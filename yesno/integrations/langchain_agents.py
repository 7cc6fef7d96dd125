"""A tool filter for LangChain's agents (`langchain`): `pip install 'yesno[langchain-agents]'`.

```python
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from yesno import DecisionModel, FakeProvider
from yesno.integrations.langchain_agents import ToolFilterMiddleware

seen = []


class Chat(GenericFakeChatModel):
    def bind_tools(self, tools, **settings):
        seen.append([tool.name for tool in tools])
        return self


def forecast(city: str) -> str:
    "Say how the weather will be."
    return "sunny"


def send_email(to: str) -> str:
    "Send an e-mail."
    return "sent"


script = lambda prompt: {"Yes": 0.9} if "forecast" in prompt else {"No": 0.9}
agent = create_agent(
    Chat(messages=iter([AIMessage("Sunny.")])),
    [forecast, send_email],
    middleware=[ToolFilterMiddleware(model=DecisionModel(FakeProvider(script)))],
)
agent.invoke({"messages": [("user", "Will it rain in Lisbon?")]})
assert seen == [["forecast"]]
```

Read in langchain 1.5.2 (2026-11).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from yesno.filters import ToolFilter
from yesno.flow import Flow, Runner
from yesno.integrations._shared import aran, missing, ran

try:
    from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
except ImportError as error:
    raise missing("langchain_agents") from error

__all__ = ["ToolFilterMiddleware"]


class ToolFilterMiddleware(AgentMiddleware[Any, Any, Any]):
    """Shows the agent's model only the tools that help with what the user asks for.

    Args:
        tool_filter: The filter; by default `ToolFilter()`.
        model: A `yesno.DecisionModel` or a `yesno.AsyncDecisionModel`. The blocking one serves asynchronous agents
            from a thread; the asynchronous one cannot serve blocking agents.

    One question is asked per tool and call of the agent's model; a cache answers equal ones. Hosted tools (dicts) stay,
    and a request that forces a tool call keeps all its tools. What happens when the decision fails is the filter's
    `fallback`.
    """

    def __init__(self, tool_filter: ToolFilter | None = None, *, model: Runner) -> None:
        super().__init__()
        self.tool_filter = tool_filter or ToolFilter()
        self._model = model

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Filter the tools of a request and go on with it."""
        if not _is_free(request):
            return handler(request)
        return handler(_with_tools(request, ran(self._model, self._selected(request))))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Do what `wrap_model_call` does, awaited."""
        if not _is_free(request):
            return await handler(request)
        return await handler(_with_tools(request, await aran(self._model, self._selected(request))))

    def _selected(self, request: ModelRequest[Any]) -> Flow[list[Any]]:
        before = [] if request.system_message is None else [request.system_message]
        own = [tool for tool in request.tools if not isinstance(tool, dict)]
        return self.tool_filter.select(own, [*before, *request.messages])


def _is_free(request: ModelRequest[Any]) -> bool:
    return request.tool_choice in (None, "auto", "none") and any(
        not isinstance(tool, dict) for tool in request.tools
    )


def _with_tools(request: ModelRequest[Any], kept: list[Any]) -> ModelRequest[Any]:
    names = {tool.name for tool in kept}
    return request.override(
        tools=[tool for tool in request.tools if isinstance(tool, dict) or tool.name in names]
    )
