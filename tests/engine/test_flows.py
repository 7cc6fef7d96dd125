import asyncio

import pytest

from tests.engine.support import Recorder, both
from yesno import (
    Choice,
    FakeProvider,
    Parameters,
    Refusal,
    Undecided,
    YesNo,
    YesNoAnswer,
    ask,
    ask_all,
    gather,
)
from yesno.errors import ProviderRejected, QuestionError, Refused, UndecidedError
from yesno.flow import Ask, outcome_of, spent_on
from yesno.questions import Question
from yesno.questions.base import Answer

YES = {"Yes": 0.9, "No": 0.1}


class Batches:
    """Counts the questions of each decision that a flow's batches become."""

    def __init__(self, shell, provider):
        self.ear = Recorder()
        self.model = shell(provider, listeners=[self.ear])

    def run(self, flow):
        return self.model.run(flow)

    @property
    def sizes(self):
        heard = zip(self.ear.calls, self.ear.names, strict=True)
        return sorted(len(call.request.questions) for call, name in heard if name == "request")


@both
def test_a_flow_may_return_without_asking(shell):
    def flow():
        yield from ask_all([], "x")
        return "done"

    provider = FakeProvider()
    assert shell(provider).run(flow()) == "done"
    assert provider.requests == []


@both
def test_an_empty_batch_brings_nothing_back(shell):
    def flow():
        return (yield [])

    assert list(shell(FakeProvider()).run(flow())) == []


@both
def test_equal_inputs_of_a_batch_are_one_decision_and_others_are_their_own(shell):
    batches = Batches(shell, FakeProvider())
    flows = [
        ask(YesNo("a?"), "x"),
        ask(YesNo("b?"), {"k": 1}),
        ask(YesNo("c?"), "x"),
        ask(YesNo("d?"), {"k": 1}),
    ]
    assert len(batches.run(gather(flows))) == 4
    assert batches.sizes == [2, 2]


@both
def test_a_flow_learns_what_its_questions_used_and_may_set_parameters(shell):
    def flow():
        return spent_on((yield [Ask(YesNo("a?"), "x"), Ask(YesNo("b?"), "x"), Ask(YesNo("c?"), "y")]))

    provider = FakeProvider()
    usage = shell(provider).model.run(flow(), parameters=Parameters(model_name="other"))
    usage = usage if shell.name == "sync" else asyncio.run(usage)
    assert usage.requests == 3
    assert {body["model"] for body in provider.requests} == {"other"}


@both
@pytest.mark.parametrize(
    "inputs",
    [
        [{"a": 1}, {"a": True}, {"a": 1.0}],
        [{"a": [0]}, {"a": [False]}],
        [{"a": {"b": 0}}, {"a": {"b": False}}, {"a": {"b": None}}],
    ],
    ids=["values", "lists", "deep"],
)
def test_inputs_that_only_python_calls_equal_are_not_mixed_up(shell, inputs):
    provider = FakeProvider()
    shell(provider).run(gather([ask(YesNo("q?"), given) for given in inputs]))
    assert len({body["messages"][-1]["content"] for body in provider.requests}) == len(inputs)


@both
def test_outcomes_come_back_in_the_order_asked(shell):
    def script(prompt):
        return YES if "\nx\n" in prompt and "a?" in prompt else {"No": 0.9, "Yes": 0.1}

    def flow():
        return (
            yield [
                Ask(YesNo("b?"), "x"),
                Ask(YesNo("a?"), "y"),
                Ask(YesNo("a?"), "x"),
                Ask(Choice("c?", ["one", "two"]), "x"),
            ]
        )

    outcomes = shell(FakeProvider(script)).run(flow())
    assert [outcome.is_yes() for outcome in outcomes[:3]] == [False, False, True]
    assert isinstance(outcomes[3], Undecided)


@both
def test_refused_and_undecided_are_outcomes_that_a_flow_sees(shell):
    replies = {"a?": {"<refusal>": 1}, "b?": {"Perhaps": 0.9}, "c?": YES}
    provider = FakeProvider(lambda prompt: next(reply for key, reply in replies.items() if key in prompt))
    outcomes = shell(provider).run(ask_all([YesNo(text) for text in replies], "x"))
    assert [type(outcome) for outcome in outcomes] == [Refusal, Undecided, YesNoAnswer]
    assert isinstance(shell(provider).run(outcome_of(YesNo("a?"), "x")), Refusal)
    with pytest.raises(Refused):
        shell(provider).run(ask(YesNo("a?"), "x"))
    with pytest.raises(UndecidedError):
        shell(provider).run(ask(YesNo("b?"), "x"))


@both
def test_a_failure_is_thrown_into_the_flow_which_may_fall_back_and_ask_on(shell):
    def script(prompt):
        return ProviderRejected("no", provider="fake", status=400) if "a?" in prompt else YES

    def flow():
        try:
            yield from ask(YesNo("a?"), "x")
        except ProviderRejected:
            return (yield from ask(YesNo("b?"), "x")).is_yes()

    assert shell(FakeProvider(script)).run(flow()) is True


@both
def test_a_failure_that_the_flow_lets_through_reaches_the_caller_unchanged(shell):
    failure = ProviderRejected("no", provider="fake", status=400)
    with pytest.raises(ProviderRejected) as info:
        shell(FakeProvider(failure)).run(ask(YesNo("q?"), "x"))
    assert info.value is failure


@both
def test_a_question_that_cannot_be_asked_is_thrown_into_the_flow_before_anything_is_sent(shell):
    class Pick(Question[Answer]):
        pass

    provider = FakeProvider()
    with pytest.raises(QuestionError, match="Pick"):
        shell(provider).run(ask_all([YesNo("q?"), Pick("where?")], "x"))
    assert provider.requests == []


@both
def test_each_round_of_gathered_flows_is_one_batch(shell):
    def two_rounds(name):
        first = yield from ask(YesNo("first?"), name)
        second = yield from ask(YesNo("second?"), "shared")
        return first.is_yes() and second.is_yes()

    batches = Batches(shell, FakeProvider())
    assert batches.run(gather([two_rounds("x"), two_rounds("y")])) == [True, True]
    assert batches.sizes == [1, 1, 2]


@both
def test_names_reach_the_request_and_equal_ones_about_one_input_travel_apart(shell):
    ear = Recorder()
    flows = [ask_all({"route": YesNo(text), "other": YesNo("o?")}, "x") for text in ("a?", "b?")]
    one, two = shell(FakeProvider(), listeners=[ear]).run(gather(flows))
    assert len(one) == len(two) == 2
    asked = [
        {name: question.text for name, question in call.request.questions.items()}
        for call, event in zip(ear.calls, ear.names, strict=True)
        if event == "request"
    ]
    assert sorted(asked, key=str) == [{"route": "a?", "other": "o?"}, {"route": "b?", "other": "o?"}]
