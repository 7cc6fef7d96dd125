import asyncio

import pytest

from tests.engine.support import SHELLS
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
from yesno.errors import AnswerError, AsyncUnsupported, InvalidResponse, ProviderUnavailable, QuestionError
from yesno.evidence import NativeAnswers, Reply
from yesno.providers.base import Provider
from yesno.providers.profiles import Profile
from yesno.questions import Question
from yesno.questions.base import Answer

QUESTIONS = {"y": YesNo("q?"), "c": Choice("q?", ["one", "two"]), "s": Scale("q?", ["low", "mid", "high"])}
GOOD = {"y": YesNoAnswer(0.9), "c": ChoiceAnswer("one", {"one": 0.8}), "s": ScaleAnswer(1.0, (0.2, 0.6, 0.2))}

both = pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)


class Recorder(Listener):
    def __init__(self):
        self.events = []

    def on_request(self, call):
        call.attributes["seen"] = 1
        self.events.append(("request", call.request.parameters.model_name, call.provider))

    def on_response(self, call, response):
        self.events.append(("response", call.attributes.get("seen"), response))

    def on_error(self, call, error):
        self.events.append(("error", call.attributes.get("seen"), error))


def native(answers, **settings):
    return FakeProvider(answers, native=True, **settings)


@both
def test_case_047_the_providers_model_is_the_default_and_a_requests_model_wins(shell):
    provider = FakeProvider(model="default")
    model = shell(provider)
    model.decide("x", YesNo("q?"))
    model.decide("x", YesNo("q?"), parameters=Parameters(model_name="other"))
    model.decide(DecisionRequest("x", {"q": YesNo("q?")}, Parameters(model_name="third")))
    assert [payload["model"] for payload in provider.requests] == ["default", "other", "third"]


@both
def test_case_048_defaults_leave_input_and_questions_alone(shell):
    heard = []

    class Ear(Listener):
        def on_request(self, call):
            heard.append(call.request)

    asked = DecisionRequest({"a": [1]}, QUESTIONS)
    shell(native(GOOD), listeners=[Ear()]).decide(asked)
    assert heard[0].input == asked.input
    assert heard[0].questions == asked.questions
    assert heard[0].parameters.model_name == "fake"
    assert asked.parameters == Parameters()


@both
def test_case_049_a_matching_response_is_returned(shell):
    response = shell(native(GOOD)).decide("x", QUESTIONS)
    assert response.yes_no("y").probability == 0.9
    assert response.yes_no("y").method == "native"
    assert response.scale("s").mean == 1.0


@both
def test_case_050_offered_options_are_attached_to_a_choice(shell):
    answer = shell(native(GOOD)).decide("x", QUESTIONS).choice("c")
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
    assert [event[0] for event in ear.events] == ["request", "error"]
    assert ear.events[1][2] is info.value


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
    ear = Recorder()
    response = shell(native(GOOD, model="m1"), listeners=[ear]).decide("x", QUESTIONS)
    assert ear.events == [("request", "m1", "fake"), ("response", 1, response)]


@both
def test_case_055_a_failing_provider_is_heard_and_the_same_error_raised(shell):
    ear = Recorder()
    failure = InvalidResponse("broken", provider="fake")
    with pytest.raises(InvalidResponse) as info:
        shell(native(failure), listeners=[ear]).decide("x", QUESTIONS)
    assert info.value is failure
    assert [event[0] for event in ear.events] == ["request", "error"]
    assert ear.events[1][2] is failure


def test_case_056_the_async_model_tells_the_same_and_reports_the_root_cause():
    class Late(Provider):
        profile = Profile(strategies=("native",))

        def build(self, task):
            return {}

        async def asend(self, payload):
            await asyncio.sleep(0)
            raise ValueError("root")

    ear = Recorder()
    with pytest.raises(ValueError, match="root"):
        asyncio.run(AsyncDecisionModel(Late(), listeners=[ear]).decide("x", QUESTIONS))
    assert [event[0] for event in ear.events] == ["request", "error"]
    assert isinstance(ear.events[1][2], ValueError)


def test_case_057_an_async_hook_that_throws_at_once_fails_only_when_awaited():
    class Eager(Provider):
        profile = Profile(strategies=("native",))

        def build(self, task):
            return {}

        def asend(self, payload):
            raise ValueError("at once")

    ear = Recorder()

    async def go():
        waiting = AsyncDecisionModel(Eager(), listeners=[ear]).decide("x", QUESTIONS)
        with pytest.raises(ValueError, match="at once"):
            await waiting

    asyncio.run(go())
    assert [event[0] for event in ear.events] == ["request", "error"]


@both
def test_case_058_a_throwing_listener_changes_nothing_and_the_others_hear_all(shell, caplog):
    class Broken(Listener):
        def on_request(self, call):
            raise RuntimeError("mine")

        def on_response(self, call, response):
            raise RuntimeError("mine")

    ear = Recorder()
    response = shell(native(GOOD), listeners=[Broken(), ear]).decide("x", QUESTIONS)
    assert [event[0] for event in ear.events] == ["request", "response"]
    assert response.yes_no("y").probability == 0.9
    assert [record.message for record in caplog.records] == ["listener_failed", "listener_failed"]


def test_case_059_a_provider_without_async_fails_as_such_and_is_heard():
    class Blocking(Provider):
        profile = Profile(strategies=("native",))

        def build(self, task):
            return {}

    ear = Recorder()
    with pytest.raises(AsyncUnsupported, match="DecisionModel"):
        asyncio.run(AsyncDecisionModel(Blocking(), listeners=[ear]).decide("x", QUESTIONS))
    assert [event[0] for event in ear.events] == ["request", "error"]


def test_case_060_a_cancelled_call_cancels_the_provider_and_is_no_error():
    cancelled = []
    started = asyncio.Event()

    class Slow(Provider):
        profile = Profile(strategies=("native",))

        def build(self, task):
            return {}

        async def asend(self, payload):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    ear = Recorder()

    async def go():
        task = asyncio.create_task(AsyncDecisionModel(Slow(), listeners=[ear]).decide("x", QUESTIONS))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert cancelled == [True]
    assert [event[0] for event in ear.events] == ["request"]


def test_case_061_a_bare_provider_has_the_name_other_and_no_listeners():
    class Bare(Provider):
        model = "bare-1"

    for model in (DecisionModel(Bare()), AsyncDecisionModel(Bare())):
        assert (model.provider_name, model.listeners, model.model_name) == ("other", (), "bare-1")


@both
def test_a_question_type_of_ones_own_is_refused_before_anything_is_sent(shell):
    class Pick(Question[Answer]):
        pass

    provider = FakeProvider()
    with pytest.raises(QuestionError, match="Pick"):
        shell(provider).decide("x", {"p": Pick("where?")})
    assert provider.requests == []


@both
def test_a_native_provider_may_answer_a_type_of_ones_own(shell):
    class Pick(Question[Answer]):
        pass

    class Own(Provider):
        profile = Profile(strategies=("native",))

        def build(self, task):
            return {}

        def send(self, payload, *, timeout_s=None):
            return {}

        async def asend(self, payload):
            return {}

        def parse(self, task, reply):
            return Reply(NativeAnswers({"p": Answer(label_mass=1.0)}))

    assert shell(Own()).decide("x", {"p": Pick("where?")}).outcome("p").method == "native"


def test_an_error_without_retry_is_not_swallowed():
    with pytest.raises(ProviderUnavailable):
        DecisionModel(native(ProviderUnavailable("down", provider="fake", retry_after=500))).decide(
            "x", QUESTIONS
        )
