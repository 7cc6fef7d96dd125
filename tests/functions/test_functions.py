"""A decision function is a function: signature, methods, pickling; and it shows its question and answers."""

import asyncio
import inspect
import pickle
from typing import Literal

import pytest

from tests.functions.support import (
    TICKET_ANSWERS,
    Endpoint,
    Severity,
    Team,
    Ticket,
    both,
    chosen,
    yes,
)
from tests.naming import stable
from yesno import (
    AsyncDecisionModel,
    ChoiceAnswer,
    DecisionModel,
    FakeProvider,
    QuestionError,
    ScaleAnswer,
    UndecidedError,
    YesNo,
    YesNoAnswer,
)
from yesno.functions import AsyncDecisionFunction, DecisionFunction, Result, decide, using


@decide("Is this spam?")
def is_spam(message: str, sender: str = "unknown") -> bool:
    """Say whether a message is spam."""


@decide("Is this spam?")
async def is_spam_later(message: str) -> bool: ...


def test_it_looks_like_the_function_it_was():
    assert (is_spam.__name__, is_spam.__module__, is_spam.__doc__) == (
        "is_spam",
        __name__,
        "Say whether a message is spam.",
    )
    assert str(inspect.signature(is_spam)) == "(message: str, sender: str = 'unknown') -> bool"
    assert (repr(is_spam), type(is_spam)) == ("<decision function is_spam>", DecisionFunction)
    assert type(is_spam_later) is AsyncDecisionFunction


@pytest.mark.skipif(not hasattr(inspect, "markcoroutinefunction"), reason="Python 3.12 can mark objects")
def test_an_async_one_is_a_coroutine_function_to_frameworks():
    assert inspect.iscoroutinefunction(is_spam_later)
    assert not inspect.iscoroutinefunction(is_spam)


def test_it_pickles_as_functions_do():
    assert pickle.loads(pickle.dumps(is_spam)) is is_spam  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps([is_spam_later])) == [is_spam_later]  # noqa: S301 - our own


@pytest.mark.parametrize("thing", [3, int, print, None.__class__, is_spam, lambda text: True], ids=stable)
def test_only_functions_without_a_body_can_decide(thing):
    with pytest.raises(QuestionError, match=r"only functions and methods can decide|has a body"):
        decide("Is it?")(thing)


def test_bodies_that_do_nothing_are_the_only_ones():
    def dots(text: str) -> bool: ...

    def passing(text: str) -> bool:
        pass

    def documented(text: str) -> bool:
        """Say it."""

    def documented_dots(text: str) -> bool:
        """Say it."""
        ...  # noqa: PIE790 - as people write it

    def missing(text: str) -> bool:
        raise NotImplementedError

    def documented_and_missing(text: str) -> bool:
        """Say it."""
        raise NotImplementedError

    async def later(text: str) -> bool:
        """Say it."""

    async def missing_later(text: str) -> bool:
        raise NotImplementedError

    for stub in (
        dots,
        passing,
        documented,
        documented_dots,
        missing,
        documented_and_missing,
        later,
        missing_later,
    ):
        assert decide("Is it?")(stub).question == YesNo("Is it?")


def test_bodies_that_do_something_are_refused():
    def constant(text: str) -> bool:
        return True

    def argument(text: str) -> bool:
        return text

    def called(text: str) -> bool:
        return len(text) > 3

    def raising(text: str) -> bool:
        raise ValueError

    def generating(text: str) -> bool:
        yield

    async def constant_later(text: str) -> bool:
        return True

    async def awaiting(text: str) -> bool:
        await asyncio.sleep(0)

    async def generating_later(text: str) -> bool:
        yield

    bodies = (constant, argument, called, raising, generating, constant_later, awaiting, generating_later)
    for body in bodies:
        with pytest.raises(QuestionError, match=f"`{body.__name__}` has a body"):
            decide("Is it?")(body)


class Desk:
    def __init__(self, name):
        self.name = name

    @decide("Is this spam?")
    def is_spam(self, message: str) -> bool: ...

    @decide("Is this spam?")
    async def is_spam_later(self, message: str) -> bool: ...

    @decide("Is this spam?")
    @staticmethod
    def static(message: str) -> bool: ...

    @staticmethod
    @decide("Is this spam?")
    def static_outside(message: str) -> bool: ...

    @decide("Is this spam?")
    @classmethod
    def of_class(cls, message: str) -> bool: ...

    @classmethod
    @decide("Is this spam?")
    def of_class_outside(cls, message: str) -> bool: ...

    @decide("Is this spam?")
    @staticmethod
    async def static_later(message: str) -> bool: ...

    @decide("Is this spam?")
    @classmethod
    async def of_class_later(cls, message: str) -> bool: ...


METHODS = ["is_spam", "static", "static_outside", "of_class", "of_class_outside"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_send_their_arguments_and_not_themselves(name):
    endpoint = Endpoint({name: yes(0.7)})
    with using(DecisionModel(endpoint)):
        assert getattr(Desk("one"), name)("x") is True
        if name != "is_spam":
            assert getattr(Desk, name)(message="x") is True
        assert Desk.is_spam.questions == {"is_spam": YesNo("Is this spam?")}
    assert {tuple(request.input.items()) for request in endpoint.asked} == {(("message", "x"),)}


@pytest.mark.parametrize("name", ["is_spam_later", "static_later", "of_class_later"])
def test_async_methods_send_their_arguments_and_not_themselves(name):
    endpoint = Endpoint({name: yes(0.7)})
    with using(AsyncDecisionModel(endpoint)):
        assert asyncio.run(getattr(Desk("one"), name)("x")) is True
        if name != "is_spam_later":
            assert asyncio.run(getattr(Desk, name)("x")) is True
    assert {tuple(request.input.items()) for request in endpoint.asked} == {(("message", "x"),)}


def test_a_method_may_be_called_on_the_class_with_an_instance():
    with using(DecisionModel(FakeProvider())):
        assert Desk.is_spam(Desk("one"), "x") is True


def test_bound_methods_have_everything_that_functions_have():
    desk = Desk("one")
    assert str(inspect.signature(desk.is_spam)) == "(message: str) -> bool"
    with using(DecisionModel(FakeProvider({"Yes": 0.9, "No": 0.1}))):
        assert desk.is_spam.answer("x").probability == 0.9
        assert list(desk.is_spam.map(["x", "y"])) == [True, True]
        assert list(Desk.of_class.map(["x"])) == [True]
    assert desk.is_spam.question == YesNo("Is this spam?")
    assert repr(desk.is_spam) == "<decision function Desk.is_spam>"


def test_a_bound_method_pickles_with_its_object():
    again = pickle.loads(pickle.dumps(Desk("one").is_spam))  # noqa: S301 - our own
    with using(DecisionModel(FakeProvider())):
        assert again("x") is True


def test_methods_are_told_to_threshold_providers_with_their_class():
    contexts = []

    class Service:
        @decide("Is it?", thresholds=lambda context: contexts.append(context))
        def judge(self, text: str) -> bool: ...

    with using(DecisionModel(FakeProvider())):
        Service().judge("x")
    assert (contexts[0].service, contexts[0].function) == ("Service", "judge")


@both
@pytest.mark.parametrize(
    ("hint", "given", "wanted"),
    [
        (bool, yes(0.7), yes(0.7)),
        (YesNoAnswer, yes(0.7), yes(0.7)),
        (Team, chosen("OTHER", OTHER=0.9), ChoiceAnswer(Team.OTHER, {Team.OTHER: 0.9}, options=tuple(Team))),
        (Literal["a", "b"], chosen("a", a=0.9), ChoiceAnswer("a", {"a": 0.9}, options=("a", "b"))),
        (ScaleAnswer[Severity], ScaleAnswer(1.5), ScaleAnswer(1.5, levels=tuple(Severity))),
        (Result[bool], yes(0.7), yes(0.7)),
    ],
    ids=str,
)
def test_answer_gives_the_whole_answer_in_terms_of_the_type(shell, hint, given, wanted):
    def judge(text): ...

    judge.__annotations__["return"] = hint
    function = decide("Which?", model=shell.kind(Endpoint({"judge": given})))(shell.form(judge))
    answer = shell.call(function.answer, "x")
    assert type(answer) is type(wanted)
    for field in ("probability", "value", "probabilities", "options", "mean", "levels"):
        assert getattr(answer, field, None) == getattr(wanted, field, None)
    assert answer.method == "native"


@both
def test_an_object_has_several_questions_and_says_so(shell):
    endpoint = Endpoint(TICKET_ANSWERS)

    @decide(model=shell.kind(endpoint))
    @shell.form
    def triage(message: str) -> Ticket: ...

    assert list(triage.questions) == ["urgent", "team", "severity"]
    for read in (lambda: triage.question, lambda: shell.call(triage.answer, "x")):
        with pytest.raises(QuestionError, match="`triage` asks 3 questions"):
            read()
    assert endpoint.asked == []
    with pytest.raises(TypeError):
        triage.questions["urgent"] = YesNo("Else?")


@both
def test_too_little_evidence_raises_and_is_never_no(shell):
    @decide("Is it?", model=shell.kind(FakeProvider({"The": 0.9, "Yes": 0.05})))
    @shell.form
    def judge(text: str) -> bool: ...

    with pytest.raises(UndecidedError, match="'judge'"):
        shell.call(judge, "x")
    (failure,) = shell.map(judge, ["x"])
    assert isinstance(failure.error, UndecidedError)
