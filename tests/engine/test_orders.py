"""Asking in several orders: what a place is worth cancels out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import both
from yesno import Choice, DecisionModel, FakeProvider, Scale, YesNo
from yesno.engine.orders import Order, averaged, further_orders
from yesno.errors import ConfigError
from yesno.reading.outcome import Reading

THREE = Choice("Which?", ["one", "two", "three"])


def likes_first(prompt):
    """Prefer the first place, whatever stands there."""
    if "A." in prompt:
        return {"A": 0.6, "B": 0.3, "C": 0.1}
    return {"Yes": 0.7, "No": 0.3} if "yes or no" in prompt else {"No": 0.7, "Yes": 0.3}


def prompts(provider):
    return [payload["messages"][-1]["content"] for payload in provider.requests]


@both
def test_all_orders_of_a_choice_cancel_what_a_place_is_worth(shell):
    provider = FakeProvider(likes_first)
    answer = shell(provider, orders=3).decide("x", THREE)
    assert list(answer.probabilities) == ["one", "two", "three"]
    assert list(answer.probabilities.values()) == pytest.approx([1 / 3] * 3)
    assert [p.split("A. ")[1].split("\n")[0] for p in prompts(provider)] == ["one", "two", "three"]
    assert "orders" in answer.flags
    assert [a.result for a in answer.attempts] == ["answered"] * 3


@both
def test_both_polarities_of_a_yes_no_question_cancel(shell):
    provider = FakeProvider(likes_first)
    answer = shell(provider, orders=2).decide("x", YesNo("Is it?"))
    assert answer.probability == pytest.approx(0.5)
    assert ["Answer yes or no" in p for p in prompts(provider)] == [True, False]
    assert "Answer no or yes" in prompts(provider)[1]


@both
def test_an_option_that_is_meant_wins_in_every_order(shell):
    def picks_two(prompt):
        letter = next(line for line in prompt.splitlines() if line.endswith("two"))[0]
        return {letter: 0.88} | {other: 0.04 for other in "ABCD" if other != letter}

    answer = shell(FakeProvider(picks_two), orders=9).decide(
        "x", Choice("q?", ["one", "two", "three"], none="no")
    )
    assert answer.value == "two"
    assert answer.probabilities["two"] == pytest.approx(0.88)
    assert len(answer.attempts) == 3


@both
def test_auto_asks_on_only_when_the_first_answer_is_unsure(shell):
    sure = FakeProvider({"Yes": 0.9, "No": 0.1})
    shell(sure, orders="auto").decide("x", YesNo("Is it?"))
    assert len(sure.requests) == 1
    unsure = FakeProvider({"Yes": 0.6, "No": 0.4})
    shell(unsure, orders="auto").decide("x", YesNo("Is it?"))
    assert len(unsure.requests) == 2
    torn = FakeProvider({"A": 0.4, "B": 0.3, "C": 0.3})
    shell(torn, orders="auto").decide("x", THREE)
    assert len(torn.requests) == 3


@both
def test_a_scale_is_asked_in_its_own_order_only(shell):
    provider = FakeProvider({"A": 0.5, "B": 0.5})
    shell(provider, orders=4).decide("x", Scale("q?", ["low", "high"]))
    assert len(provider.requests) == 1


@both
def test_an_order_without_an_answer_is_left_out(shell):
    def weak_when_swapped(prompt):
        return {"Yes": 0.7, "No": 0.3} if "yes or no" in prompt else {"The": 0.9, "Yes": 0.1}

    answer = shell(FakeProvider(weak_when_swapped), orders=2).decide("x", YesNo("Is it?"))
    assert answer.probability == pytest.approx(0.7)
    assert "orders" not in answer.flags


@both
def test_the_prior_of_each_order_is_its_own(shell):
    answer = shell(FakeProvider(likes_first), orders=2, prior="content_free").decide("x", YesNo("Is it?"))
    assert answer.probability == pytest.approx(0.5)
    assert [a.result for a in answer.attempts] == ["prior", "answered"] * 2
    assert answer.raw == pytest.approx(0.5)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "all"])
def test_a_number_of_orders_that_makes_no_sense_is_refused(value):
    with pytest.raises(ConfigError, match="`orders`"):
        DecisionModel(FakeProvider(), orders=value)


def reading_of(weights):
    shares = tuple(w / sum(weights) for w in weights)
    none = (0.0,) * len(shares)
    return Reading(shares, shares, shares, shares, none, 0.0, 1.0)


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.integers(0, 2))
def test_turning_and_turning_back_changes_nothing(weights, rotation):
    order = Order(rotation=rotation)
    names = list(order.of(THREE).options)
    shown = reading_of([weights[list(THREE.options).index(name)] for name in names])
    assert order.undone(THREE, shown).probabilities == pytest.approx(reading_of(weights).probabilities)


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_mean_is_a_distribution_within_its_bounds(rows):
    mean = averaged([reading_of(row) for row in rows])
    assert sum(mean.probabilities) == pytest.approx(1)
    for low, p, high in zip(mean.low, mean.probabilities, mean.high, strict=True):
        assert low <= p + 1e-12
        assert p <= high + 1e-12


def test_orders_are_spread_over_the_options():
    ten = Choice("q?", [f"o{i}" for i in range(10)])
    first = reading_of([1] * 10)
    assert [order.rotation for order in further_orders(ten, first, 5)] == [2, 4, 6, 8]
    assert [order.rotation for order in further_orders(ten, first, 99)] == list(range(1, 10))
