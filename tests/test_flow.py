from collections.abc import Sequence

import anyio
import pytest

from yesno.errors import ProviderUnavailable, QuestionError, Refused, UndecidedError
from yesno.evidence import Usage
from yesno.flow import Ask, Outcomes, arun, ask, ask_all, gather, outcome_of, run, spent_on
from yesno.questions import Outcome, Refusal, Undecided, YesNo, YesNoAnswer
from yesno.response import Metadata

SPAM = YesNo("Is this spam?")
URGENT = YesNo("Is this urgent?")
DOWN = ProviderUnavailable("down", provider="p")


class Script:
    """Answers each batch: a probability by input, or the next error; `batches` keeps the inputs."""

    def __init__(self, answers, errors=()):
        self.answers, self.errors, self.batches = answers, list(errors), []

    def __call__(self, asks: Sequence[Ask]) -> list[Outcome]:
        self.batches.append([item.input for item in asks])
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return [self._outcome(self.answers[item.input]) for item in asks]

    async def later(self, asks):
        await anyio.lowlevel.checkpoint()
        return self(asks)

    @staticmethod
    def _outcome(value):
        return YesNoAnswer(value) if isinstance(value, float) else value


def probability(input):
    answer = yield from ask(SPAM, input)
    return answer.probability


def first_above(inputs, threshold=0.5):
    """One round per input until one is above."""
    for input in inputs:
        answer = yield from ask(SPAM, input)
        if answer.is_yes(threshold):
            return input
    return None


def with_fallback(input, fallback):
    try:
        return (yield from probability(input))
    except ProviderUnavailable:
        return fallback


def both_ways(flow_of, answers, errors=()):
    """Run a flow with and without an event loop and return both results with what was asked."""
    sync, script = Script(answers, errors), Script(answers, errors)
    async_result = anyio.run(arun, flow_of(), script.later)
    return (run(flow_of(), sync), sync.batches), (async_result, script.batches)


def test_ask_returns_the_answer_of_its_question():
    script = Script({"a": 0.9})
    assert run(ask(SPAM, "a"), script) == YesNoAnswer(0.9)
    assert script.batches == [["a"]]


@pytest.mark.parametrize(
    ("outcome", "error"), [(Refusal(category="bio"), Refused), (Undecided("low_label_mass"), UndecidedError)]
)
def test_ask_raises_where_there_is_no_answer_and_outcome_of_returns_it(outcome, error):
    script = Script({"a": outcome})
    with pytest.raises(error) as caught:
        run(ask(SPAM, "a"), script)
    assert caught.value.outcome == outcome
    assert run(outcome_of(SPAM, "a"), script) == outcome


def test_ask_all_asks_in_one_batch_and_keeps_the_order():
    batches = []

    def answer(asks):
        batches.append([item.question for item in asks])
        return [YesNoAnswer(i / 10) for i, _ in enumerate(asks)]

    got = run(ask_all([URGENT, SPAM, URGENT], "a"), answer)
    assert [outcome.probability for outcome in got] == [0.0, 0.1, 0.2]
    assert batches == [[URGENT, SPAM, URGENT]]


def test_ask_all_of_nothing_asks_nothing():
    script = Script({})
    assert run(ask_all([], "a"), script) == []
    assert script.batches == []


def test_usage_is_counted_once_per_response_and_unknown_without_one():
    one, other = Metadata(usage=Usage(input_tokens=3, requests=1)), Metadata(usage=Usage(requests=2))
    batch = Outcomes.of([YesNoAnswer(0.1), YesNoAnswer(0.2), YesNoAnswer(0.3)], [one, one, other])
    assert spent_on(batch, batch) == Usage(input_tokens=3, requests=3)
    assert spent_on([YesNoAnswer(0.1)]) is None
    assert spent_on() is None
    assert spent_on(Outcomes.of([YesNoAnswer(0.1)], [Metadata()])) is None


def test_gather_tells_each_flow_what_its_own_questions_used():
    def spender(*names):
        return spent_on((yield [Ask(SPAM, name) for name in names]))

    def answer(asks):
        usages = {"a": Metadata(usage=Usage(requests=1)), "b": Metadata(usage=Usage(requests=10))}
        return Outcomes.of([YesNoAnswer(0.5) for _ in asks], [usages[item.input] for item in asks])

    both, one, none = run(gather([spender("a", "b"), spender("b"), spender()]), answer)
    assert (both.requests, one.requests, none) == (11, 10, None)


def test_an_input_is_frozen_when_it_is_asked_about():
    given = {"a": [1]}
    asked = Ask(SPAM, given)
    given["a"].append(2)
    assert asked.input == {"a": [1]}
    with pytest.raises(QuestionError, match="input"):
        Ask(SPAM, " ")


def test_gather_sends_each_round_as_one_batch():
    script = Script({"a": 0.1, "b": 0.2, "c": 0.9, "x": 0.8})
    flows = [first_above(["a", "b", "c"]), first_above(["x"]), first_above(["b", "x"])]
    assert run(gather(flows), script) == ["c", "x", "x"]
    assert script.batches == [["a", "x", "b"], ["b", "x"], ["c"]]


def test_gather_of_flows_that_ask_nothing_asks_nothing():
    script = Script({})
    assert run(gather([]), script) == []
    assert run(gather([ask_all([], "a"), ask_all([], "b")]), script) == [[], []]
    assert script.batches == []


def test_gather_gives_each_flow_its_own_outcomes_whatever_their_number():
    script = Script({"a": 0.1, "b": 0.2})
    flows = [ask_all([SPAM, URGENT], "a"), ask_all([], "a"), ask_all([SPAM], "b")]
    one, none, other = run(gather(flows), script)
    assert ([o.probability for o in one], none, [o.probability for o in other]) == ([0.1, 0.1], [], [0.2])


def test_gather_nests():
    script = Script({"a": 0.1, "b": 0.2, "c": 0.3})
    got = run(gather([gather([probability("a"), probability("b")]), gather([probability("c")])]), script)
    assert got == [[0.1, 0.2], [0.3]]
    assert script.batches == [["a", "b", "c"]]


def test_gather_equals_one_by_one():
    answers = {name: i / 10 for i, name in enumerate("abcdef")}
    inputs = [["a", "f"], ["b"], ["c", "d", "e", "f"]]
    together = run(gather([first_above(row) for row in inputs]), Script(answers))
    assert together == [run(first_above(row), Script(answers)) for row in inputs]


def test_a_failure_is_thrown_into_every_flow_and_those_with_a_fallback_go_on():
    script = Script({"a": 0.1, "b": 0.2}, [DOWN])
    assert run(gather([with_fallback("a", 1.0), with_fallback("b", 0.0)]), script) == [1.0, 0.0]
    assert script.batches == [["a", "b"]]


def test_a_flow_may_try_again_after_a_failure_while_another_falls_back():
    def again(input):
        try:
            return (yield from probability(input))
        except ProviderUnavailable:
            return (yield from probability(input))

    script = Script({"a": 0.1, "b": 0.2}, [DOWN])
    assert run(gather([again("a"), with_fallback("b", 0.5)]), script) == [0.1, 0.5]
    assert script.batches == [["a", "b"], ["a"]]


def test_a_failure_without_a_fallback_is_raised_as_it_is():
    with pytest.raises(ProviderUnavailable) as caught:
        run(gather([with_fallback("a", 1.0), probability("b")]), Script({}, [DOWN]))
    assert caught.value is DOWN
    with pytest.raises(ProviderUnavailable):
        run(probability("a"), Script({}, [DOWN]))


def test_a_refusal_in_one_flow_is_raised_there_only():
    def kind(input):
        try:
            yield from ask(SPAM, input)
        except Refused:
            return "refused"
        return "answered"

    script = Script({"a": Refusal(), "b": 0.2})
    assert run(gather([kind("a"), kind("b")]), script) == ["refused", "answered"]


@pytest.mark.parametrize("errors", [(), (DOWN,), (None, DOWN), (DOWN, None, DOWN)])
def test_with_an_event_loop_the_same_is_asked_and_returned(errors):
    def flow():
        return gather([with_fallback("a", 9.0), with_fallback("b", 8.0), first_with_fallback()])

    def first_with_fallback():
        try:
            return (yield from first_above(["a", "b", "c"]))
        except ProviderUnavailable:
            return (yield from with_fallback("c", 7.0))

    sync, asynchronous = both_ways(flow, {"a": 0.1, "b": 0.2, "c": 0.9}, errors)
    assert sync == asynchronous


def test_with_an_event_loop_a_failure_is_raised_as_it_is():
    with pytest.raises(ProviderUnavailable) as caught:
        anyio.run(arun, probability("a"), Script({}, [DOWN]).later)
    assert caught.value is DOWN


def test_what_is_no_error_of_a_batch_is_not_thrown_into_a_flow():
    def stop(_asks):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(with_fallback("a", 1.0), stop)
