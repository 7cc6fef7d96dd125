import asyncio

import pytest

from tests.routers.contract import RouterContract
from tests.routers.support import ASKED, FAILURE, RESULT, AsyncTarget, Judge, Target, likely, said
from tests.routers.test_chat import Blocking
from tests.routers.test_model import reply_that_calls
from tests.shells import Async
from yesno import AsyncDecisionModel, FakeProvider, Refusal, Undecided
from yesno.errors import AsyncUnsupported, ConfigError, ProviderRejected, Refused, UndecidedError
from yesno.prices import Price
from yesno.providers.fake import chat_reply
from yesno.routers import Cascade, Route


def good(probability):
    return {"answered": likely(probability)}


def reply(text, given=1000, written=100):
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": given, "completion_tokens": written},
    }


def steps(*texts):
    names = ("small", "middle", "large")
    prices = (Price(1, 1), Price(2, 2), Price(10, 10))
    return [
        Route(name, target=Target(text if callable(text) else reply(text)), price=price)
        for name, text, price in zip(names, texts, prices, strict=False)
    ]


def climb(shell, answers, routes=None, messages="What is it?", **settings):
    judge = Judge(shell, answers)
    routes = routes or steps("one", "two", "three")
    return judge, judge.result(Cascade(routes, model=judge.model, **settings)(messages)), routes


def called(routes):
    return [len(route.target.calls) for route in routes]


class TestContract(RouterContract):
    router = "cascade"
    answers = good(0.9)
    is_flow = False

    def make(self, **settings):
        return Cascade([Route("a", target=Echo()), Route("b", target=Echo())], **settings)


class Echo:
    def __call__(self, messages):
        return "an answer"


def test_an_answer_that_passes_the_check_is_taken_and_no_other_route_is_tried(shell):
    judge, done, routes = climb(shell, good(0.9))
    assert (done.route, done.response, called(routes)) == ("small", reply("one"), [1, 0, 0])
    (step,) = done.steps
    assert (step.why, step.probability) == ("accepted", 0.9)
    assert judge.inputs == [{"request": "What is it?", "reply": "one"}]
    assert done.messages[0]["attributes"] == {"chat_model_route": "small"}


def test_one_that_does_not_pass_goes_on_to_the_next_and_the_last_is_not_checked(shell):
    judge, done, routes = climb(shell, [good(0.2), good(0.69)])
    assert (done.route, called(routes), len(judge.requests)) == ("large", [1, 1, 1], 2)
    assert [(step.route, step.why, step.probability) for step in done.steps] == [
        ("small", "rejected", 0.2),
        ("middle", "rejected", 0.69),
        ("large", "last", None),
    ]
    assert [i["reply"] for i in judge.inputs] == ["one", "two"]


def test_exactly_the_minimum_passes(shell):
    assert climb(shell, good(0.7))[1].route == "small"
    assert climb(shell, [good(0.7), good(0.8)], min_probability=0.8)[1].route == "middle"


def test_no_more_routes_are_tried_than_allowed(shell):
    judge, done, routes = climb(shell, good(0.1), max_steps=2)
    assert (done.route, called(routes), len(judge.requests)) == ("middle", [1, 1, 0], 1)
    judge, done, routes = climb(shell, FAILURE, max_steps=1)
    assert (done.steps[0].why, len(judge.requests)) == ("last", 0)


def test_every_step_says_what_it_cost_and_the_reply_what_all_did(shell):
    model = shell(
        FakeProvider(lambda prompt: {**chat_reply({"No": 0.9, "Yes": 0.1}), "usage": USED}), price=Price(1, 1)
    )
    done = model.result(Cascade(steps("one", "two"), model=model.model)("hi"))
    assert [step.cost_usd for step in done.steps] == pytest.approx([1100e-6, 2200e-6])
    assert [step.check_cost_usd for step in done.steps] == pytest.approx([51e-6, 0])
    assert done.cost_usd == pytest.approx(3351e-6)
    assert done.steps[0].usage.input_tokens == 1000


USED = {"prompt_tokens": 50, "completion_tokens": 1}


def test_a_cost_that_is_unknown_is_unknown_and_never_nothing(shell):
    for route in (
        Route("small", target=Target("no usage"), price=Price(1, 1)),
        Route("small", target=Target(reply("no price"))),
    ):
        _, done, _ = climb(shell, good(0.9), [route, *steps("x", "two")[1:]])
        assert (done.steps[0].cost_usd, done.cost_usd) == (None, None)
    _, done, _ = climb(shell, good(0.9))
    assert done.steps[0].cost_usd == pytest.approx(1100e-6)
    assert done.steps[0].check_cost_usd == 0  # the fake provider is free


def test_tokens_are_counted_as_each_api_counts_them():
    from yesno import Usage
    from yesno.routers.replies import usage_of

    chat = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    responses = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    messages = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4}
    for usage in (chat, responses, messages):
        assert usage_of({"usage": usage}) == Usage(9, 2, 4, 1)
    for usage in (None, {}, {"input_tokens": "9", "output_tokens": 2}, 3):
        assert usage_of({"usage": usage}) is None
    assert usage_of("text") is None


@pytest.mark.parametrize(
    ("bad", "why", "error"),
    [
        (FAILURE, "failed", ProviderRejected),
        ({"answered": Refusal()}, "refused", Refused),
        ({"answered": Undecided("empty")}, "undecided", UndecidedError),
    ],
    ids=["failed", "refused", "undecided"],
)
def test_a_check_without_an_answer_goes_on_or_takes_the_answer_or_raises(shell, bad, why, error):
    _, done, _ = climb(shell, bad)
    assert [step.why for step in done.steps] == [why, why, "last"]
    assert done.steps[0].probability is None
    _, done, _ = climb(shell, bad, fallback="accept")
    assert (done.route, [step.why for step in done.steps]) == ("small", [why])
    with pytest.raises(error):
        climb(shell, bad, fallback="fail")


def test_a_provider_without_an_asynchronous_form_is_never_swallowed():
    cascade = Cascade(steps("one", "two"), fallback="accept", model=AsyncDecisionModel(Blocking()))
    with pytest.raises(AsyncUnsupported):
        asyncio.run(cascade("hi"))


def test_a_call_of_a_tool_is_passed_on_unchecked_and_its_result_goes_on_from_there(shell):
    calling = reply_that_calls()
    answers = iter([calling, reply("the end")])
    routes = [
        Route("small", target=Target(lambda messages: pytest.fail("a step back"))),
        Route("middle", target=Target(lambda messages: next(answers))),
        Route("large", target=Target(reply("large"))),
    ]
    judge = Judge(shell, good(0.9))
    cascade = Cascade(routes[1:], model=judge.model)
    talk = said("find it")
    first = judge.result(cascade(talk))
    assert (first.steps[0].why, judge.requests) == ("unchecked", [])
    whole = Cascade(routes, model=judge.model)
    done = judge.result(whole([*talk, *first.messages, RESULT]))
    assert (done.route, done.choice.why, done.steps[0].why) == ("middle", "tool_loop", "accepted")
    assert "attributes" not in routes[1].target.calls[1][0][1]


def test_a_tools_result_for_the_last_route_is_answered_without_a_check(shell):
    routes = steps("one", "two")
    judge = Judge(shell, FAILURE)
    asked = {**ASKED, "attributes": {"chat_model_route": "middle"}}
    done = judge.result(Cascade(routes, model=judge.model)([*said("find it"), asked, RESULT]))
    assert ([(s.route, s.why) for s in done.steps], judge.requests) == ([("middle", "last")], [])


def test_what_a_route_raises_is_raised(shell):
    def broken(messages):
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        climb(shell, good(0.9), [Route("a", target=broken), *steps("x", "y")])


def test_targets_of_each_kind_are_called_with_the_options(shell):
    def pieces(messages, **options):
        yield "in "
        yield options["tone"]

    judge = Judge(shell, good(0.1))
    second = (AsyncTarget if shell is Async else Target)("whole")
    cascade = Cascade([Route("a", target=pieces), Route("b", target=second)], model=judge.model)
    done = judge.result(cascade("hi", tone="pieces"))
    assert ([step.response for step in done.steps], done.response) == (["in pieces", "whole"], "whole")
    assert second.calls[0][1] == {"tone": "pieces"}


def test_the_check_sees_the_conversation_and_a_question_of_ones_own(shell):
    judge, _, _ = climb(
        shell, good(0.9), messages=said("a", "b", "c"), question="Is it right?", max_messages=2
    )
    assert judge.requests[0].questions["answered"].text == "Is it right?"
    assert judge.inputs[0]["reply"] == "one"
    assert [m["text"] for m in judge.inputs[0]["messages"]] == ["b", "c"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"routes": []}, "no route"),
        ({"routes": ["a"]}, "'a' has no target"),
        ({"max_steps": 0}, "max_steps"),
        ({"min_probability": 3}, "min_probability"),
        ({"question": ""}, "question"),
        ({"fallback": "next"}, "fallback"),
        ({"max_messages": 0}, "max_messages"),
        ({"model": object()}, "model"),
    ],
    ids=lambda value: repr(value)[:40].partition(" at ")[0],
)
def test_impossible_settings_are_refused_by_name(settings, named):
    with pytest.raises(ConfigError, match=named):
        Cascade(**{"routes": steps("one"), **settings})


def test_neither_answers_nor_conversation_are_in_its_text(shell):
    _, done, _ = climb(shell, good(0.1), steps("private", "secret"))
    assert "private" not in repr(done)
    assert "secret" not in repr(done)


def test_a_reply_reads_as_a_list_of_its_steps(shell):
    _, done, _ = climb(shell, good(0.2), steps("one", "two"))
    assert str(done) == (
        "small   rejected   0.200  answer $0.001100, check $0.000000\n"
        "middle  last           –  answer $0.002200, check $0.000000\n"
        "$0.003300 in all"
    )
    _, done, _ = climb(shell, good(0.9), [Route("a", target=Target("x")), Route("b", target=Target("y"))])
    assert "answer unknown" in str(done)
    assert str(done).endswith("unknown in all")
