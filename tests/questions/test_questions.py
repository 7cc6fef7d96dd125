"""What the shared acceptance cases do not say about questions and answers."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yesno.errors import AnswerError, NoProbabilities, QuestionError
from yesno.questions import Choice, ChoiceAnswer, Question, Scale, ScaleAnswer, YesNo, YesNoAnswer
from yesno.questions.base import confidence_of
from yesno.questions.choice import folded


@pytest.mark.parametrize(
    "options", [None, 5, "billing", [1, 2], [("a", "b", "c")], {"a": 5, "b": None}, [None, "a"]]
)
def test_options_of_another_shape_are_refused(options):
    with pytest.raises(QuestionError):
        Choice("Which?", options)


@pytest.mark.parametrize("levels", [None, 5, "low", [1, 2], ["low", None]])
def test_levels_of_another_shape_are_refused(levels):
    with pytest.raises(QuestionError, match="level"):
        Scale("How?", levels)


def test_missing_arguments_are_a_type_error():
    for make in (YesNo, Choice, Scale, YesNoAnswer, ChoiceAnswer, ScaleAnswer):
        with pytest.raises(TypeError):
            make()


def test_criteria_are_named_not_placed():
    with pytest.raises(TypeError):
        YesNo("Urgent?", "money is blocked")


@pytest.mark.parametrize(
    "pair", [["true", "TRUE"], ["a b", "a  b"], ["A", "\uff21"], ["no", "no\u200b"], ["é", "e\u0301"]]
)
def test_two_options_that_a_reader_cannot_tell_apart_are_refused_with_both(pair):
    with pytest.raises(QuestionError) as caught:
        Choice("Which?", pair)
    assert all(repr(name) in str(caught.value) for name in pair)


@pytest.mark.parametrize("name", ["\u200b", "\u2060\u00ad", "\x07"])
def test_an_invisible_option_is_refused(name):
    with pytest.raises(QuestionError):
        Choice("Which?", [name, "other"])


def test_options_that_differ_to_a_reader_are_kept():
    assert list(Choice("Which?", ["yes", "yes!", "y", "no"]).options) == ["yes", "yes!", "y", "no"]


@given(st.text(max_size=10))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_folding_a_name_twice_changes_nothing(name):
    assert folded(folded(name)) == folded(name)


def test_the_way_out_is_no_option_and_unlike_each_of_them():
    question = Choice("Which?", ["billing", "support"], none="none of these")
    assert list(question.options) == ["billing", "support"]
    assert question.with_option("sales").none == question.with_options(["x", "y"]).none == "none of these"
    with pytest.raises(QuestionError, match="'Billing'"):
        Choice("Which?", ["billing", "support"], none="Billing")
    with pytest.raises(QuestionError, match="none"):
        Choice("Which?", ["billing", "support"], none=" ")


def test_examples_are_kept_by_copies_and_must_have_a_possible_answer():
    shown = [("I was charged twice", "billing")]
    question = Choice("Which?", ["billing", "support"], examples=shown)
    assert question.with_option("sales").examples == (("I was charged twice", "billing"),)
    assert Choice("Which?", ["x", "y"], none="-none-", examples=[("?", "-none-")]).examples[0][1] == "-none-"
    assert YesNo("Spam?", examples=[("win!", True)]).examples == (("win!", True),)
    assert Scale("How?", ["low", "high"], examples=[("x", "low")]).with_level("top").examples == (
        ("x", "low"),
    )
    with pytest.raises(QuestionError, match=r"example 2.*'sales'"):
        Choice("Which?", ["billing", "support"], examples=[*shown, ("x", "sales")])
    with pytest.raises(QuestionError, match="example 1"):
        question.with_options(["other", "options"])


@pytest.mark.parametrize("example", ["text", ("one",), ("one", 1), ("one", "yes"), None])
def test_an_example_of_another_shape_is_refused_by_its_number(example):
    with pytest.raises(QuestionError, match="example 1"):
        YesNo("Spam?", examples=[example])


def test_a_scale_takes_two_to_255_levels_and_the_same_twice():
    assert len(Scale("How?", [f"level {i}" for i in range(255)]).levels) == 255
    assert Scale("How?", ["same", "same"]).levels == ("same", "same")
    with pytest.raises(QuestionError, match="255"):
        Scale("How?", [f"level {i}" for i in range(256)])


@pytest.mark.parametrize("value", [-1e-7, 1 + 1e-7])
def test_a_rounding_error_is_clamped(value):
    assert YesNoAnswer(value).probability in (0.0, 1.0)
    assert ChoiceAnswer("a", {"a": value}).probabilities["a"] in (0.0, 1.0)


@pytest.mark.parametrize("value", [True, "0.5", [0.5], -2e-6, 1 + 2e-6])
def test_what_is_nearly_a_probability_is_none(value):
    with pytest.raises(AnswerError, match="probability"):
        YesNoAnswer(value)


def test_a_choice_must_be_among_the_options_unless_the_way_out_won():
    with pytest.raises(AnswerError, match=r"'sales'.*'billing'"):
        ChoiceAnswer("sales", options=("billing", "support"))
    out = ChoiceAnswer(
        "none", {"billing": 0.1, "support": 0.2}, options=("billing", "support"), none_probability=0.7
    )
    assert out.is_none
    assert not ChoiceAnswer("billing", options=("billing",), none_probability=0.1).is_none


def test_the_way_out_is_a_rival_in_the_margin():
    near = ChoiceAnswer("a", {"a": 0.5, "b": 0.1}, options=("a", "b"), none_probability=0.4)
    assert near.margin() == pytest.approx(0.1)


def test_an_option_that_was_not_offered_is_refused_before_anything_else():
    answer = ChoiceAnswer("a", options=("a", "b"))
    with pytest.raises(AnswerError, match=r"'c'.*'a', 'b'") as caught:
        answer.probability_of("c")
    assert not isinstance(caught.value, NoProbabilities)


def test_the_level_is_the_most_probable_the_lowest_of_equals():
    assert ScaleAnswer(1.0, (0.2, 0.4, 0.4)).level() == 1
    with pytest.raises(NoProbabilities):
        ScaleAnswer(1.0).level()


@pytest.mark.parametrize("mean", [True, "1", math.inf])
def test_a_mean_is_a_finite_number(mean):
    with pytest.raises(AnswerError, match="mean"):
        ScaleAnswer(mean)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=20))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_confidence_is_zero_for_a_tie_and_one_for_certainty(weights):
    shares = tuple(weight / sum(weights) for weight in weights)
    n = len(shares)
    assert 0 <= confidence_of(shares) <= 1
    assert confidence_of((1 / n,) * n) == pytest.approx(0, abs=1e-9)
    assert confidence_of((1.0, *(0.0,) * (n - 1))) == 1
    assert confidence_of((0.8, 0.1, 0.1)) == pytest.approx(0.7)


def test_answers_can_be_changed_by_copy_only():
    answer = ChoiceAnswer("a", {"a": 0.6, "b": 0.4}, options=("a", "b"))
    assert replace(answer, calibrated=True).probabilities == answer.probabilities
    with pytest.raises(TypeError):
        answer.probabilities["a"] = 1


def test_a_question_of_ones_own_needs_its_text_too():
    with pytest.raises(QuestionError, match="text"):
        Question(" ")
