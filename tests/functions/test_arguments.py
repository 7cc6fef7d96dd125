"""From a call's arguments to the input that is sent."""

import datetime
import decimal
import inspect
import math
import uuid
from collections import namedtuple
from dataclasses import dataclass
from typing import Annotated

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.support import Endpoint, Severity, Sync, Team, both, yes
from tests.naming import stable
from yesno import Message, Parameters, QuestionError
from yesno._frozen import FrozenDict
from yesno.functions import Name, decide
from yesno.functions.plain import plain


def asking(shell, stub, *probabilities):
    """Return a decision function of a stub, and the endpoint that it asks."""
    endpoint = Endpoint(*({"judge": yes(p)} for p in probabilities or (0.7,)))
    return decide("Is it?", model=shell.kind(endpoint))(shell.form(stub)), endpoint


@both
def test_defaults_are_sent_and_none_is_not(shell):
    def judge(text: str, plan: str = "free", note: str | None = None, *, level: int = 3) -> bool: ...

    function, endpoint = asking(shell, judge)
    shell.call(function, "x")
    shell.call(function, text="x", plan="paid", note="n", level=0)
    assert [dict(request.input) for request in endpoint.asked] == [
        {"text": "x", "plan": "free", "level": 3},
        {"text": "x", "plan": "paid", "note": "n", "level": 0},
    ]


@both
def test_positional_only_parameters_have_names_too(shell):
    def judge(text: str, /, plan: str) -> bool: ...

    function, endpoint = asking(shell, judge)
    shell.call(function, "x", plan="paid")
    assert endpoint.asked[0].input == {"text": "x", "plan": "paid"}
    with pytest.raises(TypeError, match=r"judge\(\).*text"):
        shell.call(function, text="x", plan="paid")


@both
def test_a_name_replaces_that_of_the_parameter(shell):
    def judge(text: Annotated[str, "a note", Name("customer message")], plan: str | None = None) -> bool: ...

    function, endpoint = asking(shell, judge)
    shell.call(function, text="x")
    assert endpoint.asked[0].input == {"customer message": "x"}
    with pytest.raises(QuestionError, match="`text` and `plan`"):
        shell.call(function, None)


@both
@pytest.mark.parametrize("arguments", [(), ("x", "y"), (1, 2, 3)])
def test_a_wrong_call_is_pythons_own_error_and_names_the_function(shell, arguments):
    def judge(text: str) -> bool: ...

    function, endpoint = asking(shell, judge)
    if len(arguments) != 1:
        with pytest.raises(TypeError, match=r"judge\(\) (missing|too many)"):
            shell.call(function, *arguments)
    assert endpoint.asked == []


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_name_is_refused(blank):
    with pytest.raises(QuestionError, match="name"):
        Name(blank)


def test_parameters_without_names_of_their_own_are_refused():
    def listed(text: str, *more: str) -> bool: ...

    def mapped(text: str, **more: str) -> bool: ...

    for stub, shown in ((listed, r"\*more: str"), (mapped, r"\*\*more: str")):
        with pytest.raises(QuestionError, match=f"takes `{shown}`, .*name each parameter"):
            decide("Is it?")(stub)


def test_a_missing_return_type_is_refused_at_once():
    with pytest.raises(QuestionError, match="`judge` does not say what it returns"):

        @decide("Is it?")
        def judge(text: str): ...


@both
def test_settings_that_are_no_parameters_are_refused(shell):
    def judge(text: str, settings: Parameters | None = None) -> bool: ...

    function, endpoint = asking(shell, judge)
    with pytest.raises(QuestionError, match="`settings` of `judge` must be `Parameters` or None, not dict"):
        shell.call(function, "x", {"model_name": "m"})
    assert endpoint.asked == []


class Safe(str):
    """A text as template engines have it."""


class Share(float):
    """A number as numeric libraries have it."""


class Address(pydantic.BaseModel):
    street: str
    hidden: str = pydantic.Field(exclude=True)


class Customer(pydantic.BaseModel):
    name: str = pydantic.Field(alias="n")
    team: Team
    since: datetime.date
    home: Address


@dataclass
class Line:
    number: int
    team: Team | None = None


Point = namedtuple("Point", ["x", "y"])
CUSTOMER = Customer(
    n="Ann", team=Team.OTHER, since=datetime.date(2026, 11, 30), home=Address(street="Elm", hidden="s3")
)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("text", "text"),
        (3, 3),
        (2.5, 2.5),
        (False, False),
        (Safe("<b>"), "<b>"),
        (Share(0.5), 0.5),
        (Team.BILLING, "BILLING"),
        (Line(1, Team.OTHER), {"number": 1, "team": "OTHER"}),
        ([Line(1)], [{"number": 1, "team": None}]),
        (Point(1, Severity.LOW), {"x": 1, "y": "LOW"}),
        ((1, (2, 3)), [1, [2, 3]]),
        ({"b", "a"}, ["a", "b"]),
        ({Team.OTHER: {1: "one"}}, {"OTHER": {"1": "one"}}),
        (FrozenDict({"a": 1}), {"a": 1}),
        (datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC), "2026-11-30T12:00:00+00:00"),
        (datetime.time(9, 30), "09:30:00"),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (CUSTOMER, {"name": "Ann", "team": "OTHER", "since": "2026-11-30", "home": {"street": "Elm"}}),
        ([Message("user", "hi")], [{"role": "user", "text": "hi"}]),
    ],
    ids=map(str, range(20)),
)
def test_arguments_become_plain_values(value, sent):
    def judge(value) -> bool: ...

    function, endpoint = asking(Sync, judge)
    function(value)
    assert endpoint.asked[0].input == {"value": sent}
    assert repr(plain(value, "it")) == repr(sent)  # True is not 1


def test_a_conversation_is_sent_as_it_reads():
    call = {"name": "refund", "arguments": "{}"}
    messages = [Message("assistant", tool_calls=[call]), Message("tool", "done", name="refund")]
    assert plain(messages, "it") == [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "name": "refund", "text": "done"},
    ]


class Handle:
    """Something that cannot be sent."""


@both
@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Handle(), "Handle"),
        ([Handle()], "Handle"),
        ({"a": Handle()}, "Handle"),
        (b"bytes", "bytes"),
        (Line(Handle()), "Handle"),
        (Line, "type"),
        (pydantic.SecretStr("s3cret"), "SecretStr"),
        (print, "builtin_function_or_method"),
    ],
    ids=stable,
)
def test_what_cannot_be_sent_is_named_by_its_type_and_never_shown(shell, value, named):
    def judge(value) -> bool: ...

    function, endpoint = asking(shell, judge)
    with pytest.raises(QuestionError, match=f"argument `value` of `judge` holds a {named}") as caught:
        shell.call(function, value)
    assert "s3cret" not in str(caught.value)
    assert endpoint.asked == []


def test_a_number_that_is_none_is_refused_before_anything_is_sent():
    def judge(value: float) -> bool: ...

    function, endpoint = asking(Sync, judge)
    with pytest.raises(QuestionError, match="nan"):
        function(math.nan)
    assert endpoint.asked == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_what_is_plain_already_stays_as_it_is(value):
    assert plain(value, "it") == value


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, min_size=1))
def test_the_input_holds_the_arguments_in_the_order_of_the_parameters(names):
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]

    def judge(*args, **kwargs): ...

    judge.__signature__ = inspect.Signature(parameters, return_annotation=bool)
    judge.__annotations__["return"] = bool
    plan = decide("Is it?")(judge).plan
    values = {name: name.upper() for name in names}
    given_out_of_order = dict(sorted(values.items(), reverse=True))
    assert list(plan.arguments.input(plan.arguments.bound((), given_out_of_order)).items()) == list(
        values.items()
    )
