"""Cards from the rows of runs."""

import math
from dataclasses import replace

import pytest

from tests.calibration.calibrators.support import options, yes_no
from yesno import DecisionModel, FakeProvider, YesNo
from yesno.bench.fitting import cards_of
from yesno.bench.rows import Row
from yesno.calibration.calibrators import Identity, Platt, Temperature, Vector
from yesno.calibration.subjects import question_digest
from yesno.errors import ConfigError, DataError, TooFewLabels
from yesno.templates.sets import TemplateSet

QUESTION = YesNo("Is it?")
HASH = TemplateSet.load("default").template("yes_no").digest


def row(number, p, right, /, **fields):
    told = {
        "set": "spam",
        "id": f"i{number}",
        "group": f"i{number}",
        "data": "d" * 64,
        "model": "fake:fake",
        "template": "default",
        "template_hash": HASH,
        "kind": "yes_no",
        "options": ("yes", "no"),
        "label": 0 if right else 1,
        "asked": question_digest(QUESTION),
        "outcome": "answer",
        "probabilities": (p, 1 - p),
        "method": "logprobs",
    }
    return Row(**{**told, **fields})


def rows(count=120, true_odds=lambda z: z / 3, **fields):
    pairs = zip(*yes_no(count, true_odds), strict=True)
    return [row(i, p, label, **fields) for i, (p, label) in enumerate(pairs)]


def choice_rows(count=300, asked=None):
    found = zip(*options(count, lambda z: [z[0] + 1.5, z[1], z[2] - 1.5]), strict=True)
    return [
        row(i, 0.5, True, kind="choice", options=("a", "b", "c"), label=label, probabilities=tuple(shares),
            asked=asked(i) if asked else "aaaa")
        for i, (shares, label) in enumerate(found)
    ]  # fmt: skip


def test_a_card_is_for_the_model_template_method_and_question_of_its_rows():
    made = cards_of(rows(), questions={question_digest(QUESTION): "Is it?"})
    (one,) = made.fitted
    subject = one.card.subject
    assert (subject.provider, subject.model, subject.method, subject.kind) == (
        "fake", "fake", "logprobs", "yes_no",
    )  # fmt: skip
    assert subject.template == f"default/yes_no#{HASH}"
    assert (subject.question.text, subject.question.digest) == ("Is it?", question_digest(QUESTION))
    assert (subject.prior, subject.orders) == (False, False)
    assert (one.card.evidence.data, one.card.evidence.sets) == ("d" * 64, ("spam",))
    assert isinstance(one.card.calibrator, Platt | Temperature)


def test_the_card_calibrates_the_answers_of_that_model():
    (one,) = cards_of(rows()).fitted
    model = DecisionModel(FakeProvider({"Yes": 0.9, "No": 0.1}), calibration=one.card)
    answer = model.decide("x", QUESTION)
    assert answer.calibrated
    assert answer.probability < 0.9
    assert not model.decide("x", YesNo("Is it not?")).calibrated


def test_the_order_in_which_rows_came_changes_nothing():
    assert cards_of(rows()[::-1]).fitted[0].fit == cards_of(rows()).fitted[0].fit


def test_the_errors_are_those_of_rows_that_were_not_fitted_to():
    (one,) = cards_of(rows(400)).fitted
    assert one.ece_after < one.noise.high < one.ece_before
    assert len(one.fit.held_out) == 400


def test_a_model_that_is_calibrated_gets_a_card_that_changes_nothing():
    (one,) = cards_of(rows(200, lambda z: z)).fitted
    assert one.card.calibrator == Identity()
    assert one.ece_after == one.ece_before


def test_models_templates_methods_and_sets_have_cards_of_their_own():
    found = [
        *rows(60),
        *rows(60, model="fake:other"),
        *rows(60, template_hash="00000000"),
        *rows(60, method="sampled"),
        *rows(60, set="ham", asked="0123456789ab"),
        *rows(60, flags=("prior",)),
    ]
    made = cards_of(found).fitted
    assert len(made) == len({one.card.subject for one in made}) == 6


def test_rows_of_one_question_may_have_parameters_for_each_label():
    (one,) = cards_of(choice_rows()).fitted
    assert isinstance(one.card.calibrator, Vector)
    assert (one.card.subject.least_labels, one.card.subject.most_labels) == (3, 3)


@pytest.mark.parametrize("how", ["several", "any"])
def test_rows_of_several_questions_or_any_have_one_card_for_all(how):
    if how == "several":
        (one,) = cards_of(choice_rows(asked=str)).fitted
    else:
        (one,) = cards_of(choice_rows(), any_question=True).fitted
    assert one.card.subject.question is None
    assert (one.card.subject.least_labels, one.card.subject.most_labels) == (3, 5)
    assert not one.card.calibrator.by_label


def test_the_name_of_a_model_in_a_run_is_looked_up():
    (one,) = cards_of(rows(60, model="small"), models={"small": "openai:gpt-5.4-mini"}).fitted
    assert (one.card.subject.provider, one.card.subject.model) == ("openai", "gpt-5.4-mini")


def test_answers_of_a_decision_endpoint_have_no_template_and_no_zero():
    pairs = [(1.0, True), (0.0, False), (0.93, True), (1.0, False)] * 20
    native = [row(i, p, label, method="native", flags=("rounded",)) for i, (p, label) in enumerate(pairs)]
    (one,) = cards_of(native).fitted
    assert one.card.subject.template is None
    assert one.fit.before < -math.log(0.002)


def test_rows_without_an_answer_are_left_out_and_counted():
    nothing = [row(900 + i, 0.5, True, outcome="undecided", probabilities=None) for i in range(7)]
    made = cards_of([*rows(60), *nothing])
    assert (made.fitted[0].fit.rows, made.unanswered) == (60, 7)
    with pytest.raises(DataError, match="none of the 7 rows has an answer"):
        cards_of(nothing)


def test_too_few_rows_of_one_kind_do_not_spoil_the_others():
    made = cards_of([*rows(60), *rows(5, method="sampled")])
    assert len(made.fitted) == 1
    (skipped,) = made.skipped
    assert (skipped.rows, skipped.subject.method) == (5, "sampled")
    assert "5 labels are too few" in skipped.why


def test_too_few_rows_in_all_are_an_error():
    with pytest.raises(TooFewLabels, match="5 labels are too few"):
        cards_of(rows(5))
    with pytest.raises(TooFewLabels, match=r"no card can be made: spam .*sampled.*5 labels"):
        cards_of([*rows(5), *rows(5, method="sampled")])


def test_labels_of_one_class_are_an_error():
    with pytest.raises(DataError, match="all 60 rows have the same label, True"):
        cards_of([replace(one, label=0) for one in rows(60)])


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"calibrated": True}, r"row 1 \(spam · i0\) was calibrated already"),
        ({"method": None}, "does not say how its probabilities were got"),
        ({"template_hash": None}, "with which template it was asked"),
        ({"model": "mine"}, "the model 'mine', which names no provider"),
        ({"asked": None}, "do not say which question was asked"),
    ],
)
def test_rows_that_do_not_say_what_they_are_of_are_refused(fields, why):
    with pytest.raises(ConfigError, match=why):
        cards_of(rows(60, **fields))


def test_rows_that_do_not_say_their_question_still_make_a_card_for_any():
    (one,) = cards_of(rows(60, asked=None), any_question=True).fitted
    assert one.card.subject.question is None


def test_copies_in_a_group_stay_together():
    copies = [replace(one, id=f"{one.id}-{n}") for n in range(4) for one in rows(60)]
    (one,) = cards_of(copies).fitted
    assert (one.fit.rows, one.fit.groups) == (240, 60)


def test_a_second_run_shows_how_much_answers_differ():
    first = rows(60)
    moved = [replace(one, probabilities=(p := max(0.0, one.probabilities[0] - 0.02), 1 - p)) for one in first]
    (one,) = cards_of(first, again=moved).fitted
    assert one.card.evidence.repeat_sd == pytest.approx(0.02 / math.sqrt(2), abs=1e-3)
    assert cards_of(first).fitted[0].card.evidence.repeat_sd is None


def test_a_second_run_may_name_its_model_and_strategy_otherwise():
    again = rows(60, model="small", strategy="logprobs")
    named = {"small": rows(1)[0].model}
    (one,) = cards_of(rows(60), again=again, again_models=named).fitted
    assert one.card.evidence.repeat_sd == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"template_hash": "ffff0000"},
        {"method": "sampled"},
        {"model": "fake:other"},
        {"set": "mail"},
        {"outcome": "undecided", "probabilities": None},
    ],
)
def test_a_second_run_that_asked_otherwise_is_refused_and_not_left_out_in_silence(fields):
    with pytest.raises(ConfigError, match="no row of the second run"):
        cards_of(rows(60), again=rows(60, **fields))


def test_a_second_run_of_other_items_is_refused():
    other = [replace(one, data="e" * 64) for one in rows(60)]
    with pytest.raises(ConfigError, match="different versions of set 'spam'"):
        cards_of(rows(60), again=other)
