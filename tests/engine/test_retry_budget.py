import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import both, patient
from yesno import FakeProvider, YesNo
from yesno.engine.retry_budget import RetryBudget
from yesno.errors import ConfigError, ProviderUnavailable

YES = {"Yes": 0.9, "No": 0.1}


@given(st.lists(st.booleans(), max_size=400), st.integers(0, 16).map(lambda n: n / 16), st.integers(0, 20))
def test_retries_are_at_most_their_share_and_the_reserve(story, share, reserve):
    budget = RetryBudget(share, reserve=reserve)
    requests = retries = 0
    for is_retry in story:
        if is_retry:
            retries += budget.take()
        else:
            requests += 1
            budget.earn()
        assert retries <= reserve + share * requests


@given(st.integers(1, 16).map(lambda n: n / 16), st.integers(0, 20), st.integers(0, 50))
def test_a_bucket_that_is_empty_fills_again(share, reserve, drained):
    budget = RetryBudget(share, reserve=reserve)
    for _ in range(drained):
        budget.take()
    for _ in range(16):
        budget.earn()
    assert budget.take()


@given(st.integers(0, 20))
def test_a_quiet_time_saves_no_more_than_the_reserve(reserve):
    budget = RetryBudget(1, reserve=reserve)
    for _ in range(100):
        budget.earn()
    assert sum(budget.take() for _ in range(100)) == max(1, reserve)


@both
def test_an_outage_gets_no_more_than_half_as_many_requests_again(shell):
    provider = FakeProvider(ProviderUnavailable("down", provider="fake", status=503))
    model = shell(provider, retry=patient([], budget=RetryBudget(0.5, reserve=0)))
    for number in range(20):
        with pytest.raises(ProviderUnavailable):
            model.decide(f"x{number}", YesNo("q?"))
    assert len(provider.requests) == 30


@both
def test_a_budget_is_shared_by_the_models_of_one_policy(shell):
    policy = patient([], budget=RetryBudget(0, reserve=1))
    flaky = [ProviderUnavailable("down", provider="fake", status=503), YES]
    assert shell(FakeProvider(flaky), retry=policy).decide("x", YesNo("q?")).is_yes()
    with pytest.raises(ProviderUnavailable):
        shell(FakeProvider(flaky), retry=policy).decide("x", YesNo("q?"))


@pytest.mark.parametrize("share", [-0.1, 1.1, True, "much", float("nan")], ids=str)
def test_a_share_that_makes_no_sense_is_refused(share):
    with pytest.raises(ConfigError, match="share"):
        RetryBudget(share)


@pytest.mark.parametrize("reserve", [-1, 1.5, True], ids=str)
def test_a_reserve_that_makes_no_sense_is_refused(reserve):
    with pytest.raises(ConfigError, match="reserve"):
        RetryBudget(reserve=reserve)
