"""Classes whose fields are questions."""

import dataclasses
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Annotated, ClassVar, Final, Literal, NotRequired, TypedDict

import pydantic
import pytest
from typing_extensions import TypedDict as BackportedTypedDict

from tests.functions.support import Endpoint, Severity, Team, Ticket, both, chosen, returning, yes
from yesno import Choice, ChoiceAnswer, QuestionError, ScaleAnswer, Undecided, UndecidedError, YesNo
from yesno.functions import Asks, Result, decide

TEAM = Choice("Which team?", {"BILLING": "payments, payouts", "SUPPORT": "using the product", "OTHER": None})


class Fields(TypedDict):
    spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
    team: NotRequired[Annotated[Team, Asks("Which team?")]]


class Backported(BackportedTypedDict):
    spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
    team: Annotated[Team, Asks("Which team?")]


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)
    version: ClassVar[int] = 1
    spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
    team: Annotated[Team, Asks("Which team?")] = pydantic.Field(alias="department")
    _seen: bool = pydantic.PrivateAttr(default=False)


@pydantic.dataclasses.dataclass
class Validated:
    spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
    team: Annotated[Team, Asks("Which team?")]


@dataclass(frozen=True, slots=True)
class Slotted:
    version: ClassVar[int] = 1
    spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
    _: KW_ONLY
    team: Annotated[Team, Asks("Which team?")] = Team.OTHER


@both
@pytest.mark.parametrize("kind", [Fields, Backported, Model, Validated, Slotted])
def test_every_kind_of_object_is_filled(shell, kind):
    endpoint = Endpoint({"spam": yes(0.79), "team": chosen("SUPPORT")})
    judge = decide(model=shell.kind(endpoint))(returning(kind, shell=shell))
    made = shell.call(judge, "x")
    (request,) = endpoint.asked
    assert dict(request.questions) == {
        "spam": YesNo("Is this spam?"),
        "team": TEAM,
    }
    read = made.__getitem__ if isinstance(made, dict) else lambda name: getattr(made, name)
    assert (read("spam"), read("team")) == (False, Team.SUPPORT)


@both
def test_a_pydantic_model_holds_whole_answers(shell):
    class Answers(pydantic.BaseModel):
        team: Annotated[ChoiceAnswer[Team], Asks("Which team?")]
        severity: Annotated[ScaleAnswer[Severity], Asks("How severe?")]

    answers = {"team": chosen("OTHER", OTHER=0.9), "severity": ScaleAnswer(0.2, (0.8, 0.2, 0))}
    judge = decide(model=shell.kind(Endpoint(answers)))(returning(Result[Answers], shell=shell))
    content = shell.call(judge, "x").content
    assert content.team.probability_of(Team.OTHER) == 0.9
    assert content.severity.most_likely() is Severity.LOW


def test_a_field_that_a_subclass_overrides_is_asked_once_in_the_new_words():
    @dataclass
    class Louder(Ticket):
        urgent: Annotated[bool, Asks("Is the house on fire?")]

    questions = decide(returning(Louder)).questions
    assert list(questions) == ["urgent", "team", "severity"]
    assert questions["urgent"].text == "Is the house on fire?"


def made(**hints):
    """Return a dataclass with these fields."""
    return dataclasses.make_dataclass("Made", hints.items())


ASKED = Annotated[bool, Asks("Is it?")]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (made(), "returns Made, which has no field"),
        (
            made(one=bool),
            r'field `one` of Made: there is no question; write `Annotated\[bool, Asks\("…"\)\]`',
        ),
        (made(one=Annotated[str, Asks("Is it?")]), "field `one` of Made: str is not supported; use bool"),
        (made(one=Annotated[list[bool], Asks("Is it?")]), r"list\[bool\] is not supported"),
        (made(one=Annotated[Ticket, Asks("Is it?")]), "Ticket, an object inside an object"),
        (made(one=Annotated[Result[bool], Asks("Is it?")]), r"Result\[bool\]"),
        (made(one=Final[ASKED]), "a Final field cannot be given an answer"),
        (made(one=InitVar[ASKED]), "an InitVar keeps no answer"),
        (made(one=Annotated[bool, Asks("Is it?"), Asks("Or not?")]), "2 questions are asked"),
        (made(one=Annotated[bool, Asks(" ")]), "field `one` of Made: `question` is blank"),
        (made(one=Annotated[bool, Asks("Is it?", threshold=2)]), "field `one` of Made: a threshold .* not 2"),
        (made(one=Annotated[Literal["a"], Asks("Is it?")]), "field `one` of Made: .* only the option 'a'"),
        (
            dataclasses.make_dataclass("Made", [("one", ASKED, field(init=False))]),
            "field `one` of Made is not set by its constructor",
        ),
    ],
)
def test_a_field_that_cannot_be_asked_is_named_with_its_reason(kind, reason):
    with pytest.raises(QuestionError, match=f"`judge`,? ?.*{reason}"):
        decide(returning(kind))


@both
def test_an_undecided_field_fails_the_call_and_is_named(shell):
    endpoint = Endpoint({"spam": yes(0.7), "team": Undecided("truncated")})
    judge = decide(model=shell.kind(endpoint))(returning(Fields, shell=shell))
    with pytest.raises(UndecidedError, match="'team'"):
        shell.call(judge, "x")
