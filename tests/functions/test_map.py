"""Decide about many items: in order, a few at a time, each failure in its place."""

import pytest

from tests.functions.support import TICKET_ANSWERS, Async, Endpoint, Sync, Team, Ticket, both, yes
from yesno import Failure, Parameters, QuestionError, Refusal, Refused
from yesno.errors import ProviderUnavailable
from yesno.functions import decide


def mapping(shell, endpoint):
    @decide("Is this spam?", model=shell.kind(endpoint, concurrency=1))
    @shell.form
    def judge(message: str, settings: Parameters | None = None) -> bool: ...

    return judge


@both
def test_map_keeps_the_order_and_gives_each_failure_its_place(shell):
    replies = ({"judge": yes(p)} for p in (0.9, 0.1))
    endpoint = Endpoint(
        *replies, {"judge": Refusal()}, ProviderUnavailable("down", provider="x", retryable=False)
    )
    outcomes = shell.map(mapping(shell, endpoint), ["a", None, "b", object(), "c", "d"])
    assert [outcomes[i] for i in (0, 2)] == [True, False]
    errors = [outcomes[i].error for i in (1, 3, 4, 5)]
    assert [type(error) for error in errors] == [QuestionError, QuestionError, Refused, ProviderUnavailable]
    assert "every argument of `judge` is None" in str(errors[0])
    assert [dict(request.input)["message"] for request in endpoint.asked] == ["a", "b", "c", "d"]


@both
def test_map_takes_mappings_for_functions_of_several_parameters(shell):
    endpoint = Endpoint({"judge": yes(0.9)})

    @decide("Is this spam?", model=shell.kind(endpoint))
    @shell.form
    def judge(message: str, sender: str = "unknown") -> bool: ...

    outcomes = shell.map(judge, [{"message": "x"}, {"message": "y", "sender": "z"}, "x"])
    assert outcomes[:2] == [True, True]
    assert [dict(request.input) for request in endpoint.asked] == [
        {"message": "x", "sender": "unknown"},
        {"message": "y", "sender": "z"},
    ]
    assert isinstance(outcomes[2], Failure)
    assert "must be a mapping of its parameters (message, sender), not str" in str(outcomes[2].error)


@both
def test_map_asks_with_the_models_own_settings_and_refuses_others(shell):
    endpoint = Endpoint({"judge": yes(0.9)})

    @decide("Is this spam?", model=shell.kind(endpoint))
    @shell.form
    def judge(message: str, sender: str, settings: Parameters | None) -> bool: ...

    item = {"message": "x", "sender": "y"}
    outcomes = shell.map(judge, [item, {**item, "settings": None}, {**item, "settings": Parameters("other")}])
    assert outcomes[:2] == [True, True]
    assert "`judge.map` takes no `settings`" in str(outcomes[2].error)
    assert len(endpoint.asked) == 2


@both
def test_map_takes_positional_only_parameters_and_methods(shell):
    endpoint = Endpoint({"judge": yes(0.9)})

    class Desk:
        @decide("Is this spam?", model=shell.kind(endpoint))
        @shell.form
        def judge(self, message: str, /, sender: str) -> bool: ...

    assert shell.map(Desk().judge, [{"message": "x", "sender": "y"}]) == [True]
    assert endpoint.asked[0].input == {"message": "x", "sender": "y"}


@both
def test_a_mapping_is_the_argument_of_a_function_of_one_parameter(shell):
    endpoint = Endpoint({"judge": yes(0.9)})
    assert shell.map(mapping(shell, endpoint), [{"message": "x"}]) == [True]
    assert endpoint.asked[0].input == {"message": {"message": "x"}}


@both
def test_a_mapping_with_names_of_no_parameter_is_pythons_own_error(shell):
    @decide("Is this spam?", model=shell.kind(Endpoint({"judge": yes(0.9)})))
    @shell.form
    def judge(message: str, sender: str) -> bool: ...

    with pytest.raises(TypeError, match="sender"):
        shell.map(judge, [{"message": "x"}])


@both
def test_an_impossible_threshold_is_the_failure_of_its_item(shell):
    thresholds = iter([0.5, 7, 0.5])

    @decide(
        "Is it?",
        model=shell.kind(Endpoint({"judge": yes(0.9)}), concurrency=1),
        thresholds=lambda context: next(thresholds),
    )
    @shell.form
    def judge(message: str) -> bool: ...

    first, second, third = shell.map(judge, ["a", "b", "c"])
    assert (first, third) == (True, True)
    assert isinstance(second.error, QuestionError)


def test_map_takes_items_as_it_goes():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield str(number)

    judge = mapping(Sync, Endpoint({"judge": yes(0.9)}))
    outcomes = judge.map(items(), concurrency=2)
    assert next(outcomes) is True
    assert len(taken) < 10


def test_map_takes_an_asynchronous_iterable():
    async def items():
        for number in range(3):
            yield str(number)

    endpoint = Endpoint({"judge": yes(0.9)})
    assert Async.map(mapping(Async, endpoint), items()) == [True] * 3
    assert [dict(request.input) for request in endpoint.asked] == [{"message": str(n)} for n in range(3)]


@both
def test_map_of_an_object_asks_all_its_questions_of_each_item(shell):
    endpoint = Endpoint(TICKET_ANSWERS)

    @decide(model=shell.kind(endpoint))
    @shell.form
    def triage(message: str) -> Ticket: ...

    assert [ticket.team for ticket in shell.map(triage, ["a", "b"])] == [Team.SUPPORT, Team.SUPPORT]
    assert [list(request.questions) for request in endpoint.asked] == [["urgent", "team", "severity"]] * 2
