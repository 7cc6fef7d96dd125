import asyncio
import math
import threading
import time

import httpx2
import pytest

from tests.engine.support import Recorder, Server, both, compatible, patient, refused
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    DecisionRequest,
    Failure,
    FakeProvider,
    Limits,
    Parameters,
    RetryPolicy,
    YesNo,
)
from yesno.errors import ConfigError, DeadlineExceeded, ProviderUnavailable, UnreadableReply
from yesno.providers.fake import chat_reply

YES = {"Yes": 0.9, "No": 0.1}
WEAK = {"The": 0.9, "Yes": 0.1}


class Clock:
    """A `time` that only moves when told to."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


class Slow(FakeProvider):
    """Takes its time on a clock, and notes how much it was given."""

    def __init__(self, script, clock, seconds):
        super().__init__(script)
        self.clock, self.seconds, self.given = clock, seconds, []

    def send(self, payload, *, timeout_s=None):
        self.given.append(timeout_s)
        self.clock.now += self.seconds
        return super().send(payload)


class Hanging(FakeProvider):
    async def asend(self, payload):
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("attempt_s", "given"), [(None, [5, 5]), (math.inf, [10, 6]), (3, [3, 3]), (8, [8, 6])], ids=str
)
def test_each_request_is_given_half_of_the_time_or_what_the_policy_says_and_never_more_than_is_left(
    clock, attempt_s, given
):
    provider = Slow([WEAK, YES], clock, 4)
    model = DecisionModel(provider, timeout_s=10, retry=RetryPolicy(attempt_timeout_s=attempt_s))
    assert model.decide("x", YesNo("q?")).is_yes()
    assert provider.given == given


def test_once_it_is_known_how_long_replies_take_a_try_is_given_up_sooner_and_after_a_late_one_later(clock):
    provider = Slow(YES, clock, 0.2)
    model = DecisionModel(provider, timeout_s=60, retry=patient([]), limits=Limits())
    for _ in range(20):
        model.decide("x", YesNo("q?"))
    assert set(provider.given) == {30}
    provider.given.clear()
    late = ProviderUnavailable("slow", provider="fake")
    down = ProviderUnavailable("down", provider="fake", status=500)
    replies = iter([down, down, late, down, late, late, late, YES])
    provider._script = lambda _: next(replies)
    assert model.decide("x", YesNo("q?")).is_yes()
    assert provider.given == [2, 2, 2, 4, 4, 8, 16, 30]


@pytest.mark.parametrize(("seconds", "given"), [(0.1, 2), (1.0, 6), (2.5, 15), (5.5, 30)], ids=str)
def test_a_try_may_take_six_times_as_long_as_most_replies_within_half_of_the_decisions_time(
    clock, seconds, given
):
    provider = Slow(YES, clock, seconds)
    model = DecisionModel(provider, timeout_s=60, limits=Limits())
    for _ in range(21):
        model.decide("x", YesNo("q?"))
    assert provider.given[-1] == pytest.approx(given)


def test_a_time_for_one_try_that_was_asked_for_stays_what_it_is(clock):
    provider = Slow(YES, clock, 0.1)
    model = DecisionModel(provider, timeout_s=60, retry=RetryPolicy(attempt_timeout_s=40), limits=Limits())
    for _ in range(30):
        model.decide("x", YesNo("q?"))
    assert set(provider.given) == {40}


def test_an_awaited_try_is_given_up_by_how_long_replies_took():
    class Hanging(FakeProvider):
        async def asend(self, payload):
            if "hang" in payload["messages"][-1]["content"]:
                await asyncio.Event().wait()
            return self.send(payload)

    async def go():
        model = AsyncDecisionModel(Hanging(YES), timeout_s=60, retry=RetryPolicy(attempts=1))
        for _ in range(20):
            await model.decide("x", YesNo("q?"))
        task = asyncio.create_task(model.decide("hang", YesNo("q?")))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        now = loop.time()
        loop.time = lambda: now + 2.1
        with pytest.raises(ProviderUnavailable, match=r"\(2 s for one try\)"):
            await task

    asyncio.run(go())


def test_a_model_in_this_process_may_take_all_the_time_there_is(clock):
    provider = Slow(YES, clock, 4)
    provider.remote = False
    assert DecisionModel(provider, timeout_s=10).decide("x", YesNo("q?")).is_yes()
    assert provider.given == [10]


def test_a_try_that_hangs_is_given_up_and_made_again():
    class Once(FakeProvider):
        tries = 0

        async def asend(self, payload):
            self.tries += 1
            if self.tries == 1:
                await asyncio.Event().wait()
            return self.send(payload)

    provider = Once(YES)
    model = AsyncDecisionModel(provider, retry=patient([], attempt_timeout_s=0.001))
    assert asyncio.run(model.decide("x", YesNo("q?"))).is_yes()
    assert provider.tries == 2


def test_tries_that_all_hang_are_an_unavailable_provider_that_says_what_they_were_given():
    model = AsyncDecisionModel(Hanging(), retry=patient([], attempts=2, attempt_timeout_s=0.001))
    with pytest.raises(ProviderUnavailable, match=r"in time \(0\.001 s for one try\)"):
        asyncio.run(model.decide("x", YesNo("q?")))


@pytest.mark.parametrize("value", [0, -1, math.nan, True], ids=str)
def test_a_time_for_one_try_that_makes_no_sense_is_refused(value):
    with pytest.raises(ConfigError, match="attempt_timeout_s"):
        RetryPolicy(attempt_timeout_s=value)


def test_no_request_begins_once_time_is_up(clock):
    provider = Slow([WEAK, YES], clock, 11)
    ear = Recorder()
    with pytest.raises(DeadlineExceeded, match="timeout_s"):
        DecisionModel(provider, timeout_s=10, listeners=[ear]).decide("x", YesNo("q?"))
    assert provider.given == [5]
    assert ear.names == ["request", "error"]


def test_a_failure_after_time_is_up_is_a_missed_deadline_with_its_cause(clock):
    failure = UnreadableReply("nonsense", provider="fake")
    with pytest.raises(DeadlineExceeded) as info:
        DecisionModel(Slow(failure, clock, 11), timeout_s=10).decide("x", YesNo("q?"))
    assert info.value.__cause__ is failure


def test_a_failure_in_time_stays_what_it_is(clock):
    failure = UnreadableReply("nonsense", provider="fake")
    with pytest.raises(UnreadableReply):
        DecisionModel(Slow(failure, clock, 9), timeout_s=10).decide("x", YesNo("q?"))


def test_a_wait_for_a_busy_server_ends_with_the_deadline(clock):
    server = Server(refused(429, headers={"retry-after": "50"}), YES)
    with pytest.raises(DeadlineExceeded):
        DecisionModel(compatible(server), timeout_s=10).decide("x", YesNo("q?"))
    assert clock.now == 10
    assert len(server.bodies) == 1


def test_without_a_limit_a_busy_server_is_waited_for(clock):
    server = Server(refused(429, headers={"retry-after": "50"}), YES)
    assert DecisionModel(compatible(server), timeout_s=math.inf).decide("x", YesNo("q?")).is_yes()
    assert clock.now == 50


def test_a_tournament_that_runs_out_of_time_stops(clock):
    provider = Slow({"A": 0.9, "B": 0.1}, clock, 6)
    with pytest.raises(DeadlineExceeded):
        DecisionModel(provider, timeout_s=10, concurrency=1).decide(
            "x", Choice("q?", [f"option {i}" for i in range(60)])
        )
    assert len(provider.given) == 2


def test_waiting_for_a_free_place_ends_with_the_deadline():
    busy, done = threading.Event(), threading.Event()

    class Blocking(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            busy.set()
            done.wait(5)
            return super().send(payload)

    model = DecisionModel(Blocking(), concurrency=1)
    first = threading.Thread(target=model.decide, args=("x", YesNo("q?")))
    first.start()
    assert busy.wait(5)
    try:
        with pytest.raises(DeadlineExceeded):
            model.decide("x", YesNo("q?"), parameters=Parameters(timeout_s=0.01))
        assert first.is_alive()
    finally:
        done.set()
        first.join(5)
    assert model.decide("x", YesNo("q?")).is_yes()


def test_a_deadline_cancels_an_async_decision():
    ear = Recorder()
    with pytest.raises(DeadlineExceeded, match=r"0\.01 s.*timeout_s"):
        asyncio.run(AsyncDecisionModel(Hanging(), timeout_s=0.01, listeners=[ear]).decide("x", YesNo("q?")))
    assert ear.names == ["request", "error"]


def test_a_deadline_ends_an_async_wait_for_a_busy_server():
    server = Server(refused(429, headers={"retry-after": "50"}), YES)
    with pytest.raises(DeadlineExceeded):
        asyncio.run(AsyncDecisionModel(compatible(server), timeout_s=0.2).decide("x", YesNo("q?")))
    assert len(server.bodies) == 1


def test_a_timeout_of_the_providers_own_is_not_taken_for_the_deadline():
    class Impatient(FakeProvider):
        async def asend(self, payload):
            raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine") as info:
        asyncio.run(AsyncDecisionModel(Impatient(), timeout_s=60).decide("x", YesNo("q?")))
    assert not isinstance(info.value, DeadlineExceeded)


def test_an_item_that_takes_too_long_is_a_failure_and_the_others_go_on():
    class Sometimes(FakeProvider):
        async def asend(self, payload):
            if "slow" in payload["messages"][-1]["content"]:
                await asyncio.Event().wait()
            return self.send(payload)

    async def go():
        model = AsyncDecisionModel(Sometimes(), timeout_s=0.2)
        return [outcome async for outcome in model.map(["quick", "slow", "quick"], YesNo("q?"))]

    first, second, third = asyncio.run(go())
    assert first.is_yes()
    assert isinstance(second, Failure)
    assert isinstance(second.error, DeadlineExceeded)
    assert third.is_yes()


def test_an_item_of_map_is_timed_from_its_own_beginning():
    now = 0

    class Slowly(FakeProvider):
        async def asend(self, payload):
            nonlocal now
            await asyncio.sleep(0)
            now += 2
            for _ in range(3):
                await asyncio.sleep(0)
            return self.send(payload)

    async def go():
        asyncio.get_running_loop().time = lambda: now
        policy = RetryPolicy(attempt_timeout_s=math.inf)
        model = AsyncDecisionModel(Slowly(), concurrency=1, timeout_s=3, retry=policy)
        return [outcome async for outcome in model.map([f"i{i}" for i in range(6)], YesNo("q?"))]

    assert [type(outcome).__name__ for outcome in asyncio.run(go())] == ["YesNoAnswer"] * 6


@both
def test_the_time_of_a_call_wins_over_the_requests_and_that_over_the_models(shell):
    request = DecisionRequest("x", {"q": YesNo("q?")}, Parameters(timeout_s=7))
    ear = Recorder()
    model = shell(FakeProvider(), timeout_s=5, listeners=[ear])
    model.decide(request)
    model.decide(request, parameters=Parameters(timeout_s=9))
    model.decide("x", YesNo("q?"))
    assert [call.request.parameters.timeout_s for call in ear.calls] == [7, 7, 9, 9, 5, 5]


@both
def test_an_endless_timeout_is_none(shell):
    ear = Recorder()
    shell(FakeProvider(), timeout_s=math.inf, listeners=[ear]).decide("x", YesNo("q?"))
    assert ear.calls[0].request.parameters.timeout_s is None


@both
@pytest.mark.parametrize("value", [0, -1, "soon", math.nan, True], ids=str)
def test_a_timeout_that_makes_no_sense_is_refused(shell, value):
    with pytest.raises(ConfigError, match="timeout_s"):
        shell(FakeProvider(), timeout_s=value)
    with pytest.raises(ConfigError, match="timeout_s"):
        shell(FakeProvider()).decide("x", YesNo("q?"), parameters=Parameters(timeout_s=value))


@both
def test_a_server_that_does_not_answer_in_time_is_unavailable_when_there_is_no_deadline(shell):
    server = Server(httpx2.ReadTimeout("slow"))
    with pytest.raises(ProviderUnavailable, match="in time"):
        shell(compatible(server), timeout_s=math.inf, retry=RetryPolicy(attempts=1)).decide("x", YesNo("q?"))


def test_a_body_that_drips_for_ever_ends_with_its_try(clock):
    class Dripping(httpx2.SyncByteStream):
        def __iter__(self):
            while True:
                clock.now += 1
                yield b" "

    answers = iter([httpx2.Response(200, stream=Dripping()), httpx2.Response(200, json=chat_reply(YES))])
    model = DecisionModel(compatible(lambda _: next(answers)), timeout_s=20)
    assert model.decide("x", YesNo("q?")).is_yes()
    assert 10 < clock.now < 12


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (httpx2.ReadTimeout("slow"), "in time"),
        (httpx2.ReadError("reset"), "broke off"),
        (httpx2.RemoteProtocolError("short"), "broke off"),
    ],
    ids=["timeout", "reset", "short"],
)
def test_a_body_that_breaks_off_is_unavailable(failure, words):
    class Breaking(httpx2.SyncByteStream):
        def __iter__(self):
            yield b'{"choices"'
            raise failure

    policy = RetryPolicy(attempts=1)
    model = DecisionModel(compatible(lambda _: httpx2.Response(200, stream=Breaking())), retry=policy)
    with pytest.raises(ProviderUnavailable, match=words):
        model.decide("x", YesNo("q?"))
