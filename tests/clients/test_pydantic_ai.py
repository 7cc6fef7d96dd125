"""pydantic-ai's two decision models against the server, unmodified. They check sums, means and names strictly."""

import asyncio
from enum import Enum
from typing import Annotated, Literal

import pytest

pytest.importorskip("pydantic_ai.models.openai_decisions", reason="the extra `compat` is not installed")

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.exceptions import ContentFilterError, ModelHTTPError
from pydantic_ai.models.decision import (
    ChoiceQuestion,
    DecisionRequest,
    NoulCriteria,
    NoulQuestion,
    ScoreQuestion,
)
from pydantic_ai.models.openai_decisions import OpenAIDecisionsModel
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.system_one import SystemOneProvider

from tests.clients.scripted import DOWN, MUTE, REFUSE

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

TICKET = "I was charged twice"


class Team(Enum):
    BILLING = "billing"
    SUPPORT = "support"


class Handling(BaseModel):
    """How to handle a ticket."""

    charged: bool = Field(description="Was the customer charged twice?")
    unrelated: bool = Field(description="Is it about something else?")
    likely: Annotated[float, Field(ge=0, le=1, description="Was it charged?")]
    verdict: Literal["charged", "escalate", "ask"] = Field(description="What to do?")
    team: Team = Field(description="Which team?")
    tags: list[Literal["charged", "shipping"]] = Field(description="What is it about?")


QUESTIONS = {
    "charged": NoulQuestion(instructions="Was the customer charged?", criteria=NoulCriteria(true="twice")),
    "bare": NoulQuestion(instructions={"field": "bare", "question": "Is it about something else?"}),
    "team": ChoiceQuestion(
        instructions="Which team?", criteria={"billing": "was charged", "support": None, "é": "x"}
    ),
    "mood": ScoreQuestion(
        instructions={"ask": ["How", "angry?"]}, criteria=["calm", {"was": "charged"}, "angry"]
    ),
    "many": ChoiceQuestion(
        instructions="Which?", criteria={f"queue {number:03d}": f"words {number}" for number in range(255)}
    ),
    "levels": ScoreQuestion(instructions="Which?", criteria=[f"level {number}" for number in range(10)]),
}


@pytest.fixture(params=["openai", "systemone", "systemone-v1"])
def make(request, root):
    """Return a function that makes a model in the event loop that is to use it."""
    if request.param == "openai":
        return lambda: OpenAIDecisionsModel(
            "gpt-6-luna", provider=OpenAIProvider(base_url=f"{root}/v1", api_key="unused")
        )
    base = root if request.param == "systemone" else f"{root}/v1"
    return lambda: SystemOneModel("jev-latest", provider=SystemOneProvider(base_url=base))


def ran(make, prompt, output_type=Handling, **settings):
    async def run():
        async with Agent(make(), output_type=output_type) as agent:
            return await agent.run(prompt, **settings)

    return asyncio.run(run())


def decided(make, questions, state=TICKET):
    async def decide():
        model = make()
        async with model:
            return await model.decide(DecisionRequest(state=state, questions=questions), {})

    return asyncio.run(decide())


def test_an_agent_fills_a_model_with_fields_of_every_type(make):
    result = ran(make, TICKET)
    assert result.output.charged is True
    assert result.output.unrelated is False
    assert result.output.likely > 0.8
    assert result.output.verdict == "charged"
    assert result.output.tags == ["charged"]
    assert result.output.team in Team
    assert result.usage.requests == 1


def test_questions_of_every_type_pass_the_strict_checks(make):
    response = decided(make, QUESTIONS)
    assert response.answers["charged"].noul > 0.8
    assert response.answers["bare"].noul < 0.5
    assert response.answers["team"].choice == "billing"
    assert 0 < response.answers["mood"].score < 2
    assert response.answers["many"].probabilities.keys() == QUESTIONS["many"].criteria.keys()
    assert len(response.answers["levels"].probabilities) == 10
    assert response.model_name


def test_a_structured_state_is_read(make):
    answers = decided(
        make, QUESTIONS, state={"subject": TICKET, "order": 4471, "notes": [None, True]}
    ).answers
    assert answers["charged"].noul > 0.8


def test_synchronous_runs_work(make):
    with asyncio.Runner() as runner:
        runner.get_loop()  # the one that `run_sync` finds, and that closes the client
        model = make()
        assert Agent(model, output_type=Handling).run_sync(TICKET).output.charged is True
        runner.run(closed(model))


async def closed(model):
    async with model:
        pass


def test_options_that_say_all_need_no_instructions(make):
    assert ran(make, TICKET, Literal["charged", "shipped"]).output == "charged"


@pytest.mark.parametrize("words", [REFUSE, MUTE], ids=["refused", "undecided"])
def test_what_has_no_answer_is_an_error_and_no_number(make, words):
    with pytest.raises((ContentFilterError, ModelHTTPError)) as caught:
        decided(make, {"no": NoulQuestion(instructions=f"Is it {words}?")})
    assert "no" in str(caught.value)


def test_a_failing_provider_is_an_error_with_its_status(make):
    with pytest.raises(ModelHTTPError) as caught:
        decided(make, {"q": NoulQuestion(instructions=f"Is it {DOWN}?")})
    assert caught.value.status_code in (502, 503)


def test_too_many_options_are_a_client_error(make):
    many = ChoiceQuestion(instructions="Which?", criteria={str(number): None for number in range(256)})
    with pytest.raises(ModelHTTPError) as caught:
        decided(make, {"many": many})
    assert caught.value.status_code in (400, 422)
