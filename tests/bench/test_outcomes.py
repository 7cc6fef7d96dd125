"""From what came back to a row: nothing is filled in."""

import pytest

from yesno import Choice, DecisionResponse
from yesno.bench.outcomes import NO_PROBABILITIES, Place, row_of
from yesno.bench.rows import Way
from yesno.labelled import Item
from yesno.questions import ChoiceAnswer

TEAM = Choice("Which team?", {"billing": None, "support": None})
OR_NONE = Choice("Which team?", {"billing": None, "support": None}, none="neither")


def row(question, answer):
    item = Item("i1", "Card charged twice", question, 0, "i1")
    place = Place("team", "0" * 64, Way("one", "default", "auto"), None)
    response = DecisionResponse({"question": answer})
    return row_of(item, place, response, name="question", latency_s=1.0, at="2026-11-30T00:00:00Z")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (TEAM, ChoiceAnswer("billing", {"billing": 0.9}, method="native")),
        (OR_NONE, ChoiceAnswer("billing", {"billing": 0.9, "support": 0.1}, method="native")),
        (TEAM, ChoiceAnswer("billing", method="native")),
    ],
    ids=["an option", "the way out", "all"],
)
def test_a_distribution_that_lacks_something_is_no_answer_to_score(question, answer):
    found = row(question, answer)
    assert (found.outcome, found.reason) == ("undecided", NO_PROBABILITIES)
    assert (found.probabilities, found.method) == (None, "native")


def test_what_was_read_before_a_correction_is_kept_where_it_differs():
    told = ChoiceAnswer(
        "support", {"support": 0.6, "billing": 0.4}, raw={"support": 0.7, "billing": 0.3}, method="native"
    )
    assert (row(TEAM, told).probabilities, row(TEAM, told).raw) == ((0.4, 0.6), (0.3, 0.7))
    same = ChoiceAnswer("support", {"support": 0.6, "billing": 0.4}, raw={"support": 0.6, "billing": 0.4})
    assert row(TEAM, same).raw is None
