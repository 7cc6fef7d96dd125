"""The probabilities of an answer are one distribution in the order of its question, or none."""

import pytest

from yesno import Choice, Refusal, Scale, Undecided, YesNo, YesNoAnswer
from yesno.questions import ChoiceAnswer, ScaleAnswer, raw_shares_of, shares_of

SPAM = YesNo("Is it spam?")
TEAM = Choice("Which team?", {"billing": None, "support": None})
OR_NONE = Choice("Which team?", {"billing": None, "support": None}, none="neither")
MOOD = Scale("How angry?", ["calm", "angry"])


@pytest.mark.parametrize(
    ("question", "answer", "shares"),
    [
        (SPAM, YesNoAnswer(0.75), (0.75, 0.25)),
        (TEAM, ChoiceAnswer("support", {"support": 0.6, "billing": 0.4}), (0.4, 0.6)),
        (
            OR_NONE,
            ChoiceAnswer(
                "billing",
                {"billing": 0.5, "support": 0.2},
                options=("billing", "support"),
                none_probability=0.3,
            ),
            (0.5, 0.2, 0.3),
        ),
        (MOOD, ScaleAnswer(0.4, (0.6, 0.4)), (0.6, 0.4)),
    ],
)
def test_shares_are_in_the_order_of_the_question(question, answer, shares):
    assert shares_of(question, answer) == shares


@pytest.mark.parametrize(
    ("question", "outcome"),
    [
        (SPAM, Refusal()),
        (SPAM, Undecided("empty")),
        (SPAM, ValueError()),
        (TEAM, ChoiceAnswer("billing")),
        (TEAM, ChoiceAnswer("billing", {"billing": 0.9})),
        (OR_NONE, ChoiceAnswer("billing", {"billing": 0.6, "support": 0.4})),
        (MOOD, ScaleAnswer(1.0)),
        (SPAM, ScaleAnswer(0.4, (0.6, 0.4))),
    ],
)
def test_nothing_is_filled_in(question, outcome):
    assert shares_of(question, outcome) is None


def test_what_was_read_before_a_correction_is_in_the_same_order():
    assert raw_shares_of(SPAM, YesNoAnswer(0.75, raw=0.5)) == (0.5, 0.5)
    assert raw_shares_of(SPAM, YesNoAnswer(0.75, raw=1)) == (1, 0)
    told = ChoiceAnswer("support", {"support": 0.6, "billing": 0.4}, raw={"support": 0.7, "billing": 0.3})
    assert raw_shares_of(TEAM, told) == (0.3, 0.7)
    assert raw_shares_of(MOOD, ScaleAnswer(0.4, (0.6, 0.4), raw=(0.5, 0.5))) == (0.5, 0.5)


def test_what_was_read_is_not_told_of_a_way_out_and_of_what_was_not_corrected():
    shown = ChoiceAnswer(
        "billing",
        {"billing": 0.5, "support": 0.2},
        none_probability=0.3,
        raw={"billing": 0.4, "support": 0.3},
    )
    assert raw_shares_of(OR_NONE, shown) is None
    assert raw_shares_of(SPAM, YesNoAnswer(0.75)) is None
    assert (
        raw_shares_of(TEAM, ChoiceAnswer("billing", {"billing": 0.9, "support": 0.1}, raw={"billing": 1.0}))
        is None
    )
