"""Which calibrator is chosen, and when none is."""

import math
import random
from dataclasses import asdict

import pytest

from tests.calibration.calibrators.support import options, yes_no
from yesno.calibration import Subject, fit
from yesno.calibration.calibrators import Dirichlet, Identity, Platt, Temperature, Vector
from yesno.errors import ConfigError, DataError, TooFewLabels


def names(result):
    return [one.calibrator for one in result.candidates]


@pytest.mark.parametrize(
    ("count", "tried"),
    [
        (50, ["temperature", "platt"]),
        (299, ["temperature", "platt"]),
        (300, ["temperature", "platt", "beta"]),
        (1000, ["temperature", "platt", "beta", "isotonic"]),
    ],
)
def test_the_number_of_labels_says_what_is_tried(count, tried):
    assert names(fit(*yes_no(count, lambda z: z), kind="yes_no")) == tried


def test_labels_of_one_question_may_have_parameters_of_their_own():
    rows = options(60, lambda z: z)
    assert names(fit(*rows, kind="choice", same_question=True)) == [
        "prior",
        "temperature",
        "platt",
        "vector",
        "dirichlet",
    ]
    assert names(fit(*rows, kind="choice")) == ["temperature", "platt"]
    assert "ordinal" in names(fit(*rows, kind="scale", same_question=True))


def test_a_matrix_of_more_labels_than_rows_can_fill_is_not_tried():
    rows = options(60, lambda z: z, size=21)
    assert "dirichlet" not in names(fit(*rows, kind="choice", same_question=True))
    assert "vector" in names(fit(*rows, kind="choice", same_question=True))


def test_labels_that_are_mistaken_for_each_other_are_mended_and_told_apart():
    rows = options(200, lambda z: [z[0], z[2], z[1]])
    result = fit(*rows, kind="choice", same_question=True)
    assert isinstance(result.calibrator, Dirichlet)
    assert result.after < result.before - 0.5


def test_copies_of_a_row_do_not_make_a_matrix_surer():
    read, labels = options(60, lambda z: [v / 4 for v in z], size=5)
    copies = (read * 4, labels * 4)
    groups = [*range(60)] * 4
    settings = {"kind": "choice", "same_question": True, "among": ["dirichlet"]}
    once, grouped = fit(read, labels, **settings), fit(*copies, groups=groups, **settings)
    torn = fit(*copies, **settings)
    assert torn.candidates[0].log_loss < once.before - 0.1  # copies on both sides of a split look like a gain
    assert grouped.candidates[0].log_loss > torn.candidates[0].log_loss + 0.1


def test_an_overconfident_model_is_made_less_sure():
    result = fit(*yes_no(400, lambda z: z / 3), kind="yes_no")
    assert isinstance(result.calibrator, Temperature | Platt)
    assert result.after < result.before
    assert result.chosen.gap.high < 0
    assert "lowers the log loss" in result.why


def test_a_calibrated_model_is_left_alone():
    result = fit(*yes_no(400, lambda z: z), kind="yes_no")
    assert result.calibrator == Identity()
    assert result.after == result.before
    assert result.chosen is None
    assert "kept as they are" in result.why


def test_a_gain_that_chance_could_make_is_refused():
    refused = 0
    for seed in range(10):
        result = fit(*yes_no(60, lambda z: z, seed=seed), kind="yes_no", among=["platt"])
        refused += result.calibrator == Identity()
    assert refused >= 9


def test_a_favourite_option_is_found_where_all_rows_ask_one_question():
    rows = options(400, lambda z: [z[0] + 1.5, z[1], z[2] - 1.5])
    result = fit(*rows, kind="choice", same_question=True)
    assert isinstance(result.calibrator, Vector)
    first, _, last = result.calibrator.biases
    assert first > 0.7 > -0.7 > last


def test_every_candidate_has_its_loss_and_interval():
    result = fit(*yes_no(300, lambda z: z / 2), kind="yes_no")
    for one in result.candidates:
        assert one.gap.low <= one.gap.value <= one.gap.high
        assert one.log_loss == pytest.approx(result.before + one.gap.value)


def test_the_same_rows_give_the_same_result():
    rows = yes_no(120, lambda z: z / 2)
    assert fit(*rows, kind="yes_no") == fit(*rows, kind="yes_no")
    assert fit(*rows, kind="yes_no", seed=1).candidates != fit(*rows, kind="yes_no").candidates


def test_copies_of_one_text_do_not_count_as_evidence():
    probabilities, labels = yes_no(30, lambda z: z / 2)
    many, truth, groups = probabilities * 10, labels * 10, [*range(30)] * 10
    alone = fit(many, truth, kind="yes_no", among=["platt"]).candidates[0].gap
    grouped = fit(many, truth, kind="yes_no", groups=groups, among=["platt"])
    gap = grouped.candidates[0].gap
    assert grouped.groups == 30
    assert gap.high - gap.low > 2 * (alone.high - alone.low)


def test_rows_of_a_group_are_never_on_both_sides_of_a_split():
    from yesno.calibration.fitting import FOLDS, _folds

    groups = [random.Random(3).randrange(40) for _ in range(1)] + [i % 40 for i in range(300)]
    folds = _folds(groups, seed=0)
    homes = {}
    for group, fold in zip(groups, folds, strict=True):
        assert homes.setdefault(group, fold) == fold
    sizes = [folds.count(fold) for fold in range(FOLDS)]
    assert max(sizes) - min(sizes) <= 8


def test_the_losses_are_those_of_what_is_applied_to_answers():
    probabilities, labels = yes_no(100, lambda z: z)
    result = fit(probabilities, labels, kind="yes_no")
    by_hand = [-math.log(p if label else 1 - p) for p, label in zip(probabilities, labels, strict=True)]
    assert result.before == pytest.approx(sum(by_hand) / 100)


def test_rows_of_different_numbers_of_options_are_fitted_together():
    three, labels = options(40, lambda z: [v / 2 for v in z])
    four, more = options(40, lambda z: [v / 2 for v in z], size=4, seed=2)
    result = fit([*three, *four], [*labels, *more], kind="choice", among=["temperature"])
    assert len(result.candidates) == 1
    assert result.rows == 80


def test_a_card_says_what_it_was_fitted_to():
    result = fit(*yes_no(80, lambda z: z / 4), kind="yes_no")
    card = result.card(Subject("fake", "fake", "logprobs", "x#1", "yes_no"), data="f" * 64)
    assert card.calibrator == result.calibrator
    told = asdict(card.evidence)
    assert (told["rows"], told["folds"], told["data"]) == (80, 10, "f" * 64)
    assert (told["log_loss_before"], told["log_loss_after"]) == (
        round(result.before, 6),
        round(result.after, 6),
    )


def with_row(number, probability=None, label=None):
    probabilities, labels = yes_no(60, lambda z: z)
    if probability is not None:
        probabilities[number - 1] = probability
    if label is not None:
        labels[number - 1] = label
    return probabilities, labels


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (with_row(7, probability=math.nan), "row 7: nan"),
        (with_row(7, probability=1.5), "row 7: 1.5 .*from 0 to 1"),
        (with_row(60, probability="much"), "row 60: 'much'"),
        (with_row(3, label=1), "row 3: .*True or False, not 1"),
        (with_row(3, label="maybe"), "row 3: .*'maybe'"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(rows, why):
    with pytest.raises(DataError, match=why):
        fit(*rows, kind="yes_no")


def test_a_label_outside_the_options_is_named():
    probabilities, labels = options(60, lambda z: z)
    labels[9] = 3
    with pytest.raises(DataError, match="row 10: label 3 is not among the options") as caught:
        fit(probabilities, labels, kind="choice")
    assert (caught.value.row, caught.value.value) == (10, 3)


def test_shares_that_do_not_add_up_are_named():
    probabilities, labels = options(60, lambda z: z)
    probabilities[1] = [0.5, 0.1, 0.1]
    with pytest.raises(DataError, match=r"row 2: .*add up to 0.7"):
        fit(probabilities, labels, kind="scale")


def test_labels_that_are_all_the_same_are_refused():
    with pytest.raises(DataError, match="all 60 rows have the same label, True"):
        fit([0.5] * 60, [True] * 60, kind="yes_no")


@pytest.mark.parametrize("count", [0, 5, 49])
def test_too_few_labels_are_refused_with_how_many_it_takes(count):
    with pytest.raises(TooFewLabels, match=f"{count} labels are too few.*takes 50") as caught:
        fit([0.5] * count, [True] * count, kind="yes_no")
    assert (caught.value.needed, caught.value.given) == (50, count)


def test_too_few_groups_are_refused():
    with pytest.raises(TooFewLabels, match="groups"):
        fit(*yes_no(60, lambda z: z), kind="yes_no", groups=[i % 3 for i in range(60)])


def test_lengths_must_agree():
    with pytest.raises(DataError, match="60 rows of probabilities and 59 labels"):
        fit([0.5] * 60, [True] * 59, kind="yes_no")
    with pytest.raises(DataError, match="60 rows and 59 groups"):
        fit(*yes_no(60, lambda z: z), kind="yes_no", groups=[1] * 59)


def test_calibrators_that_labels_cannot_fit_are_refused_by_name():
    for wrong in ("identity", "magic"):
        with pytest.raises(ConfigError, match=f"{wrong!r} cannot be fitted"):
            fit(*yes_no(60, lambda z: z), kind="yes_no", among=[wrong])
    for among in (["isotonic"], ["prior", "vector"]):
        with pytest.raises(
            ConfigError, match=f"none of the calibrators {', '.join(among)} may be fitted to 60"
        ):
            fit(*yes_no(60, lambda z: z), kind="yes_no", among=among)


def test_numpy_rows_are_taken_as_they_are():
    import numpy as np

    probabilities, labels = yes_no(60, lambda z: z)
    plain = fit(probabilities, labels, kind="yes_no")
    assert fit(np.asarray(probabilities), np.asarray(labels), kind="yes_no") == plain
