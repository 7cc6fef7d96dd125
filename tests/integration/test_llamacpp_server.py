"""llama.cpp's own HTTP server, driven through `openai-compatible` and the official SDK.

The model is close to chance on most questions: shapes, sums, bounds and equality are checked, not who is right.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.integration.support import KEY
from yesno import AsyncDecisionModel, Choice, DecisionModel, RetryPolicy, Scale, YesNo, ask, gather
from yesno.errors import DeadlineExceeded, ProviderRejected, ProviderUnavailable

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

CITIES = [
    "Paris",
    "Rome",
    "Oslo",
    "Cairo",
    "Lima",
    "Quito",
    "Accra",
    "Delhi",
    "Tokyo",
    "Seoul",
    "Hanoi",
    "Manila",
    "Dublin",
    "Lisbon",
    "Madrid",
    "Berne",
    "Vienna",
    "Prague",
    "Warsaw",
    "Kyiv",
    "Riga",
    "Tallinn",
    "Vilnius",
    "Athens",
    "Sofia",
    "Zagreb",
    "Tunis",
    "Rabat",
    "Dakar",
    "Nairobi",
]
SENTENCE = "The delivery came three days late and the box was damaged, but the support was friendly. "
MOOD = Scale("How happy is the customer?", ["unhappy", "neither", "happy"])
BILLING = YesNo("Is this about billing?")


def connect(kind, address, **options):
    given = {"api_key": KEY, "min_label_mass": 0.0, **options}
    model = kind("openai-compatible:smollm2", base_url=address, **given)
    # this server reports log-probabilities unscaled, and so weak a model must not be left to chance
    model.provider.profile = replace(model.provider.profile, temperature=0.0)
    return model


@pytest.fixture(scope="module")
def model(address):
    with connect(DecisionModel, address) as model:
        yield model


def awaited(address, work, **options):
    async def go():
        async with connect(AsyncDecisionModel, address, **options) as model:
            return await work(model)

    return asyncio.run(go())


def is_distribution(shares):
    return sum(shares) == pytest.approx(1, abs=1e-9) and all(0 <= share <= 1 for share in shares)


def test_a_yes_no_question_has_a_probability_with_bounds(model):
    answer = model.decide("I was charged twice.", BILLING)
    assert 0 < answer.low <= answer.probability <= answer.high < 1
    assert answer.label_mass > 0.05
    assert answer.method == "logprobs"


@pytest.mark.parametrize("count", [2, 7, 30])
def test_a_choice_has_a_share_for_every_option(model, count):
    answer = model.decide("I live in Oslo.", Choice("Which city is named?", CITIES[:count]))
    assert list(answer.probabilities) == CITIES[:count]
    assert is_distribution(answer.probabilities.values())
    assert answer.value in CITIES[:count]
    assert ("tournament" in answer.flags) == (count > 20)
    assert answer.attempts[0].requests == (1 if count <= 20 else 3)


def test_a_scale_has_a_mean_within_its_bounds(model):
    answer = model.decide(SENTENCE, MOOD)
    assert is_distribution(answer.probabilities)
    assert 0 <= answer.low <= answer.mean <= answer.high <= 2


def test_several_questions_come_back_under_their_names_with_the_tokens_spent(model):
    response = model.decide({"text": SENTENCE}, {"b": BILLING, "m": MOOD, "c": Choice("q?", ["one", "two"])})
    assert list(response.answers) == ["b", "m", "c"]
    assert response.usage.requests >= 3
    assert response.usage.input_tokens > 100
    assert response.usage.output_tokens >= 3
    assert response.model


def test_unicode_travels_both_ways(model):
    answer = model.decide(
        {"texto": "¿Dónde está la estación? 駅はどこですか 🚉", "weird": "\ud800\x00\u2028"},
        Choice("Über welches Thema?", ["Bahnhof 🚉", "日本語", "مرحبا"]),
    )
    assert list(answer.probabilities) == ["Bahnhof 🚉", "日本語", "مرحبا"]
    assert is_distribution(answer.probabilities.values())


def test_a_long_input_is_read_whole(model):
    response = model.decide(SENTENCE * 85, {"q": YesNo("Is this a complaint?")})
    assert response.usage.input_tokens > 1500
    assert 0 < response.yes_no("q").probability < 1


def test_eight_callers_at_once_each_get_their_own_answer(model):
    texts = [f"My order number {i} has not arrived." for i in range(8)]
    question = YesNo("Is something missing?")
    alone = [model.decide(text, question).probability for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: model.decide(text, question).probability, texts))
    assert together == pytest.approx(alone, abs=1e-3)


def test_a_server_with_several_places_answers_map_and_flows_in_order(serve):
    texts = ["I was charged twice.", "It is raining in Oslo.", SENTENCE, "2 + 2 = 4", "Where is my refund?"]
    running = serve(4)
    with connect(DecisionModel, running.address) as model:
        alone = [model.decide(text, BILLING).probability for text in texts]
        mapped = [outcome.probability for outcome in model.map(texts, BILLING)]
        gathered = [answer.probability for answer in model.run(gather([ask(BILLING, t) for t in texts]))]

    async def work(twin):
        return [outcome.probability async for outcome in twin.map(texts, BILLING)]

    for shares in (mapped, gathered, awaited(running.address, work)):
        assert shares == pytest.approx(alone, abs=0.1)


@pytest.mark.parametrize(
    ("question", "number"),
    [
        (BILLING, lambda answer: answer.probability),
        (Choice("Which city is named?", CITIES[:7]), lambda answer: answer.probabilities["Oslo"]),
        (MOOD, lambda answer: answer.mean),
    ],
    ids=["yes_no", "choice", "scale"],
)
def test_sync_async_and_the_same_request_twice_give_equal_probabilities(address, model, question, number):
    text = "I was charged twice in Oslo."
    first, second = (number(model.decide(text, question)) for _ in range(2))
    third = number(awaited(address, lambda twin: twin.decide(text, question)))
    assert [second, third] == pytest.approx([first, first], abs=1e-3)


def test_a_wrong_key_says_what_to_check(address):
    stranger = connect(DecisionModel, address, api_key="wrong")
    with stranger, pytest.raises(ProviderRejected, match="API key") as info:
        stranger.decide("x", BILLING)
    assert (info.value.status, info.value.retryable) == (401, False)
    with pytest.raises(ProviderRejected, match="API key"):
        awaited(address, lambda twin: twin.decide("x", BILLING), api_key="wrong")


def test_a_deadline_ends_a_request_under_way(address):
    began = time.monotonic()
    with connect(DecisionModel, address, timeout_s=0.1) as model, pytest.raises(DeadlineExceeded):
        model.decide(SENTENCE * 20, BILLING)
    with pytest.raises(DeadlineExceeded):
        awaited(address, lambda twin: twin.decide(SENTENCE * 20, BILLING), timeout_s=0.1)
    assert time.monotonic() - began < 10


def test_a_server_that_is_stopped_is_unavailable_at_once(serve):
    running = serve(1)
    once = RetryPolicy(attempts=1)
    with connect(DecisionModel, running.address, retry=once) as model:
        assert 0 < model.decide("x", BILLING).probability < 1
        running.stop()
        began = time.monotonic()
        with pytest.raises(ProviderUnavailable, match=running.address):
            model.decide("x", BILLING)
    with pytest.raises(ProviderUnavailable, match=running.address):
        awaited(running.address, lambda twin: twin.decide("x", BILLING), retry=once)
    assert time.monotonic() - began < 10
