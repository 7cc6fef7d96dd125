import pytest

from yesno.errors import AnswerError, NoAnswer, Refused, UndecidedError
from yesno.evidence import Usage
from yesno.questions import Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.response import DecisionResponse, no_answer_error, unwrapped

MIXED = DecisionResponse(
    {
        "spam": YesNoAnswer(0.9),
        "mood": ScaleAnswer(1.5),
        "bio": Refusal(category="bio"),
        "team": Undecided("low_label_mass", label_mass=0.125),
    }
)


def test_an_outcome_is_what_came_back_whatever_it_is():
    assert MIXED.outcome("bio") == Refusal(category="bio")
    assert MIXED.outcome("team").reason == "low_label_mass"
    assert [MIXED.is_refused(name) for name in MIXED.answers] == [False, False, True, False]
    assert [MIXED.is_undecided(name) for name in MIXED.answers] == [False, False, False, True]


def test_a_refused_question_names_itself_and_the_category():
    with pytest.raises(Refused, match=r"'bio'.*refusal.*\(bio\)") as caught:
        MIXED.choice("bio")
    assert caught.value.outcome is MIXED.outcome("bio")


def test_an_undecided_question_says_why_and_how_little_there_was():
    with pytest.raises(UndecidedError, match=r"'team'.*other words.*low_label_mass.*0\.125") as caught:
        MIXED.choice("team")
    assert caught.value.outcome is MIXED.outcome("team")


def test_an_unknown_reason_is_passed_on():
    assert "new_reason" in str(no_answer_error(Undecided("new_reason")))


def test_neither_a_refusal_nor_an_undecided_is_an_answer():
    assert unwrapped(YesNoAnswer(0.2)) == YesNoAnswer(0.2)
    for outcome in (Refusal(), Undecided("empty")):
        with pytest.raises(NoAnswer):
            unwrapped(outcome)
        assert not hasattr(outcome, "probability")


def test_unknown_names_are_refused_by_every_question_about_them():
    for look in (MIXED.outcome, MIXED.is_refused, MIXED.is_undecided, MIXED.scale):
        with pytest.raises(AnswerError, match=r"'none'.*'spam', 'mood'"):
            look("none")


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_an_answer_needs_a_name(name):
    with pytest.raises(AnswerError, match="name"):
        DecisionResponse({name: YesNoAnswer(1)})


@pytest.mark.parametrize("answer", [None, 0.9, "yes", True])
def test_what_is_no_outcome_is_refused_with_its_name_and_type(answer):
    with pytest.raises(AnswerError, match=rf"'spam'.*{type(answer).__name__}"):
        DecisionResponse({"spam": answer})


def test_usages_add_up():
    total = Usage(10, 2, 5, 1) + Usage(7, 1, 0, 2)
    assert total == Usage(17, 3, 5, 3)
    assert sum([total], Usage()) == total


@pytest.mark.parametrize(
    ("parts", "cost"),
    [
        ([], 0.0),
        ([Usage(cache_hits=2)], 0.0),
        ([Usage(10, requests=1)], None),
        ([Usage(10, requests=1, cost_usd=0.5), Usage(10, requests=1, cost_usd=0.25)], 0.75),
        ([Usage(10, requests=1, cost_usd=0.5), Usage()], 0.5),
        ([Usage(10, requests=1, cost_usd=0.5), Usage(10, requests=1)], None),
    ],
    ids=["nothing", "hits", "unknown", "known", "and_nothing", "and_unknown"],
)
def test_a_cost_is_known_when_all_its_parts_are(parts, cost):
    assert sum(parts, Usage()).cost_usd == cost
    assert sum(reversed(parts), Usage()).cost_usd == cost
