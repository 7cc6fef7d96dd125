"""Model, doorman, listeners and async: behaviour that decision models of other languages share."""

import asyncio

import pytest

from tests.engine.support import Native, Recorder, both
from yesno import (
    AsyncDecisionModel,
    Choice,
    ChoiceAnswer,
    DecisionModel,
    DecisionRequest,
    FakeProvider,
    Listener,
    Parameters,
    Refusal,
    Scale,
    ScaleAnswer,
    YesNo,
    YesNoAnswer,
)
from yesno.errors import AnswerError, AsyncUnsupported, InvalidResponse
from yesno.providers.base import Provider

QUESTIONS = {"y": YesNo("q?"), "c": Choice("q?", ["one", "two"]), "s": Scale("q?", ["low", "mid", "high"])}
GOOD = {"y": YesNoAnswer(0.9), "c": ChoiceAnswer("one", {"one": 0.8}), "s": ScaleAnswer(1.0, (0.2, 0.6, 0.2))}


def native(answers, **settings):
    return FakeProvider(answers, native=True, **settings)


@both
def test_case_047_the_providers_model_is_the_default_and_a_requests_model_wins(shell):
    provider = FakeProvider(model="default")
    model = shell(provider)
    model.decide("x", YesNo("q?"))
    model.decide("x", YesNo("q?"), parameters=Parameters())
    model.decide("x", YesNo("q?"), parameters=Parameters(model_name="other"))
    model.decide(DecisionRequest("x", {"q": YesNo("q?")}, Parameters(model_name="third")))
    assert [payload["model"] for payload in provider.requests] == ["default", "default", "other", "third"]


@both
def test_case_048_defaults_leave_input_and_questions_alone(shell):
    asked = DecisionRequest({"a": [1]}, QUESTIONS)
    ear = Recorder()
    shell(native(GOOD), listeners=[ear], timeout_s=5).decide(asked)
    seen = ear.calls[0].request
    assert (seen.input, seen.questions) == (asked.input, asked.questions)
    assert seen.parameters == Parameters(model_name="fake", timeout_s=5)
    assert asked.parameters == Parameters()


@both
def test_case_049_a_matching_response_is_returned(shell):
    response = shell(native(GOOD)).decide("x", QUESTIONS)
    assert response.yes_no("y").probability == 0.9
    assert response.scale("s").mean == 1.0
    assert {answer.method for answer in response.answers.values()} == {"native"}


@both
def test_case_050_offered_options_are_attached_to_a_choice(shell):
    answer = shell(native(GOOD)).decide("x", QUESTIONS).choice("c")
    assert answer.options == ("one", "two")
    assert answer.probability_of("two") == 0
    with pytest.raises(AnswerError, match="onee"):
        answer.probability_of("onee")


@both
@pytest.mark.parametrize(
    "change",
    [
        {"y": None},
        {"y": ScaleAnswer(1.0)},
        {"c": ChoiceAnswer("three")},
        {"c": ChoiceAnswer("one", {"three": 0.5})},
        {"s": ScaleAnswer(3.0)},
        {"s": ScaleAnswer(1.0, (0.5, 0.5))},
    ],
    ids=["missing", "type", "value", "key", "mean", "levels"],
)
def test_case_051_an_answer_that_does_not_fit_is_an_invalid_response_and_is_heard(shell, change):
    answers = {name: answer for name, answer in {**GOOD, **change}.items() if answer is not None}
    ear = Recorder()
    (name,) = change
    with pytest.raises(InvalidResponse, match=f"'{name}'") as info:
        shell(native(answers), listeners=[ear]).decide("x", QUESTIONS)
    assert ear.names == ["request", "error"]
    assert ear.heard[1] is info.value


@both
def test_case_052_a_surplus_answer_is_kept(shell):
    response = shell(native({**GOOD, "extra": YesNoAnswer(0.1)})).decide("x", QUESTIONS)
    assert response.yes_no("extra").probability == 0.1


@both
def test_case_053_a_refusal_fits_every_question(shell):
    response = shell(native(dict.fromkeys(QUESTIONS, Refusal()))).decide("x", QUESTIONS)
    assert all(response.is_refused(name) for name in QUESTIONS)


@both
def test_case_054_listeners_hear_request_then_response_and_share_attributes(shell):
    class Tracer(Recorder):
        def on_request(self, call):
            call.attributes["span"] = 7
            super().on_request(call)

    first, second = Tracer(), Recorder()
    response = shell(native(GOOD, model="m1"), listeners=[first, second]).decide("x", QUESTIONS)
    for ear in (first, second):
        assert ear.names == ["request", "response"]
        assert ear.heard[1] is response
        assert [call.attributes for call in ear.calls] == [{"span": 7}, {"span": 7}]
        assert {(call.provider, call.request.parameters.model_name) for call in ear.calls} == {("fake", "m1")}


@both
def test_case_055_a_failing_provider_is_heard_and_the_same_error_raised(shell):
    ear = Recorder()
    failure = InvalidResponse("broken", provider="fake")
    with pytest.raises(InvalidResponse) as info:
        shell(native(failure), listeners=[ear]).decide("x", QUESTIONS)
    assert info.value is failure
    assert (ear.names, ear.heard) == (["request", "error"], [None, failure])


def test_case_056_async_success_is_heard_like_any_other():
    class Late(FakeProvider):
        async def asend(self, payload):
            await asyncio.sleep(0)
            return self.send(payload)

    ear = Recorder()
    model = AsyncDecisionModel(Late(GOOD, native=True), listeners=[ear])
    response = asyncio.run(model.decide("x", QUESTIONS))
    assert (ear.names, ear.heard) == (["request", "response"], [None, response])


def test_case_056_a_late_async_failure_is_heard_as_its_root_cause():
    class Late(Native):
        async def asend(self, payload):
            await asyncio.sleep(0)
            raise ValueError("root")

    ear = Recorder()
    with pytest.raises(ValueError, match="root") as info:
        asyncio.run(AsyncDecisionModel(Late(), listeners=[ear]).decide("x", QUESTIONS))
    assert ear.names == ["request", "error"]
    assert ear.heard[1] is info.value


def test_case_057_an_async_hook_that_throws_at_once_fails_only_when_awaited():
    class Eager(Native):
        def asend(self, payload):
            raise ValueError("at once")

    ear = Recorder()

    async def go():
        waiting = AsyncDecisionModel(Eager(), listeners=[ear]).decide("x", QUESTIONS)
        with pytest.raises(ValueError, match="at once"):
            await waiting

    asyncio.run(go())
    assert ear.names == ["request", "error"]


@both
def test_case_058_a_throwing_listener_changes_nothing_and_the_others_hear_all(shell, caplog):
    class Broken(Listener):
        def on_request(self, call):
            raise RuntimeError("mine")

        def on_response(self, call, response):
            raise RuntimeError("mine")

    ear = Recorder()
    response = shell(native(GOOD), listeners=[Broken(), ear]).decide("x", QUESTIONS)
    assert ear.names == ["request", "response"]
    assert response.yes_no("y").probability == 0.9
    assert [(r.levelname, r.message, r.listener) for r in caplog.records] == [
        ("WARNING", "listener_failed", "Broken"),
        ("WARNING", "listener_failed", "Broken"),
    ]


@both
def test_case_058_a_listener_that_throws_at_an_error_does_not_hide_it(shell):
    class Broken(Listener):
        def on_error(self, call, error):
            raise RuntimeError("mine")

    ear = Recorder()
    failure = InvalidResponse("broken", provider="fake")
    with pytest.raises(InvalidResponse) as info:
        shell(native(failure), listeners=[Broken(), ear]).decide("x", QUESTIONS)
    assert info.value is failure
    assert ear.names == ["request", "error"]


def test_case_059_a_provider_without_async_fails_as_such_and_is_heard():
    ear = Recorder()
    with pytest.raises(AsyncUnsupported, match="DecisionModel") as info:
        asyncio.run(AsyncDecisionModel(Native(), listeners=[ear]).decide("x", QUESTIONS))
    assert (ear.names, ear.heard) == (["request", "error"], [None, info.value])


def test_case_060_a_cancelled_call_cancels_the_provider_and_is_no_error():
    seen = []

    class Slow(Native):
        async def asend(self, payload):
            seen.append("started")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    ear = Recorder()

    async def go():
        task = asyncio.create_task(AsyncDecisionModel(Slow(), listeners=[ear]).decide("x", QUESTIONS))
        while not seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert seen == ["started", "cancelled"]
    assert ear.names == ["request"]


@pytest.mark.parametrize("kind", [DecisionModel, AsyncDecisionModel], ids=["sync", "async"])
def test_case_061_a_bare_provider_has_the_name_other_and_no_listeners(kind):
    class Bare(Provider):
        model = "bare-1"

    model = kind(Bare())
    assert (model.provider_name, model.listeners, model.model_name) == ("other", (), "bare-1")
