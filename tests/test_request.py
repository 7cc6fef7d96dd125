import dataclasses

import pytest

from yesno.errors import QuestionError
from yesno.questions import Choice, YesNo
from yesno.request import DecisionRequest, Parameters

SPAM = YesNo("Is this spam?")


@pytest.mark.parametrize(
    "questions",
    [None, 5, SPAM, [SPAM], "spam", [("spam", SPAM, "more")], [("spam",)]],
)
def test_questions_of_another_shape_are_refused(questions):
    with pytest.raises(QuestionError, match="questions"):
        DecisionRequest("x", questions)


@pytest.mark.parametrize(
    ("question", "named"), [("Is this spam?", "str"), (None, "NoneType"), (YesNo, "type")]
)
def test_what_is_no_question_is_refused_with_its_name_and_type(question, named):
    with pytest.raises(QuestionError, match=rf"'q'.*{named}"):
        DecisionRequest("x", {"q": question})


@pytest.mark.parametrize("name", [None, 5, b"spam"])
def test_a_question_name_of_another_type_is_refused(name):
    with pytest.raises(QuestionError, match="name"):
        DecisionRequest("x", {name: SPAM})


def test_questions_may_come_from_a_generator():
    request = DecisionRequest("x", ((f"q{i}", SPAM) for i in range(3)))
    assert list(request.questions) == ["q0", "q1", "q2"]


def test_copies_change_one_thing_and_leave_the_original():
    request = DecisionRequest({"a": 1}, {"spam": SPAM}, Parameters("m"))
    more = request.with_question("team", Choice("Which?", ["x1", "y1"]))
    other = request.with_questions({"new": SPAM})
    timed = request.with_parameters(Parameters(timeout_s=3))
    assert list(request.questions) == ["spam"]
    assert (list(more.questions), list(other.questions)) == (["spam", "team"], ["new"])
    assert (more.parameters, other.input, timed.parameters.timeout_s) == (Parameters("m"), {"a": 1}, 3)


def test_missing_arguments_are_a_type_error():
    for arguments in ((), ("x",)):
        with pytest.raises(TypeError):
            DecisionRequest(*arguments)


def test_an_override_wins_field_by_field():
    default = Parameters("m", timeout_s=10.0)
    assert default.overridden_by(Parameters(timeout_s=0.5)) == Parameters("m", timeout_s=0.5)
    assert default.overridden_by(None) is default
    assert default.overridden_by(Parameters()) is default
    everything = Parameters("other", 2.0)
    assert None not in dataclasses.astuple(everything)
    assert default.overridden_by(everything) == everything
