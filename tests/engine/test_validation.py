"""The doorman: beyond what decision models of other languages share."""

import pytest

from tests.engine.support import Native, Recorder, both
from yesno import (
    Choice,
    ChoiceAnswer,
    DecisionRequest,
    DecisionResponse,
    FakeProvider,
    Scale,
    ScaleAnswer,
    Undecided,
    Usage,
    YesNo,
    YesNoAnswer,
)
from yesno.engine.validation import validated
from yesno.errors import AnswerError, ConfigError, InvalidResponse, QuestionError
from yesno.evidence import Completion, NativeAnswers, Reply
from yesno.questions import Question
from yesno.questions.base import Answer


class Pick(Question[Answer]):
    """A question type of one's own."""


class Picking(Native):
    def send(self, payload, *, timeout_s=None):
        return {}

    async def asend(self, payload):
        return {}

    def parse(self, task, reply):
        return Reply(NativeAnswers({"p": Answer(label_mass=1.0)}))


def test_no_response_is_an_invalid_response():
    with pytest.raises(InvalidResponse, match="no response") as info:
        validated(DecisionRequest("x", {"q": YesNo("q?")}), None, "fake")
    assert info.value.provider == "fake"


@both
@pytest.mark.parametrize("answers", [{}, {"q": None}, {"q": 0.5}, {"": YesNoAnswer(1)}], ids=str)
def test_a_native_reply_that_holds_no_answers_is_the_providers_fault(shell, answers):
    ear = Recorder()
    with pytest.raises(InvalidResponse, match="answer"):
        shell(FakeProvider(answers, native=True), listeners=[ear]).decide("x", {"q": YesNo("q?")})
    assert ear.names == ["request", "error"]


def test_undecided_fits_every_question():
    response = DecisionResponse({"q": Undecided("no_logprobs")})
    assert validated(DecisionRequest("x", {"q": YesNo("q?")}), response, "fake") is response


def test_the_offered_options_replace_what_a_provider_says_was_offered():
    request = DecisionRequest("x", {"c": Choice("q?", ["one", "two"])})
    response = DecisionResponse({"c": ChoiceAnswer("one", {"one": 0.8}, options=("one", "three"))})
    answer = validated(request, response, "fake").choice("c")
    assert answer.options == ("one", "two")
    assert answer.probability_of("two") == 0
    with pytest.raises(AnswerError):
        answer.probability_of("three")


@pytest.mark.parametrize("share", [None, 0.7], ids=["silent", "reported"])
def test_the_way_out_may_win_and_the_metadata_stays(share):
    request = DecisionRequest("x", {"c": Choice("q?", ["one", "two"], none="neither")})
    given = DecisionResponse(
        {"c": ChoiceAnswer("neither", none_probability=share)}, model="m", usage=Usage(1)
    )
    response = validated(request, given, "fake")
    assert response.choice("c").value == "neither"
    assert response.choice("c").is_none == (share is not None)
    assert response.metadata == given.metadata


@pytest.mark.parametrize("mean", [0.0, 2.0, -1e-7, 2 + 1e-7])
def test_a_mean_at_the_ends_of_a_scale_fits(mean):
    request = DecisionRequest("x", {"s": Scale("q?", ["low", "mid", "high"])})
    response = validated(request, DecisionResponse({"s": ScaleAnswer(mean)}), "fake")
    assert response.scale("s") == ScaleAnswer(mean, levels=("low", "mid", "high"))
    assert validated(request, response, "fake") is response


@pytest.mark.parametrize("mean", [-0.01, 2.01])
def test_a_mean_off_the_scale_is_named(mean):
    request = DecisionRequest("x", {"s": Scale("q?", ["low", "mid", "high"])})
    with pytest.raises(InvalidResponse, match=f"{mean}.*0 to 2"):
        validated(request, DecisionResponse({"s": ScaleAnswer(mean)}), "fake")


@both
def test_a_question_type_of_ones_own_is_refused_before_anything_is_sent(shell):
    provider = FakeProvider()
    with pytest.raises(QuestionError, match="Pick"):
        shell(provider).decide("x", {"y": YesNo("q?"), "p": Pick("where?")})
    assert provider.requests == []


@both
def test_a_native_provider_may_answer_a_type_of_ones_own(shell):
    assert shell(Picking()).decide("x", {"p": Pick("where?")}).outcome("p").method == "native"


@both
def test_a_native_provider_that_sends_tokens_is_set_up_wrongly(shell):
    class Confused(Picking):
        def parse(self, task, reply):
            return Reply(Completion("Yes"))

    with pytest.raises(ConfigError, match="native"):
        shell(Confused()).decide("x", {"p": Pick("where?")})


@both
def test_a_native_reply_may_leave_a_question_undecided(shell):
    answers = {"a": YesNoAnswer(0.9), "b": Undecided("incomplete_distribution")}
    response = shell(FakeProvider(answers, native=True)).decide("x", {"a": YesNo("q?"), "b": YesNo("q?")})
    assert response.yes_no("a").probability == 0.9
    assert [attempt.result for attempt in response.outcome("b").attempts] == ["incomplete_distribution"]


@both
def test_the_floor_on_the_label_mass_holds_for_native_answers(shell):
    provider = FakeProvider({"a": YesNoAnswer(0.9, low=0.3, high=0.9, label_mass=0.4)}, native=True)
    outcome = shell(provider).decide("x", {"a": YesNo("q?")}).outcome("a")
    assert outcome == Undecided("low_label_mass", 0.3, 0.9, 0.4)
