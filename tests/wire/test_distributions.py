"""From shown numbers to answers: what rounding leaves open, and what is no distribution."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.questions import Choice, ChoiceAnswer
from yesno.wire.distributions import (
    Unfit,
    choice_answer,
    distribution_of,
    scale_answer,
    usage_of,
    yes_no_answer,
)

ABC = Choice("Which?", ["alpha", "beta", "gamma"])


@pytest.mark.parametrize(
    ("shown", "point"),
    [
        ([0.33, 0.33, 0.33], [1 / 3, 1 / 3, 1 / 3]),
        ([0.9, 0.09], [0.905, 0.095]),
        ([0.67, 0.34], [0.665, 0.335]),
        ([0.5, 0.5], [0.5, 0.5]),
        ([1, 0.0, 0], [1, 0, 0]),
        ([0.4995, 0.4995], [0.5, 0.5]),
    ],
)
def test_a_rounded_distribution_sums_to_1_without_leaving_its_rounding(shown, point):
    found = distribution_of(shown)
    assert found.shares == pytest.approx(point)
    assert found.flags == ("rounded",)
    for share, (low, high), own in zip(found.shares, found.bounds, shown, strict=True):
        assert low == pytest.approx(max(0, own - 0.005))
        assert high == pytest.approx(min(1, own + 0.005))
        assert low - 1e-9 <= share <= high + 1e-9


def test_many_options_that_round_to_nothing_do_not_lift_the_one_that_is_seen():
    found = distribution_of([0.3, *[0.0] * 254])
    assert found.shares[0] == pytest.approx(0.3, abs=0.005)


def test_a_distribution_in_full_is_left_as_it_is_and_says_nothing_about_bounds():
    found = distribution_of([0.123, 0.877])
    assert (found.shares, found.bounds, found.flags) == ((0.123, 0.877), None, ())


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ([0.9, 0.0], "invalid_distribution"),
        ([0.9, 0.2], "invalid_distribution"),
        ([1.0, 0.02], "invalid_distribution"),
        ([0.45, 0.449], "invalid_distribution"),
        ([1.5, -0.5], "invalid_distribution"),
        ([math.nan, 1.0], "invalid_distribution"),
        ([math.inf, 0.0], "invalid_distribution"),
        ([True, 0.0], "invalid_distribution"),
        (["0.5", 0.5], "invalid_distribution"),
        (["NaN", 0.5], "invalid_distribution"),
        ([10**400, 0.5], "invalid_distribution"),
        ([None, 1.0], "incomplete_distribution"),
        ([0.0, 0.0, 0.0], "invalid_distribution"),
        ([0.0] * 255, "rounded_away"),
    ],
)
def test_what_is_no_distribution_has_a_reason(shown, reason):
    with pytest.raises(Unfit) as info:
        distribution_of(shown)
    assert info.value.args == (reason,)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60).filter(lambda values: sum(values) > 0.01))
def test_every_distribution_survives_its_own_rounding(values):
    true = [value / sum(values) for value in values]
    shown = [round(share, 2) for share in true]
    if not any(shown):
        return
    found = distribution_of(shown)
    assert math.fsum(found.shares) == pytest.approx(1)
    for share, (low, high), point in zip(true, found.bounds or [], found.shares, strict=True):
        assert low - 1e-6 <= share <= high + 1e-6
        assert low - 1e-6 <= point <= high + 1e-6


@given(st.lists(st.floats(0, 1), min_size=3, max_size=10).filter(lambda values: sum(values) > 0.01))
def test_the_true_mean_of_a_rounded_scale_lies_in_its_bounds(values):
    true = [value / sum(values) for value in values]
    mean = sum(level * share for level, share in enumerate(true))
    answer = scale_answer([round(share, 2) for share in true], round(mean, 2))
    assert answer.low - 1e-6 <= mean <= answer.high + 1e-6
    assert answer.low <= answer.mean <= answer.high


def test_the_most_probable_option_answers_and_the_one_named_breaks_ties():
    assert choice_answer(ABC, [0.5, 0.5, 0.0], 1).value == "beta"
    assert choice_answer(ABC, [0.5, 0.5, 0.0], None).value == "alpha"
    assert choice_answer(ABC, [0.4, 0.39, 0.21], 1).value == "alpha"  # one step behind happens
    with pytest.raises(Unfit, match="contradictory_answer"):
        choice_answer(ABC, [0.41, 0.39, 0.2], 1)
    with pytest.raises(Unfit, match="contradictory_answer"):
        choice_answer(ABC, [0.401, 0.399, 0.2], 1)


def test_the_way_out_has_its_own_probability_and_may_win():
    question = Choice("Which?", ["alpha", "beta"], none="neither")
    answer = choice_answer(question, [0.1, 0.2, 0.7], 2)
    assert (answer.value, answer.is_none, answer.none_probability) == ("neither", True, 0.7)
    assert dict(answer.probabilities) == {"alpha": 0.1, "beta": 0.2}
    assert answer.confidence == pytest.approx((3 * 0.7 - 1) / 2)


def test_a_mean_that_is_not_its_distributions_is_a_contradiction():
    assert scale_answer([0.0, 0.03, 0.97], 1.97).mean == pytest.approx(1.97)
    assert scale_answer([0.123, 0.877], 0.88).mean == pytest.approx(0.877)
    for shares, mean in (([0.0, 0.03, 0.97], 2.97), ([0.123, 0.877], 0.9), ([0.5, 0.5], math.nan)):
        with pytest.raises(Unfit):
            scale_answer(shares, mean)


def test_a_label_mass_widens_the_bounds():
    answer = yes_no_answer(0.9, 0.8)
    assert (answer.low, answer.high) == pytest.approx((0.895 * 0.8, 0.905 * 0.8 + 0.2))
    scale = scale_answer([0.2, 0.8], 0.8, 0.9)
    assert (scale.low, scale.high) == pytest.approx((1 - (0.205 * 0.9 + 0.1), 0.805 * 0.9 + 0.1))
    exact = choice_answer(ABC, [0.123, 0.877, 0.0], 1, 1.0)
    assert (exact.low, exact.high) == (0.877, 0.877)


def test_a_probability_of_yes_near_a_half_is_a_yes_and_no_confidence():
    answer = yes_no_answer(0.52)  # https://github.com/aallan/vera/issues/1467
    assert answer.is_yes(0.5)
    assert answer.probability - (1 - answer.probability) == pytest.approx(0.04)
    assert not answer.is_yes(0.8)
    assert not answer.probability <= 0.2


def test_confidence_is_computed_here():
    answer = choice_answer(ABC, [0.8, 0.1, 0.1], 0)
    assert isinstance(answer, ChoiceAnswer)
    assert answer.probability_of("alpha") == pytest.approx(0.8)
    assert answer.confidence == pytest.approx(0.7)
    assert answer.margin() == pytest.approx(0.7)


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"input_tokens": "3"}, {"input_tokens": -1}])
def test_usage_that_is_missing_or_odd_counts_nothing(usage):
    assert (usage_of(usage).input_tokens, usage_of(usage).requests) == (0, 1)


def test_usage_counts_tokens():
    used = usage_of({"input_tokens": 5.0, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}})
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == (5, 2, 4)
