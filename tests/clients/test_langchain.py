"""LangChain's decision clients, `OpenAIDecisions` and `TypeSafeClassifier`, against the server, unmodified."""

import asyncio
import math

import pytest

pytest.importorskip("langchain_typesafe", reason="the extra `compat` is not installed")

import langchain_typesafe as jev
import openai
from langchain_core.exceptions import ModelInvalidRequestError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import decisions as luna
from langchain_openai.decisions import OpenAIDecisions
from langchain_typesafe import TypeSafeClassifier, client

from tests.clients.scripted import DOWN, MUTE, REFUSE

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning"),
]

TALK = [
    SystemMessage("You help customers."),
    HumanMessage("I was charged twice"),
    AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}]),
    ToolMessage("two payments", tool_call_id="1"),
]
LUNA = {
    "charged": luna.Predicate(instructions="Was the customer charged twice?"),
    "team": luna.Choice(instructions="Which?", choices={True: "was charged", False: None, "true": None}),
    "mood": luna.Score(
        instructions="How?",
        levels=[luna.Level(label="calm"), luna.Level(label="angry", description="charged")],
    ),
}
JEV = {
    "charged": jev.Noul(instructions="Was the customer charged twice?"),
    "team": jev.Choice(instructions="Which?", criteria={"billing": "was charged", "support": {"x": 1}}),
    "mood": jev.Score(instructions={"ask": "How?"}, criteria=["calm", "was charged"]),
}


@pytest.fixture
def decisions(root):
    decisions = OpenAIDecisions(model="gpt-6-luna", base_url=f"{root}/v1", api_key="unused", max_retries=0)
    yield decisions
    decisions._client.close()


@pytest.fixture
def classifier(root):
    classifier = TypeSafeClassifier(base_url=root, api_key="unused")
    yield classifier
    classifier.client.close()


@pytest.mark.parametrize("state", ["I was charged twice", HumanMessage("charged"), TALK, {"talk": TALK}])
def test_openai_decisions_answer_each_type_of_question(decisions, state):
    response = decisions.invoke({"input": state, "questions": LUNA})
    assert response.predicates["charged"].probability > 0.8
    assert response.choices["team"].choice is True
    assert math.fsum(response.choices["team"].probabilities.values()) == pytest.approx(1, abs=1e-9)
    assert 0.5 < response.scores["mood"].score <= 1
    assert response.usage.input_tokens >= 0
    assert response.request_id


@pytest.mark.parametrize("words", [REFUSE, MUTE], ids=["refused", "undecided"])
def test_openai_decisions_see_a_refusal_beside_answers(decisions, words):
    asked = {**LUNA, "no": luna.Predicate(instructions=f"Is this {words}?")}
    response = decisions.invoke({"input": "charged", "questions": asked})
    assert response.answers["no"].type == "refusal"
    assert response.predicates["charged"].probability > 0.8


def test_openai_decisions_raise_the_sdks_errors(decisions):
    with pytest.raises(openai.BadRequestError):
        decisions.invoke({"input": "x", "questions": {}})
    with pytest.raises(openai.InternalServerError):
        decisions.invoke({"input": DOWN, "questions": LUNA})


def test_openai_decisions_in_batches_and_asynchronously(decisions):
    request = {"input": "charged", "questions": LUNA}
    one = decisions.invoke(request).answers
    assert [response.answers for response in decisions.batch([request] * 3)] == [one] * 3

    async def abatch():
        batch = await decisions.abatch([request] * 3)
        await decisions._async_client.close()
        return batch

    batch = asyncio.run(abatch())
    assert [response.answers for response in batch] == [one] * 3


@pytest.mark.parametrize(
    "state", ["I was charged twice", TALK, {"talk": TALK}, [{"n": None}, "charged twice"]]
)
def test_the_classifier_answers_each_type_of_question(classifier, state):
    response = classifier.invoke({"state": state, "questions": JEV})
    assert response.nouls["charged"].noul > 0.8
    assert response.choices["team"].choice == "billing"
    assert math.fsum(response.choices["team"].probabilities.values()) == pytest.approx(1, abs=1e-9)
    assert 0.5 < response.scores["mood"].score <= 1
    assert response.request_id


def test_the_classifier_raises_its_typed_errors(classifier):
    many = jev.Choice(instructions="Which?", criteria={str(number): None for number in range(256)})
    with pytest.raises(ModelInvalidRequestError):
        classifier.invoke({"state": "x", "questions": {"many": many}})
    for words in (REFUSE, MUTE):
        with pytest.raises(client.TypeSafeAPIError):
            classifier.invoke({"state": words, "questions": JEV})
    with pytest.raises(client.TypeSafeInternalServerError):
        classifier.invoke({"state": DOWN, "questions": JEV})


def test_the_classifier_asynchronously(classifier):
    request = {"state": "charged", "questions": JEV}

    async def invoke():
        response = await classifier.ainvoke(request)
        await classifier.async_client.aclose()
        return response

    assert asyncio.run(invoke()).answers == classifier.invoke(request).answers
