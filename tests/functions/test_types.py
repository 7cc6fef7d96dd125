"""Every type that a decision function may return, and how it is described to the model."""

import collections.abc
import subprocess
import sys
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Literal

import pytest
from typing_extensions import TypeAliasType

from tests.functions.support import Endpoint, Severity, Team, both, chosen, returning
from yesno import Choice, ChoiceAnswer, QuestionError, Scale, ScaleAnswer, YesNo
from yesno.functions import Asks, Option, Result, decide
from yesno.questions.choice import MAX_OPTIONS


def question_of(hint, *asked, **details):
    return decide(*asked, **details)(returning(hint)).question


def test_criteria_reach_the_question():
    question = question_of(bool, "Urgent?", yes_when="money is blocked", no_when="it can wait")
    assert question == YesNo("Urgent?", yes_when="money is blocked", no_when="it can wait")


class Tone(StrEnum):
    KIND = "kind words"
    RUDE = "rude words"


class Grade(IntEnum):
    FAIL = 0
    PASS = 1
    CLEARED = 1  # an alias, which is no option of its own


Described = (
    Annotated[Literal["billing"], Option("payments")] | Annotated[Literal["support"], Option("using it")]
)
Alias = TypeAliasType("Alias", Literal["billing", "support"])


@pytest.mark.parametrize(
    ("hint", "details", "options"),
    [
        (Team, {}, {"BILLING": "payments, payouts", "SUPPORT": "using the product", "OTHER": None}),
        (
            Team,
            {"options": {Team.OTHER: "else"}},
            {"BILLING": "payments, payouts", "SUPPORT": "using the product", "OTHER": "else"},
        ),
        (
            Team,
            {"options": {"BILLING": "bills"}},
            {"BILLING": "bills", "SUPPORT": "using the product", "OTHER": None},
        ),
        (Tone, {}, {"KIND": None, "RUDE": None}),
        (Grade, {}, {"FAIL": None, "PASS": None}),
        (Literal["billing", "support"], {}, {"billing": None, "support": None}),
        (
            Literal["billing", "support"],
            {"options": {"support": "help"}},
            {"billing": None, "support": "help"},
        ),
        (Literal[Team.BILLING, Team.OTHER], {}, {"BILLING": "payments, payouts", "OTHER": None}),
        (Literal["billing"] | Literal["support"], {}, {"billing": None, "support": None}),
        (Described, {}, {"billing": "payments", "support": "using it"}),
        (Described, {"options": {"support": "help"}}, {"billing": "payments", "support": "help"}),
        (Alias, {}, {"billing": None, "support": None}),
        (Annotated[Alias, "a note"], {}, {"billing": None, "support": None}),
        (ChoiceAnswer[Described], {}, {"billing": "payments", "support": "using it"}),
        (Result[Tone], {}, {"KIND": None, "RUDE": None}),
    ],
)
def test_options_are_named_and_described(hint, details, options):
    assert question_of(hint, "Which?", **details) == Choice("Which?", options)


@pytest.mark.parametrize(
    ("hint", "levels"),
    [
        (ScaleAnswer[Severity], ["LOW: can wait", "MEDIUM", "HIGH"]),
        (ScaleAnswer[Literal["calm", "angry"]], ["calm", "angry"]),
        (ScaleAnswer[Described], ["billing: payments", "support: using it"]),
        (Result[ScaleAnswer[Grade]], ["FAIL", "PASS"]),
    ],
)
def test_levels_are_in_order_and_say_their_description(hint, levels):
    assert question_of(hint, "How?") == Scale("How?", levels)


@both
@pytest.mark.parametrize(
    ("hint", "name", "value"),
    [
        (Team, "SUPPORT", Team.SUPPORT),
        (Tone, "RUDE", Tone.RUDE),
        (Grade, "PASS", Grade.PASS),
        (Literal["billing", "support"], "support", "support"),
        (Literal[Team.BILLING, Team.OTHER], "OTHER", Team.OTHER),
        (Described, "support", "support"),
    ],
)
def test_the_chosen_option_comes_back_as_what_it_is(shell, hint, name, value):
    judge = decide("Which?", model=shell.kind(Endpoint({"judge": chosen(name)})))(
        returning(hint, shell=shell)
    )
    assert shell.call(judge, "x") is value


def test_two_members_of_one_description_stay_two():
    class Twin(Enum):
        ONE = Option("same")
        OTHER = Option("same")  # noqa: PIE796 - that is the point

    assert list(question_of(Twin, "Which?").options) == ["ONE", "OTHER"]


class Permission(Flag):
    READ = 1
    WRITE = 2


class Folding(Enum):
    yes = 1
    YES = 2


Many = Enum("Many", [f"M{i}" for i in range(MAX_OPTIONS + 1)])


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Permission, "Permission is a Flag"),
        (Folding, "'yes' and 'YES' are the same"),
        (Many, f"at most {MAX_OPTIONS} options"),
        (Literal["only"], "only the option 'only'"),
        (Literal[1, 2], r"Literal\[1, 2\] holds 1; options are texts"),
        (Literal["a", None], "holds None"),
        (Literal[True, False], "holds True"),
        (Literal[b"a", "b"], "holds b'a'"),
        (Literal["", "b"], "`option name` is blank"),
        (Literal[Team.OTHER, "OTHER"], "two options with the name 'OTHER'"),
        (Annotated[Literal["a", "b"], Option("both")], "`Option` describes one option, and .* has 2"),
        (ChoiceAnswer, "ChoiceAnswer says no options"),
        (ChoiceAnswer[str], r"ChoiceAnswer\[str\] says no options"),
        (ScaleAnswer[int], r"ScaleAnswer\[int\] says no options"),
        (bool | None, r"returns bool \| None, .* raises `NoAnswer`"),
        (Team | None, r"returns Team \| None, .* a way out is one more option"),
        (Literal["a", "b"] | None, "a way out is one more option"),
        (str, "returns str, which no question answers; use bool"),
        (int, "returns int"),
        (list[bool], r"returns list\[bool\]"),
        (Any, "returns Any"),
        (None, "returns None"),
        (Result, "returns a Result, and of what"),
        (Result[Result[bool]], r"returns Result\[bool\]"),
        (Annotated[bool, Asks("And this?")], "has 2 questions"),
    ],
    ids=str,
)
def test_a_type_that_no_question_answers_is_refused_with_its_reason(hint, reason):
    with pytest.raises(QuestionError, match=f"`judge`?.*{reason}"):
        decide("Which?")(returning(hint))


@pytest.mark.parametrize("hint", ["Awaitable[bool]", "Coroutine[Any, Any, bool]", "AsyncIterator[bool]"])
def test_what_would_be_awaited_is_told_to_be_async(hint):
    with pytest.raises(QuestionError, match="write `async def`"):
        decide("Which?")(returning(eval(hint, {**vars(collections.abc), "Any": Any})))  # noqa: S307 - ours


@pytest.mark.parametrize(
    ("hint", "details", "reason"),
    [
        (Team, {"threshold": 0.5}, "`threshold` has no meaning for Team"),
        (Team, {"yes_when": "so"}, "`yes_when` has no meaning for Team"),
        (ScaleAnswer[Severity], {"no_when": "so"}, r"`no_when` has no meaning for ScaleAnswer\[Severity\]"),
        (bool, {"options": {"a": "b"}}, "`options` has no meaning for bool"),
        (bool, {"yes_when": " "}, "`yes_when` is blank"),
        (bool, {"threshold": 1.01}, "from 0 to 1, not 1.01"),
        (bool, {"threshold": float("nan")}, "from 0 to 1, not nan"),
        (bool, {"threshold": True}, "from 0 to 1, not True"),
        (bool, {"thresholds": 0.5}, "must be a function of a ThresholdContext, not 0.5"),
        (Team, {"thresholds": lambda context: None}, "nothing that it returns is a bool"),
        (Team, {"options": {"SALES": "sells"}}, "describes 'SALES', which is not offered; .*'BILLING'"),
        (Team, {"options": {Severity.LOW: "low"}}, "describes <Severity.LOW"),
        (Team, {"options": ["OTHER"]}, "`options` must be a mapping"),
        (Team, {"options": {"OTHER": " "}}, "description of 'OTHER'"),
    ],
)
def test_a_detail_without_a_meaning_is_refused(hint, details, reason):
    with pytest.raises(QuestionError, match=f"`judge`.*{reason}"):
        decide("Which?", **details)(returning(hint))


def test_a_detail_without_a_question_is_refused():
    with pytest.raises(QuestionError, match="`threshold` belongs to a question"):
        decide(threshold=0.5)


def test_the_question_may_stand_in_the_return_type():
    @decide
    def spam(message: str) -> Annotated[bool, Asks("Is this spam?", threshold=0.9)]: ...

    @decide
    def team(message: str) -> Annotated[Result[Team], Asks("Which team?")]: ...

    @decide()
    def tone(message: str) -> Result[Annotated[Tone, Asks("Which tone?")]]: ...

    assert [f.question.text for f in (spam, team, tone)] == ["Is this spam?", "Which team?", "Which tone?"]


def test_a_mark_above_the_function_is_its_question_too():
    @decide
    @Asks("Is this spam?")
    def spam(message: str) -> bool: ...

    assert spam.question.text == "Is this spam?"


def test_two_questions_above_one_function_are_refused():
    with pytest.raises(QuestionError, match="by `decide` and by `Asks`"):
        decide("Is it?")(Asks("Or is it?")(returning(bool)))
    with pytest.raises(QuestionError, match="marked with two questions"):
        Asks("Is it?")(Asks("Or is it?")(returning(bool)))
    for thing in (3, bool, decide("Is it?")(returning(bool))):
        with pytest.raises(QuestionError, match="`Asks` marks the method of a Protocol"):
            Asks("Is it?")(thing)


def test_importing_the_room_does_not_import_pydantic():
    code = "import yesno.functions, sys; print([m for m in ('pydantic', 'openai', 'asyncio') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
