import asyncio
import math
from dataclasses import asdict
from enum import Enum
from typing import Annotated, Literal

import pytest

pytest.importorskip(
    "pydantic_ai", reason="pydantic-ai-slim is not installed: pip install 'yesno[pydantic-ai]'"
)

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, WithJsonSchema
from pydantic_ai import Agent, BinaryContent, FunctionToolset, ImageUrl
from pydantic_ai.capabilities import PrepareTools
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.decision import ChoiceQuestion, DecisionRequest, NoulQuestion, ScoreQuestion
from pydantic_ai.models.decision import _answer_fits as answer_fits
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel as ChattyModel

from tests.integrations.contract import IntegrationContract
from tests.shells import REFUSED, UNDECIDED, Scripted, Sync
from yesno import Budget, FakeProvider
from yesno.errors import BudgetExceeded, ConfigError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.filters import ToolFilter
from yesno.integrations._decisions import answers_of, asked_in
from yesno.integrations.pydantic_ai import YesnoModel, prepare_tools
from yesno.integrations.pydantic_ai import _answer as theirs_of
from yesno.questions import ChoiceAnswer, ScaleAnswer, YesNoAnswer
from yesno.response import DecisionResponse

DOWN = ProviderUnavailable("down", provider="fake", retryable=False)


class TestPydanticAI(IntegrationContract):
    integration = "pydantic_ai"


def run(agent, prompt, **settings):
    """Run an agent in a loop that is closed again; `run_sync` leaves its own open."""
    return asyncio.run(agent.run(prompt, **settings))


class Team(Enum):
    BILLING = "billing"
    SUPPORT = "support"


LEVELS = [{"const": level, "description": word} for level, word in enumerate(("calm", "cross", "furious"))]


class Ticket(BaseModel):
    billing: bool = Field(description="Is this about billing?")
    team: Team = Field(description="Which team?")
    anger: Annotated[Literal[0, 1, 2], WithJsonSchema({"description": "How angry?", "anyOf": LEVELS})]


ANSWERS = {
    "billing?": 0.9,
    "Which team": {"A": 0.75, "B": 0.25},
    "How angry": {"A": 0.1, "B": 0.2, "C": 0.7},
}


def test_an_agent_s_output_type_becomes_questions(shell):
    scripted = Scripted(shell, ANSWERS)
    result = run(Agent(YesnoModel(scripted.model), output_type=Ticket), "I was charged twice")
    assert result.output == Ticket(billing=True, team=Team.BILLING, anger=2)
    assert len(scripted.requests) == 1
    assert "I was charged twice" in str(scripted.requests[0].input)
    assert result.usage.output_tokens == 3


QUESTIONS = {
    "spam": NoulQuestion(instructions="Spam?"),
    "team": ChoiceQuestion(
        instructions="Team?", criteria={"billing": "payments", "support": None, "sales": None}
    ),
    "anger": ScoreQuestion(instructions="Angry?", criteria=["calm", "cross", "furious"]),
}


@pytest.mark.parametrize("first", [0.98, 1 / 3, 0.2, 1e-9])
def test_numbers_pass_the_strict_checks_of_the_framework(shell, first):
    rest = (1 - first) / 2
    letters = {"A": first, "B": rest, "C": rest}
    scripted = Scripted(shell, {"Spam?": first, "Team?": letters, "Angry?": letters})
    model = YesnoModel(scripted.model)
    response = asyncio.run(model.decide(DecisionRequest(state="hello", questions=QUESTIONS), {}))
    assert response.answers.keys() == QUESTIONS.keys()
    assert all(answer_fits(question, response.answers[name]) for name, question in QUESTIONS.items())
    assert sum(response.answers["team"].probabilities.values()) == pytest.approx(1, abs=1e-9)
    score = response.answers["anger"]
    assert score.score == pytest.approx(sum(level * share for level, share in score.probabilities.items()))
    assert score.legend == {0: "calm", 1: "cross", 2: "furious"}


@settings(max_examples=25)
@given(st.lists(st.floats(1e-12, 1), min_size=3, max_size=3))
def test_any_distribution_fits_the_framework_s_checks(weights):
    shares = [weight / math.fsum(weights) for weight in weights]
    asked = asked_in("hello", {name: asdict(question) for name, question in QUESTIONS.items()})
    teams = dict(zip(QUESTIONS["team"].criteria, shares, strict=True))
    response = DecisionResponse(
        {
            "spam": YesNoAnswer(shares[0]),
            "team": ChoiceAnswer(max(teams, key=teams.get), teams),
            "anger": ScaleAnswer(math.fsum(n * share for n, share in enumerate(shares)), tuple(shares)),
        }
    )
    for name, answer in answers_of(asked, response).items():
        assert answer_fits(QUESTIONS[name], theirs_of(answer)), name


@pytest.mark.parametrize("state", ["text", {"ticket": "text"}, ["a", "list"], 42], ids=str)
def test_any_json_may_be_the_state(shell, state):
    scripted = Scripted(shell, default=0.9)
    asked = DecisionRequest(state=state, questions={"q": NoulQuestion(instructions="Is it?")})
    assert asyncio.run(YesnoModel(scripted.model).decide(asked, {})).answers["q"].noul == pytest.approx(0.9)


def test_a_question_s_names_and_structured_instructions_reach_the_model(shell):
    scripted = Scripted(shell, default=0.9)
    question = NoulQuestion(instructions={"field": "spam", "question": "Is it?"})
    asyncio.run(
        YesnoModel(scripted.model).decide(DecisionRequest(state="x", questions={"spam": question}), {})
    )
    assert scripted.questions == [['{"field": "spam", "question": "Is it?"}']]
    assert [*scripted.requests[0].questions] == ["spam"]


def decide(shell, reply, question=QUESTIONS["spam"], settings=None, **more):
    scripted = Scripted(shell, default=reply)
    asked = DecisionRequest(state="hello", questions={"q": question}, **more)
    return asyncio.run(YesnoModel(scripted.model).decide(asked, settings or {})), scripted


@pytest.mark.parametrize(
    ("reply", "theirs"),
    [
        (REFUSED, ContentFilterError),
        (UNDECIDED, ModelAPIError),
        (DOWN, ModelAPIError),
        (ProviderRejected("no key", provider="fake", status=401), ModelHTTPError),
        (UnreadableReply("nonsense", provider="fake"), UnexpectedModelBehavior),
    ],
    ids=["refused", "undecided", "down", "401", "unreadable"],
)
def test_what_is_no_answer_is_the_framework_s_error_and_never_a_number(shell, reply, theirs):
    with pytest.raises(theirs) as caught:
        decide(shell, reply)
    assert caught.value.__cause__ is not None


def test_one_refused_question_fails_the_whole_call_and_is_named(shell):
    scripted = Scripted(shell, {"Spam?": REFUSED}, default={"A": 0.4, "B": 0.3, "C": 0.3})
    with pytest.raises(ContentFilterError, match="'spam'"):
        asyncio.run(YesnoModel(scripted.model).decide(DecisionRequest(state="x", questions=QUESTIONS), {}))


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (ChoiceQuestion(instructions="Which?", criteria={"only": None}), {}),
        (NoulQuestion(), {}),
        (QUESTIONS["spam"], {"images": (BinaryContent(b"x", media_type="image/png"),)}),
    ],
    ids=["one-option", "nothing-asked", "image"],
)
def test_what_cannot_be_asked_is_a_user_error_before_anything_is_sent(shell, question, more):
    with pytest.raises(UserError):
        decide(shell, AssertionError("it was sent"), question, **more)


def test_the_timeout_of_the_settings_is_that_of_the_decision(shell):
    _, scripted = decide(shell, 0.9, settings={"timeout": 7.5})
    assert scripted.requests[0].parameters.timeout_s == 7.5
    assert scripted.requests[0].parameters.model_name == scripted.model.model_name


@pytest.mark.parametrize("reply", [UNDECIDED, DOWN], ids=["undecided", "down"])
def test_a_fallback_model_goes_on_where_there_is_no_answer(shell, reply):
    scripted = Scripted(shell, default=reply)
    second = ChattyModel(custom_output_args={"billing": True, "team": "support", "anger": 1})
    agent = Agent(FallbackModel(YesnoModel(scripted.model), second), output_type=Ticket)
    assert run(agent, "hello").output == Ticket(billing=True, team=Team.SUPPORT, anger=1)


def test_an_empty_budget_ends_the_run_and_no_other_model_goes_on(shell):
    spent = shell(FakeProvider(), budget=Budget(requests=0))
    agent = Agent(FallbackModel(YesnoModel(spent.model), ChattyModel()), output_type=Ticket)
    with pytest.raises(BudgetExceeded):
        run(agent, "hello")


@pytest.mark.parametrize("model", ["openai:gpt-5.4-mini", None])
def test_a_name_is_no_model(model):
    with pytest.raises(ConfigError, match=r"yesno\.DecisionModel"):
        YesnoModel(model)


def test_its_names_are_those_of_the_model():
    model = YesnoModel(Sync(FakeProvider()).model)
    assert (model.model_name, model.system) == ("fake", "fake")


def forecast(city: str) -> str:
    """Say how the weather will be."""
    return f"sunny in {city}"


def send_email(to: str) -> str:
    """Send an e-mail."""
    return f"sent to {to}"


def run_agent(scripted, prompt="Will it rain in Lisbon?", tool_filter=None, *, toolset=False, **settings):
    """Run an agent that calls `forecast`, and then answers; return the tools that its model saw at each step."""
    seen = []

    def chat(messages, info):
        seen.append([tool.name for tool in info.function_tools])
        if len(seen) == 1 and info.function_tools:
            return ModelResponse([ToolCallPart("forecast", {"city": "Lisbon"}, "1")])
        return ModelResponse([TextPart("Sunny.")])

    prepare = prepare_tools(tool_filter, model=scripted.model)
    if toolset:
        tools = {"toolsets": [FunctionToolset([forecast, send_email]).prepared(prepare)]}
    else:
        tools = {"tools": [forecast, send_email], "capabilities": [PrepareTools(prepare)]}
    run(Agent(FunctionModel(chat), system_prompt="You help sailors.", **tools), prompt, **settings)
    return seen


def said(request):
    """Return who said what in the conversation that a request is about."""
    return [(message["role"], message.get("text")) for message in request.input["messages"]]


@pytest.mark.parametrize("toolset", [False, True], ids=["capability", "toolset"])
def test_an_agent_s_model_sees_the_tools_that_help(shell, toolset):
    scripted = Scripted(shell, {"forecast": 0.9}, default=0.1)
    assert run_agent(scripted, toolset=toolset) == [["forecast"], ["forecast"]]
    first, second = scripted.requests
    assert said(first) == [("system", "You help sailors."), ("user", "Will it rain in Lisbon?")]
    assert [role for role, _ in said(second)] == ["system", "user", "assistant", "tool"]
    assert said(second)[-1] == ("tool", "sunny in Lisbon")
    assert len(second.questions) == 1  # what the conversation calls is not asked about again


def test_a_prompt_of_parts_keeps_its_text_and_marks_its_image(shell):
    scripted = Scripted(shell, default=0.9)
    run_agent(scripted, ["Where is this?", ImageUrl("https://example.com/a.png")])
    assert said(scripted.requests[0])[-1] == ("user", "Where is this?\n[attached image]")


def test_history_is_part_of_the_conversation(shell):
    scripted = Scripted(shell, default=0.9)
    history = run(Agent(ChattyModel(custom_output_text="In Lisbon.")), "Where am I?").all_messages()
    run_agent(scripted, "Will it rain there?", message_history=history)
    assert [text for role, text in said(scripted.requests[0]) if role != "system"] == [
        "Where am I?",
        "In Lisbon.",
        "Will it rain there?",
    ]


def test_what_happens_when_the_model_fails_is_the_filters_choice(shell):
    scripted = Scripted(shell, default=DOWN)
    assert run_agent(scripted)[0] == ["forecast", "send_email"]
    assert run_agent(scripted, tool_filter=ToolFilter(fallback="no_tools"))[0] == []
    with pytest.raises(ProviderUnavailable):
        run_agent(scripted, tool_filter=ToolFilter(fallback="fail"))
