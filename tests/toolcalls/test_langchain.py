"""Tools as LangChain's, through its own classes: what it is told, and that nothing runs around the checks."""

import asyncio
import json
import subprocess
import sys

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from tests.toolcalls.support import Log, sealed
from yesno import AsyncDecisionModel, DecisionModel, FakeProvider
from yesno.errors import ConfigError
from yesno.toolcalls import (
    ConfirmationRequired,
    Deny,
    RiskGate,
    Tool,
    ToolCallingManager,
    ToolContext,
    as_tool,
    tool,
)
from yesno.tools import tool_of

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@tool
def weather(city: str, days: int = 1, config: str = "", run_manager: int = 0) -> dict[str, object]:
    """Tell the weather.

    Args:
        city: Where.
        days: How many days ahead.
    """
    return {"city": city, "days": days, "config": config, "run_manager": run_manager}


def call(name, arguments, number="c1"):
    return {"name": name, "args": arguments, "id": number, "type": "tool_call"}


@pytest.fixture(params=["invoke", "ainvoke"])
def invoke(request):
    if request.param == "invoke":
        return lambda made, given: made.invoke(given)
    return lambda made, given: asyncio.run(made.ainvoke(given))


@pytest.mark.parametrize(
    "given", [weather, Tool("weather", "Tell the weather.", SCHEMA, run=print, always_visible=True)]
)
def test_the_definition_is_the_same_in_langchain_and_back(given):
    made = given.to_langchain()
    assert isinstance(made, BaseTool)
    assert tool_of(made) == tool_of(given)
    told = convert_to_openai_tool(made)["function"]
    assert (told["name"], told["description"]) == (given.name, given.description)
    assert told["parameters"]["required"] == ["city"]
    assert told["parameters"]["properties"].keys() == given.parameters["properties"].keys()


def test_a_description_alone_can_be_bound_and_not_run():
    described = tool_of({"name": "weather", "description": "Tell the weather.", "input_schema": SCHEMA})
    made = described.to_langchain()
    assert convert_to_openai_tool(made) == described.to_openai()
    assert tool_of(made) == described
    with pytest.raises(NotImplementedError):
        made.invoke({"city": "Rome"})


def test_a_call_is_a_message_with_its_id(invoke):
    answer = invoke(
        weather.to_langchain(), call("weather", {"city": "Rome", "config": "c", "run_manager": 3})
    )
    assert isinstance(answer, ToolMessage)
    assert (answer.tool_call_id, answer.name, answer.status) == ("c1", "weather", "success")
    assert json.loads(answer.content) == {"city": "Rome", "days": 1, "config": "c", "run_manager": 3}


@pytest.mark.parametrize(
    "arguments", [{}, {"city": 1}, {"city": "Rome", "days": "2"}, {"city": "Rome", "x": 1}]
)
def test_arguments_are_checked_by_the_tool_and_not_by_langchain(invoke, arguments):
    answer = invoke(weather.to_langchain(), call("weather", arguments))
    assert answer.status == "error"
    assert answer.content.startswith("The arguments are not valid, so the tool did not run.")


def test_a_tool_that_fails_tells_its_kind_of_error_alone(invoke):
    log = Log()
    answer = invoke(log.tool("t", raises=ValueError("10.0.0.1")).to_langchain(), call("t", {}))
    assert (answer.status, answer.content) == ("error", "The tool failed: ValueError.")


def test_a_call_that_waits_for_a_person_raises_and_nothing_runs(invoke):
    log = Log()
    with pytest.raises(ConfirmationRequired) as stop:
        invoke(log.tool("wipe", confirm=True).to_langchain(sealed()), call("wipe", {"disk": "d1"}))
    assert [waiting.id for waiting in stop.value.pending.waiting] == ["c1"]
    assert log == []


@pytest.mark.parametrize("said", [True, False, Deny("keep it")])
def test_who_decides_is_asked_with_the_record(invoke, said):
    log, asked = Log(), []

    def decide(pending):
        asked.append(pending)
        return {"c1": said}

    answer = invoke(
        log.tool("wipe", confirm=True).to_langchain(sealed(), decide=decide), call("wipe", {"x": 1})
    )
    assert asked[0].calls[0].arguments == {"x": 1}
    assert log == ([("wipe", {"x": 1})] if said is True else [])
    assert answer.status == ("success" if said is True else "error")
    if isinstance(said, Deny):
        assert answer.content.endswith("They said: keep it")


def test_who_decides_may_be_awaited():
    log = Log()

    async def decide(pending):
        return {"c1": True}

    made = log.tool("wipe", confirm=True).to_langchain(decide=decide)
    assert asyncio.run(made.ainvoke(call("wipe", {}))).content == "done"


@pytest.mark.parametrize(("risk", "runs"), [(0.05, True), (0.6, False)])
def test_the_gate_is_asked_by_the_model(invoke, risk, runs):
    log = Log()
    judge = DecisionModel(FakeProvider({"Yes": risk, "No": 1 - risk}))
    made = log.tool("t", confirm="auto").to_langchain(ToolCallingManager(gate=RiskGate()), model=judge)
    if runs:
        assert invoke(made, call("t", {"func": 1, "self": 2})).content == "done"
        assert log == [("t", {"func": 1, "self": 2})]
        return
    with pytest.raises(ConfirmationRequired):
        invoke(made, call("t", {}))
    assert log == []


def test_an_asynchronous_model_judges_what_is_awaited():
    async def judged():
        async with AsyncDecisionModel(FakeProvider({"Yes": 0.05, "No": 0.95})) as judge:
            made = (
                Log().tool("t", confirm="auto").to_langchain(ToolCallingManager(gate=RiskGate()), model=judge)
            )
            with pytest.raises(ConfigError, match="ainvoke"):
                made.invoke(call("t", {}))
            return await made.ainvoke(call("t", {}))

    assert asyncio.run(judged()).content == "done"


def test_a_coroutine_function_and_its_context_work(invoke):
    @tool
    async def who(ctx: ToolContext) -> str:
        """Say who asks."""
        return f"{ctx['user']} {ctx.call_id}"

    answer = invoke(who.to_langchain(context={"user": "ann"}), call("who", {}, "c7"))
    assert answer.content == "ann c7"


def test_a_call_without_an_id_gets_one(invoke):
    @tool
    def mine(ctx: ToolContext) -> str:
        """Say which call it is."""
        return str(ctx.call_id)

    made = mine.to_langchain()
    first, second = invoke(made, {}), invoke(made, {})
    assert first != second
    assert first.startswith("call_")


def test_a_tool_that_went_to_langchain_and_back_still_waits():
    log = Log()
    back = as_tool(log.tool("wipe", confirm=True).to_langchain())
    with pytest.raises(ConfirmationRequired):
        back.run(x=1)
    assert log == []


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **more):
        return self


@pytest.mark.parametrize("said", [True, False])
def test_an_agent_of_langgraph_stops_for_a_person_and_goes_on(said):
    log = Log()
    made = log.tool("wipe", confirm=True).to_langchain(
        sealed(), decide=lambda pending: {"c1": interrupt(pending.calls[0].summary)}
    )
    model = Scripted(
        messages=iter([AIMessage("", tool_calls=[call("wipe", {"disk": "d1"})]), AIMessage("Done.")])
    )
    agent = create_agent(model, [made], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    stopped = agent.invoke({"messages": [HumanMessage("Wipe d1")]}, thread)
    assert stopped["__interrupt__"][0].value == 'wipe({"disk": "d1"})'
    assert log == []
    done = agent.invoke(Command(resume=said), thread)
    assert log == ([("wipe", {"disk": "d1"})] if said else [])
    assert [m.status for m in done["messages"] if isinstance(m, ToolMessage)] == [
        "success" if said else "error"
    ]


def test_a_decider_that_cannot_be_called_is_refused():
    with pytest.raises(ConfigError, match="decide"):
        weather.to_langchain(decide=True)


def test_without_langchain_it_says_what_to_install(monkeypatch):
    for name in ("langchain_core.tools", "yesno.toolcalls.langchain"):
        monkeypatch.setitem(sys.modules, name, None)
    for given in (weather, tool_of(weather.to_openai())):
        with pytest.raises(ConfigError, match=r"pip install 'yesno\[langchain\]'"):
            given.to_langchain()


def test_nothing_of_langchain_is_imported_before_it_is_asked_for():
    code = "import sys, yesno.toolcalls; sys.exit('langchain_core' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own
