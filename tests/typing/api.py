"""What type checkers see; mypy reads this file, nobody runs it."""

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from yesno import (
    AsyncDecisionModel,
    Choice,
    ChoiceAnswer,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    Failure,
    Flow,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
    ask,
    gather,
)


def triage(text: str) -> Flow[str]:
    answer = yield from ask(Choice("Which?", ["a", "b"]), text)
    assert_type(answer, ChoiceAnswer)
    both = yield from gather([ask(YesNo("?"), text), ask(YesNo("?"), text)])
    assert_type(both, list[YesNoAnswer])
    return answer.value


def sync(model: DecisionModel) -> None:
    assert_type(model.decide("x", YesNo("?")), YesNoAnswer)
    assert_type(model.decide({"a": 1}, Choice("?", {"a": None, "b": "c"})), ChoiceAnswer)
    assert_type(model.decide([{"role": "user", "content": "x"}], Scale("?", ["a", "b"])), ScaleAnswer)
    assert_type(model.decide("x", {"q": YesNo("?"), "r": Scale("?", ["a", "b"])}), DecisionResponse)
    assert_type(model.decide(DecisionRequest("x", {"q": YesNo("?")})), DecisionResponse)
    assert_type(model.run(triage("x")), str)
    assert_type(model.map(["x"], YesNo("?")), Iterator[YesNoAnswer | Refusal | Undecided | Failure])
    assert_type(model.map(["x"], {"q": YesNo("?")}), Iterator[DecisionResponse | Failure])
    with model as entered:
        assert_type(entered, DecisionModel)


async def aio(model: AsyncDecisionModel) -> None:
    assert_type(await model.decide("x", YesNo("?")), YesNoAnswer)
    assert_type(await model.decide("x", {"q": YesNo("?")}), DecisionResponse)
    assert_type(await model.run(triage("x")), str)
    assert_type(model.map(["x"], YesNo("?")), AsyncIterator[YesNoAnswer | Refusal | Undecided | Failure])
    async with model as entered:
        assert_type(entered, AsyncDecisionModel)
