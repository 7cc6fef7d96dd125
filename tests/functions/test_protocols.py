"""All methods of a Protocol, decided by one model."""

import asyncio
from typing import Annotated, Protocol, TypeVar

import pytest

from tests.functions.support import TICKET_ANSWERS, Endpoint, Severity, Team, Ticket, both, chosen, yes
from yesno import AsyncDecisionModel, ConfigError, DecisionModel, FakeProvider, QuestionError
from yesno.functions import Asks, decide, implement, using


def desk_of(shell):
    class Base(Protocol):
        @Asks("Is this spam?", threshold=0.8)
        @shell.form
        def is_spam(self, message: str) -> bool: ...

    class Desk(Base, Protocol):
        @shell.form
        def triage(self, message: str) -> Ticket: ...

        @shell.form
        def which(self, message: str) -> Annotated[Team, Asks("Which team?")]: ...

        @decide("Is it rude?")
        @shell.form
        def is_rude(self, message: str) -> bool: ...

        @staticmethod
        @Asks("Is it late?")
        @shell.form
        def is_late(message: str) -> bool: ...

        @classmethod
        @Asks("Is it sad?")
        @shell.form
        def is_sad(cls, message: str) -> bool: ...

        def limit(self) -> int:
            return 3

    return Desk


ANSWERS = {
    **TICKET_ANSWERS,
    "is_spam": yes(0.79),
    "which": chosen("OTHER"),
    "is_rude": yes(0.6),
    "is_late": yes(0.6),
    "is_sad": yes(0.4),
}


class Everything(Endpoint):
    """Answers the questions that it is asked."""

    def send(self, payload, *, timeout_s=None):
        self.requests.append(payload)
        return {"answers": {name: ANSWERS[name] for name in payload["questions"]}, "model": "m"}


@both
def test_inherited_marked_decorated_static_and_class_methods_are_decided(shell):
    endpoint = Everything({})
    desk = implement(desk_of(shell), model=shell.kind(endpoint))
    names = ["is_spam", "triage", "which", "is_rude", "is_late", "is_sad"]
    found = [shell.call(getattr(desk, name), "x") for name in names]
    assert found[0] is False
    assert found[1].team is Team.SUPPORT
    assert found[2:] == [Team.OTHER, True, True, False]
    assert desk.limit() == 3
    assert {tuple(request.input.items()) for request in endpoint.asked} == {(("message", "x"),)}
    assert desk.is_spam.question.text == "Is this spam?"


@both
def test_without_a_model_of_its_own_it_is_decided_by_the_nearest(shell):
    desk = implement(desk_of(shell))
    with pytest.raises(ConfigError, match=r"`desk_of.*is_spam`|`Base.is_spam`"):
        shell.call(desk.is_spam, "x")
    with using(shell.kind(FakeProvider({"Yes": 0.9, "No": 0.1}))):
        assert shell.call(desk.is_spam, "x") is True


@both
def test_one_threshold_provider_serves_all_methods_and_hears_the_protocols_name(shell):
    contexts = []

    def provider(context):
        contexts.append(context)
        return 0.9 if context.function == "is_rude" else None

    desk = implement(desk_of(shell), model=shell.kind(Everything({})), thresholds=provider)
    assert [shell.call(desk.is_rude, "x"), shell.call(desk.is_late, "x")] == [False, True]
    shell.call(desk.triage, "x")
    shell.call(desk.is_spam, "x")
    assert [(context.function, context.question) for context in contexts] == [
        ("is_rude", "is_rude"),
        ("is_late", "is_late"),
        ("triage", "urgent"),
        ("is_spam", "is_spam"),
    ]
    assert {context.service.rpartition(".")[2] for context in contexts} == {"Desk"}


@both
def test_a_method_with_a_model_and_thresholds_of_its_own_keeps_them(shell):
    class Desk(Protocol):
        @decide("Is it?", model=shell.kind(FakeProvider({"No": 0.9})))
        @shell.form
        def judge(self, message: str) -> bool: ...

        @decide("Is it?", thresholds=lambda context: 0.95)
        @shell.form
        def strict(self, message: str) -> bool: ...

    desk = implement(Desk, model=shell.kind(FakeProvider({"Yes": 0.9})), thresholds=lambda context: 0.1)
    assert [shell.call(desk.judge, "x"), shell.call(desk.strict, "x")] == [False, False]


def test_both_kinds_of_methods_in_one_protocol_take_the_models_around_them():
    class Desk(Protocol):
        @Asks("Is it?")
        def now(self, message: str) -> bool: ...

        @Asks("Is it?")
        async def later(self, message: str) -> bool: ...

    desk = implement(Desk)
    with using(DecisionModel(FakeProvider())), using(AsyncDecisionModel(FakeProvider())):
        assert (desk.now("x"), asyncio.run(desk.later("x"))) == (True, True)
    with pytest.raises(ConfigError, match="later"):
        implement(Desk, model=DecisionModel(FakeProvider()))


def test_a_subclass_of_the_protocol_that_fills_a_method_is_a_class_like_any_other():
    class Desk(Protocol):
        @Asks("Is it?")
        def judge(self, message: str) -> bool: ...

    class Scripted:
        def judge(self, message: str) -> bool:
            return message == "x"

    desks: list[Desk] = [Scripted(), implement(Desk, model=DecisionModel(FakeProvider({"No": 0.9})))]
    assert [desk.judge("x") for desk in desks] == [True, False]


T = TypeVar("T")


class WithAttribute(Protocol):
    name: str

    @Asks("Is it?")
    def judge(self, message: str) -> bool: ...


class WithProperty(Protocol):
    @property
    def name(self) -> str: ...

    @Asks("Is it?")
    def judge(self, message: str) -> bool: ...


class Unasked(Protocol):
    def judge(self, message: str) -> bool: ...


class AskedTwice(Protocol):
    @Asks("Is it?")
    def judge(self, message: str) -> Annotated[bool, Asks("Is it?")]: ...


class WithBody(Protocol):
    @Asks("Is it?")
    def judge(self, message: str) -> bool:
        return True


class WithoutSelf(Protocol):
    @Asks("Is it?")
    def judge(message: str) -> bool: ...  # noqa: N805 - that is the point


class OnlySelf(Protocol):
    @Asks("Is it?")
    def judge(self) -> bool: ...


class Empty(Protocol):
    """Nothing to decide."""


class OnlyBodies(Protocol):
    def judge(self, message: str) -> bool:
        return True


class Private(Protocol):
    @Asks("Is it?")
    def judge(self, message: str) -> bool: ...

    def _hidden(self, message: str) -> str: ...


class Subclass(Unasked):
    """A class, no Protocol."""


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (WithAttribute, "`name` of WithAttribute is no method"),
        (WithProperty, "`name` of WithProperty is no method"),
        (Unasked, r"`Unasked.judge` has no question; write .*`@Asks\(\"…\"\)` in a Protocol"),
        (AskedTwice, "`AskedTwice.judge` has 2 questions"),
        (WithBody, "`WithBody.judge` has a body"),
        (WithoutSelf, "method `judge` of WithoutSelf does not begin with `self`"),
        (OnlySelf, "`OnlySelf.judge` has no parameter"),
        (Empty, "Empty has no method to decide"),
        (OnlyBodies, "OnlyBodies has no method to decide"),
        (Private, "`Private._hidden` returns str"),
        (Subclass, "only a Protocol can be implemented, and Subclass is none"),
        (Protocol, "only a Protocol can be implemented"),
        (Severity, "only a Protocol can be implemented"),
    ],
)
def test_a_protocol_that_cannot_be_decided_is_refused_with_its_reason(service, reason):
    with pytest.raises(QuestionError, match=reason):
        implement(service)


def test_a_property_with_a_body_is_kept():
    class Desk(Protocol):
        limit: int = 3

        @property
        def name(self) -> str:
            return "desk"

        @Asks("Is it?")
        def judge(self, message: str) -> bool: ...

    desk = implement(Desk, model=DecisionModel(FakeProvider()))
    assert (desk.name, desk.limit, desk.judge("x")) == ("desk", 3, True)


@pytest.mark.parametrize("model", ["local", 3, DecisionModel])
def test_what_is_no_model_is_refused(model):
    class Desk(Protocol):
        @Asks("Is it?")
        def judge(self, message: str) -> bool: ...

    with pytest.raises(ConfigError, match="a model must be"):
        implement(Desk, model=model)
