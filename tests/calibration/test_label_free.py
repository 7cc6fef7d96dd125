"""What a model favours, on a card, without labels."""

import pytest

from tests.engine.support import both
from yesno import Choice, FakeProvider, Scale, YesNo
from yesno.calibration.label_free import label_free_card
from yesno.errors import ConfigError

QUESTION = Choice("Which?", ["one", "two"])


def biased(prompt):
    return {"A": 0.4, "B": 0.6} if "charged" in prompt else {"A": 0.2, "B": 0.8}


def flow(question=QUESTION, inputs=("N/A", "...")):
    return label_free_card(question, inputs, provider="fake", model="fake")


@both
def test_a_card_does_for_nothing_what_measuring_a_prior_in_each_run_does(shell):
    card = shell(FakeProvider(biased), prior="off").run(flow())
    assert card.calibrator.shares == pytest.approx((0.2, 0.8))
    measured = shell(FakeProvider(biased), prior="content_free").decide("charged twice", QUESTION)
    provider = FakeProvider(biased)
    answer = shell(provider, calibration=card).decide("charged twice", QUESTION)
    assert answer.probabilities == pytest.approx(measured.probabilities)
    assert answer.value == "one"
    assert (answer.calibrated, len(provider.requests)) == (True, 1)


@both
def test_a_batch_of_real_inputs_shows_it_too(shell):
    card = shell(FakeProvider(biased), prior="off").run(flow(inputs=["charged twice", "late"]))
    assert card.calibrator.shares == pytest.approx((0.3, 0.7))


@both
@pytest.mark.parametrize(
    ("question", "script"),
    [(YesNo("Is it?"), {"Yes": 0.7, "No": 0.3}), (Scale("How?", ["l", "h"]), {"A": 0.7, "B": 0.3})],
    ids=["yes_no", "scale"],
)
def test_every_type_of_question_has_favourites(shell, question, script):
    card = shell(FakeProvider(script), prior="off").run(flow(question))
    assert card.calibrator.shares == pytest.approx((0.7, 0.3))
    assert card.subject.kind == question.kind
    assert card.subject.question.text == question.text


@both
@pytest.mark.parametrize(
    ("script", "settings", "why"),
    [
        ({"Well": 0.9, "A": 0.05}, {}, r"input 1 has no answer \(low_label_mass\)"),
        ({"A": 0.9, "C": 0.1}, {}, "input 1: the provider did not list 'two'"),
        (biased, {"prior": "content_free"}, "corrected already"),
    ],
    ids=["undecided", "unlisted", "corrected"],
)
def test_what_is_no_reading_is_no_prior(shell, script, settings, why):
    model = shell(FakeProvider(script), **{"prior": "off", **settings})
    with pytest.raises(ConfigError, match=why):
        model.run(flow())


@both
def test_no_input_is_no_prior(shell):
    with pytest.raises(ConfigError, match="at least one input"):
        shell(FakeProvider(biased)).run(flow(inputs=[]))


@both
def test_it_asks_once_of_each_input(shell):
    provider = FakeProvider(biased)
    shell(provider, prior="off").run(flow(inputs=["a", "b", "c"]))
    assert len(provider.requests) == 3
