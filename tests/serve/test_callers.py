import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno import BudgetExceeded
from yesno.engine.budget import Amounts
from yesno.serve.callers import CALLER, Allowance, Bucket, Caller, CallersBudget


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_burst_passes_and_then_the_rate_holds(clock):
    bucket = Bucket(60, 3, clock)
    assert [bucket.take() for _ in range(3)] == [None] * 3
    assert bucket.take() == pytest.approx(1.0)
    clock.now += 1.0
    assert bucket.take() is None
    assert bucket.take() == pytest.approx(1.0)


def test_the_burst_is_ten_seconds_where_none_is_set_and_one_at_least(clock):
    assert Bucket(600, None, clock).burst == 100
    assert Bucket(0.5, None, clock).burst == 1


def test_a_rate_of_nothing_lets_nothing_pass(clock):
    assert Bucket(0, None, clock).take() == math.inf


@given(
    st.floats(0.1, 6000),
    st.integers(1, 50),
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_no_more_pass_than_burst_and_rate_allow_and_a_wait_is_enough(rate, burst, pauses):
    clock = Clock()
    bucket, passed, began = Bucket(rate, burst, clock), 0, clock.now
    for pause in pauses:
        clock.now += pause
        wait = bucket.take()
        if wait is None:
            passed += 1
            assert passed <= burst + (clock.now - began) * rate / 60 + 1e-6
        else:
            clock.now += wait
            assert bucket.take() is None
            passed += 1


def caller(clock, **limits):
    return Caller("alice", Allowance(**limits), clock)


def test_requests_under_way_are_limited(clock):
    alice = caller(clock, concurrency=2)
    assert [alice.enter(), alice.enter()] == [None, None]
    denial = alice.enter()
    assert (denial.code, denial.retry_after_s) == ("too_many_requests", 1.0)
    alice.leave()
    assert alice.enter() is None


def test_a_denied_request_counts_as_none_under_way(clock):
    alice = caller(clock, requests_per_minute=60, burst=1)
    assert alice.enter() is None
    denial = alice.enter()
    assert (denial.code, denial.retry_after_s) == ("rate_limit_exceeded", pytest.approx(1.0))
    assert "60 requests per minute" in denial.message
    assert alice.under_way == 1


def test_a_rate_of_nothing_promises_no_time(clock):
    assert caller(clock, requests_per_minute=0).enter().retry_after_s is None


@pytest.mark.parametrize(
    ("period", "same", "next_"),
    [
        ("day", datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),
        ("month", datetime(2026, 11, 30, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),
        ("month", datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_budget_begins_anew_with_its_period(clock, period, same, next_):
    today = [same]
    alice = Caller("alice", Allowance(budget_requests=1, period=period), clock, lambda: today[0])
    alice.budget().reserve(Amounts(requests=1)).settle(Amounts(requests=1))
    with pytest.raises(BudgetExceeded):
        alice.budget().reserve(Amounts(requests=1))
    today[0] = next_
    alice.budget().reserve(Amounts(requests=1))


def test_a_total_budget_never_does(clock):
    today = [datetime(2026, 11, 30, tzinfo=UTC)]
    alice = Caller("alice", Allowance(budget_requests=1, period="total"), clock, lambda: today[0])
    first = alice.budget()
    today[0] = datetime(2030, 1, 1, tzinfo=UTC)
    assert alice.budget() is first


def test_without_limits_there_is_no_budget(clock):
    assert caller(clock, requests_per_minute=5).budget() is None


def test_the_budget_of_a_model_is_that_of_who_asks(clock):
    alice, bob = caller(clock, budget_requests=1), Caller("bob", Allowance(budget_requests=5), clock)
    shared = CallersBudget()
    with as_caller(alice):
        shared.reserve(Amounts(requests=1))
        with pytest.raises(BudgetExceeded):
            shared.reserve(Amounts(requests=1))
        with pytest.raises(BudgetExceeded):
            shared.claim(Amounts(requests=2), lambda: None)
    with as_caller(bob):
        shared.reserve(Amounts(requests=4)).settle(Amounts(requests=3))
    assert bob.budget().spent.requests == 3
    shared.reserve(Amounts(requests=100))
    assert alice.budget().spent.requests == 0


class as_caller:  # noqa: N801 - reads as a sentence
    def __init__(self, caller):
        self.caller = caller

    def __enter__(self):
        self.token = CALLER.set(self.caller)

    def __exit__(self, *error):
        CALLER.reset(self.token)


def test_other_limits_go_on_from_what_was_used(clock):
    before = caller(clock, budget_tokens=100, requests_per_minute=60, burst=2)
    before.enter()
    before.budget().reserve(Amounts(tokens=70)).settle(Amounts(tokens=70))
    after = caller(clock, budget_tokens=90, requests_per_minute=60, burst=5)
    after.inherit(before)
    assert after.budget().spent.tokens == 70
    with pytest.raises(BudgetExceeded):
        after.budget().reserve(Amounts(tokens=21))
    assert [after.enter() is None, after.enter() is None] == [True, False]


def test_a_request_that_began_under_other_limits_still_ends(clock):
    before = caller(clock, concurrency=1)
    before.enter()
    after = caller(clock, concurrency=2)
    after.inherit(before)
    before.leave()
    assert [after.enter() is None, after.enter() is None, after.enter() is None] == [True, True, False]
