"""TypeSafe's own Python client against the server, unmodified."""

import asyncio
import math

import pytest

pytest.importorskip("typesafe_sdk", reason="the extra `compat` is not installed")

import typesafe_sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Image, Noul, RetryPolicy, Score, TypeSafeClient

from tests.clients.scripted import BUSY_ONCE, DOWN, MUTE, REFUSE

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

TICKET = "I was charged twice for my March invoice"
NO_RETRY = RetryPolicy(max_retries=0)
CHARGED = Noul(instructions="Was the customer charged twice?")
TEAM = Choice(
    instructions="Which team?",
    criteria={"support": "using the product", "billing": "who was charged", "": None},
)
MOOD = Score(instructions="How calm?", criteria=["calm", "annoyed, charged twice", "angry"])
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6260606060000000050001a5f645400000000049454e44ae426082"
)


@pytest.fixture
def client(root):
    with TypeSafeClient(base_url=root, api_key="unused", retry=NO_RETRY) as client:
        yield client


def test_answers_of_each_type_come_under_the_ids_of_their_questions(client):
    response = client.system_one(state=TICKET, questions={"q 1": CHARGED, "질문": TEAM, "🎯": MOOD})
    assert response.nouls["q 1"].noul > 0.8
    team, mood = response.choices["질문"], response.scores["🎯"]
    assert team.choice == "billing"
    assert [*team.probabilities] == ["support", "billing", ""]
    assert math.fsum(team.probabilities.values()) == pytest.approx(1, abs=1e-9)
    shares = [mood.probabilities[level] for level in range(3)]
    assert mood.score == pytest.approx(shares[1] + 2 * shares[2], abs=1e-9)
    assert mood.legend == {0: "calm", 1: "annoyed, charged twice", 2: "angry"}


def test_confidence_follows_the_formula_of_the_vendors_adapter(client):
    response = client.system_one(state=TICKET, questions={"team": TEAM, "mood": MOOD})
    most = max(response.choices["team"].probabilities.values())
    assert response.choices["team"].confidence == pytest.approx((most - 1 / 3) / (1 - 1 / 3), abs=1e-9)
    shares = [response.scores["mood"].probabilities[level] for level in range(3)]
    spread = math.fsum(share * abs(level - 1) for level, share in enumerate(shares))
    assert response.scores["mood"].confidence == pytest.approx(max(0, 1 - spread / (2 / 3)), abs=1e-9)


def test_the_model_the_usage_and_the_request_id_are_filled(client):
    response = client.system_one(state=TICKET, questions={"q": CHARGED})
    assert response.model
    assert response.usage.input_tokens >= 0
    assert response.usage.output_tokens >= 0
    assert response.request_id


@pytest.mark.parametrize(
    "state",
    ["", {"ticket": {"body": TICKET}, "plan": None}, [TICKET, {"n": 1}, None]],
    ids=["empty", "map", "list"],
)
def test_any_state_is_taken(client, state):
    response = client.system_one(state=state, questions={"q": CHARGED})
    assert (response.nouls["q"].noul > 0.5) is bool(state)


def test_instructions_and_criteria_may_be_objects_and_lists(client):
    response = client.system_one(
        state=TICKET,
        questions={
            "yes": {
                "type": "noul",
                "instructions": {"ask": "Was it charged?"},
                "criteria": {"true": ["twice"]},
            },
            "which": {
                "type": "choice",
                "instructions": ["Which?"],
                "criteria": {"a": {"was": "charged"}, "b": ["x"]},
            },
            "much": {"type": "score", "criteria": [{"level": "low"}, ["charged", "twice"]]},
            "bare": {
                "type": "noul",
                "instructions": None,
                "criteria": {"true": "It was charged", "false": None},
            },
        },
    )
    assert response.choices["which"].choice == "a"
    assert response.scores["much"].score > 0.5
    assert response.nouls["yes"].noul > 0.5
    assert response.nouls["bare"].noul > 0.5


def test_names_of_options_come_back_byte_for_byte(client):
    names = ["é", "e\u0301", "Straße", "STRASSE", "\u200bx", "x", " x ", "a\nb", "true", "True"]
    response = client.system_one(
        state=TICKET, questions={"q": Choice(instructions="Which?", criteria=dict.fromkeys(names))}
    )
    assert [*response.choices["q"].probabilities] == names


def test_three_hundred_questions_in_a_compressed_body_are_taken(root):
    questions = {f"q{number}": CHARGED for number in range(300)}
    for compression in ("zstd", False):
        with TypeSafeClient(
            base_url=root, api_key="unused", retry=NO_RETRY, compression=compression
        ) as client:
            response = client.system_one(state=TICKET * 120, questions=questions)
        assert [*response.nouls] == [*questions]


def test_255_options_and_ten_levels_are_taken(client):
    options = {**{f"queue {number:03d}": None for number in range(254)}, "charged": "charged twice"}
    response = client.system_one(
        state=TICKET,
        questions={
            "queue": Choice(instructions="Which?", criteria=options),
            "level": Score(instructions="How?", criteria=[f"level {number}" for number in range(10)]),
        },
    )
    assert response.choices["queue"].choice == "charged"
    assert [*response.choices["queue"].probabilities] == [*options]
    assert len(response.scores["level"].probabilities) == 10


@pytest.mark.parametrize(
    "question",
    [
        {"type": "Noul", "instructions": "Is it?"},
        {
            "type": "choice",
            "instructions": "Which?",
            "criteria": {str(number): None for number in range(256)},
        },
        {"type": "score", "instructions": "How?", "criteria": {"0": "calm", "1": "angry"}},
        {"type": "score", "instructions": "How?", "criteria": [str(number) for number in range(11)]},
        {"type": "noul", "instructions": 7},
    ],
    ids=["case", "256", "map", "11", "number"],
)
def test_bad_questions_are_refused_with_a_sentence_that_names_the_place(client, question):
    with pytest.raises(typesafe_sdk.TypeSafeUnprocessableEntityError) as caught:
        client.system_one(state=TICKET, questions={"mine": question})
    assert "mine" in str(caught.value)
    assert caught.value.request_id


def test_images_are_refused(client):
    with pytest.raises(typesafe_sdk.TypeSafeAPIError, match="image") as caught:
        client.system_one(state=["look", Image(PIXEL)], questions={"q": CHARGED})
    assert 400 <= caught.value.status < 500


@pytest.mark.parametrize("words", [REFUSE, MUTE], ids=["refused", "undecided"])
def test_what_has_no_answer_is_an_error_and_no_number(client, words):
    with pytest.raises(typesafe_sdk.TypeSafeAPIError) as caught:
        client.system_one(
            state=TICKET, questions={"ok": CHARGED, "mine": Noul(instructions=f"Is it {words}?")}
        )
    assert 400 <= caught.value.status < 500
    assert "mine" in str(caught.value)


def test_a_failing_provider_is_a_server_error_that_says_when_to_come_back(client):
    with pytest.raises(typesafe_sdk.TypeSafeInternalServerError) as caught:
        client.system_one(state=DOWN, questions={"q": CHARGED})
    assert caught.value.status in (502, 503)
    assert int(caught.value.headers["retry-after"]) >= 1


def test_the_client_tries_again_after_a_busy_reply(root):
    with TypeSafeClient(base_url=root, api_key="unused") as client:
        response = client.system_one(state=f"{TICKET} {BUSY_ONCE}!", questions={"q": CHARGED})
    assert response.nouls["q"].noul > 0.8


def test_models_are_listed(client):
    models = client.models.list().models
    assert "scripted" in [model.name for model in models]
    assert all(model.description and model.release_date for model in models)


def test_the_asynchronous_client_gets_the_same_answers(client, root):
    questions = {"charged": CHARGED, "team": TEAM, "mood": MOOD}

    async def decide():
        async with AsyncTypeSafeClient(base_url=root, api_key="unused", retry=NO_RETRY) as other:
            with pytest.raises(typesafe_sdk.TypeSafeUnprocessableEntityError):
                await other.system_one(state=TICKET, questions={"q": {"type": "Noul"}})
            return await other.system_one(state=TICKET, questions=questions)

    assert asyncio.run(decide()).answers == client.system_one(state=TICKET, questions=questions).answers
