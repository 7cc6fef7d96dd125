import asyncio
import itertools
import threading

import pytest

from tests.engine.support import both
from yesno import (
    AsyncDecisionModel,
    DecisionModel,
    DecisionResponse,
    Failure,
    FakeProvider,
    Refusal,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.errors import ConfigError, ProviderRejected, QuestionError


def script(prompt):
    if "bad" in prompt:
        return ProviderRejected("no", provider="fake", status=400)
    if "naughty" in prompt:
        return {"<refusal>": 1}
    if "vague" in prompt:
        return {"Perhaps": 1.0}
    return {"Yes": 0.9, "No": 0.1} if "even" in prompt else {"No": 0.9, "Yes": 0.1}


@both
def test_map_keeps_the_order_and_goes_on_after_what_fails(shell):
    inputs = ["even", "odd", " ", "bad", "naughty", "vague", object(), "even"]
    got = shell(FakeProvider(script), concurrency=2).map(inputs, YesNo("q?"))
    assert [type(outcome) for outcome in got] == [
        YesNoAnswer,
        YesNoAnswer,
        Failure,
        Failure,
        Refusal,
        Undecided,
        Failure,
        YesNoAnswer,
    ]
    assert [got[i].is_yes() for i in (0, 1, 7)] == [True, False, True]
    assert [type(got[i].error) for i in (2, 3, 6)] == [QuestionError, ProviderRejected, QuestionError]


@both
def test_map_of_several_questions_yields_responses_and_failures(shell):
    good, bad = shell(FakeProvider(script)).map(["odd", "bad"], {"a": YesNo("q?"), "b": YesNo("r?")})
    assert isinstance(good, DecisionResponse)
    assert list(good.answers) == ["a", "b"]
    assert isinstance(bad, Failure)


@both
def test_map_of_nothing_yields_nothing(shell):
    assert shell(FakeProvider()).map([], YesNo("q?")) == []


@both
def test_what_the_iterable_raises_reaches_the_caller(shell):
    def broken():
        yield "even"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        shell(FakeProvider()).map(broken(), YesNo("q?"))


@both
@pytest.mark.parametrize("value", [0, -1, 1.5, True], ids=str)
def test_a_width_that_makes_no_sense_is_refused(shell, value):
    with pytest.raises(ConfigError, match="concurrency"):
        shell(FakeProvider()).map(["x"], YesNo("q?"), concurrency=value)


def test_map_takes_an_endless_iterable_and_holds_at_most_twice_its_concurrency():
    taken = itertools.count()
    inputs = (f"item {next(taken)}" for _ in itertools.count())
    with DecisionModel(FakeProvider(), concurrency=3) as model:
        outcomes = model.map(inputs, YesNo("q?"))
        for given in range(10):
            next(outcomes)
            assert given < next(taken) <= given + 2 * 3 + given + 2
        outcomes.close()


def test_async_map_takes_an_endless_async_iterable_and_holds_at_most_twice_its_concurrency():
    seen = []

    async def endless():
        for number in itertools.count():
            seen.append(number)
            yield f"item {number}"

    async def go():
        outcomes = AsyncDecisionModel(FakeProvider(), concurrency=3).map(endless(), YesNo("q?"))
        for given in range(1, 11):
            await anext(outcomes)
            assert len(seen) <= given - 1 + 2 * 3
        await outcomes.aclose()

    asyncio.run(go())
    assert len(seen) >= 10


def test_nothing_is_taken_before_the_first_outcome_is_asked_for():
    seen = []
    outcomes = DecisionModel(FakeProvider()).map((seen.append(i) or "x" for i in range(3)), YesNo("q?"))
    assert seen == []
    next(outcomes)
    assert seen == [0, 1, 2]
    outcomes.close()


def test_map_closed_early_does_not_begin_what_is_pending():
    released = threading.Event()

    class Waiting(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            if "first" not in payload["messages"][-1]["content"]:
                released.wait(5)
            return super().send(payload)

    provider = Waiting()
    with DecisionModel(provider, concurrency=2) as model:
        outcomes = model.map(["first", "second", "third", "fourth", "fifth"], YesNo("q?"))
        next(outcomes)
        outcomes.close()
        released.set()
        list(model.map(["last"], YesNo("q?")))  # waits its turn behind whatever is left
    sent = {body["messages"][-1]["content"].split("\n")[1] for body in provider.requests}
    assert {"first", "last"} <= sent <= {"first", "second", "third", "last"}


def test_async_map_closed_early_cancels_what_is_under_way_and_pending():
    begun, cancelled = [], []

    class Hanging(FakeProvider):
        async def asend(self, payload):
            name = payload["messages"][-1]["content"].split("\n")[1]
            begun.append(name)
            if name != "first":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(name)
                    raise
            return self.send(payload)

    async def go():
        model = AsyncDecisionModel(Hanging(), concurrency=2)
        outcomes = model.map(["first", "second", "third", "fourth", "fifth"], YesNo("q?"))
        await anext(outcomes)
        while len(begun) < 3:
            await asyncio.sleep(0)
        await outcomes.aclose()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)

    asyncio.run(go())
    assert begun == ["first", "second", "third"]
    assert cancelled == ["second", "third"]


@both
def test_inputs_may_depend_on_earlier_decisions_of_the_same_model(shell):
    blocking = DecisionModel(FakeProvider(script), concurrency=1)
    inputs = (word for word in ["even", "odd", "even"] if blocking.decide(word, YesNo("q?")).is_yes())
    assert len(shell(FakeProvider(script), concurrency=1).map(inputs, YesNo("q?"))) == 2
