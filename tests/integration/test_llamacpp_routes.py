"""llama.cpp's other routes, each through its vendor's SDK and the provider for it.

The model is close to chance on most questions: shapes and sums are checked, not who is right.
"""

import asyncio

import pytest

from tests.integration.support import KEY
from yesno import AsyncDecisionModel, Choice, DecisionModel, Scale, Undecided, YesNo
from yesno.evidence import Completion
from yesno.providers import load_provider
from yesno.providers.base import PromptTask, Turn

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

BILLING = YesNo("Is this about billing?")
TEAM = Choice("Which team?", ["billing", "support", "sales"])


def host(address):
    return address.removesuffix("/v1")


@pytest.mark.parametrize("kind", [DecisionModel, AsyncDecisionModel])
def test_samples_come_through_the_anthropic_sdk(address, kind):
    settings = {"base_url": host(address), "api_key": KEY}
    if kind is DecisionModel:
        with kind("anthropic:smollm2", **settings) as model:
            response = model.decide("I was charged twice.", {"billing": BILLING})
    else:

        async def go():
            async with kind("anthropic:smollm2", **settings) as model:
                return await model.decide("I was charged twice.", {"billing": BILLING})

        response = asyncio.run(go())
    outcome = response.outcome("billing")
    assert outcome.attempts[0].method == "sampled"
    assert response.usage.input_tokens > 0
    if not isinstance(outcome, Undecided):
        assert 0 < outcome.low <= outcome.probability <= outcome.high < 1 or outcome.samples >= 5
        assert outcome.standard_error > 0


def test_the_messages_route_says_the_same_as_its_text(address):
    provider = load_provider("anthropic:smollm2", base_url=host(address), api_key=KEY)
    task = PromptTask((Turn("system", "Be brief."), Turn("user", "Say hello.")), "smollm2", 8)
    reply = provider.parse(task, provider.send(provider.build(task)))
    provider.close()
    assert isinstance(reply.evidence, Completion)
    assert reply.evidence.text
    assert reply.usage.output_tokens <= 8


@pytest.mark.parametrize(
    "question", [BILLING, TEAM, Scale("How happy?", ["unhappy", "neither", "happy"])], ids=lambda q: q.kind
)
def test_json_answers_are_kept_to_their_schema_by_the_chat_route(address, question):
    with DecisionModel("llamacpp:smollm2", base_url=address, api_key=KEY, strategy="sampled") as model:
        answer = model.decide("I was charged twice.", question)
    assert answer.method == "sampled"
    assert answer.label_mass == 1.0
    assert 5 <= answer.samples <= 15


def test_the_responses_route_is_read_or_says_that_it_shows_nothing(address):
    settings = {"base_url": address, "api_key": KEY, "min_label_mass": 0.0, "strategy": "logprobs"}
    with DecisionModel("openai-responses:smollm2", **settings) as model:
        outcome = model.decide("I was charged twice.", {"q": BILLING}).outcome("q")
    if isinstance(outcome, Undecided):
        assert outcome.reason in ("no_logprobs", "logprobs_unsupported")
    else:
        assert 0 <= outcome.low <= outcome.probability <= outcome.high <= 1
