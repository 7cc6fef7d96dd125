"""Which model decides."""

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.functions.support import Async, Sync, both
from yesno import AsyncDecisionModel, ConfigError, DecisionModel, FakeProvider
from yesno.functions import Asks, decide, set_default_model, using
from yesno.functions.marks import MARK

YES, NO = {"Yes": 0.9, "No": 0.05}, {"No": 0.9, "Yes": 0.05}


@pytest.fixture(autouse=True)
def _without_defaults():
    yield
    set_default_model(None)


def judging(shell, **settings):
    @decide("Is it?", **settings)
    @shell.form
    def judge(text: str) -> bool: ...

    return judge


def saying(shell, script):
    return shell.kind(FakeProvider(script))


@both
def test_the_nearest_model_decides(shell):
    judge, owner = judging(shell), judging(shell, model=saying(shell, NO))
    set_default_model(saying(shell, YES))
    assert [shell.call(judge, "x"), shell.call(owner, "x")] == [True, False]
    with using(saying(shell, NO)) as model:
        assert isinstance(model, shell.kind)
        assert shell.call(judge, "x") is False
        with using(saying(shell, YES)):
            assert [shell.call(judge, "x"), shell.call(owner, "x")] == [True, True]
        assert shell.call(judge, "x") is False
    assert [shell.call(judge, "x"), shell.call(owner, "x")] == [True, False]


@both
def test_the_model_of_before_is_back_after_an_error(shell):
    judge = judging(shell)
    with pytest.raises(RuntimeError), using(saying(shell, YES)):
        raise RuntimeError
    with pytest.raises(ConfigError, match="has no model"):
        shell.call(judge, "x")


@both
def test_a_default_can_be_replaced_and_taken_away(shell):
    judge = judging(shell)
    for script, answer in ((YES, True), (NO, False)):
        set_default_model(saying(shell, script))
        assert shell.call(judge, "x") is answer
    set_default_model(None)
    with pytest.raises(ConfigError):
        shell.call(judge, "x")


def test_models_of_both_kinds_serve_the_functions_of_their_kind():
    plain, later = judging(Sync), judging(Async)
    with using(saying(Sync, YES)), using(saying(Async, NO)):
        assert (plain("x"), asyncio.run(later("x"))) == (True, False)
    set_default_model(saying(Async, YES))
    set_default_model(saying(Sync, NO))
    assert (plain("x"), asyncio.run(later("x"))) == (False, True)


@both
def test_a_model_of_the_other_kind_is_refused_where_the_function_is_defined(shell):
    with pytest.raises(
        ConfigError, match=r"`judge` is .* and was given an? .*; give it an? .*, or write an? "
    ):
        judging(shell, model=shell.other(FakeProvider()))


@both
@pytest.mark.parametrize("way", ["using", "default"])
def test_a_model_of_the_other_kind_alone_is_an_error_that_says_so(shell, way):
    other = shell.other(FakeProvider())
    judge = judging(shell)
    if way == "default":
        set_default_model(other)
        with pytest.raises(ConfigError, match=f"`judge` is .*, and only an? {shell.other.__name__} is named"):
            shell.call(judge, "x")
    else:
        with (
            using(other),
            pytest.raises(ConfigError, match=f"only an? {shell.other.__name__} is named; give an?"),
        ):
            shell.call(judge, "x")


@pytest.mark.parametrize(
    "thing", ["openai:gpt", None, 3, DecisionModel, FakeProvider()], ids=lambda t: type(t).__name__
)
def test_what_is_no_model_is_refused(thing):
    with pytest.raises(ConfigError, match="a model must be a DecisionModel"), using(thing):
        raise AssertionError
    if thing is not None:
        for give in (set_default_model, lambda model: judging(Sync, model=model)):
            with pytest.raises(ConfigError, match="a model must be a DecisionModel"):
                give(thing)


def test_tasks_started_inside_see_the_model_and_do_not_change_that_of_others():
    judge = judging(Async)

    async def one(script):
        with using(saying(Async, script)):
            await asyncio.sleep(0)
            inner = asyncio.create_task(judge("x"))
            return await judge("x"), await inner

    async def both_at_once():
        return await asyncio.gather(one(YES), one(NO))

    assert asyncio.run(both_at_once()) == [(True, True), (False, False)]


def test_to_thread_takes_the_model_along():
    judge = judging(Sync)

    async def go():
        with using(saying(Sync, NO)):
            return await asyncio.to_thread(judge, "x")

    assert asyncio.run(go()) is False


def test_a_thread_of_its_own_sees_the_default_and_takes_the_model_in_a_copied_context():
    judge = judging(Sync)
    set_default_model(saying(Sync, YES))
    with using(saying(Sync, NO)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(judge, "x").result() is True
        assert pool.submit(contextvars.copy_context().run, judge, "x").result() is False


def test_threads_use_models_of_their_own():
    judge, found = judging(Sync), {}

    def work(name, script):
        with using(saying(Sync, script)):
            found[name] = judge("x")

    threads = [threading.Thread(target=work, args=item) for item in (("a", YES), ("b", NO))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": True, "b": False}


@both
def test_a_map_keeps_the_model_it_was_started_with(shell):
    judge = judging(shell)
    with using(saying(shell, YES)):
        outcomes = judge.map(["a", "b"])
    if shell is Sync:
        assert list(outcomes) == [True, True]
    else:

        async def collected():
            return [outcome async for outcome in outcomes]

        assert asyncio.run(collected()) == [True, True]


def test_a_marked_method_stays_the_function_it_is():
    def is_it(self, text: str) -> bool: ...

    assert Asks("Is it?")(is_it) is is_it
    assert getattr(is_it, MARK) == Asks("Is it?")


def test_a_model_that_is_told_apart_by_its_form_needs_no_base_class():
    class Doubled:
        model_name = "double"

        def decide(self, request):
            return DecisionModel(FakeProvider(YES)).decide(request)

    assert judging(Sync, model=Doubled())("x") is True
    with pytest.raises(ConfigError):
        judging(Async, model=Doubled())
    assert AsyncDecisionModel is Sync.other
