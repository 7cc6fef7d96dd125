import asyncio
import pickle
import re
import threading

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import Native, Server, both, compatible, patient
from yesno import (
    AsyncDecisionModel,
    Budget,
    BudgetExceeded,
    DecisionModel,
    Failure,
    FakeProvider,
    SqliteCache,
    YesNo,
)
from yesno.engine.budget import Amounts
from yesno.errors import ConfigError, DeadlineExceeded, ProviderRejected, ProviderUnavailable
from yesno.prices import Price
from yesno.providers.fake import chat_reply

YES = {"Yes": 0.9, "No": 0.1}
Q = YesNo("q?")
CHEAP = Price(1.0, 2.0, 0.5, source="made", date="2026-11")


def counted(prompt_tokens=100, completion_tokens=1, **details):
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {**chat_reply(YES), "usage": {**usage, **({"prompt_tokens_details": details} if details else {})}}


@both
def test_requests_stop_before_the_limit_is_exceeded(shell):
    provider, budget = FakeProvider(), Budget(requests=3)
    model = shell(provider, budget=budget)
    for _ in range(3):
        model.decide("x", Q)
    with pytest.raises(BudgetExceeded) as caught:
        model.decide("x", Q)
    assert len(provider.requests) == 3
    assert budget.spent.requests == 3
    assert (caught.value.limit, caught.value.spent) == ("requests", 3)
    for part in ("3 requests", "3 requests spent", "raise `requests`", "new Budget"):
        assert part in str(caught.value)


@both
@pytest.mark.parametrize("limit", [{"usd": 0}, {"requests": 0}, {"tokens": 0}], ids=str)
def test_a_budget_of_nothing_sends_nothing(shell, limit):
    provider = FakeProvider()
    with pytest.raises(BudgetExceeded) as caught:
        shell(provider, budget=Budget(**limit)).decide("my secret", Q)
    assert provider.requests == []
    assert caught.value.limit in limit
    assert "secret" not in str(caught.value)


@both
def test_what_the_provider_counted_takes_the_place_of_the_reservation(shell):
    budget = Budget(tokens=100_000, usd=1)
    response = shell(compatible(Server(counted())), budget=budget, price=CHEAP).decide("x", {"q": Q})
    assert budget.spent == Amounts(0.000102, 1, 101)
    assert response.usage.cost_usd == pytest.approx(0.000102)


@both
def test_tokens_are_reserved_before_anything_is_sent(shell):
    server = Server(counted())
    with pytest.raises(BudgetExceeded, match="0 tokens spent"):
        shell(compatible(server), budget=Budget(tokens=150)).decide("x" * 200, Q)
    assert server.bodies == []


@both
def test_dollars_stop_before_the_limit_is_exceeded(shell):
    server, budget = Server(counted()), Budget(usd=0.001)
    model = shell(compatible(server), budget=budget, price=CHEAP)
    (*_, last) = model.map([str(number) for number in range(20)], Q, concurrency=1)
    assert 0 < len(server.bodies) < 20
    assert budget.spent.usd == pytest.approx(0.000102 * len(server.bodies))
    assert budget.spent.usd <= 0.001
    assert re.search(r"budget of \$0\.001 .*\$0\.000\d+ spent.*raise `usd`", str(last.error))
    assert last.error.spent == budget.spent.usd


@both
def test_reservations_are_never_less_than_what_is_used(shell):
    most = []

    class Noting(Budget):
        def claim(self, amounts, freed):
            most.append(amounts)
            return super().claim(amounts, freed)

    text = 'Ärger mit 支払い 🙂 und \ud800\n\t"quotes"'
    model = shell(compatible(Server(counted())), budget=Noting(requests=9), price=CHEAP)
    model.decide({"note": text[:-1]}, Q)
    prompt = len(text.encode("utf-8", "surrogatepass"))
    assert most[0].tokens > prompt + 4
    assert most[0].usd == pytest.approx(((most[0].tokens - 4) * 1.0 + 4 * 2.0) / 1e6)


@both
@pytest.mark.parametrize(
    ("failure", "whole"),
    [
        (ProviderRejected("no", provider="fake", status=400), False),
        (ProviderUnavailable("busy", provider="fake", status=503), False),
        (ProviderUnavailable("no answer", provider="fake"), True),
        (ValueError("a bug"), True),
    ],
    ids=["rejected", "busy", "timeout", "bug"],
)
def test_a_failed_request_counts_and_its_tokens_only_when_they_may_have_been_used(shell, failure, whole):
    budget = Budget(requests=5)
    with pytest.raises(type(failure)):
        shell(FakeProvider(failure), budget=budget, retry=patient([], attempts=1)).decide("x", Q)
    assert budget.spent.requests == 1
    assert (budget.spent.tokens > 100) is whole


@both
def test_a_reply_that_cannot_be_read_or_has_no_counts_costs_what_was_reserved(shell):
    for reply in ({"choices": []}, chat_reply(YES)):
        budget = Budget(tokens=5000)
        server = Server(httpx2.Response(200, json=reply))
        model = shell(compatible(server), budget=budget, price=CHEAP, retry=patient([], attempts=1))
        list(model.map(["x"], Q))
        assert budget.spent.tokens > 100
        assert budget.spent.usd > 0.0001


@both
def test_every_retry_needs_room_of_its_own(shell):
    provider = FakeProvider(ProviderUnavailable("busy", provider="fake", status=503))
    with pytest.raises(BudgetExceeded):
        shell(provider, budget=Budget(requests=2), retry=patient([], attempts=9)).decide("x", Q)
    assert len(provider.requests) == 2


@both
def test_the_items_of_map_fail_one_by_one_once_the_budget_is_used_up(shell):
    outcomes = shell(FakeProvider(), budget=Budget(requests=4), concurrency=2).map(list("abcdefgh"), Q)
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert len(failures) == 4
    assert all(isinstance(failure.error, BudgetExceeded) for failure in failures)


@both
def test_a_hit_costs_nothing(shell, tmp_path):
    budget = Budget(requests=1)
    with SqliteCache(tmp_path / "c.db") as cache:
        model = shell(FakeProvider(), budget=budget, cache=cache)
        assert [model.decide("x", Q).is_yes() for _ in range(5)] == [True] * 5
    assert budget.spent.requests == 1


def test_one_budget_may_be_shared_between_models_of_both_kinds():
    budget = Budget(requests=2)
    DecisionModel(FakeProvider(), budget=budget).decide("x", Q)
    asyncio.run(AsyncDecisionModel(FakeProvider(), budget=budget).decide("x", Q))
    with pytest.raises(BudgetExceeded):
        DecisionModel(FakeProvider(), budget=budget).decide("x", Q)


def test_cancelling_a_request_keeps_what_it_had_reserved():
    class Hanging(FakeProvider):
        async def asend(self, payload):
            await asyncio.Event().wait()

    budget = Budget(requests=1, tokens=5000)
    model = AsyncDecisionModel(Hanging(), budget=budget, timeout_s=0.001)
    with pytest.raises(DeadlineExceeded):
        asyncio.run(model.decide("x", Q))
    assert budget.spent.requests == 1
    assert budget.spent.tokens > 100
    with pytest.raises(BudgetExceeded):
        asyncio.run(model.decide("x", Q))


@both
def test_dollars_need_a_known_price(shell):
    with pytest.raises(ConfigError, match=r"price of 'm' .*unknown.*Price"):
        shell(compatible(Server(YES)), budget=Budget(usd=1))
    assert shell(compatible(Server(YES)), budget=Budget(usd=1), price=CHEAP).decide("x", Q).is_yes()
    assert shell(FakeProvider(), budget=Budget(usd=1)).decide("x", Q).is_yes()


@both
def test_dollars_need_a_known_price_also_for_a_model_named_later(shell):
    class Nameless(Native):
        model = ""
        name = "other"

    with pytest.raises(ConfigError, match="price"):
        shell(Nameless(), budget=Budget(usd=1)).decide("x", {"q": Q})


def test_dollars_spent_on_models_without_a_price_are_unknown():
    budget = Budget(requests=9)
    DecisionModel(FakeProvider(), budget=budget).decide("x", Q)
    assert budget.spent.usd == 0
    DecisionModel(compatible(Server(counted())), budget=budget).decide("x", Q)
    assert budget.spent == Amounts(None, 2, budget.spent.tokens)


@both
@pytest.mark.parametrize("thing", [3, {"usd": 1}], ids=repr)
def test_what_is_no_budget_or_no_price_is_refused(shell, thing):
    with pytest.raises(ConfigError, match="budget"):
        shell(FakeProvider(), budget=thing)
    with pytest.raises(ConfigError, match="price"):
        shell(FakeProvider(), price=thing)


@pytest.mark.parametrize(
    "limits",
    [{}, {"usd": -1}, {"usd": float("nan")}, {"usd": float("inf")}, {"usd": True}, {"usd": "1"}]
    + [{"requests": value} for value in (-1, 1.5, True, "1")]
    + [{"tokens": value} for value in (-1, 1.5, False)],
    ids=str,
)
def test_a_limit_that_makes_no_sense_is_refused(limits):
    with pytest.raises(ConfigError, match="budget"):
        Budget(**limits)


def test_the_error_pickles_with_its_fields():
    with pytest.raises(BudgetExceeded) as caught:
        Budget(requests=0).reserve(Amounts(requests=1))
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert (str(again), again.limit, again.spent) == (str(caught.value), "requests", 0)


def test_a_reservation_is_settled_once():
    budget = Budget(requests=2)
    hold = budget.reserve(Amounts(requests=1))
    hold.settle(Amounts(requests=1))
    hold.settle(Amounts(requests=1))
    assert budget.spent.requests == 1
    assert repr(budget) == "Budget(usd=None, requests=2, tokens=None)"


@both
def test_requests_wait_for_the_reservations_of_others_instead_of_failing(shell):
    server, budget = Server(counted(10, 1)), Budget(tokens=1500)
    outcomes = shell(compatible(server), budget=budget, concurrency=16).map(map(str, range(40)), Q)
    assert [outcome.is_yes() for outcome in outcomes] == [True] * 40
    assert budget.spent == Amounts(None, 40, 440)


def test_waiting_for_the_budget_ends_with_the_deadline():
    budget = Budget(requests=1)
    hold = budget.reserve(Amounts(requests=1))
    with pytest.raises(DeadlineExceeded):
        DecisionModel(FakeProvider(), budget=budget, timeout_s=0.001).decide("x", Q)
    with pytest.raises(DeadlineExceeded):
        asyncio.run(AsyncDecisionModel(FakeProvider(), budget=budget, timeout_s=0.001).decide("x", Q))
    hold.settle(Amounts())  # tells also those that are gone
    assert DecisionModel(FakeProvider(), budget=budget).decide("x", Q).is_yes()


def test_a_thread_and_an_event_loop_wait_for_each_other():
    budget = Budget(requests=2)
    hold = budget.reserve(Amounts(requests=2))

    async def go():
        model = AsyncDecisionModel(FakeProvider(), budget=budget)
        waiting = asyncio.create_task(model.decide("x", Q))
        while not budget._waiting:
            await asyncio.sleep(0)
        thread = threading.Thread(target=hold.settle, args=(Amounts(requests=1),))
        thread.start()
        assert (await waiting).is_yes()
        thread.join(5)

    asyncio.run(go())
    assert budget.spent.requests == 2


def test_what_fits_only_beside_nothing_is_not_waited_for():
    budget = Budget(tokens=10)
    hold = budget.reserve(Amounts(tokens=8))
    assert budget.claim(Amounts(tokens=5), lambda: None) is None
    with pytest.raises(BudgetExceeded, match="8 tokens reserved"):
        budget.claim(Amounts(tokens=11), lambda: None)
    with pytest.raises(BudgetExceeded, match="8 tokens reserved"):
        budget.reserve(Amounts(tokens=5))
    hold.settle(Amounts(tokens=8))
    with pytest.raises(BudgetExceeded, match="8 tokens spent"):
        budget.claim(Amounts(tokens=5), lambda: None)


AMOUNTS = st.tuples(st.floats(0, 0.3), st.integers(0, 40), st.floats(0, 1))


@given(
    st.lists(st.lists(AMOUNTS, max_size=12), min_size=2, max_size=4),
    st.floats(0, 2),
    st.integers(0, 20),
    st.integers(0, 300),
)
def test_no_limit_is_ever_exceeded_by_many_threads(workers, usd, requests, tokens):
    budget = Budget(usd=usd, requests=requests, tokens=tokens)
    over, granted, refusals = [], [], []
    barrier = threading.Barrier(len(workers))

    def work(asked):
        barrier.wait(5)
        for dollars, count, share in asked:
            try:
                hold = budget.reserve(Amounts(dollars, 1, count))
            except BudgetExceeded:
                refusals.append(1)
                continue
            used = Amounts(dollars * share, 1, int(count * share))
            hold.settle(used)
            granted.append(used)
            spent = budget.spent
            over.append(spent.usd > usd or spent.requests > requests or spent.tokens > tokens)

    threads = [threading.Thread(target=work, args=(asked,)) for asked in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(over)
    assert len(granted) + len(refusals) == sum(map(len, workers))
    assert budget.spent.requests == len(granted)
    assert budget.spent.tokens == sum(used.tokens for used in granted)
    assert budget.spent.usd == pytest.approx(sum(used.usd for used in granted), abs=1e-9)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1e-7, 4.2e-8]), max_size=30))
def test_what_is_given_back_leaves_no_trace(prices):
    budget = Budget(usd=100)
    for hold in [budget.reserve(Amounts(price)) for price in prices]:
        hold.settle(Amounts(0.0))
    assert budget.spent == Amounts(0.0, 0, 0)
    budget.reserve(Amounts(100)).settle(Amounts(100))
    assert budget.spent.usd == 100
