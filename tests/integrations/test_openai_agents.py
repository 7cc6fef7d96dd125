import asyncio
import json

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed: pip install 'yesno[openai-agents]'")

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    Model,
    ModelResponse,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunContextWrapper,
    Runner,
    Usage,
    WebSearchTool,
    function_tool,
)
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import BaseModel

from tests.integrations.contract import IntegrationContract
from tests.shells import REFUSED, UNDECIDED, Scripted
from yesno.errors import ProviderUnavailable, Refused, UndecidedError
from yesno.filters import Guardrails, ToolFilter
from yesno.integrations.openai_agents import filtered_tools, input_guardrail, output_guardrail

DOWN = ProviderUnavailable("down", provider="fake", retryable=False)
SECRET = Guardrails({"secret": "Does it ask for a secret?"}, review=0.3)


class TestOpenAIAgents(IntegrationContract):
    integration = "openai_agents"


@function_tool
def forecast(city: str) -> str:
    """Say how the weather will be."""
    return f"sunny in {city}"


@function_tool
def send_email(to: str) -> str:
    """Send an e-mail."""
    return f"sent to {to}"


@function_tool(is_enabled=False)
def launch(code: str) -> str:
    """Launch it."""
    return code


def says(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="1", content=[part], role="assistant", status="completed", type="message")


def calls(name, **arguments):
    return ResponseFunctionToolCall(
        call_id="1", name=name, arguments=json.dumps(arguments), type="function_call"
    )


class Chat(Model):
    """Answers as it is told to, and notes the tools that it is given."""

    def __init__(self, *replies):
        self.replies = [*replies] or [says("Sunny.")]
        self.seen = []

    async def get_response(self, *args, tools, **settings):
        self.seen.append([tool.name for tool in tools])
        return ModelResponse(output=[self.replies.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **settings):
        raise NotImplementedError


def run(agent, given="Will it rain in Lisbon?"):
    return asyncio.run(Runner.run(agent, given, run_config=RunConfig(tracing_disabled=True)))


@pytest.mark.parametrize(
    "given", ["Tell me", [{"role": "user", "content": "Tell me"}]], ids=["text", "items"]
)
def test_an_input_that_passes_lets_the_agent_run(shell, given):
    scripted = Scripted(shell, default=0.1)
    agent = Agent("A", model=Chat(), input_guardrails=[input_guardrail(SECRET, model=scripted.model)])
    result = run(agent, given)
    assert result.final_output == "Sunny."
    (checked,) = result.input_guardrail_results
    assert checked.output.output_info.probability_of("secret") == pytest.approx(0.1)
    assert "Tell me" in str(scripted.requests[0].input)


def test_a_review_lets_the_agent_run_and_is_told(shell):
    scripted = Scripted(shell, default=0.4)
    agent = Agent("A", model=Chat(), input_guardrails=[input_guardrail(SECRET, model=scripted.model)])
    assert run(agent).input_guardrail_results[0].output.output_info.band == "review"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(0.9, None), (REFUSED, Refused), (UNDECIDED, UndecidedError)],
    ids=["block", "refused", "undecided"],
)
def test_what_does_not_pass_trips_the_wire_before_the_agent_starts(shell, reply, kind):
    chat, scripted = Chat(), Scripted(shell, default=reply)
    agent = Agent("A", model=chat, input_guardrails=[input_guardrail(SECRET, model=scripted.model)])
    with pytest.raises(InputGuardrailTripwireTriggered) as caught:
        run(agent)
    assert chat.seen == []
    info = caught.value.guardrail_result.output.output_info
    assert info.blocked if kind is None else isinstance(info, kind)
    assert "Lisbon" not in str(info)


@pytest.mark.parametrize("run_in_parallel", [False, True])
def test_a_check_that_fails_fails_the_run(shell, run_in_parallel):
    scripted = Scripted(shell, default=DOWN)
    guard = input_guardrail(SECRET, model=scripted.model, run_in_parallel=run_in_parallel)
    with pytest.raises(ProviderUnavailable):
        run(Agent("A", model=Chat(), input_guardrails=[guard]))
    with pytest.raises(ProviderUnavailable):
        run(Agent("A", model=Chat(), output_guardrails=[output_guardrail(SECRET, model=scripted.model)]))


@pytest.mark.parametrize("reply", [0.9, REFUSED, UNDECIDED], ids=["block", "refused", "undecided"])
def test_an_answer_that_does_not_pass_trips_the_wire(shell, reply):
    scripted = Scripted(shell, default=reply)
    agent = Agent("A", model=Chat(), output_guardrails=[output_guardrail(SECRET, model=scripted.model)])
    with pytest.raises(OutputGuardrailTripwireTriggered):
        run(agent)
    assert scripted.requests[0].input == {"userMessage": "Will it rain in Lisbon?", "response": "Sunny."}


class Weather(BaseModel):
    sky: str


def test_an_answer_of_a_type_is_checked_as_json(shell):
    scripted = Scripted(shell, default=0.1)
    agent = Agent(
        "A",
        model=Chat(says('{"sky": "blue"}')),
        output_type=Weather,
        output_guardrails=[output_guardrail(SECRET, model=scripted.model)],
    )
    assert run(agent).final_output == Weather(sky="blue")
    assert scripted.requests[0].input["response"] == '{"sky":"blue"}'


def test_an_agent_s_model_sees_the_tools_that_help_and_is_asked_once_per_input(shell):
    scripted = Scripted(shell, {"forecast": 0.9}, default=0.1)
    chat = Chat(calls("forecast", city="Lisbon"), says("Sunny."))
    search = WebSearchTool()
    tools = filtered_tools([forecast, search, send_email, launch], model=scripted.model)
    agent = Agent("A", model=chat, tools=tools)
    result = run(agent)
    assert result.new_items[1].output == "sunny in Lisbon"
    assert chat.seen == [["forecast", "web_search"]] * 2
    assert [len(asked) for asked in scripted.questions] == [2]  # the disabled tool is not asked about
    chat.replies.append(says("Done."))
    run(agent, "And in Porto?")
    assert [len(asked) for asked in scripted.questions] == [2, 2]


def test_the_tools_given_are_left_as_they_are(shell):
    tools = filtered_tools([forecast], model=Scripted(shell).model)
    assert (forecast.is_enabled, tools[0].name) == (True, "forecast")
    assert tools[0] is not forecast


def test_another_input_of_the_same_run_is_asked_about_again(shell):
    scripted = Scripted(shell, default=0.9)
    (tool,) = filtered_tools([forecast], model=scripted.model)
    context = RunContextWrapper(None)

    async def main():
        for text in ("one", "one", "two"):
            context.turn_input = [{"role": "user", "content": text}]
            await tool.is_enabled(context, None)

    asyncio.run(main())
    assert [request.input for request in scripted.requests] == ["one", "two"]


def test_runs_at_the_same_time_do_not_mix(shell):
    scripted = Scripted(shell, default=0.9)
    (tool,) = filtered_tools([forecast], model=scripted.model)

    async def main():
        contexts = [
            RunContextWrapper(None, turn_input=[{"role": "user", "content": str(n)}]) for n in range(5)
        ]
        asks = [tool.is_enabled(context, None) for context in contexts for _ in range(3)]
        return await asyncio.gather(*asks)

    assert asyncio.run(main()) == [True] * 15
    assert sorted(str(request.input) for request in scripted.requests) == ["0", "1", "2", "3", "4"]


def test_what_happens_when_the_model_fails_is_the_filters_choice(shell):
    scripted = Scripted(shell, default=DOWN)

    def seen(tool_filter):
        chat = Chat()
        run(Agent("A", model=chat, tools=filtered_tools([forecast], tool_filter, model=scripted.model)))
        return chat.seen[0]

    assert seen(None) == ["forecast"]
    assert seen(ToolFilter(fallback="no_tools")) == []
    with pytest.raises(ProviderUnavailable):
        seen(ToolFilter(fallback="fail"))
