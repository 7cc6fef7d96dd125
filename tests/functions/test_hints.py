"""Hints in quotes, as every hint is under this import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import pytest

from tests.functions.support import Endpoint, both, chosen, yes
from yesno import Choice, DecisionModel, Parameters, QuestionError, YesNo
from yesno.functions import Asks, Name, decide, implement

if TYPE_CHECKING:
    from email.message import EmailMessage


@decide("Which day?")
def day(message: str, settings: Parameters | None = None) -> Day: ...


@decide
def plan(message: str) -> Plan: ...


@decide("Which?")
def lone(message: str) -> Lone: ...


class Lone(Enum):
    ONLY = 1


class Day(Enum):
    TODAY = 1
    LATER = 2


@dataclass
class Plan:
    day: Annotated[Day, Asks("Which day?")]
    urgent: Annotated[bool, Asks("Is it urgent?")]


def test_a_type_that_is_defined_later_is_found_at_the_first_use():
    assert day.question == Choice("Which day?", ["TODAY", "LATER"])
    assert list(plan.questions) == ["day", "urgent"]
    assert day.plan.arguments.settings == "settings"


@both
def test_types_of_a_function_around_are_found(shell):
    class Team(Enum):
        BILLING = 1
        SUPPORT = 2

    @dataclass
    class Ticket:
        team: Annotated[Team, Asks("Which team?")]

    @decide("Which team?", model=shell.kind(Endpoint({"team": chosen("SUPPORT")})))
    @shell.form
    def team(message: str) -> Team: ...

    @decide
    @shell.form
    def triage(message: str) -> Ticket: ...

    class Desk:
        @decide("Which team?")
        @shell.form
        def team(self, message: str) -> Team: ...

    class Service(Protocol):
        @Asks("Which team?")
        @shell.form
        def team(self, message: str) -> Team: ...

    assert shell.call(team, "x") is Team.SUPPORT
    assert list(triage.questions) == ["team"]
    assert Desk().team.question == team.question
    service = implement(Service, model=shell.kind(Endpoint({"team": chosen("BILLING")})))
    assert shell.call(service.team, "x") is Team.BILLING


def test_a_class_body_sees_its_own_names_first():
    class Level(Enum):
        OUTER = 1
        OTHER = 2

    class Desk:
        class Level(Enum):
            INNER = 1
            OTHER = 2

        @decide("Which level?")
        def level(self, message: str) -> Level: ...

    assert Level.OUTER
    assert list(Desk.level.question.options) == ["INNER", "OTHER"]


def test_a_parameter_whose_type_exists_for_type_checkers_only_does_no_harm():
    endpoint = Endpoint({"judge": yes(0.7)})

    @decide("Is it?", model=DecisionModel(endpoint))
    def judge(mail: EmailMessage | None, text: Annotated[str, Name("body")]) -> bool: ...

    assert judge(None, "x") is True
    assert endpoint.asked[0].input == {"body": "x"}


def test_a_return_type_that_does_not_exist_is_named_at_the_first_use():
    @decide("Which?")
    def judge(text: str) -> Nowhere: ...  # noqa: F821 - that is the point

    for use in (lambda: judge("x"), lambda: judge.question, lambda: judge.map(["x"])):
        with pytest.raises(QuestionError, match="`judge` needs the type 'Nowhere', which cannot be found"):
            use()


def test_a_field_whose_type_does_not_exist_is_named_at_the_first_use():
    @dataclass
    class Made:
        one: Annotated[Nowhere, Asks("Which?")]  # noqa: F821 - that is the point

    @decide
    def judge(text: str) -> Made: ...

    with pytest.raises(QuestionError, match="`judge` needs the type 'Nowhere'"):
        _ = judge.questions


def test_what_needs_no_hint_is_refused_at_once_all_the_same():
    with pytest.raises(QuestionError, match="has a body"):

        @decide("Which?")
        def with_body(text: str) -> Nowhere:  # noqa: F821 - that is the point
            return text

    with pytest.raises(QuestionError, match="`blank`: `question` is blank"):

        @decide(" ")
        def blank(text: str) -> Nowhere: ...  # noqa: F821 - that is the point

    with pytest.raises(QuestionError, match="from 0 to 1, not 2"):

        @decide("Which?", threshold=2)
        def high(text: str) -> Nowhere: ...  # noqa: F821 - that is the point


def test_misuse_that_shows_in_a_late_type_is_refused_at_the_first_use():
    with pytest.raises(QuestionError, match="`lone`: Lone has only the option 'ONLY'"):
        lone("x")


def test_a_pending_method_is_planned_once_for_all_its_bound_copies():
    class Desk:
        @decide("Which?")
        def judge(self, text: str) -> Literal["a", "b"]: ...

        @decide("Is it?")
        def late(self, text: str, thing: EmailMessage) -> bool: ...

    desk = Desk()
    assert desk.judge.plan is desk.judge.plan
    assert desk.late.plan is Desk.late.plan
    assert desk.late.question == YesNo("Is it?")
