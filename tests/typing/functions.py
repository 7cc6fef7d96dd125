"""What type checkers see of decision functions; mypy reads this file, nobody runs it."""

# mypy: disable-error-code="empty-body"

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Protocol, assert_type

from yesno import (
    AsyncDecisionModel,
    ChoiceAnswer,
    DecisionModel,
    DecisionResponse,
    Failure,
    Parameters,
    ScaleAnswer,
    Usage,
    YesNoAnswer,
)
from yesno.functions import (
    Asks,
    AsyncDecisionFunction,
    DecisionFunction,
    Name,
    Option,
    Result,
    ThresholdContext,
    decide,
    implement,
    set_default_model,
    using,
)
from yesno.questions import Answer, Question


class Team(Enum):
    BILLING = Option("payments")
    SUPPORT = Option("the product")


@dataclass
class Ticket:
    urgent: Annotated[bool, Asks("Urgent?", threshold=0.8, yes_when="money is blocked")]
    team: Annotated[ChoiceAnswer[Team], Asks("Which team?", options={Team.BILLING: "bills"})]


def thresholds(context: ThresholdContext) -> float | None:
    assert_type(context.model, str | None)
    return 0.8 if context.question == "is_spam" else None


@decide("Is this spam?", threshold=0.8)
def is_spam(message: str, sender: str | None = None) -> bool: ...


@decide("Is this spam?", thresholds=thresholds, yes_when="it sells", no_when="it does not")
async def is_spam_later(message: Annotated[str, Name("text")]) -> bool: ...


@decide("Is this spam?")
def with_body(message: str) -> YesNoAnswer:
    raise NotImplementedError


@decide("Which team?", options={"BILLING": "bills"})
def team(message: str, settings: Parameters | None = None) -> Team: ...


@decide
def bare(message: str) -> Annotated[Literal["a", "b"], Asks("Which?")]: ...


@decide
async def triage(message: str) -> Result[Ticket]: ...


@decide("How angry?")
def anger(message: str) -> ScaleAnswer[Literal["calm", "angry"]]: ...


@decide("Which team?")
async def team_later(message: str) -> ChoiceAnswer[Team]: ...


class Desk(Protocol):
    @Asks("Is this spam?")
    def is_spam(self, message: str) -> bool: ...

    @Asks("Which team?")
    async def team(self, message: str) -> Team: ...

    def triage(self, message: str) -> Ticket: ...


class Scripted:
    """Takes the place of a `Desk` in a test."""

    def is_spam(self, message: str) -> bool:
        return True

    async def team(self, message: str) -> Team:
        return Team.BILLING

    def triage(self, message: str) -> Ticket:
        raise NotImplementedError


class Service:
    @decide("Is this spam?")
    def is_spam(self, message: str) -> bool: ...

    @decide("Which team?")
    async def team(self, message: str) -> Team: ...

    @decide("Is this spam?")
    @staticmethod
    def static(message: str) -> bool: ...


def calls(model: DecisionModel) -> None:
    with using(model) as used:
        assert_type(used, DecisionModel)
    set_default_model(model)
    set_default_model(None)
    assert_type(is_spam("x", sender="y"), bool)
    assert_type(with_body("x"), YesNoAnswer)
    assert_type(team("x", Parameters()), Team)
    assert_type(bare("x"), Literal["a", "b"])
    assert_type(anger("x"), ScaleAnswer[Literal["calm", "angry"]])
    assert_type(anger("x").most_likely(), Literal["calm", "angry"])
    assert_type(anger("x").probability_at_least("angry"), float)
    assert_type(is_spam, DecisionFunction[[str, str | None], bool])  # type: ignore[assert-type]  # it keeps names
    assert_type(is_spam.map(["x"]), Iterator[bool | Failure])
    assert_type(is_spam.question, Question[Any])
    assert_type(is_spam.questions, Mapping[str, Question[Any]])


def answers() -> None:
    assert_type(is_spam.answer("x"), YesNoAnswer)
    assert_type(with_body.answer("x"), YesNoAnswer)
    assert_type(team.answer("x"), ChoiceAnswer[Team])
    assert_type(team.answer("x").value, Team)
    assert_type(bare.answer("x"), ChoiceAnswer[Literal["a", "b"]])
    assert_type(anger.answer("x"), ScaleAnswer[Literal["calm", "angry"]])


async def awaited(model: AsyncDecisionModel) -> None:
    with using(model) as used:
        assert_type(used, AsyncDecisionModel)
    set_default_model(model)
    assert_type(await is_spam_later("x"), bool)
    result = await triage("x")
    assert_type(result, Result[Ticket])
    assert_type(result.content.team.value, Team)
    assert_type(result.response, DecisionResponse)
    assert_type(result.usage, Usage | None)
    assert_type(await team_later("x"), ChoiceAnswer[Team])
    assert_type(await team_later.answer("x"), ChoiceAnswer[Team])
    assert_type(await is_spam_later.answer("x"), YesNoAnswer)
    assert_type(await triage.answer("x"), Answer)
    assert_type(is_spam_later.map(["x"]), AsyncIterator[bool | Failure])


async def methods(service: Service, model: DecisionModel) -> None:
    assert_type(service.is_spam("x"), bool)
    assert_type(service.is_spam.answer("x"), YesNoAnswer)
    assert_type(await service.team("x"), Team)
    assert_type(Service.static("x"), bool)
    desk = implement(Desk, model=model, thresholds=thresholds)
    assert_type(desk, Desk)
    assert_type(desk.is_spam("x"), bool)
    assert_type(await desk.team("x"), Team)
    desks: list[Desk] = [desk, Scripted()]
    assert_type(desks[0].triage("x"), Ticket)


def kinds(one: DecisionFunction[[str], bool], other: AsyncDecisionFunction[[str], bool]) -> None:
    assert_type(one("x"), bool)
    assert_type(other.map(["x"]), AsyncIterator[bool | Failure])


def wrong(service: Service) -> None:
    is_spam(3)  # type: ignore[arg-type]  # a number is no text
    is_spam("x", "y", "z")  # type: ignore[call-arg]  # there are two parameters
    is_spam.answer()  # type: ignore[call-overload]  # the message is missing
    service.is_spam(3)  # type: ignore[arg-type]  # a number is no text
    _ = team("x").probability  # type: ignore[attr-defined]  # a member has none
    using("local")  # type: ignore[type-var]  # a name is no model
    decide("Is it?", threshold="high")  # type: ignore[call-overload]  # a text is no number
