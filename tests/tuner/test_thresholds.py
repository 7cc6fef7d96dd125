"""Thresholds promise something, or say why they cannot."""

import random

import pytest

from tests.tuner.build import SPAM, TEAM
from yesno.labelled import Item
from yesno.templates.sets import TemplateSet
from yesno.tuner.candidates import baseline
from yesno.tuner.carding import Carded
from yesno.tuner.thresholds import thresholds_of

PLAIN = Carded(baseline(TemplateSet.load("default"), "yes_no"), None, None, "as read")


def judged(count, question, shares_of_row, label_of_row):
    items = [Item(f"r{i}", "x", question, label_of_row(i), f"g{i}") for i in range(count)]
    answers = {item.id: shares_of_row(i) for i, item in enumerate(items)}
    return thresholds_of(PLAIN, answers, items)


def test_a_model_that_knows_gets_a_threshold_for_yes_and_for_no():
    yes, no = judged(200, SPAM, lambda i: (0.9, 0.1) if i % 2 else (0.2, 0.8), lambda i: 1 - i % 2)
    assert (yes.name, no.name) == ("yes", "no")
    assert yes.threshold == pytest.approx(0.9)
    assert no.threshold == pytest.approx(0.8)
    assert yes.sentence() == ("act on yes from 0.900: at most 5% wrong with 90% confidence, 50% of 200 rows")


def test_a_coin_gets_none_and_hears_why():
    coin = random.Random(0)
    for line in judged(90, SPAM, lambda i: (0.5 + i / 1000, 0.5 - i / 1000), lambda i: coin.randrange(2)):
        assert line.threshold is None
        assert line.sentence().startswith(f"no threshold for acting on {line.name}: ")
        assert "taken for yes" not in line.sentence()


def test_of_a_choice_the_answer_on_top_is_acted_on():
    (line,) = judged(
        200,
        TEAM,
        lambda i: (0.9, 0.06, 0.04) if i % 2 else (0.4, 0.35, 0.25),
        lambda i: 0 if i % 2 else i % 3,
    )
    assert line.name == "answer"
    assert line.threshold == pytest.approx(0.9)
    assert "act on the answer from 0.900" in line.sentence()


def test_answers_that_are_all_right_say_so():
    (line,) = judged(60, TEAM, lambda i: (0.9, 0.06, 0.04), lambda i: 0)
    assert line.sentence() == (
        "no threshold for acting on the answer: all 60 would be right, so these rows tell nothing apart"
    )


def test_rows_without_an_answer_are_left_out():
    lines = judged(
        120, SPAM, lambda i: None if i % 3 == 0 else (0.9, 0.1) if i % 2 else (0.1, 0.9), lambda i: 1 - i % 2
    )
    assert {line.rows for line in lines} == {80}
    assert judged(10, SPAM, lambda i: None, lambda i: i % 2) == ()
