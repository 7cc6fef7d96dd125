"""OpenAI's Decisions at `/v1/decisions`, and System One there too."""

import math

import pytest

from tests.serve.asgi import call, decide, openai, served, systemone
from yesno.providers.fake import FakeProvider
from yesno.questions import ChoiceAnswer, YesNoAnswer

PREDICATE = {"type": "predicate", "instructions": "Is it about billing?"}
CHOICE = {
    "type": "choice",
    "name": "team",
    "instructions": "Which team?",
    "choices": [{"value": "billing", "description": "payments"}, {"value": "support"}],
}
SCORE = {
    "type": "score",
    "name": "mood",
    "instructions": "How angry?",
    "levels": [{"label": "calm"}, {"label": "annoyed", "description": "some"}, {"label": "angry"}],
}
APP = served()


def answers(*questions, **fields):
    answer = decide(APP, *questions, **fields)
    assert answer.status == 200, answer.body
    return answer.json()["answers"]


def refused(body, status=400):
    answer = call(APP, "/v1/decisions", body)
    assert answer.status == status, answer.body
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def test_a_response_has_a_model_the_answers_in_order_and_usage():
    answer = decide(APP, {**PREDICATE, "name": "b"}, CHOICE, SCORE).json()
    assert set(answer) == {"model", "answers", "usage"}
    assert [(a["type"], a["name"]) for a in answer["answers"]] == [
        ("predicate", "b"),
        ("choice", "team"),
        ("score", "mood"),
    ]
    assert answer["usage"] == {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 3,
    }


def test_a_score_is_the_mean_of_the_level_numbers():
    (got,) = answers(SCORE)
    shares = [entry["probability"] for entry in got["probabilities"]]
    assert [(entry["value"], entry["label"]) for entry in got["probabilities"]] == [
        (0, "calm"),
        (1, "annoyed"),
        (2, "angry"),
    ]
    assert got["score"] == pytest.approx(shares[1] + 2 * shares[2], abs=1e-9)
    assert math.fsum(shares) == pytest.approx(1, abs=1e-9)


def test_texts_and_booleans_are_apart_and_keep_their_type():
    values = ["true", True, False, "false", "True", ""]
    (got,) = answers({**CHOICE, "choices": [{"value": value} for value in values]})
    back = [entry["value"] for entry in got["probabilities"]]
    assert back == values
    assert list(map(type, back)) == list(map(type, values))
    assert got["choice"] == "true"
    assert math.fsum(entry["probability"] for entry in got["probabilities"]) == pytest.approx(1, abs=1e-9)


def test_a_boolean_that_wins_is_a_boolean():
    (got,) = answers({**CHOICE, "choices": [{"value": True}, {"value": "true"}]})
    assert got["choice"] is True


def test_questions_without_a_name_and_with_equal_names_answer_by_position():
    asked = [PREDICATE, {**PREDICATE, "name": "a"}, {**CHOICE, "name": "a"}, {**PREDICATE, "name": ""}]
    got = answers(*asked, {**PREDICATE, "name": None})
    assert [(a["type"], a["name"]) for a in got] == [
        ("predicate", None),
        ("predicate", "a"),
        ("choice", "a"),
        ("predicate", ""),
        ("predicate", None),
    ]


@pytest.mark.parametrize(
    "instructions",
    [
        "Is it?",
        [{"type": "input_text", "text": "Is it?"}],
        [
            {"type": "input_text", "text": ""},
            {"type": "input_json", "data": {"field": "a", "question": "Is it?"}},
        ],
        [{"type": "input_json", "data": [{"a": 1}, {}]}],
    ],
)
def test_instructions_are_a_text_or_parts(instructions):
    assert answers({**PREDICATE, "instructions": instructions})[0]["probability"] == 0.8


@pytest.mark.parametrize(
    "given",
    [
        "text",
        [{"role": "user", "content": "Hi"}],
        [{"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind"}]}],
        [{"role": "user", "content": [{"type": "input_json", "data": {"a": [1]}}]}],
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}], "phase": "final_answer"}],
        [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"},
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": "ok"}],
            },
            {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": "ok"},
        ],
    ],
)
def test_input_is_a_text_or_items(given):
    assert answers(PREDICATE, given=given)[0]["probability"] == 0.8


def test_unknown_fields_are_ignored_at_every_level():
    body = openai(
        {**PREDICATE, "weight": 1},
        {**CHOICE, "choices": [{"value": "a", "color": 1}, {"value": "b"}]},
        safety_identifier="u",
        prompt_cache_key="k",
        prompt_cache_options={"mode": "implicit"},
        provider={"order": []},
    )
    assert call(APP, "/v1/decisions", body).status == 200


def test_400_questions_255_choices_and_10_levels_are_taken_and_no_more():
    assert len(answers(*[PREDICATE] * 400)) == 400
    assert refused(openai(*[PREDICATE] * 401))["param"] == "questions"
    values = [{"value": f"v{i}"} for i in range(256)]
    assert len(answers({**CHOICE, "choices": values[:255]})[0]["probabilities"]) == 255
    assert refused(openai({**CHOICE, "choices": values}))["param"] == "questions[0].choices"
    levels = [{"label": f"l{i}"} for i in range(11)]
    assert len(answers({**SCORE, "levels": levels[:10]})[0]["probabilities"]) == 10
    assert refused(openai({**SCORE, "levels": levels}))["param"] == "questions[0].levels"


@pytest.mark.parametrize(
    ("question", "param"),
    [
        (3, "questions[1]"),
        ({"instructions": "q?"}, "questions[1].type"),
        ({**PREDICATE, "type": "yes_no"}, "questions[1].type"),
        ({"type": "predicate"}, "questions[1].instructions"),
        ({**PREDICATE, "instructions": None}, "questions[1].instructions"),
        ({**PREDICATE, "instructions": {"a": 1}}, "questions[1].instructions"),
        ({**PREDICATE, "instructions": " "}, "questions[1].instructions"),
        ({**PREDICATE, "instructions": []}, "questions[1].instructions"),
        (
            {**PREDICATE, "instructions": [{"type": "input_image", "image_url": "data:"}]},
            "questions[1].instructions[0]",
        ),
        (
            {**PREDICATE, "instructions": [{"type": "input_json", "data": [1]}]},
            "questions[1].instructions[0].data",
        ),
        ({**PREDICATE, "name": 3}, "questions[1].name"),
        ({**CHOICE, "choices": [{"value": "a"}]}, "questions[1].choices"),
        ({**CHOICE, "choices": [{"value": "a"}, {"value": 1}]}, "questions[1].choices[1].value"),
        ({**CHOICE, "choices": [{"value": "a"}, {"value": None}]}, "questions[1].choices[1].value"),
        ({**CHOICE, "choices": [{"value": "a"}, {"value": "a", "description": "b"}]}, "questions[1].choices"),
        (
            {**CHOICE, "choices": [{"value": "a", "description": 1}, {"value": "b"}]},
            "questions[1].choices[0].description",
        ),
        ({**CHOICE, "choices": ["a", "b"]}, "questions[1].choices[0]"),
        ({**SCORE, "levels": [{"label": "a"}]}, "questions[1].levels"),
        ({**SCORE, "levels": [{"label": "a"}, {"label": " "}]}, "questions[1].levels[1].label"),
        ({**SCORE, "levels": None}, "questions[1].levels"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_400_that_names_the_place(question, param):
    error = refused(openai(PREDICATE, question))
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert "questions[1]" in error["message"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"input": None}, "input"),
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": {"a": 1}}, "input"),
        ({"input": [{"role": "judge", "content": "x"}]}, "input[0].role"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
            "input[0].content[0]",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "reasoning"}]}, "input[0].type"),
        ({"questions": []}, "questions"),
        ({"questions": None}, "questions"),
        ({"model": None}, "model"),
    ],
)
def test_a_body_that_cannot_be_asked_is_a_400_that_names_the_place(change, param):
    assert refused({**openai(), **change})["param"] == param


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"a": 1} {"b": 2}'])
def test_a_body_that_is_no_object_is_a_400(body):
    assert refused(body)["type"] == "invalid_request_error"


def test_an_unknown_model_is_a_404_that_names_those_there_are():
    error = refused(openai(model="gpt-6-luna"), 404)
    assert (error["code"], error["param"]) == ("model_not_found", "model")
    assert error["message"].endswith("this server has m")


# the shape is in the body


def test_a_system_one_body_is_answered_in_its_own_shape():
    answer = call(APP, "/v1/decisions", systemone())
    assert (answer.status, answer.json()["answers"]["q"]["noul"]) == (200, 0.8)


def test_a_bad_system_one_body_gets_system_ones_error():
    answer = call(APP, "/v1/decisions", systemone(state=3))
    assert (answer.status, answer.json()["detail"][0]["loc"]) == (422, ["body", "state"])


def test_shapes_that_are_not_spoken_are_told_apart():
    sglang = {"model": "m", "input": "x", "questions": [{"id": "a", "type": "yes_no", "question": "Is it?"}]}
    assert "SGLang" in refused(sglang)["message"]
    gemini = {"model": "m", "input": "x", "questions": {"a": {"type": "noul", "instructions": "Is it?"}}}
    assert "`state`" in refused(gemini)["message"]


def test_openais_shape_at_system_ones_path_is_told_where_it_belongs():
    answer = call(APP, "/v1/systemone", openai())
    assert answer.status == 422
    assert "/v1/decisions" in answer.json()["detail"][0]["msg"]


# no answer


def test_a_refusal_is_that_questions_answer_and_the_others_stand():
    def script(prompt):
        return {"<refusal>": 1} if "bomb" in prompt else {"Yes": 0.9, "No": 0.1}

    got = decide(served(script), PREDICATE, {**PREDICATE, "instructions": "A bomb?", "name": "b"}).json()
    assert got["answers"][0]["probability"] == 0.9
    assert got["answers"][1] == {"type": "refusal", "name": "b"}


def test_an_undecided_answer_is_a_refusal_with_its_reason_and_never_a_number():
    got = decide(served({"The": 0.9, "Yes": 0.05}), PREDICATE, CHOICE)
    assert got.status == 200
    assert got.json()["answers"] == [
        {"type": "refusal", "name": None, "x_undecided": "low_label_mass"},
        {"type": "refusal", "name": "team", "x_undecided": "low_label_mass"},
    ]


def test_an_answer_without_a_distribution_is_a_refusal_too():
    given = {"question 1": YesNoAnswer(0.7), "team": ChoiceAnswer("billing", options=("billing", "support"))}
    app = served(provider=FakeProvider(lambda payload: given, native=True))
    got = decide(app, PREDICATE, CHOICE).json()["answers"]
    assert got[0]["probability"] == 0.7
    assert got[1] == {"type": "refusal", "name": "team", "x_undecided": "incomplete_distribution"}
