"""Answers whose options and levels are more than texts."""

import math
import pickle
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno import DecisionModel, FakeProvider, Scale
from yesno.errors import AnswerError, NoProbabilities
from yesno.questions import ChoiceAnswer, ScaleAnswer

Level = Enum("Level", ["LOW", "MEDIUM", "HIGH"])
WEIGHTS = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)


def test_a_choice_answer_takes_the_members_of_an_enum():
    answer = ChoiceAnswer(Level.LOW, {Level.LOW: 0.7, Level.HIGH: 0.2}, options=tuple(Level))
    assert [answer.probability_of(level) for level in Level] == [0.7, 0, 0.2]
    assert not answer.is_none
    assert pickle.loads(pickle.dumps(answer)) == answer  # noqa: S301 - our own


@pytest.mark.parametrize("value", [None, 3, "", " ", ["a"]])
def test_a_choice_answer_takes_nothing_but_names_and_members(value):
    with pytest.raises(AnswerError, match="value"):
        ChoiceAnswer(value)


@pytest.mark.parametrize(("mean", "level"), [(0, 0), (0.49, 0), (0.5, 1), (1.6, 2), (2, 2), (2 + 1e-7, 2)])
def test_without_probabilities_the_level_nearest_the_mean_is_most_likely(mean, level):
    assert ScaleAnswer(mean, levels=tuple(Level)).most_likely() is list(Level)[level]


def test_of_equally_probable_levels_the_lowest_is_most_likely():
    assert ScaleAnswer(1.3, (0.2, 0.4, 0.4), levels=tuple(Level)).most_likely() is Level.MEDIUM


def test_an_answer_that_does_not_know_its_levels_says_so():
    answer = ScaleAnswer(1.0, (0.2, 0.6, 0.2))
    for read in (answer.most_likely, lambda: answer.probability_of("low")):
        with pytest.raises(AnswerError, match="levels"):
            read()


def test_levels_that_were_not_offered_and_probabilities_that_are_missing_are_errors():
    answer = ScaleAnswer(1.0, levels=("low", "mid", "high"))
    for read in (answer.probability_of, answer.probability_at_least):
        with pytest.raises(NoProbabilities):
            read("mid")
        with pytest.raises(AnswerError, match=r"'middle' was not offered.*'mid'"):
            read("middle")


@pytest.mark.parametrize(("mean", "probabilities"), [(2.1, ()), (-0.1, ()), (1.0, (0.5, 0.5))])
def test_an_answer_that_does_not_fit_its_levels_is_none(mean, probabilities):
    with pytest.raises(AnswerError, match=r"mean|probabilities"):
        ScaleAnswer(mean, probabilities, levels=tuple(Level))


@given(WEIGHTS)
def test_probabilities_of_at_least_a_level_fall_from_one(weights):
    shares = tuple(weight / math.fsum(weights) for weight in weights)
    answer = ScaleAnswer(sum(i * p for i, p in enumerate(shares)), shares, levels=tuple(Level))
    at_least = [answer.probability_at_least(level) for level in Level]
    assert at_least[0] == pytest.approx(1)
    assert at_least == sorted(at_least, reverse=True)
    assert at_least[-1] == answer.probability_of(Level.HIGH)
    assert answer.probability_of(answer.most_likely()) == max(shares)


def test_answers_of_a_model_know_their_levels():
    answer = DecisionModel(FakeProvider({"B": 0.7, "A": 0.2})).decide("x", Scale("How?", ["low", "high"]))
    assert (answer.levels, answer.most_likely()) == (("low", "high"), "high")
