import asyncio
import pickle

import pytest

pytest.importorskip(
    "langchain_core", reason="langchain-core is not installed: pip install 'yesno[langchain]'"
)

from langchain_core.decisions import Box, Choice, Noul, NoulCriteria, Score
from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelRateLimitError,
    ModelRefusalError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from tests.integrations.contract import IntegrationContract
from tests.shells import REFUSED, UNDECIDED, Async, Scripted, Sync
from yesno import AsyncDecisionModel, DecisionModel, FakeProvider
from yesno.errors import (
    ConfigError,
    DeadlineExceeded,
    ProviderRejected,
    ProviderUnavailable,
    QuestionError,
    Refused,
    UndecidedError,
    UnreadableReply,
)
from yesno.integrations.langchain import DecisionRefused, DecisionUndecided, YesnoDecisions

BILLING = {"billing": Noul(instructions="Is this about billing?")}


class TestLangChain(IntegrationContract):
    integration = "langchain"


@pytest.fixture
def call(shell):
    """Ask a scripted model through LangChain, in the way that suits it."""

    def ask(questions, state="I was charged twice", **script):
        scripted = Scripted(shell, **script)
        model = YesnoDecisions(scripted.model)
        request = {"state": state, "questions": questions}
        if shell is Async:
            return asyncio.run(model.ainvoke(request)), scripted
        return model.invoke(request), scripted

    return ask


def test_all_three_types_come_back_with_whole_distributions(call):
    questions = {
        **BILLING,
        "team": Choice(instructions="Which team?", criteria={"billing": "payments", "sales": None}),
        "anger": Score(instructions="How angry?", criteria=["calm", "cross", "furious"]),
    }
    answers = {
        "billing?": 0.9,
        "Which team": {"A": 0.75, "B": 0.25},
        "How angry": {"A": 0.1, "B": 0.2, "C": 0.7},
    }
    response, scripted = call(questions, answers=answers)
    assert response.nouls["billing"].noul == pytest.approx(0.9)
    assert response.choices["team"].choice == "billing"
    assert response.choices["team"].probabilities == pytest.approx({"billing": 0.75, "sales": 0.25})
    assert response.choices["team"].confidence == pytest.approx(0.5)
    score = response.scores["anger"]
    assert score.score == pytest.approx(1.6)
    assert score.legend == {0: "calm", 1: "cross", 2: "furious"}
    assert sum(score.probabilities.values()) == pytest.approx(1)
    assert score.score == pytest.approx(sum(level * share for level, share in score.probabilities.items()))
    assert response.usage["total_tokens"] == response.usage["input_tokens"] + response.usage["output_tokens"]
    assert response.model == scripted.model.model_name


def test_criteria_of_yes_and_no_reach_the_question(call):
    told = Noul(instructions="Urgent?", criteria=NoulCriteria(true="money is blocked", false={"or": "not"}))
    _, scripted = call({"urgent": told})
    (question,) = scripted.requests[0].questions.values()
    assert (question.yes_when, question.no_when) == ("money is blocked", '{"or": "not"}')


@pytest.mark.parametrize(
    "state",
    [
        HumanMessage("I was charged twice"),
        [SystemMessage("Be kind."), HumanMessage("I was charged twice")],
        {"ticket": HumanMessage("I was charged twice"), "plan": "free"},
        [{"thread": [HumanMessage("I was charged twice"), AIMessage("When?")]}, 3, None],
        [
            HumanMessage("I was charged twice"),
            AIMessage("", tool_calls=[{"name": "bill", "args": {}, "id": "1"}]),
            ToolMessage("two payments", tool_call_id="1"),
        ],
    ],
    ids=["message", "messages", "mapping", "nested", "tools"],
)
def test_messages_may_stand_anywhere_in_the_state(call, state):
    _, scripted = call(BILLING, state=state)
    assert "I was charged twice" in str(scripted.requests[0].input)
    assert "HumanMessage" not in str(scripted.requests[0].input)


IMAGE = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}


@pytest.mark.parametrize(
    ("state", "questions"),
    [
        (HumanMessage([{"type": "text", "text": "look"}, IMAGE]), BILLING),
        ({"picture": IMAGE}, BILLING),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}], BILLING),
        ("look", {"q": Noul(instructions=["Is it this?", IMAGE])}),
        ("look", {"where": Box(instructions="the cat")}),
    ],
    ids=["message", "state", "openai", "question", "box"],
)
def test_what_needs_eyes_is_refused_before_anything_is_asked(state, questions):
    provider = FakeProvider()
    with pytest.raises(QuestionError) as caught:
        YesnoDecisions(DecisionModel(provider)).invoke({"state": state, "questions": questions})
    assert "aGVsbG8=" not in str(caught.value)
    assert provider.requests == []


def test_a_refusal_is_the_framework_s_own_and_ours(call):
    with pytest.raises(DecisionRefused) as caught:
        call({**BILLING, "spam": Noul(instructions="Is it spam?")}, answers={"spam": REFUSED}, default=0.9)
    assert isinstance(caught.value, ModelRefusalError)
    assert isinstance(caught.value, Refused)
    assert "'spam'" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert (str(again), again.outcome) == (str(caught.value), caught.value.outcome)


def test_an_undecided_question_raises_and_is_no_number(call):
    with pytest.raises(DecisionUndecided) as caught:
        call(BILLING, default=UNDECIDED)
    assert isinstance(caught.value, ModelError)
    assert isinstance(caught.value, UndecidedError)
    assert caught.value.outcome.reason == "low_label_mass"


@pytest.mark.parametrize(
    ("failure", "theirs"),
    [
        (ProviderRejected("no key", provider="fake", status=401), ModelAuthenticationError),
        (ProviderUnavailable("slow", provider="fake", status=429, retryable=False), ModelRateLimitError),
        (ProviderRejected("no", provider="fake", status=422), ModelInvalidRequestError),
        (ProviderUnavailable("down", provider="fake", status=503, retryable=False), ModelAPIError),
        (UnreadableReply("nonsense", provider="fake", status=200, retryable=False), ModelError),
        (ProviderUnavailable("gone", provider="fake", retry_after=500), ModelConnectionError),
        (DeadlineExceeded("late"), ModelTimeoutError),
    ],
    ids=["401", "429", "422", "503", "unreadable", "connection", "deadline"],
)
def test_a_failing_provider_is_the_framework_s_error(call, failure, theirs):
    with pytest.raises(theirs) as caught:
        call(BILLING, default=failure)
    assert type(caught.value) is theirs
    assert caught.value.__cause__ is not None


def test_a_blocking_model_serves_ainvoke_and_an_asynchronous_one_does_not_serve_invoke():
    request = {"state": "hello", "questions": BILLING}
    response = asyncio.run(YesnoDecisions(DecisionModel(FakeProvider())).ainvoke(request))
    assert response.nouls["billing"].noul == pytest.approx(0.8)
    with pytest.raises(ConfigError, match="DecisionModel"):
        YesnoDecisions(AsyncDecisionModel(FakeProvider())).invoke(request)


def test_a_name_is_no_model():
    with pytest.raises(ConfigError, match=r"yesno\.DecisionModel"):
        YesnoDecisions("openai:gpt-5.4-mini")


def test_it_composes_as_a_runnable_and_shows_no_model_object():
    scripted = Scripted(Sync, default=0.9)
    model = YesnoDecisions(scripted.model, model="mine")
    chain = (lambda text: {"state": text, "questions": BILLING}) | model
    assert [round(r.nouls["billing"].noul, 3) for r in chain.batch(["one", "two"])] == [0.9, 0.9]
    assert "FakeProvider" not in repr(model)
    assert "decision_model" not in model.model_dump()
    assert model.model == "mine"
