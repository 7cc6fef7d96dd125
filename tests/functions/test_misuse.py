"""Misuse fails when a function is defined, each with its reason."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Protocol

import pytest

from tests.functions.support import Sync, Ticket, both
from yesno import ConfigError, DecisionModel, FakeProvider, Parameters, QuestionError
from yesno.functions import Asks, Name, decide, implement


class Lone(Enum):
    ONLY = 1


class Mark:
    """No dataclass."""


@dataclass
class Bare:
    urgent: bool


@dataclass
class Described:
    urgent: Annotated[bool, "only a description"]


@dataclass
class Nested:
    ticket: Annotated[Ticket, Asks("Which?")]


def no_question(message: str) -> bool: ...
def a_text(message: str) -> str: ...
def a_bare_field(message: str) -> Bare: ...
def a_described_field(message: str) -> Described: ...
def an_inner_object(message: str) -> Nested: ...
def unnamed(*messages: str) -> bool: ...
def two_settings(message: str, one: Parameters, other: Parameters | None) -> bool: ...
def nothing_sent() -> bool: ...
def only_settings(one: Parameters) -> bool: ...
def one_member(message: str) -> Lone: ...
def a_class_of_its_own(message: str) -> Mark: ...
def spam_stub(message: str) -> bool: ...
def ticket_stub(message: str) -> Ticket: ...


@both
@pytest.mark.parametrize(
    ("stub", "asked", "reason"),
    [
        (no_question, (), "`no_question` has no question"),
        (
            ticket_stub,
            ("Which?",),
            "`ticket_stub` returns the object Ticket, whose fields have the questions",
        ),
        (a_text, ("What?",), "`a_text` returns str, which no question answers"),
        (a_class_of_its_own, ("What?",), "returns Mark, which no question answers"),
        (an_inner_object, (), "field `ticket` of Nested: Ticket, an object inside an object"),
        (a_bare_field, (), "field `urgent` of Bare: there is no question"),
        (a_described_field, (), "field `urgent` of Described: there is no question"),
        (unnamed, ("Is it?",), "`unnamed` takes `\\*messages: str`"),
        (two_settings, ("Is it?",), "two parameters of type Parameters"),
        (nothing_sent, ("Is it?",), "`nothing_sent` has no parameter"),
        (only_settings, ("Is it?",), "no parameter that is sent"),
        (one_member, ("Which?",), "Lone has only the option 'ONLY'"),
        (spam_stub, (" \n",), "`spam_stub`: `question` is blank"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_case_217_misuse_fails_when_the_function_is_defined(shell, stub, asked, reason):
    with pytest.raises(QuestionError, match=reason):
        decide(*asked)(shell.form(stub))


def test_case_217_two_parameters_of_one_name_are_refused_as_python_refuses_two_fields_of_one_name():
    with pytest.raises(QuestionError, match="two parameters that are sent as 'text'"):

        @decide("Is it?")
        def is_it(text: str, other: Annotated[str, Name("text")]) -> bool: ...


@pytest.mark.parametrize("service", [Ticket, Sync, int, spam_stub, None])
def test_case_217_what_is_no_protocol_cannot_be_implemented(service):
    with pytest.raises(QuestionError, match="only a Protocol can be implemented"):
        implement(service)


def test_case_217_an_inner_class_is_like_any_other_here():
    class Inner(Protocol):
        @Asks("Is it?")
        def is_it(self, message: str) -> bool: ...

    assert implement(Inner, model=DecisionModel(FakeProvider())).is_it("x") is True


@both
def test_case_217_without_a_model_the_call_names_the_ways_to_give_one(shell):
    @decide("Is it?")
    @shell.form
    def is_it(message: str) -> bool: ...

    with pytest.raises(ConfigError, match=r"`model=`.*`with using\(model\):`.*`set_default_model\(model\)`"):
        shell.call(is_it, "x")
