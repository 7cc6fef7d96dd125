"""System One, requirement by requirement: the ids are those of JevCompat 0.1.1 (MIT), which is run apart from here."""

import math

import pytest

from tests.serve.asgi import ask, call, served, systemone
from yesno.providers.fake import FakeProvider
from yesno.questions import Choice, ChoiceAnswer, ScaleAnswer, YesNoAnswer

NOUL = {"type": "noul", "instructions": "Does the customer want a refund?"}
CHOICE = {
    "type": "choice",
    "instructions": "Which team?",
    "criteria": {"Billing": "payments", "Technical": None, "Sales": "new customers"},
}
SCORE = {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "angry"]}
APP = served()


def answers(questions, **fields):
    answer = ask(APP, questions, **fields)
    assert answer.status == 200, answer.body
    return answer.json()["answers"]


def refused(body, status=422):
    answer = call(APP, "/v1/systemone", body)
    assert answer.status == status, answer.body
    return answer.json()["detail"]


def test_http_endpoint_and_content_type():
    answer = ask(APP)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


def test_auth_ignored_when_off():
    given = {"authorization": "Bearer k", "x-typesafe-sdk": "python/0.7.5"}
    assert call(APP, "/v1/systemone", systemone(), headers=given).status == 200


@pytest.mark.parametrize(
    "state",
    ["text", "", " ", {"a": {"b": [1, None]}}, {}, ["a", 1], [], [{"role": "user", "content": "Hi"}], [[]]],
)
def test_request_state_is_a_text_an_object_or_an_array(state):
    assert answers({"q": NOUL}, state=state)["q"]["noul"] == 0.8


@pytest.mark.parametrize("state", [None, 3, 1.5, True])
def test_request_state_is_nothing_else(state):
    (place,) = refused(systemone(state=state))
    assert place["loc"] == ["body", "state"]


def test_request_model_alias_jev_latest_is_the_first_model():
    answer = ask(APP, model="jev-latest")
    assert (answer.status, answer.json()["model"]) == (200, "fake")


def test_request_multi_questions_of_mixed_types():
    got = answers({"a": NOUL, "b": CHOICE, "c": SCORE})
    assert {name: answer["type"] for name, answer in got.items()} == {
        "a": "noul",
        "b": "choice",
        "c": "score",
    }


@pytest.mark.parametrize(
    "name", ["ticket-1", "q.2", "with space", " ", "질문", "🎯", "question 1", "__proto__"]
)
def test_request_question_ids_are_any_text_that_is_not_empty(name):
    assert list(answers({name: NOUL})) == [name]


def test_request_question_ids_are_not_empty():
    assert refused(systemone({"": NOUL}))[0]["loc"] == ["body", "questions"]


def test_request_unicode_names_come_back_as_they_were_sent():
    names = ["환불 요청", "배송 문의", "🙂 기타", "ja\u0308", "jä", "ＪＡ", "ja", ""]
    question = {"type": "choice", "instructions": "어떤?", "criteria": dict.fromkeys(names)}
    got = answers({"q": question}, state="😡")["q"]
    assert list(got["probabilities"]) == names
    assert got["choice"] == names[0]


def test_request_unknown_fields_are_ignored_at_every_level():
    question = {**NOUL, "weight": 3, "criteria": {"true": "yes", "maybe": 7}}
    assert answers({"q": question}, seed=7, x_trace_id="t")["q"]["noul"] == 0.8


@pytest.mark.parametrize(
    "question",
    [
        {"type": "noul", "instructions": {"task": "Decide", "include": ["refunds"]}},
        {
            "type": "noul",
            "instructions": ["Decide", {"a": 1}],
            "criteria": {"true": {"e": ["x"]}, "false": ["y"]},
        },
        {
            "type": "choice",
            "instructions": ["Route", "one"],
            "criteria": {"B": {"owns": [1]}, "T": ["bugs"], "S": "x"},
        },
        {"type": "choice", "instructions": None, "criteria": {"B": None, "T": None}},
        {"type": "choice", "criteria": {"B": "payments", "T": ""}},
        {
            "type": "score",
            "instructions": {"scale": "anger"},
            "criteria": [{"label": "calm"}, ["b"], "angry"],
        },
        {"type": "score", "criteria": ["calm", "calm"]},
    ],
)
def test_request_structured_text_in_instructions_and_descriptions(question):
    assert answers({"q": question})["q"]["type"] == question["type"]


@pytest.mark.parametrize(
    "criteria", [None, {}, {"true": "a", "false": "b"}, {"true": "a"}, {"false": "b"}, {"true": None}]
)
def test_noul_criteria_are_two_sided_one_sided_or_missing(criteria):
    assert answers({"q": {**NOUL, "criteria": criteria}})["q"]["noul"] == 0.8


def test_noul_no_instructions_but_a_criterion():
    question = {"type": "noul", "criteria": {"true": "the customer threatens a chargeback"}}
    assert answers({"q": question})["q"]["noul"] == 0.8


@pytest.mark.parametrize("count", [2, 26, 64, 128, 255])
def test_choice_options_up_to_255(count):
    names = [f"Queue {i:03d}" for i in range(count)]
    got = answers({"q": {"type": "choice", "instructions": "Which?", "criteria": dict.fromkeys(names)}})["q"]
    shares = got["probabilities"]
    assert list(shares) == names
    assert math.fsum(shares.values()) == pytest.approx(1, abs=1e-9)
    assert shares[got["choice"]] == max(shares.values())
    assert got["confidence"] == pytest.approx((max(shares.values()) - 1 / count) / (1 - 1 / count))


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_score_levels_up_to_10(count):
    levels = [f"level {i}" for i in range(count)]
    got = answers({"q": {"type": "score", "instructions": "How?", "criteria": levels}})["q"]
    keys = [str(i) for i in range(count)]
    shares = list(got["probabilities"].values())
    assert list(got["probabilities"]) == list(got["legend"]) == keys
    assert list(got["legend"].values()) == levels
    assert math.fsum(shares) == pytest.approx(1, abs=1e-9)
    assert got["score"] == pytest.approx(sum(i * p for i, p in enumerate(shares)), abs=1e-9)
    mode = shares.index(max(shares))
    spread = sum(p * abs(i - mode) for i, p in enumerate(shares))
    assert got["confidence"] == pytest.approx(max(0, 1 - spread / ((count**2 // 4) / count)))


def test_score_legend_holds_the_levels_as_sent():
    levels = [{"label": "calm", "n": [1]}, ["b"], "angry"]
    assert list(answers({"q": {"type": "score", "criteria": levels}})["q"]["legend"].values()) == levels


def test_response_usage_is_whole_numbers_and_extensions_begin_with_x():
    answer = ask(APP, {"a": NOUL, "b": CHOICE}).json()
    assert all(type(count) is int and count >= 0 for count in answer["usage"].values())
    assert set(answer) == {"model", "answers", "usage"}
    own = {name for got in answer["answers"].values() for name in got if name.startswith("x_")}
    assert own == {"x_method", "x_label_mass", "x_low", "x_high", "x_calibrated"}
    assert set(answer["answers"]["a"]) - own == {"type", "noul"}
    assert set(answer["answers"]["b"]) - own == {"type", "choice", "confidence", "probabilities"}


def test_three_hundred_questions_are_answered():
    got = answers({f"q{i}": NOUL for i in range(300)})
    assert len(got) == 300


def test_400_questions_are_taken_and_401_are_not():
    assert len(answers({f"q{i}": NOUL for i in range(400)})) == 400
    (place,) = refused(systemone({f"q{i}": NOUL for i in range(401)}))
    assert (place["loc"], place["type"]) == (["body", "questions"], "too_many_questions")


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ({"instructions": "Refund?"}, ["type"]),
        ({"type": "boolean", "instructions": "Refund?"}, ["type"]),
        ({"type": "Noul", "instructions": "Refund?"}, ["type"]),
        ({"type": "noul"}, []),
        ({"type": "noul", "criteria": {"true": None, "false": " "}}, []),
        ({"type": "noul", "instructions": " "}, ["instructions"]),
        ({"type": "noul", "instructions": 3}, ["instructions"]),
        ({"type": "noul", "instructions": "q?", "criteria": []}, ["criteria"]),
        ({"type": "noul", "instructions": "q?", "criteria": {"true": 3}}, ["criteria", "true"]),
        ({"type": "choice", "instructions": "q?"}, ["criteria"]),
        ({"type": "choice", "instructions": "q?", "criteria": {}}, ["criteria"]),
        ({"type": "choice", "instructions": "q?", "criteria": {"a": None}}, ["criteria"]),
        ({"type": "choice", "instructions": "q?", "criteria": ["a", "b"]}, ["criteria"]),
        ({"type": "choice", "instructions": "q?", "criteria": {"a": 1, "b": None}}, ["criteria", "a"]),
        (
            {"type": "choice", "instructions": "q?", "criteria": dict.fromkeys(map(str, range(256)))},
            ["criteria"],
        ),
        ({"type": "score", "instructions": "q?", "criteria": {"0": "a", "1": "b"}}, ["criteria"]),
        ({"type": "score", "instructions": "q?", "criteria": ["a"]}, ["criteria"]),
        ({"type": "score", "instructions": "q?", "criteria": ["a", None]}, ["criteria", 1]),
        ({"type": "score", "instructions": "q?", "criteria": [f"l{i}" for i in range(11)]}, ["criteria"]),
        ({"type": "box", "instructions": "Where is the cat?"}, []),
        (3, []),
    ],
)
def test_errors_reject_invalid_questions_with_422_and_the_place(question, where):
    (place,) = refused(systemone({"good": NOUL, "q": question}))
    assert place["loc"] == ["body", "questions", "q", *where]
    assert place["msg"].startswith("`questions.q")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"questions": None}, ["questions"]),
        ({"questions": {}}, ["questions"]),
        ({"questions": "q?"}, ["questions"]),
        ({"questions": [{"type": "predicate", "instructions": "q?"}]}, ["questions"]),
        ({"model": None}, ["model"]),
        ({"model": ""}, None),
        ({"assets": {"<img>": {"type": "image"}}}, ["assets"]),
        ({"assets": {}}, ["assets"]),
    ],
)
def test_errors_reject_invalid_bodies(change, where):
    body = {**systemone(), **change}
    if where is None:
        assert refused(body, 400)["error_type"] == "api_usage_error"
    else:
        assert refused(body)[0]["loc"] == ["body", *where]


@pytest.mark.parametrize(
    "body", [b'{"model": "jev-latest", "state": "x", "questions": {', b"", b"[]", b"3", b'"x"']
)
def test_errors_validation_shape_for_bodies_that_are_no_object(body):
    (place,) = refused(body)
    assert place["loc"] == ["body"]


def test_errors_shape_of_an_unknown_model_names_those_there_are():
    told = refused(systemone(model="jev-9"), 400)
    assert told["error_type"] == "api_usage_error"
    assert told["message"] == "Unknown model: 'jev-9'; this server has m"


def test_semantics_do_not_depend_on_question_ids_order_or_company():
    alone = answers({"a": SCORE})["a"]
    among = answers({"z": NOUL, "b": CHOICE, "x_y_z": SCORE})["x_y_z"]
    assert alone == among


def test_an_assets_field_that_is_null_is_none():
    assert ask(APP, assets=None).status == 200


def test_ready_answers_of_a_decision_endpoint_pass_through_and_sum_exactly():
    """Strict clients take sums that are off by 1e-6; vendors round."""
    given = {
        "a": YesNoAnswer(0.25),
        "b": ChoiceAnswer("y", {"x": 0.3333, "y": 0.3334, "z": 0.3332}),
        "c": ScaleAnswer(1.0, (0.2501, 0.5, 0.2501)),
    }
    app = served(provider=FakeProvider(lambda payload: given, native=True))
    questions = {
        "a": NOUL,
        "b": {"type": "choice", "criteria": {"x": None, "y": None, "z": None}},
        "c": SCORE,
    }
    got = ask(app, questions).json()["answers"]
    assert got["a"] == {"type": "noul", "x_method": "native", "x_calibrated": False, "noul": 0.25}
    assert math.fsum(got["b"]["probabilities"].values()) == pytest.approx(1, abs=1e-12)
    assert math.fsum(got["c"]["probabilities"].values()) == pytest.approx(1, abs=1e-12)
    assert got["c"]["score"] == pytest.approx(1, abs=1e-12)


def test_a_hosted_choice_of_ours_reads_back_what_a_server_of_ours_sends():
    from yesno.request import DecisionRequest
    from yesno.wire.systemone import decode_response, encode_request

    request = DecisionRequest("I was charged twice", {"team": Choice("Which?", ["billing", "sales", "ops"])})
    body = encode_request(request, model="m")
    reply = decode_response(request, call(APP, "/v1/systemone", body).json())
    assert reply.evidence.answers["team"].value == "billing"
    assert reply.evidence.answers["team"].label_mass == 1.0
