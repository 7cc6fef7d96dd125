import asyncio
import pickle
import threading

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import Native, Server, both, compatible, patient, refused
from yesno import (
    AsyncDecisionModel,
    DecisionModel,
    FakeProvider,
    RetryPolicy,
    SqliteCache,
    Usage,
    YesNo,
)
from yesno.errors import BudgetExceeded, DeadlineExceeded, ProviderUnavailable, UnreadableReply
from yesno.evidence import NativeAnswers, Reply
from yesno.prices import Price
from yesno.providers.fake import chat_reply
from yesno.questions import YesNoAnswer

YES = {"Yes": 0.9, "No": 0.1}
Q = YesNo("q?")
PRICED = {**chat_reply(YES), "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}
PRICE = Price(1.0, 10.0)
COST = (1000 * 1.0 + 10 * 10.0) / 1e6


def counts(usage):
    return usage.requests, usage.retries, usage.hedges, usage.cache_hits


counters = st.builds(
    Usage,
    *[st.integers(0, 1000)] * 5,
    st.one_of(st.none(), st.floats(0, 10)),
    st.integers(0, 9),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)),
    st.integers(0, 9),
    st.integers(0, 9),
)


@given(counters, counters)
def test_what_was_added_can_be_taken_off_again(one, other):
    left = one + other - other
    for field in ("input_tokens", "requests", "retries", "hedges", "cache_hits", "fallbacks"):
        assert getattr(left, field) == getattr(one, field)
    known = one.cost_usd is not None and other.cost_usd is not None
    assert (left.cost_usd is not None) == known
    assert not known or left.cost_usd == pytest.approx(one.cost_usd, abs=1e-9)


@both
def test_every_request_that_was_sent_is_counted_and_retries_by_themselves(shell):
    server = Server(refused(503), refused(429), PRICED)
    wrapped = shell(compatible(server), retry=patient([]), price=PRICE)
    usage = wrapped.decide("x", {"q": Q}).usage
    assert counts(usage) == (3, 2, 0, 0) == counts(wrapped.model.usage)
    assert (usage.input_tokens, usage.output_tokens) == (1000, 10)
    assert usage.cost_usd == pytest.approx(COST)


@both
def test_a_request_that_was_changed_after_a_refusal_is_no_retry(shell):
    server = Server(refused(503), refused(400, "no `temperature`", param="temperature"), refused(503), PRICED)
    usage = shell(compatible(server), retry=patient([])).decide("x", {"q": Q}).usage
    assert counts(usage) == (4, 2, 0, 0)


@both
@pytest.mark.parametrize("failure", [httpx2.ReadError("broke off"), httpx2.ReadTimeout("slow")], ids=str)
def test_the_cost_is_unknown_when_one_try_may_have_been_charged(shell, failure):
    usage = (
        shell(compatible(Server(failure, PRICED)), retry=patient([]), price=PRICE).decide("x", {"q": Q}).usage
    )
    assert counts(usage) == (2, 1, 0, 0)
    assert usage.cost_usd is None


@both
def test_a_decision_that_fails_is_in_the_total_and_its_error_says_what_was_sent(shell):
    wrapped = shell(compatible(Server(refused(503))), retry=patient([], attempts=3))
    with pytest.raises(ProviderUnavailable) as info:
        wrapped.decide("x", Q)
    assert counts(wrapped.model.usage) == (3, 2, 0, 0) == counts(info.value.usage)
    assert wrapped.model.usage.cost_usd == 0
    assert pickle.loads(pickle.dumps(info.value)).usage == info.value.usage  # noqa: S301 - our own bytes


@both
def test_a_reply_that_cannot_be_read_was_sent_all_the_same(shell):
    wrapped = shell(compatible(Server({"choices": "none"})), retry=patient([]))
    with pytest.raises(UnreadableReply):
        wrapped.decide("x", Q)
    assert counts(wrapped.model.usage) == (1, 0, 0, 0)
    assert wrapped.model.usage.cost_usd is None


@both
def test_what_was_not_sent_is_not_counted(shell):
    from yesno import Budget

    wrapped = shell(FakeProvider(YES), budget=Budget(requests=0))
    with pytest.raises(BudgetExceeded):
        wrapped.decide("x", Q)
    assert wrapped.model.usage == Usage()


def test_an_async_decision_that_is_given_up_counts_what_was_under_way():
    class Hanging(FakeProvider):
        async def asend(self, payload):
            await asyncio.Event().wait()

    model = AsyncDecisionModel(Hanging(), timeout_s=0.01, retry=RetryPolicy(attempts=1, attempt_timeout_s=9))
    with pytest.raises(DeadlineExceeded):
        asyncio.run(model.decide("x", Q))
    assert counts(model.usage) == (1, 0, 0, 0)
    assert model.usage.cost_usd is None


@both
def test_a_model_known_to_have_no_log_probabilities_is_not_counted_as_asked_for_them(shell):
    server = Server(
        refused(400, "logprobs is not supported with this model"), chat_reply({'{"answer": "yes"}': 1})
    )
    wrapped = shell(compatible(server))
    first = wrapped.decide("x", {"q": Q})
    second = wrapped.decide("x", {"q": Q})
    assert first.usage.requests + second.usage.requests == len(server.bodies) == wrapped.model.usage.requests
    assert second.usage.requests == second.yes_no("q").samples
    assert sum(attempt.requests for attempt in second.yes_no("q").attempts) == second.usage.requests
    assert dict(second.usage.fallbacks) == {"logprobs_unsupported": 1}
    assert dict(wrapped.model.usage.fallbacks) == {"logprobs_unsupported": 2}


@both
def test_a_host_that_foresees_the_refusal_sends_nothing_for_it_with_one_strategy_left(shell):
    server = Server(refused(400, "logprobs is not supported with this model"))
    wrapped = shell(compatible(server), strategy="logprobs")
    first, second = (wrapped.decide("x", {"q": Q}) for _ in range(2))
    assert (first.usage.requests, second.usage.requests, len(server.bodies)) == (1, 0, 1)
    assert [attempt.requests for attempt in second.outcome("q").attempts] == [0]


@both
def test_hits_are_in_the_total_too(shell, tmp_path):
    with SqliteCache(tmp_path / "c.db") as cache:
        wrapped = shell(compatible(Server(PRICED)), cache=cache)
        for _ in range(3):
            wrapped.decide("x", Q)
    assert counts(wrapped.model.usage) == (1, 0, 0, 2)


@both
def test_what_a_map_has_spent_is_the_difference_of_two_totals(shell):
    wrapped = shell(compatible(Server(PRICED)), price=PRICE)
    wrapped.decide("before", Q)
    before = wrapped.model.usage
    wrapped.map(["a", "b", "c"], {"one": Q, "two": YesNo("r?")})
    spent = wrapped.model.usage - before
    assert counts(spent) == (6, 0, 0, 0)
    assert spent.cost_usd == pytest.approx(6 * COST)


@both
def test_a_total_begins_anew_and_says_what_it_was(shell):
    wrapped = shell(compatible(Server(httpx2.ReadError("broke off"), PRICED)), retry=patient([]), price=PRICE)
    wrapped.decide("x", Q)
    assert counts(wrapped.model.reset_usage()) == (2, 1, 0, 0)
    wrapped.decide("x", Q)
    assert counts(wrapped.model.usage) == (1, 0, 0, 0)
    assert wrapped.model.usage.cost_usd == pytest.approx(COST)


def test_threads_add_to_one_total_without_losing_anything():
    with DecisionModel(FakeProvider(YES), concurrency=8) as model:

        def ask():
            for _ in range(50):
                model.decide("x", Q)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert counts(model.usage) == (400, 0, 0, 0)


@both
def test_a_provider_that_counts_nothing_is_counted_all_the_same(shell):
    class Silent(Native):
        def send(self, payload, *, timeout_s=None):
            return {}

        async def asend(self, payload):
            return {}

        def parse(self, task, reply):
            return Reply(NativeAnswers({"q": YesNoAnswer(probability=0.7)}))

    wrapped = shell(Silent())
    assert wrapped.decide("x", {"q": Q}).usage.requests == 1
    assert wrapped.model.usage.requests == 1


@both
def test_a_probe_is_in_the_total(shell):
    server = Server(PRICED)
    wrapped = shell(compatible(server))
    if shell.name == "sync":
        wrapped.model.probe()
    else:
        asyncio.run(wrapped.model.probe())
    assert wrapped.model.usage.requests == len(server.bodies)
