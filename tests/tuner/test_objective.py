"""The loss that templates are compared by is honest about rows it was not fitted to."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuner.build import MOOD, SPAM, TEAM, rows
from yesno import Choice
from yesno.labelled import Item
from yesno.tuner.objective import FLOOR, Map, fit_map, losses, out_of_fold


def test_the_loss_is_the_negative_logarithm_of_what_was_given_to_the_label():
    items = rows(2)
    found = losses([(0.8, 0.2), (0.8, 0.2)], items)
    assert found.tolist() == pytest.approx([-math.log(0.8), -math.log(0.2)])


def test_an_impossible_answer_that_was_right_costs_no_more_than_the_floor():
    assert losses([(0.0, 1.0)], rows(1))[0] == pytest.approx(-math.log(FLOOR), abs=1e-3)


def test_of_several_labellers_the_label_counts_as_it_does_for_a_calibration():
    (item,) = rows(1, MOOD, shares=True)
    assert losses([(0.5, 0.3, 0.2)], [item])[0] == pytest.approx(-math.log(0.5))


def test_probabilities_that_a_host_rounded_are_renormalised():
    assert losses([(0.49, 0.5)], rows(1))[0] == pytest.approx(-math.log(0.49 / 0.99))


def test_a_map_takes_out_a_lean_to_one_answer():
    items = rows(200)
    leaning = [(0.95, 0.05) if item.label == 0 else (0.8, 0.2) for item in items]
    fitted = fit_map(leaning, items)
    assert losses(fitted.apply(leaning), items).mean() < 0.5 * losses(leaning, items).mean()


def test_few_rows_barely_move_a_map():
    items = rows(2)
    fitted = fit_map([(0.6, 0.4), (0.6, 0.4)], items)
    assert abs(fitted.slope - 1) < 0.5
    assert all(abs(shift) < 0.5 for shift in fitted.shifts)


def test_options_that_differ_from_row_to_row_have_no_shift():
    other = Choice("Which?", ["x", "y"])
    items = [*rows(6, TEAM), *(Item(f"o{i}", "x", other, i % 2, f"o{i}") for i in range(6))]
    shares = [(0.5, 0.3, 0.2)] * 6 + [(0.5, 0.5)] * 6
    assert fit_map(shares, items).shifts == ()
    assert [len(row) for row in fit_map(shares, items).apply(shares)] == [3] * 6 + [2] * 6


@given(
    st.floats(0, 5),
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 0.01),
)
def test_mapped_probabilities_sum_to_1(slope, shifts, row):
    (mapped,) = Map(slope, tuple(shifts)).apply([tuple(v / sum(row) for v in row)])
    assert math.isclose(sum(mapped), 1, abs_tol=1e-9)
    assert all(0 <= share <= 1 for share in mapped)


def test_noise_is_worth_no_more_than_no_answer_on_rows_it_was_not_fitted_to():
    import random

    noise = random.Random(0)
    items = tuple(rows(200))
    shares = tuple((p, 1 - p) for p in (noise.uniform(0.01, 0.99) for _ in items))
    assert abs(out_of_fold(shares, items).mean() - math.log(2)) < 0.03


def test_rows_of_one_group_are_never_on_both_sides():
    question = SPAM
    items = tuple(Item(f"r{i}", "x", question, i % 2, "all") for i in range(40))
    shares = tuple((0.9, 0.1) if item.label == 0 else (0.2, 0.8) for item in items)
    # one group is one fold, so nothing could be fitted, and the readings stay as they are
    assert out_of_fold(shares, items).tolist() == pytest.approx(losses(shares, items).tolist())
