"""What holds for every probability, every enum and every number of items."""

import inspect
import math
import re
from enum import Enum
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.support import Endpoint, both, yes
from yesno import ChoiceAnswer, DecisionModel, FakeProvider, ScaleAnswer
from yesno.functions import Asks, decide, implement, using

PROBABILITY = st.floats(0, 1)
NAMES = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=2, max_size=8, unique=True)


def answering(hint, answer, **settings):
    def judge(text): ...

    judge.__annotations__["return"] = hint
    return decide("Which?", model=DecisionModel(Endpoint({"judge": answer})), **settings)(judge)


@given(PROBABILITY, PROBABILITY, st.none() | PROBABILITY)
def test_a_bool_is_true_exactly_from_its_threshold_on(probability, fixed, provided):
    judge = answering(bool, yes(probability), threshold=fixed, thresholds=lambda context: provided)
    assert judge("x") is (probability >= (fixed if provided is None else provided))
    assert judge.answer("x").is_yes(fixed) is (probability >= fixed)


@given(NAMES, st.data())
def test_any_enum_comes_back_as_its_members_with_the_same_probabilities(names, data):
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(names), max_size=len(names)))
    shares = {name: weight / math.fsum(weights) for name, weight in zip(names, weights, strict=True)}
    best = max(shares, key=shares.__getitem__)
    kind = Enum("Kind", names)
    assert answering(kind, ChoiceAnswer(best, shares))("x") is kind[best]
    answer = answering(ChoiceAnswer[kind], ChoiceAnswer(best, shares))("x")
    assert answer.probabilities == {kind[name]: share for name, share in shares.items()}
    assert answer.margin() == ChoiceAnswer(best, shares).margin()
    mean = sum(number * share for number, share in enumerate(shares.values()))
    level = answering(ScaleAnswer[kind], ScaleAnswer(mean, tuple(shares.values())))("x")
    assert level.most_likely() is kind[best] or shares[level.most_likely().name] == shares[best]
    assert [level.probability_of(member) for member in kind] == list(shares.values())


@both
@given(st.lists(st.sampled_from(["good", "bad", None]), max_size=6))
def test_map_gives_what_calls_one_by_one_give(shell, items):
    script = FakeProvider(
        lambda prompt: {"Yes": 0.9, "No": 0.1} if "good" in prompt else {"No": 0.9, "Yes": 0.1}
    )

    @decide("Is it?", model=shell.kind(script))
    @shell.form
    def judge(text: str) -> bool: ...

    outcomes = shell.map(judge, items)
    assert [isinstance(outcome, bool) for outcome in outcomes] == [item is not None for item in items]
    for item, outcome in zip(items, outcomes, strict=True):
        if item is not None:
            assert outcome is shell.call(judge, item)


@pytest.mark.parametrize("thing", [decide, implement], ids=lambda thing: thing.__name__)
def test_the_example_of_a_docstring_runs(thing):
    model = DecisionModel(FakeProvider({"Yes": 0.9, "No": 0.05}))
    names = {"Asks": Asks, "Protocol": Protocol, "decide": decide, "implement": implement, "model": model}
    (example,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(thing), re.DOTALL)
    exec(example, names)  # noqa: S102 - our own
    with using(model):
        made = names["is_spam"] if thing is decide else names["desk"].is_spam
        assert made("x") is True
