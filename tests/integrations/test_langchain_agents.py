import asyncio
from operator import attrgetter

import pytest

pytest.importorskip("langchain", reason="langchain is not installed: pip install 'yesno[langchain-agents]'")

from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

from tests.integrations.contract import IntegrationContract
from tests.shells import Async, Scripted, Sync
from yesno.errors import ConfigError, ProviderUnavailable
from yesno.filters import ToolFilter
from yesno.integrations.langchain_agents import ToolFilterMiddleware

DOWN = ProviderUnavailable("down", provider="fake", retryable=False)


class TestLangChainAgents(IntegrationContract):
    integration = "langchain_agents"


@tool
def forecast(city: str) -> str:
    """Say how the weather will be."""
    return f"sunny in {city}"


@tool
def send_email(to: str) -> str:
    """Send an e-mail."""
    return f"sent to {to}"


class Chat(GenericFakeChatModel):
    """Says what it is told to, and notes the tools that it is given."""

    seen: list

    def bind_tools(self, tools, **settings):
        self.seen.append([tool if isinstance(tool, str) else tool.name for tool in tools])
        return self


def request(**fields):
    given = {"model": None, "messages": [HumanMessage("Will it rain?")], "tools": [forecast, send_email]}
    return ModelRequest(**{**given, **fields})


@pytest.fixture
def filtered(shell):
    """Send a request through the middleware, in the way that suits the model; return the tools that come out."""

    def call(asked, tool_filter=None, **script):
        scripted = Scripted(shell, **script)
        middleware = ToolFilterMiddleware(tool_filter, model=scripted.model)
        passed = []

        def handler(request):
            passed.append(request)
            return ModelResponse(result=[AIMessage("done")])

        async def ahandler(request):
            return handler(request)

        if shell is Async:
            asyncio.run(middleware.awrap_model_call(asked, ahandler))
        else:
            middleware.wrap_model_call(asked, handler)
        return passed[0].tools, scripted

    return call


def test_an_agent_runs_a_whole_loop_with_the_tools_that_help(shell):
    scripted = Scripted(shell, {"forecast": 0.9}, default=0.1)
    call = {"name": "forecast", "args": {"city": "Lisbon"}, "id": "1"}
    chat = Chat(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Sunny.")]), seen=[])
    agent = create_agent(
        chat, [forecast, send_email], middleware=[ToolFilterMiddleware(model=scripted.model)]
    )
    given = {"messages": [("user", "Will it rain in Lisbon?")]}
    state = asyncio.run(agent.ainvoke(given)) if shell is Async else agent.invoke(given)
    assert [message.content for message in state["messages"][-2:]] == ["sunny in Lisbon", "Sunny."]
    assert chat.seen == [["forecast"], ["forecast"]]


def test_the_model_sees_the_system_message_and_is_asked_once_per_tool(filtered):
    tools, scripted = filtered(request(system_message=SystemMessage("You help sailors.")), default=0.9)
    assert tools == [forecast, send_email]
    assert [len(asked) for asked in scripted.questions] == [2]
    assert "You help sailors." in str(scripted.requests[0].input)


def test_hosted_tools_stay_in_their_place_and_are_not_asked_about(filtered):
    search = {"type": "web_search"}
    tools, scripted = filtered(
        request(tools=[forecast, search, send_email]), answers={"forecast": 0.1}, default=0.9
    )
    assert tools == [search, send_email]
    assert [len(asked) for asked in scripted.questions] == [2]


@pytest.mark.parametrize("choice", ["required", "any", "send_email", {"type": "tool", "name": "send_email"}])
def test_a_request_that_forces_a_call_keeps_all_its_tools(filtered, choice):
    tools, scripted = filtered(request(tool_choice=choice), default=0.1)
    assert tools == [forecast, send_email]
    assert scripted.questions == []


def test_a_request_without_tools_asks_nothing(filtered):
    assert filtered(request(tools=[{"type": "web_search"}]))[1].questions == []


def test_what_happens_when_the_model_fails_is_the_filters_choice(filtered):
    names = attrgetter("name")
    assert [*map(names, filtered(request(), default=DOWN)[0])] == ["forecast", "send_email"]
    assert filtered(request(), ToolFilter(fallback="no_tools"), default=DOWN)[0] == []
    with pytest.raises(ProviderUnavailable):
        filtered(request(), ToolFilter(fallback="fail"), default=DOWN)


def test_a_blocking_model_serves_asynchronous_agents_and_not_the_other_way_round():
    middleware = ToolFilterMiddleware(model=Scripted(Sync, default=0.9).model)

    async def handler(request):
        return request

    assert asyncio.run(middleware.awrap_model_call(request(), handler)).tools == [forecast, send_email]
    with pytest.raises(ConfigError, match="DecisionModel"):
        ToolFilterMiddleware(model=Scripted(Async).model).wrap_model_call(request(), handler)
    with pytest.raises(ConfigError, match="there is no model"):
        ToolFilterMiddleware(model=None).wrap_model_call(request(), handler)
