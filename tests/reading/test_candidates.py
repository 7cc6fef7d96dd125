"""What one position of a reply lists, and how the written token is found in it."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yesno.evidence import Candidate, Position
from yesno.reading.candidates import is_measured, usable

near = pytest.approx
CENSORED = [None, math.nan, -math.inf, -9999.0, -100.0, -1e308, -50.0]


def token(text, p, data=None, id=None):
    return Candidate(text, math.log(p), data, id)


def listed(chosen, *top):
    return usable(Position(chosen, top), 0)


@pytest.mark.parametrize("value", CENSORED)
def test_a_censored_value_is_counted_and_not_used(value):
    got = listed(token("A", 0.9), token("A", 0.9), Candidate("B", value))
    assert got.values == [(b"A", near(0.9), True)]
    assert got.censored == 1


@pytest.mark.parametrize("value", CENSORED)
def test_a_position_of_censored_values_has_no_distribution(value):
    assert listed(Candidate("A", value), Candidate("A", value), Candidate("B", value)) == "sentinel_logprob"
    assert not is_measured(Position(Candidate("A", value)))


def test_the_written_token_is_added_when_the_list_lacks_it():
    got = listed(token("B", 0.01), token("A", 0.8), token("C", 0.1))
    assert got.total == near(0.91)
    assert got.ceiling == near(0.1)
    assert [data for data, _, written in got.values if written] == [b"B"]


def test_the_written_token_is_counted_once_by_id_by_bytes_or_by_text():
    for mine, theirs in [
        (token(" Yes", 0.6, b" Yes", 7), token("Yes", 0.6, b"Yes", 7)),
        (token("Yes", 0.6, b"Yes"), token("\u0120Yes", 0.6, b"Yes")),
        (token("Yes", 0.6), token("Yes", 0.6, b"Yes")),
    ]:
        assert listed(mine, theirs, token("No", 0.3)).total == near(0.9)


def test_garbled_texts_with_other_bytes_are_other_tokens():
    mine, other = token("\ufffd", 0.6, b"\xf0\x9f\x8c"), token("\ufffd", 0.3, b"\xf0\x9f\x94")
    for top in ((mine, other), (other, mine)):
        assert [data for data, _, written in listed(mine, *top).values if written] == [mine.data]


def test_of_two_tokens_with_one_text_the_one_with_the_written_value_was_written():
    rare, common = token("8", 0.02), token("8", 0.5)
    for top in ((rare, common), (common, rare)):
        assert [p for _, p, written in listed(rare, *top).values if written] == [near(0.02)]


def test_a_measured_value_of_the_written_token_fills_a_gap_in_the_list():
    got = listed(token("A", 0.9), Candidate("A", None), token("B", 0.05))
    assert (got.total, got.censored) == (near(0.95), 0)


def test_one_id_listed_twice_is_one_token():
    assert listed(token("A", 0.6, id=1), token("A", 0.6, id=1), token("a", 0.6, id=1)).total == near(0.6)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([0.7], "invalid_logprob"),
        ([0.93, 0.05], "probabilities_in_logprob_field"),
        ([1.2, 0.05], "invalid_logprob"),
        ([0.2, -1.0], "invalid_logprob"),
        ([math.inf, -1.0], "invalid_logprob"),
        ([-0.1, -0.2, -0.3], "invalid_logprob"),
        ([0.0, 0.0], "degenerate"),
        ([0.0], "degenerate"),
    ],
)
def test_what_cannot_be_a_distribution_is_named(values, reason):
    top = [Candidate(f"t{i}", value) for i, value in enumerate(values)]
    assert listed(top[0], *top) == reason


def test_a_rounding_error_above_zero_is_zero():
    got = listed(Candidate("A", 5e-7), Candidate("A", 5e-7), Candidate("B", -18.0))
    assert got.values[0] == (b"A", 1.0, True)


def test_past_the_first_token_a_lone_token_may_be_certain():
    only = Candidate("0", 0.0)
    assert usable(Position(only, (only,)), 0, later=True).total == 1.0
    assert usable(Position(only, (only, Candidate("1", 0.0))), 0, later=True) == "degenerate"


def test_an_answer_inside_a_token_has_only_the_rivals_that_begin_alike():
    got = usable(Position(token('"no', 0.8), (token('"no', 0.8), token('"yes', 0.1), token("}", 0.05))), 1)
    assert [data for data, _, _ in got.values] == [b"no", b"yes"]
    assert got.written == b"no"


values = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.floats(-30, 0)
candidates = st.builds(
    Candidate,
    st.text(max_size=3) | st.sampled_from(["Yes", "\ud800", "\ufffd", "<0xF0>"]),
    values,
    st.none() | st.binary(max_size=4),
    st.none() | st.integers(0, 3),
)


@given(candidates, st.lists(candidates, max_size=5), st.integers(0, 3), st.booleans())
@settings(derandomize=True, max_examples=300, deadline=None)
def test_junk_gives_probabilities_or_a_word(chosen, top, skip, later):
    got = usable(Position(chosen, tuple(top)), skip, later=later)
    if isinstance(got, str):
        assert got
        return
    assert all(0 < p <= 1 for _, p, _ in got.values)
    assert got.total <= 1.01
    assert 0 < got.ceiling <= 1


@given(candidates, st.permutations([0, 1, 2, 3, 4]), st.data())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_the_order_of_the_list_does_not_matter(chosen, order, data):
    top = [data.draw(candidates) for _ in order]
    one, two = listed(chosen, *top), listed(chosen, *(top[i] for i in order))
    if isinstance(one, str):
        assert one == two
    else:
        assert sorted(p for _, p, _ in one.values) == sorted(p for _, p, _ in two.values)
        assert (one.total, one.ceiling, one.censored) == (near(two.total), two.ceiling, two.censored)
