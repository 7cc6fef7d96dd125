"""System One on the wire, both ways."""

import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.errors import QuestionError
from yesno.evidence import Usage
from yesno.messages import Message
from yesno.questions import (
    Choice,
    ChoiceAnswer,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse
from yesno.wire.decisions import Limits, whole_shares_of
from yesno.wire.systemone import (
    TYPESAFE,
    Dialect,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)

PRIVATE = "my private sentence"
TEAM = Choice("Which team?", {"billing": "payments", "support": None})
MOOD = Scale("How angry?", ["calm", "annoyed", "angry"])
QUESTIONS = {"spam": YesNo("Spam?", yes_when="it sells"), "team": TEAM, "mood": MOOD}
NOUL = {"type": "noul", "noul": 0.9}
CHOSEN = {"type": "choice", "choice": "billing", "probabilities": {"support": 0.3, "billing": 0.7}}
SCORED = {"type": "score", "score": 1.5, "probabilities": {"0": 0.0, "1": 0.5, "2": 0.5}}


def read(questions, answers, dialect=TYPESAFE, **fields):
    body = {"model": "m", "answers": answers, **fields}
    return decode_response(DecisionRequest("x", questions), body, dialect=dialect).evidence.answers


def asked(questions, **fields):
    return decode_request({"model": "m", "state": "x", "questions": questions, **fields})


# requests of ours


def test_questions_are_written_with_their_criteria():
    question = YesNo("Spam?", no_when="it asks", examples=[("buy!", True)])
    way_out = Choice("Which?", {"a1": "one", "b1": None}, none="neither")
    body = encode_request(
        DecisionRequest("x", {"s": question, "c": way_out, "m": MOOD, "p": YesNo("p?")}), model="m"
    )
    assert body == {
        "model": "m",
        "state": "x",
        "questions": {
            "s": {
                "type": "noul",
                "instructions": "Spam?\n\nExamples:\n\nInput: buy!\nAnswer: yes",
                "criteria": {"false": "it asks"},
            },
            "c": {
                "type": "choice",
                "instructions": "Which?",
                "criteria": {"a1": "one", "b1": None, "neither": None},
            },
            "m": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "angry"]},
            "p": {"type": "noul", "instructions": "p?"},
        },
    }


def test_the_state_is_text_object_or_messages():
    call = {"id": "c1", "name": "find", "arguments": "{}"}
    messages = [
        Message("user", "Hi", name="Ann"),
        Message("assistant", tool_calls=[call]),
        Message("tool", "ok", tool_call_id="c1"),
    ]
    states = [
        encode_request(DecisionRequest(given_input, QUESTIONS), model="m")["state"]
        for given_input in ("x", {"a": [1, {"b": None}]}, messages)
    ]
    assert states == [
        "x",
        {"a": [1, {"b": None}]},
        [
            {"role": "user", "content": "Hi", "name": "Ann"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "ok", "tool_call_id": "c1"},
        ],
    ]


def test_a_dialect_has_its_own_state_field_and_limits():
    dialect = Dialect(Limits(levels=255), state="input")
    scale = Scale("q?", [f"level {i}" for i in range(255)])
    body = encode_request(DecisionRequest("x", {"q": scale}), model="m", dialect=dialect)
    assert body["input"] == "x"
    assert decode_request(body, dialect=dialect).request.questions["q"] == scale
    with pytest.raises(QuestionError, match="at most 10"):
        encode_request(DecisionRequest("x", {"q": scale}), model="m")


# responses to us


def test_answers_are_read_by_id():
    answers = read(QUESTIONS, {"mood": SCORED, "extra": NOUL, "team": CHOSEN, "spam": NOUL})
    assert list(answers) == ["spam", "team", "mood"]
    assert answers["spam"].probability == 0.9
    assert list(answers["team"].probabilities) == ["billing", "support"]
    assert answers["mood"].mean == pytest.approx(1.5)


def test_case_confidence_not_portable_is_computed_anew():
    question = Choice("Which?", ["alpha", "beta", "gamma"])
    shares = {"alpha": 0.8, "beta": 0.1, "gamma": 0.1}
    answer = read(
        {"q": question},
        {"q": {"type": "choice", "choice": "alpha", "probabilities": shares, "confidence": 0.55}},
    )["q"]
    assert answer.probability_of("alpha") == pytest.approx(0.8)
    assert answer.confidence == pytest.approx(0.70)
    assert answer.margin() == pytest.approx(0.7)


def test_case_noul_not_confidence_is_the_probability_of_yes():
    answer = read({"q": YesNo("q?")}, {"q": {"type": "noul", "noul": 0.52}})["q"]
    assert answer.is_yes(0.5)
    assert not answer.is_yes(0.8)
    assert 0.2 < answer.probability < 0.8
    assert 2 * answer.probability - 1 == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("name", "broken", "reason"),
    [
        ("team", None, "contradictory_answer"),
        ("team", [], "contradictory_answer"),
        ("team", NOUL, "contradictory_answer"),
        ("team", {**CHOSEN, "type": "Choice"}, "contradictory_answer"),
        ("team", {**CHOSEN, "choice": "sales"}, "contradictory_answer"),
        ("team", {**CHOSEN, "choice": ["billing"]}, "contradictory_answer"),
        ("team", {**CHOSEN, "choice": "support"}, "contradictory_answer"),
        ("team", {**CHOSEN, "probabilities": None}, "incomplete_distribution"),
        ("team", {**CHOSEN, "probabilities": [0.7, 0.3]}, "incomplete_distribution"),
        ("team", {**CHOSEN, "probabilities": {"billing": 1.0}}, "incomplete_distribution"),
        (
            "team",
            {**CHOSEN, "probabilities": {"billing": 0.7, "support": 0.3, "x": 0}},
            "invalid_distribution",
        ),
        ("team", {**CHOSEN, "probabilities": {"billing": 0.9, "support": 0.3}}, "invalid_distribution"),
        ("team", {**CHOSEN, "probabilities": {"billing": "0.7", "support": 0.3}}, "invalid_distribution"),
        ("mood", {**SCORED, "score": 2.5}, "contradictory_answer"),
        ("mood", {**SCORED, "score": "1.5"}, "invalid_distribution"),
        ("mood", {**SCORED, "probabilities": {"0": 0, "1": 1}}, "incomplete_distribution"),
        (
            "mood",
            {**SCORED, "probabilities": {"calm": 0, "annoyed": 0.5, "angry": 0.5}},
            "invalid_distribution",
        ),
        ("spam", {"type": "noul"}, "invalid_distribution"),
        ("spam", {"type": "noul", "noul": 1.2}, "invalid_distribution"),
        ("spam", {"type": "noul", "noul": 0.5, "x_label_mass": 7}, "invalid_distribution"),
        ("spam", {"type": "boolean", "probability": 0.5}, "contradictory_answer"),
    ],
)
def test_one_broken_answer_is_undecided_and_the_others_stand(name, broken, reason):
    good = {"spam": NOUL, "team": CHOSEN, "mood": SCORED}
    answers = read(QUESTIONS, {**good, name: broken})
    assert answers.pop(name) == Undecided(reason)
    assert not any(isinstance(answer, Undecided) for answer in answers.values())
    with pytest.raises(ValueError, match=reason):
        read({name: QUESTIONS[name]}, {name: broken})


def test_a_question_left_out_is_undecided_and_all_left_out_are_no_reply():
    assert read(QUESTIONS, {"spam": NOUL, "team": CHOSEN})["mood"] == Undecided("missing_answer")
    with pytest.raises(ValueError, match="missing_answer"):
        read(QUESTIONS, {})
    with pytest.raises(ValueError, match="no map of answers"):
        read(QUESTIONS, [NOUL])


def test_a_vendor_that_may_leave_distributions_out_gives_answers_without_probabilities():
    answers = {
        "spam": NOUL,
        "team": {"type": "choice", "choice": "support"},
        "mood": {"type": "score", "score": 1.2},
    }
    sparse = read(QUESTIONS, answers, Dialect(sparse=True))
    assert (sparse["team"].value, sparse["team"].probabilities, sparse["team"].confidence) == (
        "support",
        {},
        None,
    )
    assert (sparse["mood"].mean, sparse["mood"].probabilities) == (1.2, ())
    for broken in (
        {"type": "choice", "choice": ["support"]},
        {"type": "choice"},
        {"type": "choice", "choice": "x"},
    ):
        assert isinstance(
            read(QUESTIONS, {**answers, "team": broken}, Dialect(sparse=True))["team"], Undecided
        )
    off = {**answers, "mood": {"type": "score", "score": 2.2}}
    assert isinstance(read(QUESTIONS, off, Dialect(sparse=True))["mood"], Undecided)
    assert read(QUESTIONS, answers)["team"] == Undecided("incomplete_distribution")


# requests of others


def test_a_body_is_read_into_a_request():
    request = asked(
        {
            "a": {
                "type": "noul",
                "instructions": {"q": "Spam?"},
                "criteria": {"true": "it sells", "false": None},
            },
            "b": {"type": "choice", "instructions": "Which?", "criteria": {"x1": {"k": "ä"}, "y1": None}},
            "c": {"type": "score", "instructions": None, "criteria": ["low", {"name": "high"}]},
            "d": {"type": "noul", "criteria": {"true": "it is late"}},
            "e": {"type": "choice", "instructions": " ", "criteria": {"x1": None, "y1": None}},
        },
        unknown_field=1,
    ).request
    a, b, c, d, e = request.questions.values()
    assert a == YesNo('{"q": "Spam?"}', yes_when="it sells")
    assert b == Choice("Which?", {"x1": '{"k": "ä"}', "y1": None})
    assert c.levels == ("low", '{"name": "high"}')
    assert (d.yes_when, bool(d.text)) == ("it is late", True)
    assert e.text == "Which option fits?"


@pytest.mark.parametrize(
    ("state", "read_as"),
    [
        ("x", "x"),
        ({"a": 1}, {"a": 1}),
        ([1, "b"], {"state": [1, "b"]}),
        ("", {"state": ""}),
        (" \n", {"state": " \n"}),
        ({}, {"state": {}}),
        ([{"role": "user", "content": "Hi"}], (Message("user", "Hi"),)),
        ([{"role": "user", "text": "Hi"}], {"state": [{"role": "user", "text": "Hi"}]}),
        ([{"role": "judge", "content": "Hi"}], {"state": [{"role": "judge", "content": "Hi"}]}),
        ([{"role": "user", "content": None}], {"state": [{"role": "user", "content": None}]}),
        ([], {"state": []}),
    ],
)
def test_every_kind_of_state_is_read(state, read_as):
    assert asked({"q": {"type": "noul", "instructions": "q?"}}, state=state).request.input == read_as


def test_option_names_come_back_byte_by_byte_though_a_choice_could_not_hold_them():
    names = ["", " ", "Ja", "ja", "ｊａ", "ja\u0308", "j\u00e4", "\u200b"]
    request = asked({"q": {"type": "choice", "instructions": "q?", "criteria": dict.fromkeys(names)}})
    options = list(request.request.questions["q"].options)
    shares = dict(zip(options, [0.0, 0.0, 0.5, 0.125, 0.125, 0.125, 0.125, 0.0], strict=True))
    body = encode_response(request, DecisionResponse({"q": ChoiceAnswer("Ja", shares)}))
    assert list(body["answers"]["q"]["probabilities"]) == names
    assert body["answers"]["q"]["choice"] == "Ja"
    back = decode_response(request, json.loads(json.dumps(body)))
    assert dict(back.evidence.answers["q"].probabilities) == shares


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"questions": None}, "questions"),
        ({"questions": {}}, "at least one"),
        ({"questions": []}, "questions"),
        ({"model": None}, "model"),
        ({"state": None}, "state"),
        ({"state": 3}, "state"),
        ({"state": True}, "state"),
        ({"assets": {"img": {}}}, "images"),
    ],
)
def test_a_body_that_cannot_be_asked_says_where(fields, words):
    body = {
        "model": "m",
        "state": PRIVATE,
        "questions": {"q": {"type": "noul", "instructions": "q?"}},
        **fields,
    }
    with pytest.raises(QuestionError, match=words) as info:
        decode_request(body)
    assert PRIVATE not in str(info.value)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"type": "box", "instructions": "Where is the cat?"}, r"questions\.q` is a box.*image"),
        ({"type": "Noul", "instructions": "q?"}, "noul, choice or score"),
        ({"type": ["noul"], "instructions": "q?"}, "noul, choice or score"),
        (3, "must be an object"),
        ({"type": "noul"}, "needs instructions or criteria"),
        ({"type": "noul", "instructions": " "}, "needs instructions or criteria"),
        ({"type": "noul", "criteria": {"true": None}}, "needs instructions or criteria"),
        ({"type": "noul", "instructions": "q?", "criteria": ["a"]}, "true"),
        ({"type": "noul", "instructions": 3}, "instructions"),
        ({"type": "choice", "instructions": "q?"}, "map of options"),
        ({"type": "choice", "instructions": "q?", "criteria": ["a", "b"]}, "map of options"),
        ({"type": "choice", "instructions": "q?", "criteria": {"a": 3, "b": None}}, "criteria"),
        ({"type": "choice", "instructions": "q?", "criteria": {"a": None}}, "two options"),
        ({"type": "choice", "instructions": "q?", "criteria": dict.fromkeys(map(str, range(256)))}, "255"),
        ({"type": "score", "instructions": "q?", "criteria": {"0": "a"}}, "list of levels"),
        ({"type": "score", "instructions": "q?", "criteria": ["a", None]}, "criteria"),
        ({"type": "score", "instructions": "q?", "criteria": ["a"]}, "two levels"),
        ({"type": "score", "instructions": "q?", "criteria": list("abcdefghijk")}, "at most 10"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(question, words):
    with pytest.raises(QuestionError, match=words):
        asked({"q": question})


# there and back

NAMES = st.text(min_size=1).filter(str.strip)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_request_of_ours_comes_back_as_it_was(state, names):
    kinds = list(QUESTIONS.values())
    request = DecisionRequest(state, {name: kinds[i % 3] for i, name in enumerate(names)})
    body = json.loads(json.dumps(encode_request(request, model="m")))
    back = decode_request(body).request
    assert (back.input, back.questions) == (request.input, request.questions)
    assert encode_request(back, model="m") == body


def test_answers_of_ours_come_back_with_their_label_mass_and_typesafes_confidence():
    request = decode_request(encode_request(DecisionRequest("x", QUESTIONS), model="m"))
    answers = {
        "spam": YesNoAnswer(0.123, label_mass=0.75),
        "team": ChoiceAnswer("billing", {"billing": 0.707, "support": 0.293}),
        "mood": ScaleAnswer(1.25, (0.125, 0.5, 0.375)),
    }
    body = encode_response(request, DecisionResponse(answers, model="m2", usage=Usage(5, 1)))
    assert body["answers"]["mood"]["legend"] == {"0": "calm", "1": "annoyed", "2": "angry"}
    assert body["answers"]["mood"]["confidence"] == pytest.approx(1 - 0.5 / (2 / 3))
    assert body["answers"]["team"]["confidence"] == pytest.approx((0.707 - 0.5) / 0.5)
    assert body["usage"] == {"input_tokens": 5, "output_tokens": 1}
    reply = decode_response(request, json.loads(json.dumps(body)))
    back = reply.evidence.answers
    assert (back["spam"].probability, back["spam"].label_mass) == (0.123, 0.75)
    assert back["team"].probabilities == answers["team"].probabilities
    assert back["mood"].probabilities == pytest.approx(answers["mood"].probabilities)


def test_what_has_no_answer_is_left_out_named_apart_and_comes_back():
    request = decode_request(encode_request(DecisionRequest("x", QUESTIONS), model="m"))
    answers = {"spam": Undecided("truncated"), "team": Refusal("content_filter"), "mood": ScaleAnswer(1.0)}
    body = encode_response(request, DecisionResponse(answers))
    assert body["answers"] == {}
    assert list(decode_response(request, body).evidence.answers.values()) == [
        Undecided("truncated"),
        Refusal("content_filter"),
        Undecided("incomplete_distribution"),
    ]


def test_an_error_knows_the_path_of_what_is_at_fault():
    with pytest.raises(QuestionError) as info:
        asked({"a b": {"type": "score", "criteria": ["low", None]}})
    assert info.value.where == ("questions", "a b", "criteria", 1)
    assert pickle.loads(pickle.dumps(info.value)).where == info.value.where  # noqa: S301 - our own


def test_an_answer_says_how_it_was_read_and_between_which_bounds():
    request = decode_request(encode_request(DecisionRequest("x", {"q": YesNo("q?")}), model="m"))
    answer = YesNoAnswer(0.5, low=0.4, high=0.7, label_mass=0.7, method="logprobs", calibrated=True)
    body = encode_response(request, DecisionResponse({"q": answer}))
    assert body["answers"]["q"] == {
        "type": "noul",
        "x_method": "logprobs",
        "x_label_mass": 0.7,
        "x_low": 0.4,
        "x_high": 0.7,
        "x_calibrated": True,
        "noul": 0.5,
    }


@pytest.mark.parametrize(
    ("total", "kept"), [(1 + 9e-4, True), (1 - 9e-4, True), (1.002, False), (0.9, False)]
)
def test_a_distribution_that_was_rounded_is_made_to_sum_to_one_and_another_is_none(total, kept):
    shares = whole_shares_of(TEAM, ChoiceAnswer("billing", {"billing": total - 0.25, "support": 0.25}))
    assert (shares is not None) == kept
    assert not kept or math.fsum(shares) == pytest.approx(1, abs=1e-12)
