"""A second request beside a slow one. Requests wait for events and for nothing else; a delay is as good as none."""

import asyncio
import threading

import aiohttp
import pytest
from aiohttp import web

from tests.engine.support import SHELLS, both, patient
from yesno import AsyncDecisionModel, Budget, DecisionModel, FakeProvider, Hedge, Limits, RetryPolicy, YesNo
from yesno.engine.durations import LEAST_KNOWN, Durations
from yesno.engine.retry_budget import RetryBudget
from yesno.errors import BudgetExceeded, ConfigError, DeadlineExceeded, ProviderRejected, ProviderUnavailable
from yesno.prices import Price
from yesno.providers import _aio
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible

Q = YesNo("q?")
YES = {"Yes": 0.9, "No": 0.1}
NO = {"Yes": 0.1, "No": 0.9}
NOW = 1e-9
"""Seconds after which a second request goes out; by then the first one has begun."""
NEVER = 1e9


class Stalling(FakeProvider):
    """Plays a script; an `Ellipsis` in it is a request that nobody answers, a list one that answers after its events."""

    def __init__(self, *script):
        super().__init__(YES)
        self.script = list(script)
        self.begun = self.cancelled = 0

    async def asend(self, payload):
        number, self.begun = self.begun, self.begun + 1
        reply = self.script[min(number, len(self.script) - 1)]
        try:
            if reply is ...:
                await asyncio.Event().wait()
            if isinstance(reply, Later):
                await reply.wait(self)
                reply = reply.reply
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(reply, Exception):
            raise reply
        return chat_reply(reply)


class Later:
    """A reply that comes once so many requests have begun."""

    def __init__(self, reply, begun=2, turns=20):
        self.reply, self.begun, self.turns = reply, begun, turns

    async def wait(self, provider):
        while provider.begun < self.begun:
            await asyncio.sleep(0)
        for _ in range(self.turns):
            await asyncio.sleep(0)


def busy(status=503):
    return ProviderUnavailable("busy", provider="fake", status=status)


def decided(shell, provider, hedge=NOW, **settings):
    """Return the response and the model that gave it, closed."""
    settings.setdefault("retry", RetryPolicy(attempts=1))
    if shell.name == "sync":
        with DecisionModel(provider, hedge=hedge, **settings) as model:
            return model.decide("x", {"q": Q}), model

    async def go():
        async with AsyncDecisionModel(provider, hedge=hedge, **settings) as model:
            response = await model.decide("x", {"q": Q})
            assert len(asyncio.all_tasks()) == 1
        return response, model

    return asyncio.run(go())


def counts(usage):
    return usage.requests, usage.retries, usage.hedges


@both
def test_the_second_request_answers_for_one_that_stalls_and_both_are_counted(shell):
    provider = Stalling(..., NO)
    response, model = decided(shell, provider, price=Price(1, 1))
    assert response.yes_no("q").probability == pytest.approx(0.1)
    assert (provider.begun, provider.cancelled) == (2, 1)
    assert counts(response.usage) == counts(model.usage) == (2, 0, 1)
    assert response.usage.cost_usd is None
    assert model.party.under_way == 0


@both
def test_the_first_request_wins_when_it_answers_first_and_the_second_is_cancelled(shell):
    provider = Stalling(Later(YES), ...)
    response, _ = decided(shell, provider)
    assert response.yes_no("q").is_yes()
    assert (provider.begun, provider.cancelled) == (2, 1)
    assert counts(response.usage) == (2, 0, 1)


@both
@pytest.mark.parametrize("hedge", [None, NEVER, Hedge()], ids=["off", "late", "unknown"])
def test_no_second_request_is_sent_by_default_before_its_time_or_while_too_little_is_known(shell, hedge):
    provider = Stalling(Later(YES, begun=1))
    response, _ = decided(shell, provider, hedge)
    assert provider.begun + len(provider.requests) == 1
    assert counts(response.usage) == (1, 0, 0)


@both
@pytest.mark.parametrize(
    "script", [(Later(busy()), Later(YES, turns=60)), (Later(YES, turns=60), busy())], ids=["first", "second"]
)
def test_one_that_fails_leaves_the_field_to_the_other(shell, script):
    response, _ = decided(shell, Stalling(*script))
    assert response.yes_no("q").is_yes()
    assert counts(response.usage) == (2, 0, 1)
    assert response.usage.cost_usd == 0  # nobody charges for a 503


@both
def test_when_both_fail_the_first_ones_error_is_the_one_that_is_tried_again(shell):
    provider = Stalling(Later(busy(500), turns=40), busy(503), YES)
    policy = patient([], attempts=2)
    response, _ = decided(shell, provider, retry=policy)
    assert response.yes_no("q").is_yes()
    assert response.usage.retries == 1
    with pytest.raises(ProviderUnavailable) as info:
        decided(shell, Stalling(Later(busy(500), turns=40), busy(503)))
    assert info.value.status == 500
    assert counts(info.value.usage) == (2, 0, 1)


@both
def test_a_final_failure_of_either_ends_both(shell):
    provider = Stalling(..., ProviderRejected("no", provider="fake", status=401))
    with pytest.raises(ProviderRejected):
        decided(shell, provider)
    assert (provider.begun, provider.cancelled) == (2, 1)


@both
def test_without_a_free_place_no_second_request_is_sent(shell):
    provider = Stalling(Later(YES, begun=1, turns=40))
    response, _ = decided(shell, provider, concurrency=1)
    assert (provider.begun, response.usage.hedges) == (1, 0)


@both
def test_a_second_request_is_one_of_the_retries_that_the_budget_allows(shell):
    for reserve, begun in ((0, 1), (1, 2)):
        retries = RetryBudget(0, reserve=reserve)
        provider = Stalling(Later(YES, begun=1, turns=40), ...)
        response, model = decided(shell, provider, retry=RetryPolicy(budget=retries))
        assert (provider.begun, response.usage.hedges) == (begun, begun - 1)
        assert not retries.take()
        assert model.party.under_way == 0


@both
def test_a_second_request_that_does_not_fit_into_the_budget_is_not_sent(shell):
    for requests, begun in ((1, 1), (2, 2)):
        budget, retries = Budget(requests=requests), RetryBudget(0, reserve=1)
        provider = Stalling(Later(YES, begun=1, turns=40), ...)
        decided(shell, provider, budget=budget, retry=RetryPolicy(budget=retries))
        assert provider.begun == budget.spent.requests == begun
        assert retries.take() == (begun == 1)


def test_a_place_that_was_held_for_a_second_request_is_free_again_when_a_retry_is_not():
    budget = Budget(requests=9)
    provider = Stalling(Later(YES, begun=1, turns=40))
    decided(SHELLS[1], provider, budget=budget, retry=RetryPolicy(budget=RetryBudget(0, reserve=0)))
    assert budget.spent.requests == 1


@both
def test_a_deadline_ends_both(shell):
    provider = Stalling(...)
    with pytest.raises(DeadlineExceeded):
        decided(shell, provider, timeout_s=0.2, retry=RetryPolicy(attempts=1, attempt_timeout_s=9))
    assert (provider.begun, provider.cancelled) == (2, 2)


def test_cancelling_a_decision_cancels_both():
    async def go():
        provider = Stalling(...)
        model = AsyncDecisionModel(provider, hedge=NOW)
        task = asyncio.create_task(model.decide("x", Q))
        while provider.begun < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert provider.cancelled == 2
        assert model.party.under_way == 0
        assert counts(model.usage) == (2, 0, 1)

    asyncio.run(go())


@both
def test_a_percentile_waits_as_long_as_most_replies_took(shell):
    now = [0.0]

    class Timed(FakeProvider):
        async def asend(self, payload):
            now[0] += 2.0
            return chat_reply(YES)

    limits = Limits(clock=lambda: now[0])
    provider, hedge = Timed(), Hedge(percentile=90)

    async def go():
        model = AsyncDecisionModel(provider, hedge=hedge, limits=limits)
        for number in range(LEAST_KNOWN):
            assert hedge.delay_s(model.gate("fake").durations) is None
            await model.decide(f"text {number}", Q)
        return hedge.delay_s(model.gate("fake").durations)

    assert asyncio.run(go()) == 2.0


def test_a_percentile_is_of_the_newest_replies():
    durations = Durations()
    for seconds in [9.0] * 100 + list(range(1, 129)):
        durations.note(float(seconds))
    assert (durations.percentile(50), durations.percentile(95)) == (65.0, 122.0)
    for _ in range(128):
        durations.note(1.0)
    assert durations.percentile(95) == 1.0


@both
@pytest.mark.parametrize("value", [0, -1, True, "p95", float("nan"), float("inf")], ids=str)
def test_a_hedge_that_makes_no_sense_is_refused(shell, value):
    with pytest.raises(ConfigError, match="hedge"):
        shell(FakeProvider(), hedge=value)


@pytest.mark.parametrize(
    "settings", [{"after_s": 0}, {"after_s": "1"}, {"percentile": 100}, {"percentile": 0}], ids=str
)
def test_a_policy_that_makes_no_sense_is_refused(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        Hedge(**settings)


@both
def test_a_model_in_this_process_is_not_asked_twice(shell):
    provider = FakeProvider()
    provider.remote = False
    with pytest.raises(ConfigError, match="in this process"):
        shell(provider, hedge=1)


def test_threads_hedge_only_what_can_be_cancelled():
    import httpx2

    class Blocking(Provider):
        name = "blocking"

    for provider in (
        Blocking(),
        OpenAICompatible("m", base_url="http://server.test/v1", http_client=httpx2.Client()),
    ):
        with pytest.raises(ConfigError, match="cancel"):
            DecisionModel(provider, hedge=1)


def test_a_hedging_model_of_threads_may_be_used_again_after_it_was_closed():
    model = DecisionModel(Stalling(..., YES, ..., YES), hedge=NOW)
    for _ in range(2):
        with model:
            assert model.decide("x", Q).is_yes()
    assert not [thread for thread in threading.enumerate() if thread.name == "yesno-hedges"]


@both
def test_the_loser_is_cancelled_at_its_socket(shell, tmp_path, monkeypatch):
    path, gone = str(tmp_path / "s"), threading.Event()
    monkeypatch.setattr(_aio.AioPoster, "connector", lambda self: aiohttp.UnixConnector(path))
    ready, over = threading.Event(), threading.Event()
    seen = []

    async def answer(request):
        seen.append(request)
        if len(seen) > 1:
            return web.json_response(chat_reply(YES))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            gone.set()
            raise

    async def serve():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        await web.UnixSite(runner, path).start()
        ready.set()
        await asyncio.to_thread(over.wait, 20)
        await runner.cleanup()

    server = threading.Thread(target=lambda: asyncio.run(serve()))
    server.start()
    try:
        assert ready.wait(10)
        provider = OpenAICompatible("m", base_url="http://server.test/v1")
        response, _ = decided(shell, provider)
        assert response.yes_no("q").is_yes()
        assert gone.wait(10)
    finally:
        over.set()
        server.join(20)


@both
def test_an_exceeded_budget_is_still_an_error_of_the_first_request(shell):
    with pytest.raises(BudgetExceeded):
        decided(shell, Stalling(YES), budget=Budget(requests=0))
