import asyncio
import contextvars
import threading

import anyio
import anyio.lowlevel
import pytest

from tests.engine.support import both
from yesno import AsyncDecisionModel, Choice, DecisionModel, FakeProvider, YesNo, ask, gather
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable

ITEMS = [f"item {number}" for number in range(12)]


class Meeting(FakeProvider):
    """Lets requests go on in threes, and counts how many were under way at once."""

    def __init__(self, together):
        super().__init__()
        self.now = self.most = 0
        self.lock = threading.Lock()
        self.barrier = threading.Barrier(together, timeout=5)

    def send(self, payload, *, timeout_s=None):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            self.barrier.wait()
            return super().send(payload)
        finally:
            with self.lock:
                self.now -= 1


class Yielding(FakeProvider):
    """Lets other tasks run in the middle of a request, and counts how many were under way at once."""

    now = most = 0

    async def asend(self, payload):
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(5):
            await asyncio.sleep(0)
        self.now -= 1
        return self.send(payload)


async def collected(outcomes):
    return [outcome async for outcome in outcomes]


@pytest.mark.parametrize(("own", "asked"), [(3, None), (8, 3), (3, 8)], ids=["own", "asked", "both"])
def test_map_has_as_many_requests_under_way_as_allowed_and_no_more(own, asked):
    provider = Meeting(3)
    with DecisionModel(provider, concurrency=own) as model:
        assert len(list(model.map(ITEMS, YesNo("q?"), concurrency=asked))) == 12
    assert provider.most == 3


@pytest.mark.parametrize(("own", "asked"), [(3, None), (8, 3), (3, 8)], ids=["own", "asked", "both"])
def test_async_map_has_as_many_requests_under_way_as_allowed_and_no_more(own, asked):
    provider = Yielding()
    model = AsyncDecisionModel(provider, concurrency=own)
    assert len(asyncio.run(collected(model.map(ITEMS, YesNo("q?"), concurrency=asked)))) == 12
    assert provider.most == 3


def test_the_limit_holds_over_all_callers_of_one_model():
    provider = Meeting(2)
    model = DecisionModel(provider, concurrency=2)
    callers = [threading.Thread(target=model.decide, args=(item, YesNo("q?"))) for item in ITEMS[:6]]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(5)
    assert provider.most == 2
    assert len(provider.requests) == 6


def test_the_questions_of_a_decision_are_asked_at_once():
    with DecisionModel(Meeting(3), concurrency=8) as model:
        assert len(model.decide("x", {str(n): YesNo("q?") for n in range(3)}).answers) == 3


def test_the_inputs_of_a_batch_are_asked_at_once():
    with DecisionModel(Meeting(3), concurrency=8) as model:
        assert len(model.run(gather([ask(YesNo("q?"), item) for item in ITEMS[:3]]))) == 3


@both
def test_nested_work_never_waits_for_itself(shell):
    questions = {f"q{n}": Choice("Which?", [f"option {i}" for i in range(60)]) for n in range(8)}
    provider = FakeProvider({"A": 0.9, "B": 0.1})
    got = shell(provider, concurrency=1).map(ITEMS[:8], questions)
    assert [response.choice("q7").value for response in got] == ["option 0"] * 8
    assert len(provider.requests) == 8 * 8 * 4


def test_context_variables_reach_the_worker_threads():
    trace = contextvars.ContextVar("trace", default="lost")
    seen = []

    class Spy(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            seen.append((trace.get(), threading.current_thread() is threading.main_thread()))
            return super().send(payload)

    token = trace.set("kept")
    try:
        with DecisionModel(Spy({"A": 0.9, "B": 0.1})) as model:
            list(model.map(["x"], {"a": Choice("q?", [f"option {i}" for i in range(30)]), "b": YesNo("r?")}))
    finally:
        trace.reset(token)
    assert len(seen) == 5
    assert set(seen) == {("kept", False)}


def test_a_worker_thread_does_not_leak_its_context_variables():
    trace = contextvars.ContextVar("trace", default="clean")

    class Setting(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            assert trace.get() == "clean"
            trace.set("dirty")
            return super().send(payload)

    with DecisionModel(Setting(), concurrency=1) as model:
        assert all(outcome.is_yes() for outcome in model.map(ITEMS, YesNo("q?")))


@both
def test_the_first_failure_in_the_order_asked_is_the_one_raised(shell):
    def script(prompt):
        for name in "bc":
            if f"{name}?" in prompt:
                return ProviderRejected(name, provider="fake", status=400)
        return {"Yes": 0.9, "No": 0.1}

    questions = {name: YesNo(f"{name}?") for name in "abc"}
    with pytest.raises(ProviderRejected, match=r"^b$"):
        shell(FakeProvider(script)).decide("x", questions)


def test_a_task_whose_decision_failed_is_not_left_marked_as_cancelled():
    model = AsyncDecisionModel(FakeProvider(ProviderUnavailable("down", provider="fake", retryable=False)))

    async def main():
        with anyio.CancelScope() as scope:
            with pytest.raises(ProviderUnavailable):
                await model.decide("x", {"a": YesNo("Is it?"), "b": YesNo("Or is it?")})
            left = asyncio.current_task().cancelling()
            scope.cancel()
            await anyio.lowlevel.checkpoint()
        return left

    assert asyncio.run(main()) == 0


def test_an_async_failure_cancels_what_is_under_way_and_leaves_nothing_running():
    ended, cancelled = [], []

    class Uneven(FakeProvider):
        async def asend(self, payload):
            prompt = payload["messages"][-1]["content"]
            name = next(n for n in ("first", "second", "third") if f"{n}?" in prompt)
            try:
                for _ in range(0 if name == "third" else 30):
                    await asyncio.sleep(0)
            except asyncio.CancelledError:
                cancelled.append(name)
                raise
            ended.append(name)
            raise ProviderRejected(name, provider="fake", status=400)

    async def go():
        model = AsyncDecisionModel(Uneven())
        with pytest.raises(ProviderRejected, match="third"):
            await model.decide("x", {n: YesNo(f"{n}?") for n in ("first", "second", "third")})
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(go())
    assert (ended, sorted(cancelled)) == (["third"], ["first", "second"])


def test_one_model_may_be_used_again_after_it_was_closed():
    model = DecisionModel(FakeProvider())
    for _ in range(2):
        with model:
            assert len(list(model.map(ITEMS, YesNo("q?")))) == 12


@both
@pytest.mark.parametrize("value", [0, -1, 0.5, 2.5, True, "4"], ids=str)
def test_a_limit_that_makes_no_sense_is_refused(shell, value):
    with pytest.raises(ConfigError, match="concurrency"):
        shell(FakeProvider(), concurrency=value)
