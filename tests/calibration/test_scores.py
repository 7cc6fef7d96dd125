import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from yesno.calibration.scores import (
    accuracy,
    brier,
    brier_parts,
    brier_scores,
    log_loss,
    log_losses,
    ranked_probability_score,
    ranked_probability_scores,
)
from yesno.errors import ConfigError, DataError

P = [0.9, 0.8, 0.3, 0.1, 0.6]
LABELS = [1, 0, 0, 1, 1]


def rows(n=400, options=4, seed=0):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(options), n), random.integers(options, size=n), random.random(n)


def test_yes_no_scores_equal_those_of_scikit_learn_with_weights_too():
    shares, _, weights = rows(options=2)
    p, labels = shares[:, 0], weights > 0.4
    assert log_loss(p, labels) == pytest.approx(metrics.log_loss(labels, p))
    assert log_loss(p, labels, weights=weights) == pytest.approx(
        metrics.log_loss(labels, p, sample_weight=weights)
    )
    assert brier(p, labels, weights=weights) == pytest.approx(
        metrics.brier_score_loss(labels, p, sample_weight=weights)
    )
    assert accuracy(p, labels) == pytest.approx(metrics.accuracy_score(labels, p >= 0.5))


def test_scores_of_options_equal_those_of_scikit_learn():
    shares, labels, weights = rows()
    assert log_loss(shares, labels, weights=weights) == pytest.approx(
        metrics.log_loss(labels, shares, sample_weight=weights)
    )
    assert brier(shares, labels) == pytest.approx(
        metrics.brier_score_loss(labels, shares, scale_by_half=False)
    )
    assert accuracy(shares, labels) == pytest.approx(metrics.accuracy_score(labels, shares.argmax(1)))


def test_scores_equal_what_is_worked_out_by_hand():
    assert log_losses([0.5, 0.25], [1, 0]) == pytest.approx([math.log(2), math.log(4 / 3)])
    assert brier_scores([0.9, 0.2], [1, 1]) == pytest.approx([0.01, 0.64])
    assert brier_scores([[0.7, 0.2, 0.1]], [0]) == pytest.approx([0.09 + 0.04 + 0.01])
    # cumulative 0.2, 0.7 against 0, 1
    assert ranked_probability_scores([[0.2, 0.5, 0.3]], [1]) == pytest.approx([(0.04 + 0.09) / 2])
    assert ranked_probability_scores([[0.2, 0.5, 0.3]], [1], normalise=False) == pytest.approx([0.13])


def test_a_certain_mistake_is_an_infinite_log_loss_unless_a_floor_is_named():
    assert log_losses([0.0, 1.0, 1.0], [1, 0, 1]).tolist() == [math.inf, math.inf, 0.0]
    assert log_loss([0.0, 1.0], [1, 1]) == math.inf
    assert log_loss([0.0, 1.0], [1, 1], weights=[0, 1]) == 0.0
    assert log_losses([0.0, 1.0], [1, 1], floor=1e-6) == pytest.approx([-math.log(1e-6), -math.log1p(-1e-6)])
    assert log_losses([[0.0, 1.0]], [0], floor=0.01) == pytest.approx([-math.log(0.01)])


def test_two_options_score_as_yes_no_does_but_for_the_double_brier_score():
    p = np.asarray(P)
    both = np.column_stack([1 - p, p])
    assert log_losses(both, LABELS) == pytest.approx(log_losses(p, LABELS))
    assert brier_scores(both, LABELS) == pytest.approx(2 * brier_scores(p, LABELS))
    assert ranked_probability_scores(both, LABELS) == pytest.approx(brier_scores(p, LABELS))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 1000))
def test_a_label_of_shares_scores_as_the_mean_over_its_raters(raters, seed):
    shares = np.random.default_rng(seed).dirichlet(np.ones(4))
    soft = np.bincount(raters, minlength=4) / len(raters)
    each = np.tile(shares, (len(raters), 1))
    for score in (log_loss, brier, ranked_probability_score):
        assert score([shares], [soft]) == pytest.approx(score(each, raters), abs=1e-9)
    yes = np.asarray([rater > 1 for rater in raters])
    for score in (log_loss, brier):
        assert score([shares[0]], [yes.mean()]) == pytest.approx(
            score(np.full(len(yes), shares[0]), yes), abs=1e-9
        )


@given(st.integers(0, 10_000))
def test_no_other_distribution_beats_that_of_the_raters(seed):
    random = np.random.default_rng(seed)
    truth, other = random.dirichlet(np.ones(3), 2)
    for score in (log_loss, brier, ranked_probability_score):
        assert score([truth], [truth]) <= score([other], [truth]) + 1e-12


def test_an_option_that_a_row_does_not_have_changes_no_sum():
    narrow, wide = [[0.7, 0.3]], [[0.7, 0.3, 0.0]]
    for score in (log_losses, brier_scores):
        assert score(narrow, [1]) == pytest.approx(score(wide, [1]))
    assert ranked_probability_scores(narrow, [1], normalise=False) == pytest.approx(
        ranked_probability_scores(wide, [1], normalise=False)
    )


def test_the_parts_of_a_brier_score_add_up_and_equal_an_isotonic_fit_of_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    random = np.random.default_rng(3)
    p = random.random(500).round(2)
    labels = random.random(500) < p**2
    parts = brier_parts(p, labels)
    fitted = IsotonicRegression().fit_transform(p, labels.astype(float))
    rate = labels.mean()
    assert parts.score == pytest.approx(brier(p, labels))
    assert parts.score == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty)
    assert parts.uncertainty == pytest.approx(rate * (1 - rate))
    assert parts.reliability == pytest.approx(parts.score - np.mean((fitted - labels) ** 2))
    assert parts.reliability > 0.01


def test_the_parts_of_a_brier_score_take_weights_as_repeated_rows():
    counts = [3, 0, 1, 2, 1]
    repeated = [np.repeat(values, counts) for values in (P, LABELS)]
    weighted, plain = brier_parts(P, LABELS, weights=counts), brier_parts(*repeated)
    assert [weighted.reliability, weighted.resolution] == pytest.approx([plain.reliability, plain.resolution])


def test_a_constant_model_has_no_resolution_and_a_calibrated_one_no_reliability_term():
    assert brier_parts([0.3] * 4, [1, 0, 0, 0]).resolution == pytest.approx(0)
    parts = brier_parts([0.25] * 4 + [0.5] * 2, [1, 0, 0, 0, 1, 0])
    assert parts.reliability == pytest.approx(0)
    assert parts.resolution > 0


@pytest.mark.parametrize(
    ("p", "labels", "row", "words"),
    [
        ([0.2, float("nan")], [0, 1], 2, "NaN or None"),
        ([0.2, None], [0, 1], 2, "NaN or None"),
        ([0.2, 1.2], [0, 1], 2, r"between 0 and 1.*1\.2"),
        ([-0.1, 0.2], [0, 1], 1, r"-0\.1"),
        ([0.2, 0.3], [0, 2], 2, r"a label must be yes \(1\) or no \(0\)"),
        ([0.2, 0.3], [0, float("nan")], 2, "NaN or None"),
        ([0.2, 0.3], ["no", "yes"], 1, "must be numbers, not 'no'"),
        ([0.2, "high"], [0, 1], 2, "must be numbers, not 'high'"),
        ([[0.5, 0.5], [0.7, 0.7]], [0, 1], 2, r"sum to 1.*1\.4"),
        ([[0.5, 0.5], [0.5, 0.5]], [0, 2], 2, r"one of 2 options, from 0 to 1, not 2\.0"),
        ([[0.5, 0.5], [0.5, 0.5]], [-1, 0], 1, "one of 2 options"),
        ([[0.5, 0.5], [1.0]], [0, 0], 2, "as many numbers in each row"),
        ([[0.5, 0.5]], [[0.5, 0.9]], 1, "sum to 1"),
    ],
)
def test_a_row_that_is_not_as_it_should_be_is_named(p, labels, row, words):
    with pytest.raises(DataError, match=words) as caught:
        log_loss(p, labels)
    assert caught.value.row == row
    assert str(caught.value).startswith(f"row {row}: ")


@pytest.mark.parametrize(
    ("p", "labels", "words"),
    [
        ([0.2, 0.3], [1], "1 `labels` for 2 rows"),
        ([], [], "at least two options"),
        ([[0.2], [0.3]], [0, 0], "at least two options"),
        ([[0.5, 0.5]], [[0.2, 0.3, 0.5]], "3 options, the probabilities 2"),
        ([0.5], [[0.5, 0.5]], "one per row"),
        (0.5, [1], "one number per row"),
        (None, [1], "one number per row"),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(p, labels, words):
    with pytest.raises(DataError, match=words) as caught:
        brier(p, labels)
    assert caught.value.row is None


def test_a_text_in_the_wrong_column_is_not_repeated_in_full():
    text = "I was charged twice and " * 20
    with pytest.raises(DataError, match="row 1: `labels` must be numbers, not 'I was charged") as caught:
        log_loss([0.2], [text])
    assert len(str(caught.value)) < 100


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError, match="each level"):
        ranked_probability_score([0.2], [1])
    with pytest.raises(DataError, match="all 2 labels are yes"):
        brier_parts([0.2, 0.4], [1, 1])
    with pytest.raises(DataError, match="one option of a choice at a time"):
        brier_parts([[0.5, 0.5]], [1])
    with pytest.raises(ConfigError, match="floor"):
        log_loss([0.2], [1], floor=2)
    with pytest.raises(DataError, match=r"row 2: a weight must be 0 or more, not -1\.0"):
        log_loss([0.2, 0.3], [1, 0], weights=[1, -1])
    with pytest.raises(DataError, match="all weights are 0"):
        log_loss([0.2, 0.3], [1, 0], weights=[0, 0])
    with pytest.raises(DataError, match="3 `weights` for 2 rows"):
        log_loss([0.2, 0.3], [1, 0], weights=[1, 1, 1])


def test_shares_rounded_to_two_decimals_are_taken_as_they_are():
    assert log_loss([[0.33, 0.33, 0.33]], [0]) == pytest.approx(-math.log(0.33))
