"""`--calibration`: cards on the command line."""

import json

import pytest

from yesno import Choice, FakeProvider
from yesno.calibration import AskedQuestion, Calibration, Subject, save_calibration
from yesno.calibration.calibrators import Platt, Temperature, Vector
from yesno.templates.sets import TemplateSet

SCRIPT = {"Yes": 0.75, "No": 0.25}


def subject(kind="yes_no", labels=(2, 2), **fields):
    template = TemplateSet.load("default").template(kind).id
    return Subject("fake", "fake", "logprobs", template, kind, *labels, **fields)


@pytest.fixture
def card(tmp_path):
    path = tmp_path / "card.json"
    save_calibration(Calibration(subject(), Platt(0.5, -1.0)), path)
    return path


def test_ask_applies_a_card_and_says_what_was_read(run, scripted, card):
    scripted(SCRIPT)
    code, out, err = run("ask", "Is it?", "x", "--calibration", card)
    assert (code, err) == (0, "")
    assert "yes  0.389" in out
    assert "calibrated, yes was read as 0.750" in out


def test_a_threshold_on_the_command_line_sees_the_calibrated_probability(run, scripted, card):
    scripted(SCRIPT)
    assert run("ask", "Is it?", "x", "--check", "0.5")[0] == 0
    assert run("ask", "Is it?", "x", "--check", "0.5", "--calibration", card)[0] == 1


def test_json_holds_the_raw_probability_too(run, scripted, card):
    scripted(SCRIPT)
    shown = json.loads(run("ask", "Is it?", "x", "--calibration", card, "--json")[1])
    assert (shown["calibrated"], shown["raw"]) == (True, 0.75)
    assert shown["probability"] == pytest.approx(0.3891, abs=1e-4)


def test_a_card_for_something_else_is_told_on_standard_error(run, scripted, tmp_path):
    scripted(SCRIPT)
    save_calibration(Calibration(subject("scale"), Temperature(2.0)), tmp_path / "scale.json")
    code, out, err = run("ask", "Is it?", "x", "--calibration", tmp_path)
    assert code == 0
    assert "calibrated" not in out
    assert err == ("yesno: not calibrated: yes_no by logprobs: the card is for scale questions, not yes_no\n")


def test_choose_and_rate_and_map_take_cards_too(run, scripted, card, tmp_path):
    scripted({"A": 0.6, "B": 0.4})
    question = AskedQuestion.of(Choice("Which?", ["a", "b"]))
    save_calibration(
        Calibration(subject("choice", question=question), Vector(1.0, (-3.0, 3.0))), tmp_path / "choice.json"
    )
    out = run("choose", "Which?", "x", "-o", "a", "-o", "b", "--calibration", tmp_path)[1]
    assert "b  0.996" in out
    assert "calibrated ·" in out
    scripted(SCRIPT)
    shown = run("map", "--ask", "Is it?", "--calibration", card, stdin='{"text": "x"}\n')[1]
    (answer,) = json.loads(shown)["answers"].values()
    assert (answer["calibrated"], answer["raw"]) == (True, 0.75)


def test_several_cards_may_be_named(run, scripted, card, tmp_path):
    scripted(SCRIPT)
    other = tmp_path / "other.json"
    save_calibration(Calibration(subject("scale"), Temperature(2.0)), other)
    out = run("ask", "Is it?", "x", "--calibration", other, "--calibration", card)[1]
    assert "calibrated, yes" in out


def test_a_missing_card_is_a_usage_error(run, scripted, tmp_path):
    fake = scripted(SCRIPT)
    code, _, err = run("ask", "Is it?", "x", "--calibration", tmp_path / "none.json")
    assert code == 2
    assert "there is no calibration card" in err
    assert "Traceback" not in err
    assert isinstance(fake, FakeProvider)
    assert fake.requests == []
