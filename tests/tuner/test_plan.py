"""A plan fits into its calls, or says what would."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuner.build import MOOD, SPAM, TEAM, rows
from yesno.errors import ConfigError
from yesno.labelled import Item
from yesno.tuner.plan import SIZES, planned


@given(st.integers(700, 5000), st.integers(120, 400), st.integers(0, 30))
def test_no_plan_takes_more_than_its_calls(calls, count, probes):
    with suppress(ConfigError):
        assert planned(rows(count), calls=calls, probes=probes).requests <= calls


def test_more_calls_make_a_larger_search():
    small, large = planned(rows(), calls=800), planned(rows(), calls=2100)
    assert small.size is not None
    assert large.size == SIZES[0]
    assert small.requests < large.requests


def test_300_rows_are_searched_in_full_within_2100_calls():
    for question in (SPAM, TEAM, MOOD):
        assert planned(rows(question=question)).size == SIZES[0]


def test_decisions_of_several_requests_make_a_smaller_search():
    assert planned(rows(), calls=6000, per_decision=5).size != SIZES[0]


def test_too_few_calls_say_how_many_would_do():
    with pytest.raises(
        ConfigError, match=r"`calls` is 100, and the smallest search of these rows takes \d{3}"
    ):
        planned(rows(), calls=100)


@pytest.mark.parametrize("count", [0, 5, 79])
def test_too_few_rows_are_refused(count):
    with pytest.raises(ConfigError, match=f"there are {count} labelled rows, and tuning needs at least 80"):
        planned(rows(count))


def test_labels_of_one_class_are_refused():
    with pytest.raises(ConfigError, match="all 100 labels are 'yes'"):
        planned([Item(f"r{i}", "x", SPAM, 0, f"r{i}") for i in range(100)])


def test_questions_of_several_types_are_refused():
    with pytest.raises(ConfigError, match=r"questions of 2 types \(scale, yes_no\)"):
        planned([*rows(100), *rows(100, MOOD)])


def test_few_rows_get_a_calibration_but_no_search():
    plan = planned(rows(100))
    assert plan.size is None
    assert plan.why_not == "100 labels are too few to compare templates; 120 would do"
    assert plan.split.train == ()
    assert len(plan.split.select) >= 50


def test_a_rare_answer_gets_no_search():
    items = [Item(f"r{i}", "x", SPAM, int(i >= 10), f"r{i}") for i in range(300)]
    assert "only 10 labels have the rarer answer" in str(planned(items).why_not)


def test_of_many_rows_as_many_are_used_as_are_worth_their_calls_at_their_own_rates():
    items = [Item(f"r{i}", "x", SPAM, int(i % 10 > 0), f"r{i}") for i in range(5000)]
    parts = planned(items).split
    assert [len(parts.train), len(parts.select), len(parts.held_out)] == [100, 300, 200]
    assert sum(row.label == 0 for row in parts.select) == 30
    assert sum(row.label == 0 for row in parts.held_out) == 20
