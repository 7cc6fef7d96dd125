"""OpenAI's decisions endpoint on the wire, both ways."""

import json
from decimal import Decimal

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.errors import QuestionError
from yesno.evidence import NativeAnswers, Usage
from yesno.messages import Message
from yesno.questions import (
    Choice,
    ChoiceAnswer,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse
from yesno.wire.openai_decisions import decode_request, decode_response, encode_request, encode_response

PRIVATE = "my private sentence"
TEAM = Choice("Which team?", {"billing": "payments", "support": None})
MOOD = Scale("How angry?", ["calm", "annoyed", "angry"])
REQUEST = DecisionRequest(PRIVATE, {"spam": YesNo("Spam?"), "team": TEAM, "mood": MOOD})


def encoded(questions, given="x"):
    return encode_request(DecisionRequest(given, questions), model="m")


def asked(*questions, given="x"):
    return decode_request({"model": "m", "input": given, "questions": list(questions)})


def predicate(**fields):
    return {"type": "predicate", "instructions": "Spam?", **fields}


def choice(*values, **fields):
    choices = [{"value": value} for value in values]
    return {"type": "choice", "instructions": "Which?", "choices": choices, **fields}


def said(value, **shares):
    entries = [{"value": option, "probability": share} for option, share in shares.items()]
    return {"type": "choice", "name": None, "choice": value, "confidence": 0.1, "probabilities": entries}


def read(questions, *answers):
    request = questions if not isinstance(questions, dict) else DecisionRequest("x", questions)
    return decode_response(request, {"model": "m", "answers": list(answers)}).evidence.answers


SPAM = {"type": "predicate", "name": None, "probability": 0.9}


# requests of ours


def test_criteria_and_examples_go_into_the_instructions():
    question = YesNo(
        "Spam?", yes_when="it sells", no_when="it asks", examples=[("buy!", True), ({"a": 1}, False)]
    )
    (body,) = encoded({"q": question})["questions"]
    assert body == {
        "type": "predicate",
        "name": "q",
        "instructions": "Spam?\nThe answer is yes when: it sells\nThe answer is no when: it asks"
        '\n\nExamples:\n\nInput: buy!\nAnswer: yes\n\nInput: {"a": 1}\nAnswer: no',
    }


def test_a_choice_has_values_descriptions_and_its_way_out():
    (body,) = encoded({"q": Choice("Which?", {"a1": "one", "b1": None}, none="neither")})["questions"]
    assert body["choices"] == [{"value": "a1", "description": "one"}, {"value": "b1"}, {"value": "neither"}]


def test_a_scale_has_labels():
    (body,) = encoded({"q": MOOD})["questions"]
    assert body["levels"] == [{"label": "calm"}, {"label": "annoyed"}, {"label": "angry"}]


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ({f"q{i}": YesNo("q?") for i in range(401)}, "at most 400 questions"),
        (
            {"q": Choice("q?", [f"option {i}" for i in range(255)], none="no")},
            "256 options, the way out included",
        ),
        ({"q": Scale("q?", [f"level {i}" for i in range(11)])}, "11 levels; .* at most 10"),
    ],
)
def test_limits_are_told(questions, words):
    with pytest.raises(QuestionError, match=words):
        encoded(questions)


def test_a_question_of_another_type_is_refused_by_name():
    with pytest.raises(QuestionError, match="question 'q' is a Question"):
        encoded({"q": Question("q?")})


def test_the_largest_request_is_taken():
    assert len(encoded({f"q{i}": YesNo("q?") for i in range(400)})["questions"]) == 400
    encoded({"q": Choice("q?", [f"option {i}" for i in range(255)])})
    encoded({"q": Scale("q?", [f"level {i}" for i in range(10)])})


def test_a_mapping_is_a_json_part_unless_it_is_too_large_for_one():
    given = {"ticket": "late", "tags": ["a", {"b": None}], "n": 1.5}
    assert encoded({"q": YesNo("q?")}, given)["input"] == [
        {"role": "user", "content": [{"type": "input_json", "data": given}]}
    ]
    deep = {"a": 1}
    for _ in range(40):
        deep = {"a": deep}
    for large in ({"a": "x" * 300_000}, {"a": list(range(10_000))}, deep):
        assert json.loads(encoded({"q": YesNo("q?")}, large)["input"]) == large


def test_messages_calls_and_outputs_are_items():
    messages = [
        Message("system", "Be kind."),
        Message("user", "Where is it?", name="Ann"),
        Message("assistant", "I look.", tool_calls=[{"id": "c1", "name": "find", "arguments": "{}"}]),
        Message("tool", "In Lisbon", tool_call_id="c1"),
        Message("assistant", tool_calls=[{"name": "stop", "arguments": "{}"}]),
    ]
    assert encoded({"q": YesNo("q?")}, messages)["input"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Ann: Where is it?"},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "In Lisbon"},
        {"type": "function_call", "call_id": "call_2", "name": "stop", "arguments": "{}"},
    ]


@pytest.mark.parametrize("number", [None, "c9"])
def test_an_output_without_its_call_is_refused_and_not_shown(number):
    with pytest.raises(QuestionError, match="tool_call_id") as info:
        encoded({"q": YesNo("q?")}, [Message("tool", PRIVATE, tool_call_id=number)])
    assert PRIVATE not in str(info.value)


# responses to us


def test_answers_are_read_by_position_with_or_without_names():
    team = said("billing", billing=0.7, support=0.3)
    answers = read({"s": YesNo("Spam?"), "t": TEAM}, SPAM, {**team, "name": "t"})
    assert (answers["s"].probability, answers["t"].value) == (0.9, "billing")


def test_case_decisions_refusal_is_read_by_position_and_booleans_stay_apart():
    request = asked(predicate(name="spam"), choice(True, "true"))
    body = {
        "model": "gpt-6-luna",
        "answers": [
            {"type": "refusal", "name": "spam"},
            {
                "type": "choice",
                "name": None,
                "choice": True,
                "confidence": 0.8,
                "probabilities": [
                    {"value": True, "probability": 0.9},
                    {"value": "true", "probability": 0.1},
                ],
            },
        ],
        "usage": {"input_tokens": 10, "output_tokens": 0, "total_tokens": 10},
    }
    reply = decode_response(request, body)
    first, second = reply.evidence.answers.values()
    assert first == Refusal()
    assert isinstance(second, ChoiceAnswer)
    (name,) = request.offered
    assert request.offered[name] == (True, "true")
    assert [*second.probabilities.values()] == [0.9, 0.1]
    assert second.value == next(iter(request.request.questions[name].options))
    assert (reply.model, reply.usage) == ("gpt-6-luna", Usage(input_tokens=10, requests=1))
    again = encode_response(request, DecisionResponse(reply.evidence.answers, model=reply.model))
    assert again["answers"][0] == {"type": "refusal", "name": "spam"}
    assert again["answers"][1]["choice"] is True
    assert [entry["value"] for entry in again["answers"][1]["probabilities"]] == [True, "true"]


def test_a_boolean_is_not_the_option_of_that_name():
    with pytest.raises(ValueError, match="invalid_distribution"):
        read(
            {"q": Choice("q?", ["true", "false"])},
            {**said("true"), "probabilities": [{"value": True, "probability": 1}]},
        )


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([SPAM], "1 answers to 2"),
        ([SPAM, SPAM, SPAM], "3 answers to 2"),
        ([SPAM, {**SPAM, "type": "score"}], "answer 1 is not of the type"),
        ([SPAM, {**SPAM, "type": None}], "answer 1 is not of the type"),
        ([SPAM, {**SPAM, "type": ["predicate"]}], "answer 1 is not of the type"),
        ([{**SPAM, "name": "b"}, {**SPAM, "name": "a"}], "answer 0 bears the name of another"),
        ([{**SPAM, "probability": PRIVATE}, {**SPAM, "probability": None}], "no answer can be read"),
    ],
)
def test_a_reply_whose_places_cannot_be_trusted_is_no_reply(answers, words):
    with pytest.raises(ValueError, match=words) as info:
        read({"a": YesNo("a?"), "b": YesNo("b?")}, *answers)
    assert PRIVATE not in str(info.value)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (said("billing", billing=1.0), "incomplete_distribution"),
        ({**said("billing"), "probabilities": None}, "incomplete_distribution"),
        ({**said("billing"), "probabilities": {"billing": 1}}, "incomplete_distribution"),
        (said("billing", billing=0.6, support=0.3), "invalid_distribution"),
        (said("billing", billing=0.6, support=0.4, sales=0.0), "invalid_distribution"),
        (said("support", billing=0.6, support=0.4), "contradictory_answer"),
        (said("sales", billing=0.6, support=0.4), "contradictory_answer"),
        (said(None, billing=0.6, support=0.4), "contradictory_answer"),
        (said([1], billing=0.6, support=0.4), "contradictory_answer"),
    ],
)
def test_one_broken_answer_is_undecided_and_the_others_stand(broken, reason):
    answers = read({"s": YesNo("Spam?"), "t": TEAM}, SPAM, broken)
    assert answers["s"].probability == 0.9
    assert answers["t"] == Undecided(reason)
    with pytest.raises(ValueError, match=reason):
        read({"t": TEAM}, broken)


@pytest.mark.parametrize(
    "change",
    [{"value": 3}, {"value": -1}, {"value": True}, {"value": "2"}, {"value": 0}, {"label": "calm"}],
)
def test_levels_are_told_apart_by_number_and_label(change):
    entries = [
        {"value": i, "label": level, "probability": p}
        for i, level, p in zip(range(3), MOOD.levels, (0, 0, 1), strict=True)
    ]
    good = {"type": "score", "name": None, "score": 2.0, "confidence": 1, "probabilities": entries}
    assert read({"s": YesNo("Spam?"), "m": MOOD}, SPAM, good)["m"].mean == 2.0
    broken = {**good, "probabilities": [*entries[:2], {**entries[2], **change}]}
    assert read({"s": YesNo("Spam?"), "m": MOOD}, SPAM, broken)["m"] == Undecided("invalid_distribution")


# requests of others


def test_a_body_is_read_into_a_request():
    request = asked(
        predicate(name="spam"),
        {
            **choice("a1", "b1"),
            "instructions": [
                {"type": "input_text", "text": "Which?"},
                {"type": "input_json", "data": {"k": 1}},
            ],
        },
        {
            "type": "score",
            "instructions": "How?",
            "levels": [{"label": "low", "description": "not at all"}, {"label": "high"}],
        },
    ).request
    spam, which, how = request.questions.values()
    assert (spam, request.parameters.model_name) == (YesNo("Spam?"), "m")
    assert which == Choice('Which?\n{"k": 1}', ["a1", "b1"])
    assert how == Scale("How?", ["low: not at all", "high"])


def test_questions_without_or_with_equal_names_keep_their_places():
    request = asked(predicate(), predicate(name="a"), predicate(name="a"), predicate(name=" "))
    assert len(request.request.questions) == 4
    assert request.names == (None, "a", "a", " ")
    answers = dict(zip(request.request.questions, map(YesNoAnswer, (0.1, 0.2, 0.3, 0.4)), strict=True))
    body = encode_response(request, DecisionResponse(answers))
    assert [(entry["name"], entry["probability"]) for entry in body["answers"]] == [
        (None, 0.1),
        ("a", 0.2),
        ("a", 0.3),
        (" ", 0.4),
    ]
    assert body["model"] == "m"


@pytest.mark.parametrize("instructions", [None, "", " ", []])
def test_choices_and_levels_without_instructions_speak_for_themselves(instructions):
    levels = [{"label": "low"}, {"label": "high"}]
    request = asked(
        choice("a1", "b1", instructions=instructions),
        {"type": "score", "instructions": instructions, "levels": levels},
    )
    which, how = request.request.questions.values()
    assert (which.text, how.text) == ("Which option fits?", "Which level fits?")


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10).filter(sum))
def test_some_distribution_rounds_to_the_numbers_sent_and_has_their_mean(weights):
    """As pydantic-ai-slim 2.68.0 checks, in exact arithmetic."""
    shares = [weight / sum(weights) for weight in weights]
    request = asked(
        {"type": "score", "instructions": "How?", "levels": [{"label": str(n)} for n in range(len(shares))]}
    )
    ((name, question),) = request.request.questions.items()
    answer = ScaleAnswer(
        sum(n * share for n, share in enumerate(shares)), tuple(shares), levels=question.levels
    )
    (body,) = encode_response(request, DecisionResponse({name: answer}))["answers"]
    sent = [Decimal(str(entry["probability"])) for entry in body["probabilities"]]
    assert _fits(sent, Decimal(str(body["score"])))


def _fits(sent, score):
    halves = [Decimal(1).scaleb(min(-2, number.as_tuple().exponent)) / 2 for number in [*sent, score]]
    low = [max(Decimal(0), number - half) for number, half in zip(sent, halves, strict=False)]
    room = [min(Decimal(1), s + half) - least for s, half, least in zip(sent, halves, low, strict=False)]
    rest = 1 - sum(low)
    means = []
    for order in (range(len(sent)), reversed(range(len(sent)))):
        left, mean = rest, sum(level * share for level, share in enumerate(low))
        for level in order:
            taken = min(left, room[level])
            mean, left = mean + level * taken, left - taken
        means.append(mean)
    return 0 <= rest <= sum(room) and means[0] <= score + halves[-1] and score - halves[-1] <= means[1]


def test_values_that_a_choice_cannot_tell_apart_are_numbered_and_come_back():
    values = ["Yes", "yes", "", True, "true", "option 2", "ja\u0308", "jä"]
    request = asked(choice(*values))
    ((name, question),) = request.request.questions.items()
    assert len(question.options) == 8
    assert '"yes"' in question.options["option 2"]
    for place, option in enumerate(question.options):
        shares = [0.0] * 8
        shares[place] = 1.0
        answer = ChoiceAnswer(option, dict(zip(question.options, shares, strict=True)))
        (body,) = encode_response(request, DecisionResponse({name: answer}))["answers"]
        assert (body["choice"], type(body["choice"])) == (values[place], type(values[place]))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "questions"),
        ({"model": "m", "questions": []}, "at least one"),
        ({"questions": [predicate()], "input": "x"}, "model"),
        ({"model": "m", "questions": [predicate()]}, "input"),
        ({"model": "m", "questions": [predicate()], "input": []}, "input"),
        ({"model": "m", "questions": [predicate()], "input": [PRIVATE]}, r"input\[0\]"),
        ({"model": "m", "questions": [3], "input": "x"}, r"questions\[0\]"),
        (
            {"model": "m", "questions": [predicate(), predicate(name=3)], "input": "x"},
            r"questions\[1\]\.name",
        ),
        ({"model": "m", "questions": [predicate(type="noul")], "input": "x"}, "predicate, choice or score"),
        ({"model": "m", "questions": [predicate(type=[])], "input": "x"}, "predicate, choice or score"),
        ({"model": "m", "questions": [predicate(instructions=None)], "input": "x"}, "instructions"),
        ({"model": "m", "questions": [predicate(instructions=" ")], "input": "x"}, r"questions\[0\].*blank"),
        ({"model": "m", "questions": [choice("only")], "input": "x"}, r"questions\[0\].*two options"),
        ({"model": "m", "questions": [choice("a1", "a1")], "input": "x"}, "same value"),
        ({"model": "m", "questions": [choice("a1", 3)], "input": "x"}, "text or a boolean"),
        ({"model": "m", "questions": [{**predicate(type="choice")}], "input": "x"}, "choices"),
        ({"model": "m", "questions": [{**predicate(type="score"), "levels": ["a"]}], "input": "x"}, "levels"),
        ({"model": "m", "questions": [predicate()] * 401, "input": "x"}, "at most 400"),
        (
            {"model": "m", "questions": [predicate(instructions=[{"type": "input_image"}])], "input": "x"},
            "image",
        ),
    ],
)
def test_a_body_that_cannot_be_asked_says_where(body, words):
    with pytest.raises(QuestionError, match=words) as info:
        decode_request(body)
    assert PRIVATE not in str(info.value)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"role": "tool", "content": PRIVATE}, "role"),
        ({"role": ["user"], "content": PRIVATE}, "role"),
        ({"role": "user", "content": 3}, "content"),
        ({"role": "user", "content": [{"type": "input_image", "image_url": PRIVATE}]}, "image"),
        ({"role": "user", "content": [PRIVATE]}, "known type"),
        ({"type": "reasoning", "call_id": "c"}, "type"),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, "call_id"),
        ({"type": "function_call", "call_id": "c", "name": "f"}, "arguments"),
        ({"type": "function_call_output", "call_id": "c", "output": PRIVATE}, "no call before"),
    ],
)
def test_an_item_of_another_shape_says_where_and_not_what(item, words):
    with pytest.raises(QuestionError, match=words) as info:
        asked(predicate(), given=[item])
    assert "input[0]" in str(info.value)
    assert PRIVATE not in str(info.value)


def test_items_become_messages():
    request = asked(
        predicate(),
        given=[
            {"role": "developer", "content": "Be kind."},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_json", "data": [{"a": 1}]}],
            },
            {
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "No."}, {"type": "output_text", "text": "Well."}],
            },
            {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "ls"},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [{"type": "input_text", "text": "ok"}],
            },
        ],
    ).request
    roles = [message.role for message in request.input]
    assert roles == ["developer", "user", "assistant", "tool"]
    assert request.input[1].text == 'Hi\n[{"a": 1}]'
    assert request.input[2].text == "No.\nWell."
    assert [call.arguments for call in request.input[2].tool_calls] == ["{}", '"ls"']
    assert request.input[3].tool_call_id == "c1"


# there and back

NAMES = st.text(min_size=1).filter(str.strip)
INPUTS = st.one_of(
    NAMES,
    st.dictionaries(st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.text()), min_size=1),
    st.just(
        [
            Message("user", "Hi"),
            Message("assistant", "Yes", tool_calls=[{"id": "c", "name": "f", "arguments": "{}"}]),
            Message("tool", "ok", tool_call_id="c"),
        ]
    ),
)


@given(INPUTS, st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_request_of_ours_comes_back_as_it_was(given_input, names):
    kinds = [YesNo("Spam?"), TEAM, MOOD]
    request = DecisionRequest(given_input, {name: kinds[i % 3] for i, name in enumerate(names)})
    body = json.loads(json.dumps(encode_request(request, model="m")))
    back = decode_request(body).request
    assert (back.input, back.questions) == (request.input, request.questions)
    assert encode_request(back, model="m") == body


def test_answers_of_ours_come_back_as_they_were():
    request = decode_request(encode_request(REQUEST, model="m"))
    answers = {
        "spam": YesNoAnswer(0.123),
        "team": ChoiceAnswer("billing", {"billing": 0.707, "support": 0.293}),
        "mood": ScaleAnswer(1.25, (0.125, 0.5, 0.375)),
    }
    body = encode_response(request, DecisionResponse(answers, model="m2", usage=Usage(5, 1, 2, 3)))
    assert body["usage"]["total_tokens"] == 6
    assert body["answers"][2]["score"] == pytest.approx(1.25)
    reply = decode_response(request, json.loads(json.dumps(body)))
    assert isinstance(reply.evidence, NativeAnswers)
    back = reply.evidence.answers
    assert back["spam"].probability == 0.123
    assert back["team"].probabilities == answers["team"].probabilities
    assert back["mood"].probabilities == pytest.approx(answers["mood"].probabilities)
    assert (reply.model, reply.usage) == ("m2", Usage(5, 1, 2, 1))


def test_the_official_client_reads_what_a_server_would_send():
    import openai as sdk

    request = asked(predicate(name="spam"), choice(True, "true"), predicate())
    spam, which, last = request.request.questions
    options = list(request.request.questions[which].options)
    answers = {
        spam: YesNoAnswer(0.25),
        which: ChoiceAnswer(options[0], dict(zip(options, (0.75, 0.25), strict=True))),
        last: Refusal(),
    }
    body = encode_response(request, DecisionResponse(answers, model="m2"))
    seen = []

    def server(sent):
        seen.append(json.loads(sent.content))
        return httpx2.Response(200, json=body)

    client = sdk.OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(server)))
    asking = {
        "model": "m",
        "input": "x",
        "questions": [predicate(name="spam"), choice(True, "true"), predicate()],
    }
    decision = client.decisions.create(**asking)
    assert decode_request(seen[0]).request == request.request
    assert [answer.type for answer in decision.answers] == ["predicate", "choice", "refusal"]
    assert decision.answers[1].choice is True
    assert [entry.value for entry in decision.answers[1].probabilities] == [True, "true"]
    assert type(decision).model_validate(body, strict=True) == decision


def test_what_is_undecided_travels_as_a_refusal_that_says_so_and_comes_back():
    request = decode_request(encode_request(REQUEST, model="m"))
    answers = {"spam": Undecided("low_label_mass"), "team": ChoiceAnswer("billing"), "mood": Refusal()}
    body = encode_response(request, DecisionResponse(answers))
    assert {entry["type"] for entry in body["answers"]} == {"refusal"}
    assert not any("probabilit" in key for entry in body["answers"] for key in entry)
    back = decode_response(request, body).evidence.answers
    assert list(back.values()) == [
        Undecided("low_label_mass"),
        Undecided("incomplete_distribution"),
        Refusal(),
    ]


def test_an_error_knows_the_path_of_what_is_at_fault():
    with pytest.raises(QuestionError) as info:
        asked(predicate(), {**choice("a1", "b1"), "choices": [{"value": "a1"}, {"value": 3}]})
    assert info.value.where == ("questions", 1, "choices", 1, "value")


def test_usage_tells_what_was_cached_written_and_thought():
    request = asked(predicate())
    usage = Usage(10, 5, 4, cache_written_tokens=3, reasoning_tokens=2)
    (name,) = request.request.questions
    assert encode_response(request, DecisionResponse({name: YesNoAnswer(0.5)}, usage=usage))["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }
