"""llama.cpp's other routes, each through its vendor's SDK and the provider for it.

The model is close to chance on most questions: shapes and sums are checked, not who is right.
"""

import asyncio

import pytest

from tests.integration.support import KEY
from yesno import Choice, DecisionModel, Undecided, YesNo
from yesno.engine.sampling import schema_of
from yesno.evidence import Completion
from yesno.providers import load_provider
from yesno.providers.base import PromptTask, Turn
from yesno.reading.labels import yes_no_labels

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

BILLING = YesNo("Is this about billing?")
TEAM = Choice("Which team?", ["billing", "support", "sales"])


def host(address):
    return address.removesuffix("/v1")


def test_the_anthropic_sdk_brings_the_same_sample_either_way(address):
    provider = load_provider("anthropic:smollm2", base_url=host(address), api_key=KEY)
    turns = (Turn("system", "Be brief."), Turn("user", "Was I charged twice? Reply with JSON."))
    task = PromptTask(turns, "smollm2", 12, schema=schema_of(yes_no_labels()), sample=1)

    async def awaited():
        reply = await provider.asend(provider.build(task))
        await provider.aclose()
        return reply

    for raw in (provider.send(provider.build(task)), asyncio.run(awaited())):
        reply = provider.parse(task, raw)
        assert isinstance(reply.evidence, Completion)
        assert reply.evidence.text
        assert 0 < reply.usage.output_tokens <= 12
        assert reply.usage.input_tokens > 0
    provider.close()


@pytest.mark.parametrize("question", [BILLING, TEAM], ids=["yes_no", "choice"])
def test_json_answers_are_kept_to_their_schema_by_the_chat_route(address, question):
    settings = {"base_url": address, "api_key": KEY, "strategy": "sampled", "timeout_s": 600}
    with DecisionModel("llamacpp:smollm2", **settings) as model:
        answer = model.decide("I was charged twice.", question)
    assert answer.method == "sampled"
    assert answer.label_mass == 1.0
    assert 5 <= answer.samples <= 15


def test_the_responses_route_says_that_it_has_no_logprobs_and_is_sampled(address):
    # xllamacpp 2026.10.11549 answers 400 to `include` with log-probabilities
    settings = {"base_url": address, "api_key": KEY, "timeout_s": 600}
    with DecisionModel("openai-responses:smollm2", strategy="logprobs", **settings) as model:
        outcome = model.decide("I was charged twice.", {"q": BILLING}).outcome("q")
    assert isinstance(outcome, Undecided)
    assert outcome.reason == "logprobs_unsupported"
    with DecisionModel("openai-responses:smollm2", **settings) as model:
        outcome = model.decide("I was charged twice.", {"q": BILLING}).outcome("q")
    assert [attempt.method for attempt in outcome.attempts] == ["logprobs", "sampled"]
    assert outcome.attempts[1].requests >= 5
