"""OpenAI's own Python client against the server, unmodified."""

import asyncio
import math

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.clients.scripted import BUSY_ONCE, DOWN, MUTE, REFUSE

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

BILLING = {"type": "predicate", "name": "billing", "instructions": "Was the customer charged twice?"}
TEAM = {
    "type": "choice",
    "name": "team",
    "instructions": "Which team?",
    "choices": [
        {"value": "support", "description": "using the product"},
        {"value": "billing", "description": "customers who were charged"},
    ],
}
MOOD = {
    "type": "score",
    "name": "mood",
    "instructions": "How calm is the customer?",
    "levels": [
        {"label": "calm"},
        {"label": "annoyed", "description": "was charged twice"},
        {"label": "angry"},
    ],
}


@pytest.fixture
def client(root):
    with OpenAI(base_url=f"{root}/v1", api_key="unused", max_retries=0) as client:
        yield client


def asked(client, *questions, text="I was charged twice", **fields):
    return client.decisions.create(model="gpt-6-luna", input=text, questions=questions, **fields)


def test_answers_of_each_type_come_in_question_order(client):
    decision = asked(client, BILLING, TEAM, MOOD)
    billing, team, mood = decision.answers
    assert [answer.type for answer in decision.answers] == ["predicate", "choice", "score"]
    assert [answer.name for answer in decision.answers] == ["billing", "team", "mood"]
    assert billing.probability > 0.8
    assert team.choice == "billing"
    assert [entry.value for entry in team.probabilities] == ["support", "billing"]
    assert math.fsum(entry.probability for entry in team.probabilities) == pytest.approx(1, abs=1e-9)
    assert 0 < team.confidence < 1
    assert [(entry.value, entry.label) for entry in mood.probabilities] == [
        (0, "calm"),
        (1, "annoyed"),
        (2, "angry"),
    ]
    expected = math.fsum(entry.value * entry.probability for entry in mood.probabilities)
    assert mood.score == pytest.approx(expected, abs=1e-9)


def test_the_model_the_usage_and_the_request_id_are_filled(client):
    decision = asked(client, BILLING)
    assert decision.model
    usage = decision.usage
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    assert usage.input_tokens_details.cached_tokens >= 0
    assert usage.input_tokens_details.cache_write_tokens >= 0
    assert usage.output_tokens_details.reasoning_tokens >= 0
    assert decision._request_id


def test_booleans_and_their_spellings_are_different_choices(client):
    values = [True, "true", False, "false"]
    question = {
        "type": "choice",
        "instructions": "Which one?",
        "choices": [
            {"value": value, "description": "charged twice" if value is True else "nothing"}
            for value in values
        ],
    }
    (answer,) = asked(client, question).answers
    assert answer.choice is True
    assert [(type(e.value), e.value) for e in answer.probabilities] == [(type(v), v) for v in values]
    assert math.fsum(entry.probability for entry in answer.probabilities) == pytest.approx(1, abs=1e-9)


def test_unnamed_and_duplicate_names_are_answered_by_position(client):
    unnamed = {"type": "predicate", "instructions": "Is it about something else?"}
    decision = asked(client, BILLING, {**unnamed, "name": "billing"}, unnamed, {**BILLING, "name": None})
    assert [answer.name for answer in decision.answers] == ["billing", "billing", None, None]
    likely = [answer.probability > 0.5 for answer in decision.answers]
    assert likely == [True, False, False, True]


def test_a_refusal_stands_beside_answers(client):
    refused = {"type": "predicate", "name": "no", "instructions": f"Is this about {REFUSE}?"}
    decision = asked(client, BILLING, refused, MOOD)
    assert [answer.type for answer in decision.answers] == ["predicate", "refusal", "score"]
    assert decision.answers[1].name == "no"


def test_no_number_is_made_up_where_there_is_no_evidence(client):
    mute = {"type": "choice", "name": "mute", "instructions": f"Which of {MUTE}?", "choices": TEAM["choices"]}
    decision = asked(client, mute, BILLING)
    assert decision.answers[0].type == "refusal"
    assert not hasattr(decision.answers[0], "probabilities")
    assert decision.answers[1].type == "predicate"


def test_messages_parts_json_and_tool_items_are_read(client):
    items = [
        {"role": "developer", "content": "Be strict."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I was charged"}]},
        {"role": "user", "content": [{"type": "input_json", "data": {"invoice": 4471}}]},
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "charged twice"},
    ]
    assert asked(client, BILLING, text=items).answers[0].probability > 0.8


def test_instructions_may_be_parts(client):
    parts = [
        {"type": "input_text", "text": "Was it charged?"},
        {"type": "input_json", "data": {"twice": True}},
    ]
    assert asked(client, {"type": "predicate", "instructions": parts}).answers[0].probability > 0.8


def test_unknown_and_optional_fields_change_nothing(client):
    plain = asked(client, BILLING)
    extended = asked(
        client,
        BILLING,
        safety_identifier="user-1",
        prompt_cache_key="k",
        prompt_cache_options={"mode": "implicit", "ttl": "30m"},
        extra_body={"seed": 7},
    )
    assert extended.answers == plain.answers


def test_four_hundred_questions_and_255_choices_are_taken(client):
    questions = [{**BILLING, "name": str(number)} for number in range(399)]
    many = [{"value": f"queue {number:03d}"} for number in range(254)]
    choices = [*many, {"value": "charged", "description": "charged twice"}]
    decision = asked(client, *questions, {**TEAM, "choices": choices})
    assert [answer.name for answer in decision.answers[:-1]] == [str(number) for number in range(399)]
    assert decision.answers[-1].choice == "charged"
    assert len(decision.answers[-1].probabilities) == 255


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [{**BILLING, "name": str(number)} for number in range(401)],
        [{**TEAM, "choices": TEAM["choices"][:1]}],
        [{**TEAM, "choices": [{"value": str(number)} for number in range(256)]}],
        [{**TEAM, "choices": [{"value": "a"}, {"value": "a"}]}],
        [{**TEAM, "choices": [{"value": 1}, {"value": 2}]}],
        [{**MOOD, "levels": [{"label": str(number)} for number in range(11)]}],
        [{"type": "box", "name": "b", "instructions": "Where?"}],
    ],
    ids=["none", "401", "one-choice", "256", "equal", "numbers", "11-levels", "type"],
)
def test_bad_questions_are_a_bad_request_that_says_what_is_wrong(client, questions):
    with pytest.raises(openai.BadRequestError) as caught:
        asked(client, *questions)
    assert caught.value.status_code == 400
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id
    assert len(caught.value.body["message"]) > 20


def test_images_are_refused(client):
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    with pytest.raises(openai.BadRequestError, match="image"):
        asked(client, BILLING, text=[{"role": "user", "content": [image]}])


def test_a_failing_provider_is_a_server_error_that_says_when_to_come_back(client):
    with pytest.raises(openai.InternalServerError) as caught:
        asked(client, BILLING, text=DOWN)
    assert caught.value.status_code in (502, 503)
    assert int(caught.value.response.headers["retry-after"]) >= 1


def test_the_client_tries_again_after_a_busy_reply(root):
    with OpenAI(base_url=f"{root}/v1", api_key="unused") as client:
        assert asked(client, BILLING, text=f"charged {BUSY_ONCE}").answers[0].probability > 0.8


def test_an_unknown_route_is_not_found(client):
    with pytest.raises(openai.NotFoundError):
        client.post("/decision", body={}, cast_to=object)


def test_models_are_listed(client):
    models = list(client.models.list())
    assert "scripted" in [model.id for model in models]
    assert {model.object for model in models} == {"model"}


def test_the_asynchronous_client_gets_the_same_answers(client, root):
    async def decide():
        async with AsyncOpenAI(base_url=f"{root}/v1", api_key="unused", max_retries=0) as other:
            with pytest.raises(openai.BadRequestError):
                await asked(other)
            return await asked(other, BILLING, TEAM, MOOD)

    assert asyncio.run(decide()).answers == asked(client, BILLING, TEAM, MOOD).answers


def test_raw_and_streaming_responses_work(client):
    raw = client.decisions.with_raw_response.create(model="gpt-6-luna", input="charged", questions=[BILLING])
    assert raw.headers["content-type"].startswith("application/json")
    assert raw.parse().answers[0].name == "billing"
    with client.decisions.with_streaming_response.create(
        model="gpt-6-luna", input="charged", questions=[BILLING]
    ) as response:
        assert response.parse().answers[0].name == "billing"
