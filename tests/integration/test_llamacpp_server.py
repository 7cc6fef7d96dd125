"""llama.cpp's own HTTP server, driven through `openai-compatible` and the official SDK."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from yesno import AsyncDecisionModel, Choice, DecisionModel, RetryPolicy, Scale, YesNo
from yesno.errors import ProviderRejected, ProviderUnavailable
from yesno.models.download import pull

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

KEY = "a-key-for-this-test"
CAPITALS = [
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


@pytest.fixture(scope="module")
def server():
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(pull("smollm2"))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [KEY]
    params.n_parallel = 1  # neighbours in a batch change the rounding: by up to 0.04 with this model
    params.n_ctx = 4096
    params.verbosity = -1
    params.warmup = False
    params.cache_prompt = False  # a reused prefix is computed in other batches and rounds differently
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"
    del running


def connect(kind, server, **options):
    return kind("openai-compatible:smollm2", base_url=server, api_key=KEY, min_label_mass=0.0, **options)


@pytest.fixture(scope="module")
def model(server):
    with connect(DecisionModel, server) as model:
        yield model


def is_distribution(shares):
    return sum(shares) == pytest.approx(1, abs=1e-9) and all(0 <= share <= 1 for share in shares)


def test_a_yes_no_question_has_a_probability_with_bounds(model):
    answer = model.decide("I was charged twice.", YesNo("Is this about billing?"))
    assert 0 < answer.low <= answer.probability <= answer.high < 1
    assert answer.label_mass > 0.05
    assert answer.method == "logprobs"


@pytest.mark.parametrize("count", [2, 7, 30])
def test_a_choice_has_a_share_for_every_option(model, count):
    answer = model.decide("I live in Oslo.", Choice("Which city is named?", CAPITALS[:count]))
    assert list(answer.probabilities) == CAPITALS[:count]
    assert is_distribution(answer.probabilities.values())
    assert ("tournament" in answer.flags) == (count > 20)
    assert answer.attempts[0].requests == (1 if count <= 20 else 3)


def test_a_scale_has_a_mean_within_its_bounds(model):
    answer = model.decide(SENTENCE, Scale("How happy is the customer?", ["unhappy", "neither", "happy"]))
    assert is_distribution(answer.probabilities)
    assert 0 <= answer.low <= answer.mean <= answer.high <= 2


def test_unicode_travels_both_ways(model):
    answer = model.decide(
        {"texto": "¿Dónde está la estación? 駅はどこですか 🚉"},
        Choice("Über welches Thema?", ["Bahnhof 🚉", "日本語", "مرحبا"]),
    )
    assert list(answer.probabilities) == ["Bahnhof 🚉", "日本語", "مرحبا"]


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


def test_sync_async_and_the_same_request_twice_give_equal_probabilities(server, model):
    question = YesNo("Is this about billing?")
    first = model.decide("I was charged twice.", question).probability
    second = model.decide("I was charged twice.", question).probability

    async def go():
        async with connect(AsyncDecisionModel, server) as twin:
            return (await twin.decide("I was charged twice.", question)).probability

    assert [second, asyncio.run(go())] == pytest.approx([first, first], abs=1e-3)


def test_a_wrong_key_says_what_to_check(server):
    stranger = DecisionModel("openai-compatible:smollm2", base_url=server, api_key="wrong")
    with stranger, pytest.raises(ProviderRejected, match="API key") as info:
        stranger.decide("x", YesNo("q?"))
    assert info.value.status == 401


def test_a_server_that_is_gone_is_unavailable():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    gone = connect(DecisionModel, f"http://127.0.0.1:{port}/v1", retry=RetryPolicy(attempts=1))
    with pytest.raises(ProviderUnavailable, match=str(port)):
        gone.decide("x", YesNo("q?"))
