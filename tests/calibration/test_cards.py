"""Cards as JSON, in files and folders."""

import json
from dataclasses import replace
from datetime import date

import pytest

from tests.calibration.calibrators.support import yes_no
from yesno import Choice, Scale, YesNo
from yesno.calibration import (
    AskedQuestion,
    Calibration,
    Subject,
    fit,
    load_calibration,
    load_calibrations,
    save_calibration,
)
from yesno.calibration.calibrators import (
    CALIBRATORS,
    Beta,
    Dirichlet,
    Identity,
    Isotonic,
    LabelPrior,
    Ordinal,
    Platt,
    Temperature,
    Vector,
)
from yesno.calibration.subjects import band_of, question_digest
from yesno.errors import ConfigError

SUBJECT = Subject("openai", "gpt-5.4-mini", "logprobs", "default/yes_no@4#2eb2be9d", "yes_no", prior=False)
BOUND = replace(SUBJECT, kind="choice", most_labels=2, question=AskedQuestion.of(Choice("q?", ["a", "b"])))
CARD = Calibration(SUBJECT, Platt(0.5, -1.0))
ONE_OF_EACH = [
    CARD,
    Calibration(SUBJECT, Identity()),
    Calibration(replace(SUBJECT, template=None, method="native"), Temperature(2.0)),
    Calibration(replace(SUBJECT, kind="scale", least_labels=3, most_labels=5), Beta(1.0, 2.0, 0.5)),
    Calibration(replace(SUBJECT, prior=None), Isotonic((0.0, 1.0), (0.2, 0.6))),
    Calibration(BOUND, Vector(2.0, (0.5, -0.5))),
    Calibration(BOUND, LabelPrior((0.5, 0.5))),
    Calibration(BOUND, Dirichlet(((1.5, -0.2), (0.1, 0.9)), (0.3, -0.3))),
    Calibration(BOUND, Ordinal(0.8, (0.5,))),
]


def fitted():
    result = fit(*yes_no(60, lambda z: z / 3), kind="yes_no")
    return result.card(SUBJECT, data="a" * 64, repeat_sd=0.01, day=date(2026, 11, 30))


def changed(**fields):
    return json.dumps({**json.loads(CARD.to_json()), **fields})


def test_every_calibrator_is_in_this_test():
    assert {card.calibrator.name for card in ONE_OF_EACH} == set(CALIBRATORS)


@pytest.mark.parametrize("card", ONE_OF_EACH, ids=lambda card: card.calibrator.name)
def test_a_card_survives_json(card):
    assert Calibration.from_json(card.to_json()) == card


def test_the_evidence_survives_json_too():
    card = fitted()
    again = Calibration.from_json(card.to_json())
    assert again.evidence == card.evidence
    assert (again.evidence.rows, again.evidence.groups, again.evidence.date) == (60, 60, "2026-11-30")
    assert again.evidence.repeat_sd == 0.01
    assert [one.calibrator for one in again.evidence.candidates] == ["temperature", "platt"]


def test_a_card_says_in_plain_fields_what_it_is_for():
    document = json.loads(CARD.to_json())
    assert document["schema"] == "yesno.calibration/1"
    for name in ("provider", "model", "method", "template", "question_type", "calibrator", "parameters"):
        assert document[name], name
    assert document["parameters"] == {"slope": 0.5, "intercept": -1.0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"schema": NaN}', "no JSON"),
        ("[]", "must be a JSON object, not list"),
        ("{}", "schema None"),
        (changed(schema="yesno.calibration/2"), "'yesno.calibration/2'"),
        (changed(model=""), "`model` must be a text, not ''"),
        (changed(method="guessed"), "`method` must be one of logprobs, native, sampled, not 'guessed'"),
        (changed(question_type="essay"), "`question_type` must be one of"),
        (changed(labels={"least": 1, "most": 2}), "from 2 upwards"),
        (changed(labels={"least": 2}), "lacks `labels.most`"),
        (changed(labels={"least": 2.5, "most": 3}), "`labels.least` must be a whole number"),
        (changed(calibrator="magic"), "`calibrator` must be one of"),
        (changed(parameters={"slope": 0.5}), "parameters of 'platt' are slope, intercept"),
        (changed(parameters={"slope": "0.5", "intercept": 0}), "`slope` of 'platt' must be a finite number"),
        (changed(parameters=None), "`parameters` must be an object"),
        (changed(prior="yes"), "`prior` must be true or false"),
        (changed(surprise=1), "`surprise`, which no card has"),
        (changed(question={"text": "q?"}), "lacks `question.digest`"),
        (changed(evidence={"rows": 5, "groups": 5}), "lacks `evidence.date`"),
        (changed(evidence={"rows": 5, "groups": 5, "date": "yesterday"}), "`evidence.date` must be a day"),
        (changed(evidence={"rows": -1, "groups": 5, "date": "2026-11-30"}), "`evidence.rows` must be"),
        (
            changed(
                evidence={"rows": 5, "groups": 5, "date": "2026-11-30", "candidates": [{"calibrator": "x"}]}
            ),
            r"`evidence.candidates\[0\].log_loss` must be a finite number",
        ),
    ],
)
def test_what_is_no_card_is_refused_by_field_and_value(text, why):
    with pytest.raises(ConfigError, match=f"card 'x.json'.*{why}|{why}.*card 'x.json'"):
        Calibration.from_json(text, where="card 'x.json'")


def test_parameters_of_labels_need_their_question_and_as_many_labels():
    with pytest.raises(ConfigError, match="name the question and exactly 3 labels"):
        Calibration(replace(BOUND, question=None, least_labels=3, most_labels=3), Vector(1.0, (0.0,) * 3))
    with pytest.raises(ConfigError, match="exactly 3 labels"):
        Calibration(BOUND, Vector(1.0, (0.0,) * 3))


def test_a_saved_card_comes_back_from_its_file(tmp_path):
    path = tmp_path / "new" / "card.json"
    save_calibration(CARD, path)
    assert load_calibration(path) == CARD
    assert [file.name for file in path.parent.iterdir()] == ["card.json"]


def test_a_card_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "card.json").mkdir()
    with pytest.raises(ConfigError, match=r"card.json' cannot be written"):
        save_calibration(CARD, tmp_path / "card.json")
    assert [file.name for file in tmp_path.iterdir()] == ["card.json"]


def test_a_folder_gives_its_cards_and_leaves_other_files_alone(tmp_path):
    save_calibration(CARD, tmp_path / "b.json")
    save_calibration(ONE_OF_EACH[2], tmp_path / "a.json")
    (tmp_path / "report.json").write_text('{"rows": 3}')
    (tmp_path / "notes.txt").write_text("no card")
    assert load_calibrations(tmp_path) == (ONE_OF_EACH[2], CARD)
    assert load_calibrations([CARD, tmp_path]) == (CARD, ONE_OF_EACH[2], CARD)


@pytest.mark.parametrize("wrong", ["none.json", "empty"])
def test_a_place_without_a_card_says_what_makes_one(tmp_path, wrong):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=f"{wrong}.*`yesno calibrate` makes one"):
        load_calibrations(tmp_path / wrong)


def test_a_broken_file_in_a_folder_is_named(tmp_path):
    (tmp_path / "torn.json").write_text('{"schema": "yesno.cal')
    with pytest.raises(ConfigError, match=r"torn\.json"):
        load_calibrations(tmp_path)
    (tmp_path / "torn.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"torn\.json.*UTF-8"):
        load_calibrations(tmp_path)


def test_something_else_is_no_card():
    with pytest.raises(ConfigError, match="not int"):
        load_calibrations(3)


def test_label_counts_have_bands():
    assert [band_of(n) for n in (2, 3, 5, 6, 20, 21, 256)] == [
        (2, 2), (3, 5), (3, 5), (6, 10), (11, 20), (21, 50), (51, 256),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="not 1"):
        band_of(1)


def test_a_question_is_another_when_a_prompt_would_show_another():
    questions = [
        YesNo("q?"),
        YesNo("r?"),
        YesNo("q?", yes_when="it is"),
        YesNo("q?", examples=[("x", True)]),
        Choice("q?", ["a", "b"]),
        Choice("q?", ["b", "a"]),
        Choice("q?", {"a": "one", "b": None}),
        Choice("q?", ["a", "b"], none="neither"),
        Scale("q?", ["a", "b"]),
    ]
    assert len({question_digest(question) for question in questions}) == len(questions)
    assert question_digest(YesNo("q?")) == question_digest(YesNo("q?"))
