import asyncio
import threading

import pytest

from tests.engine.support import Server, both, compatible, patient, refused
from yesno import AsyncDecisionModel, DecisionModel, FakeProvider, SqliteCache, UsageListener, YesNo
from yesno.engine.aio_flights import AsyncFlights
from yesno.engine.flights import Flights
from yesno.engine.waiting import Term
from yesno.errors import BudgetExceeded, DeadlineExceeded, ProviderRejected, ProviderUnavailable
from yesno.evidence import Completion, Reply, Usage
from yesno.providers.base import PromptTask, Turn

YES = {"Yes": 0.9, "No": 0.1}
Q = YesNo("q?")
REPLY = Reply(Completion("Yes"), usage=Usage(10, 1, requests=1))


class Merging(FakeProvider):
    """A scripted provider whose equal requests may be served by one."""

    merges = True


class Watched(Flights):
    """Says when somebody has begun to wait."""

    def __init__(self):
        super().__init__()
        self.waiting = threading.Semaphore(0)

    def share(self, key, work, wait):
        def noted(ended):
            self.waiting.release()
            wait(ended)

        return super().share(key, work, noted)


class Held(Merging):
    """Holds its requests until it is let go."""

    def __init__(self, script=None):
        super().__init__(script)
        self.begun, self.go = threading.Semaphore(0), threading.Event()

    def send(self, payload, *, timeout_s=None):
        self.begun.release()
        assert self.go.wait(5)
        return super().send(payload)


def watched(provider, **settings):
    model = DecisionModel(provider, **settings)
    model._flights = Watched()
    return model


def started(count, work):
    """Start threads that append what they get, or the error they meet, to the list that is returned."""
    ends = []

    def run():
        try:
            ends.append(work())
        except Exception as error:  # noqa: BLE001 - how it ended is what is looked at
            ends.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, ends


def joined(threads):
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def crowd(provider, **settings):
    """Let one thread lead and three wait for it; return the model and how each ended."""
    model = watched(provider, **settings)
    threads, ends = started(4, lambda: model.decide("x", {"q": Q}))
    assert provider.begun.acquire(timeout=5)
    for _ in range(3):
        assert model._flights.waiting.acquire(timeout=5)
    provider.go.set()
    joined(threads)
    assert len(model._flights) == 0
    return model, ends


def test_equal_requests_under_way_go_out_once_and_are_counted_once():
    provider, meter = Held(), UsageListener()
    _, ends = crowd(provider, listeners=[meter])
    assert len(provider.requests) == 1
    assert len({response.yes_no("q").probability for response in ends}) == 1
    assert sorted(response.usage.requests for response in ends) == [0, 0, 0, 1]
    assert (meter.total.requests, meter.total.output_tokens) == (1, 1)


def test_a_failure_is_shared_as_an_error_of_ones_own():
    provider = Held(ProviderUnavailable("down", provider="fake", status=503))
    _, ends = crowd(provider, retry=patient([], attempts=3))
    assert len(provider.requests) == 3
    assert [str(error) for error in ends] == ["down"] * 4
    assert len(set(map(id, ends))) == 4
    assert sorted(error.shared for error in ends) == [False, True, True, True]


def test_a_bug_is_met_by_each_for_itself():
    provider = Held(ValueError("a bug"))
    _, ends = crowd(provider)
    assert len(provider.requests) == 4
    assert [type(error) for error in ends] == [ValueError] * 4


def test_when_the_first_one_runs_out_of_time_another_one_leads():
    class Once(Held):
        def send(self, payload, *, timeout_s=None):
            self.go.wait(5)
            self.requests.append(payload)
            if len(self.requests) == 1:
                raise DeadlineExceeded("late")
            return FakeProvider().send(payload)

    provider = Once()
    model = watched(provider)
    threads, ends = started(3, lambda: model.decide("x", Q).is_yes())
    for _ in range(2):
        assert model._flights.waiting.acquire(timeout=5)
    provider.go.set()
    joined(threads)
    assert sorted(map(str, ends)) == ["True", "True", "late"]
    # the one that took over may have been ready before or after the last one began to wait for it
    assert len(provider.requests) in (2, 3)
    assert len(model._flights) == 0


def test_whoever_waits_stops_at_its_own_deadline():
    provider = Held()
    model = watched(provider, timeout_s=60)
    threads, ends = started(1, lambda: model.decide("x", Q).is_yes())
    assert provider.begun.acquire(timeout=5)
    hasty = DecisionModel(provider, timeout_s=0.001)
    hasty._flights = model._flights
    with pytest.raises(DeadlineExceeded, match="timeout_s"):
        hasty.decide("x", Q)
    provider.go.set()
    joined(threads)
    assert ends == [True]
    assert len(provider.requests) == 1


def test_different_requests_are_not_merged():
    provider = Held()
    model = watched(provider)
    texts = iter("abcd")
    threads, ends = started(4, lambda: model.decide(next(texts), Q).is_yes())
    for _ in range(4):
        assert provider.begun.acquire(timeout=5)
    provider.go.set()
    joined(threads)
    assert ends == [True] * 4


def test_samples_are_never_merged():
    provider = Held()
    model = watched(provider)
    task = PromptTask((Turn("user", "x"),), "fake", 4, sample=1)
    threads, ends = started(3, lambda: model._send(task, Term(None, None)).usage.requests)
    for _ in range(3):
        assert provider.begun.acquire(timeout=5)
    provider.go.set()
    joined(threads)
    assert ends == [1, 1, 1]


def test_a_scripted_provider_plays_each_reply_to_one_request():
    with DecisionModel(FakeProvider(), concurrency=8) as model:
        assert sum(r.usage.requests for r in model.map(["x"] * 40, {"q": Q})) == 40


def test_an_interrupted_leader_leaves_nothing_behind():
    flights = Flights()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flights.share("k", interrupted, lambda ended: None)
    assert len(flights) == 0
    assert flights.share("k", lambda: REPLY, lambda ended: None) is REPLY


class Turned(Merging):
    """Lets other tasks run in the middle of a request."""

    def __init__(self, script=None, turns=20):
        super().__init__(script)
        self.turns, self.begun = turns, 0

    async def asend(self, payload):
        self.begun += 1
        for _ in range(self.turns):
            await asyncio.sleep(0)
        return self.send(payload)


def agathered(provider, count=4, **settings):
    """Return how decisions of one model about the same input end."""

    async def go():
        model = AsyncDecisionModel(provider, **settings)
        ends = await asyncio.gather(
            *(model.decide("x", {"q": Q}) for _ in range(count)), return_exceptions=True
        )
        assert len(model._flights) == 0
        return ends

    return asyncio.run(go())


def test_equal_awaited_requests_go_out_once_and_are_counted_once():
    provider = Turned()
    ends = agathered(provider)
    assert len(provider.requests) == 1
    assert sorted(response.usage.requests for response in ends) == [0, 0, 0, 1]


def test_an_awaited_failure_is_shared_as_an_error_of_ones_own():
    provider = Turned(ProviderRejected("no", provider="fake", status=400, param="x"))
    ends = agathered(provider)
    assert len(provider.requests) == 1
    assert [(str(error), error.param) for error in ends] == [("no", "x")] * 4
    assert len(set(map(id, ends))) == 4


def test_an_awaited_bug_is_met_by_each_for_itself():
    provider = Turned(ValueError("a bug"))
    assert [type(error) for error in agathered(provider)] == [ValueError] * 4
    assert len(provider.requests) == 4


def test_cancelling_the_first_one_lets_another_one_lead():
    async def go():
        provider = Turned()
        model = AsyncDecisionModel(provider)
        first, *others = [asyncio.create_task(model.decide("x", {"q": Q})) for _ in range(4)]
        while not provider.begun:
            await asyncio.sleep(0)
        first.cancel()
        responses = await asyncio.gather(*others)
        assert sorted(r.usage.requests for r in responses) == [0, 0, 1]
        assert (provider.begun, len(provider.requests), len(model._flights)) == (2, 1, 0)
        with pytest.raises(asyncio.CancelledError):
            await first
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(go())


def test_cancelling_one_that_waits_leaves_the_others_alone():
    async def go():
        provider = Turned()
        model = AsyncDecisionModel(provider)
        first, second, third = [asyncio.create_task(model.decide("x", Q)) for _ in range(3)]
        while not provider.begun:
            await asyncio.sleep(0)
        second.cancel()
        assert [a.is_yes() for a in await asyncio.gather(first, third)] == [True, True]
        assert second.cancelled()
        assert len(provider.requests) == 1

    asyncio.run(go())


def test_an_awaiting_caller_stops_at_its_own_deadline():
    async def go():
        ready = asyncio.Event()

        class Waiting(Merging):
            async def asend(self, payload):
                await ready.wait()
                return self.send(payload)

        model = AsyncDecisionModel(Waiting(), timeout_s=60)
        hasty = AsyncDecisionModel(model.provider, timeout_s=0.001)
        hasty._flights = model._flights
        first = asyncio.create_task(model.decide("x", Q))
        while not len(model._flights):
            await asyncio.sleep(0)
        with pytest.raises(DeadlineExceeded):
            await hasty.decide("x", Q)
        ready.set()
        assert (await first).is_yes()
        assert len(model.provider.requests) == 1

    asyncio.run(go())


def test_awaited_samples_are_never_merged():
    async def go():
        provider = Turned()
        model = AsyncDecisionModel(provider)
        task = PromptTask((Turn("user", "x"),), "fake", 4, sample=2)
        replies = await asyncio.gather(*(model._send(None, task) for _ in range(3)))
        assert [reply.usage.requests for reply in replies] == [1, 1, 1]

    asyncio.run(go())


def test_what_a_dead_event_loop_left_behind_is_not_waited_for():
    flights = AsyncFlights()

    async def leave():
        flights._flights["k"] = asyncio.get_running_loop().create_future()

    async def work():
        return REPLY

    asyncio.run(leave())
    assert asyncio.run(flights.share("k", work)) is REPLY
    assert len(flights) == 0


def test_one_model_merges_in_one_event_loop_after_the_other():
    async def both_at_once(model):
        return await asyncio.gather(model.decide("x", Q), model.decide("x", Q))

    provider = Turned()
    model = AsyncDecisionModel(provider)
    for _ in range(2):
        asyncio.run(both_at_once(model))
    assert len(provider.requests) == 2


def test_a_refused_parameter_is_counted_where_it_was_sent():
    async def go():
        server = Server(refused(400, "top_logprobs must be at most 5", param="top_logprobs"), YES)
        model = AsyncDecisionModel(compatible(server))
        responses = await asyncio.gather(*(model.decide("x", {"q": Q}) for _ in range(3)))
        assert [body["top_logprobs"] for body in server.bodies].count(20) == 1
        assert sum(response.usage.requests for response in responses) == len(server.bodies)

    asyncio.run(go())


def test_a_hit_that_is_shared_counts_as_a_hit_for_each(tmp_path):
    async def go(cache):
        model = AsyncDecisionModel(Turned(), cache=cache)
        await model.decide("x", Q)
        usages = [r.usage for r in await asyncio.gather(*(model.decide("x", {"q": Q}) for _ in range(3)))]
        assert [(usage.requests, usage.cache_hits) for usage in usages] == [(0, 1)] * 3

    with SqliteCache(tmp_path / "c.db") as cache:
        asyncio.run(go(cache))


@both
def test_one_after_the_other_equal_requests_are_all_sent(shell):
    provider = Merging()
    model = shell(provider)
    for _ in range(3):
        model.decide("x", Q)
    assert len(provider.requests) == 3


def test_an_exceeded_budget_is_shared_with_its_fields():
    flights = Watched()
    go = threading.Event()

    def work():
        assert go.wait(5)
        raise BudgetExceeded("no more", limit="requests", spent=3)

    threads, ends = started(3, lambda: flights.share("k", work, lambda ended: ended.wait(5)))
    for _ in range(2):
        assert flights.waiting.acquire(timeout=5)
    go.set()
    joined(threads)
    assert [(type(e), e.limit, e.spent) for e in ends] == [(BudgetExceeded, "requests", 3)] * 3


def test_the_end_of_anothers_budget_is_nobody_elses():
    flights = AsyncFlights()
    began, more = asyncio.Event(), asyncio.Event()

    async def of_alice():
        began.set()
        await more.wait()
        error = BudgetExceeded("no more", limit="requests", spent=3)
        error.personal = True
        raise error

    async def of_bob():
        return REPLY

    async def go():
        first = asyncio.create_task(flights.share("k", of_alice))
        await began.wait()
        second = asyncio.create_task(flights.share("k", of_bob))
        await asyncio.sleep(0)
        more.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    refused, answered = asyncio.run(go())
    assert isinstance(refused, BudgetExceeded)
    assert answered == REPLY
