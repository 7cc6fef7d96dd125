import asyncio
import contextvars
import threading

import anyio
import anyio.to_thread
import pytest

from tests.shells import Async, Scripted, Sync
from yesno import DecisionModel, FakeProvider, YesNo, ask
from yesno.errors import ConfigError
from yesno.integrations._shared import adecided, aran, decided, ran
from yesno.request import DecisionRequest

REQUEST = DecisionRequest("hello", {"q": YesNo("Is it?")})


class Stuck(FakeProvider):
    """Answers only when it is let go."""

    def __init__(self):
        super().__init__()
        self.asked, self.let_go, self.gone = threading.Event(), threading.Event(), threading.Event()

    def send(self, payload, *, timeout_s=None):
        self.asked.set()
        self.let_go.wait(5)
        self.gone.set()
        return super().send(payload)


def test_both_models_serve_asynchronous_frameworks(shell):
    model = Scripted(shell, default=0.9).model
    answer = asyncio.run(aran(model, ask(YesNo("Is it?"), "hello")))
    assert answer.probability == pytest.approx(0.9)
    assert asyncio.run(adecided(model, REQUEST)).yes_no("q").probability == pytest.approx(0.9)


def test_blocking_frameworks_take_the_blocking_model_alone():
    model = Scripted(Sync, default=0.9).model
    assert decided(model, REQUEST).yes_no("q") == ran(model, ask(YesNo("Is it?"), "hello"))
    for call in (lambda model: decided(model, REQUEST), lambda model: ran(model, ask(YesNo("Is it?"), "x"))):
        with pytest.raises(ConfigError, match="needs a DecisionModel; AsyncDecisionModel is awaited"):
            call(Scripted(Async).model)


def test_a_blocking_model_leaves_the_loop_free_and_who_is_cancelled_goes_on_at_once():
    provider = Stuck()

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(aran, DecisionModel(provider), ask(YesNo("Is it?"), "hello"))
            assert await anyio.to_thread.run_sync(provider.asked.wait, 5)
            group.cancel_scope.cancel()
        was_still_stuck = not provider.gone.is_set()
        provider.let_go.set()
        return was_still_stuck

    assert asyncio.run(main())


def test_a_thread_sees_the_context_of_its_caller():
    seen = contextvars.ContextVar("seen", default="nothing")
    model = DecisionModel(FakeProvider(lambda prompt: {"Yes": 0.9} if seen.get() == "it" else {"No": 0.9}))

    async def main():
        seen.set("it")
        return await adecided(model, REQUEST)

    assert asyncio.run(main()).yes_no("q").is_yes()
