import asyncio

import pytest

from tests.engine.support import both
from tests.providers.contract import ProviderContract
from yesno import Choice, DecisionModel, FakeProvider, Refusal, Scale, YesNo, YesNoAnswer
from yesno.errors import ConfigError, ProviderUnavailable, Refused, UndecidedError
from yesno.providers.fake import chat_reply


class TestFake(ProviderContract):
    provider = "fake"
    recorded = "openai_compatible/yes"

    def make(self, body):
        return FakeProvider(lambda prompt: body)


@both
def test_without_a_script_it_says_yes_at_eighty_percent(shell):
    assert shell(FakeProvider()).decide("x", YesNo("q?")).probability == pytest.approx(0.8)


@both
def test_a_sequence_is_played_again_from_its_start(shell):
    model = shell(FakeProvider([{"Yes": 0.9, "No": 0.1}, {"No": 0.9, "Yes": 0.1}]))
    assert [model.decide("x", YesNo("q?")).is_yes() for _ in range(5)] == [True, False, True, False, True]


def test_a_function_sees_the_last_user_message():
    seen = []
    model = DecisionModel(FakeProvider(lambda prompt: seen.append(prompt) or {"A": 0.9, "B": 0.1}))
    model.decide("hello", Choice("Which?", ["one", "two"]))
    assert "hello" in seen[0]
    assert "B. two" in seen[0]


def test_what_is_missing_to_one_is_unseen():
    answer = DecisionModel(FakeProvider({"Yes": 0.6, "No": 0.2})).decide("x", YesNo("q?"))
    assert answer.label_mass == pytest.approx(0.8)
    assert answer.high - answer.low == pytest.approx(0.2)


@both
def test_a_list_of_tables_is_a_reply_of_as_many_tokens(shell):
    reply = [{" ": 0.9, "\n": 0.1}, {"Yes": 0.7, "No": 0.3}, {".": 1.0}]
    response = shell(FakeProvider(lambda prompt: reply)).decide("x", {"q": YesNo("q?")})
    assert response.yes_no("q").probability == pytest.approx(0.7)
    assert response.usage.output_tokens == 3
    ended = chat_reply([{"Yes": 1.0}, {"<length>": 1.0}])
    assert ended["choices"][0]["finish_reason"] == "length"


@both
@pytest.mark.parametrize(
    ("ending", "error"),
    [
        ("<refusal>", Refused),
        ("<content_filter>", Refused),
        ("<tool_calls>", UndecidedError),
        ("<length>", UndecidedError),
    ],
)
def test_a_reply_may_end_in_other_ways(shell, ending, error):
    with pytest.raises(error):
        shell(FakeProvider({ending: 1})).decide("x", YesNo("q?"))


@both
def test_an_error_in_the_script_is_raised(shell):
    failure = ProviderUnavailable("down", provider="fake", retry_after=500)
    with pytest.raises(ProviderUnavailable) as info:
        shell(FakeProvider(failure)).decide("x", YesNo("q?"))
    assert info.value is failure


@both
def test_ready_answers_come_back_as_they_are(shell):
    answers = {"a": YesNoAnswer(0.9), "b": Refusal(category="bio")}
    response = shell(FakeProvider(answers, native=True)).decide("x", {"a": YesNo("q?"), "b": YesNo("q?")})
    assert response.yes_no("a").probability == 0.9
    assert response.outcome("b").category == "bio"


def test_a_whole_reply_may_be_given():
    model = DecisionModel(FakeProvider([chat_reply({"Yes": 0.6, "No": 0.4}, model="other")]))
    response = model.decide("x", {"q": YesNo("q?")})
    assert (response.model, response.yes_no("q").probability) == ("other", pytest.approx(0.6))


def test_an_empty_script_is_refused():
    with pytest.raises(ConfigError, match="empty"):
        FakeProvider([])


def test_payloads_are_kept_for_inspection():
    provider = FakeProvider(model="m1")
    DecisionModel(provider).decide("hello", YesNo("q?"))
    asyncio.run(provider.asend(provider.requests[0]))
    assert len(provider.requests) == 2
    assert provider.requests[0]["model"] == "m1"
    assert "hello" in provider.requests[0]["messages"][-1]["content"]


ALL = {
    "yes": YesNo("q?"),
    "choice": Choice("Which?", ["a1", "b2", "c3"]),
    "way_out": Choice("Which?", ["a1", "b2"], none="neither"),
    "scale": Scale("How?", ["low", "mid", "high"]),
}


@both
@pytest.mark.parametrize("native", [True, False])
def test_without_a_script_every_question_has_an_answer(shell, native):
    response = shell(FakeProvider(native=native)).decide("x", ALL)
    assert response.yes_no("yes").probability == 0.8
    assert list(response.choice("choice").probabilities.values()) == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert response.choice("way_out").none_probability == pytest.approx(1 / 7)
    assert response.scale("scale").mean == pytest.approx(4 / 7)


@pytest.mark.parametrize(("keep", "kept"), [(None, [1, 2, 3]), (2, [2, 3]), (0, [])])
def test_only_the_newest_payloads_may_be_kept(keep, kept):
    provider = FakeProvider(keep=keep)
    for number in (1, 2, 3):
        provider.send({"model": "m", "number": number, "messages": [{"content": "q"}]})
    assert [payload["number"] for payload in provider.requests] == kept
