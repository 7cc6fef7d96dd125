import tracemalloc

import numpy as np
import pytest
from scipy import stats

from yesno.calibration.ece import debiased_ece, smooth_ece
from yesno.calibration.intervals import (
    Interval,
    Resampling,
    difference,
    interval,
    mean_difference,
    mean_interval,
)
from yesno.calibration.ranking import auroc, average_precision
from yesno.calibration.scores import accuracy, brier, log_loss, ranked_probability_score
from yesno.errors import ConfigError, DataError, TooFewLabels


def rows(n=200, seed=0):
    random = np.random.default_rng(seed)
    p = random.random(n)
    return p, random.random(n) < p


@pytest.mark.parametrize(
    "score", [log_loss, brier, accuracy, auroc, average_precision, debiased_ece, smooth_ece]
)
def test_weights_are_counts_of_rows(score):
    p, labels = rows(60)
    counts = np.random.default_rng(2).integers(0, 3, size=60)
    if score is debiased_ece:  # the bins are those of the rows, so give each row a bin
        p = p.round(1)
    repeated = score(np.repeat(p, counts), np.repeat(labels, counts))
    assert score(p, labels, weights=counts) == pytest.approx(repeated, abs=1e-6)


def test_an_interval_of_a_mean_agrees_with_theory_and_with_scipy():
    values = np.random.default_rng(0).normal(3, 2, size=400)
    ours = mean_interval(values, draws=3000)
    half = 1.96 * values.std() / 20
    assert ours.value == pytest.approx(values.mean())
    assert [ours.low, ours.high] == pytest.approx([ours.value - half, ours.value + half], abs=0.02)
    skewed = np.random.default_rng(1).exponential(size=60)
    ours = mean_interval(skewed, draws=10_000, method="bca")
    theirs = stats.bootstrap(
        (skewed,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(5)
    ).confidence_interval
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=0.03)
    assert ours.high > mean_interval(skewed, draws=4000).high


def test_rows_of_one_group_widen_the_interval_because_they_stay_together():
    p, labels = rows(100)
    copies = 9
    p, labels = np.repeat(p, copies), np.repeat(labels, copies)
    groups = np.repeat(np.arange(100), copies)
    apart = interval(log_loss, p, labels)
    together = interval(log_loss, p, labels, groups=groups)
    once = interval(log_loss, p[::copies], labels[::copies])
    assert (together.low, together.high) == pytest.approx((once.low, once.high))
    assert together.high - together.low > 2 * (apart.high - apart.low)
    assert (together.n, together.groups) == (900, 100)


def test_groups_may_have_any_names_and_any_order():
    p, labels = rows(40)
    names = [f"text {number % 8}" for number in range(40)]
    one = interval(brier, p, labels, groups=names)
    order = np.random.default_rng(4).permutation(40)
    other = interval(brier, p[order], labels[order], groups=[names[place] for place in order])
    assert (one.low, one.high, one.groups) == (pytest.approx(other.low), pytest.approx(other.high), 8)


def test_strata_keep_their_weight():
    values = [0.0] * 50 + [1.0] * 50
    strata = ["a"] * 50 + ["b"] * 50
    found = mean_interval(values, strata=strata)
    assert (found.low, found.high) == (0.5, 0.5)
    assert mean_interval(values).low < 0.45


def test_a_group_in_two_strata_is_refused_by_its_row():
    with pytest.raises(DataError, match="row 1: its group lies in two strata"):
        mean_interval(range(6), groups=[0, 1, 2, 3, 4, 0], strata=["a"] * 5 + ["b"])


def test_a_paired_difference_shows_what_two_intervals_do_not():
    p, labels = rows(600)
    worse = p**1.5
    found = difference(log_loss, p, worse, labels, floor=1e-6)
    one, other = (interval(log_loss, values, labels, floor=1e-6) for values in (p, worse))
    assert found.value == pytest.approx(one.value - other.value)
    assert found.high - found.low < 0.8 * (one.high - one.low)
    assert found.high < 0
    assert found.excludes_zero
    assert one.high > other.low
    assert not difference(log_loss, p, p, labels).excludes_zero


def test_differences_of_means_take_one_number_per_row():
    found = mean_difference([3.0] * 10, [1.0] * 10)
    assert (found.value, found.low, found.high, found.excludes_zero) == (2.0, 2.0, 2.0, True)
    with pytest.raises(DataError, match="3 and 2 numbers"):
        mean_difference([1, 2, 3], [1, 2])


def test_the_same_seed_gives_the_same_interval_and_another_one_another():
    p, labels = rows()
    assert interval(auroc, p, labels) == interval(auroc, p, labels)
    assert interval(auroc, p, labels).low != interval(auroc, p, labels, seed=2).low


def test_resamples_without_a_value_are_left_out():
    found = interval(auroc, [0.9, 0.1, 0.2, 0.3, 0.4, 0.5], [1, 0, 0, 0, 0, 0])
    assert (found.low, found.high) == (1.0, 1.0)


def test_an_infinite_loss_has_an_infinite_end_not_a_missing_one():
    found = interval(log_loss, [0.0] + [0.9] * 9, [1] * 10)
    assert found.value == found.high == np.inf
    assert found.low == pytest.approx(-np.log(0.9))


def test_a_function_of_the_callers_gets_weights():
    def share_above(p, labels, *, weights, cut):
        return np.average(np.asarray(p) > cut, weights=weights)

    found = interval(share_above, [0.1, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 1, 1], cut=0.5)
    assert found.value == pytest.approx(0.6)
    assert found.low < 0.6 < found.high


def test_intervals_of_scores_of_options_work():
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(3), 50)
    found = interval(ranked_probability_score, shares, random.integers(3, size=50))
    assert found.low < found.value < found.high
    assert found.n == 50


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_ninety_percent_intervals_hold_the_truth_about_nine_times_in_ten(method):
    random = np.random.default_rng(7)
    held = 0
    for number in range(120):
        values = random.exponential(size=80)
        found = mean_interval(values, level=0.9, draws=150, seed=number, method=method)
        held += found.low <= 1 <= found.high
    assert 97 <= held <= 117


def test_intervals_read_well():
    assert str(Interval(0.4821, 0.4512, 0.5139, 0.95, 200, 50)) == "0.482 (0.451 to 0.514)"
    assert str(mean_difference([0.5] * 9, [0.75] * 9)) == "-0.250 (-0.250 to -0.250)"


def test_too_few_groups_say_so_and_how_many_would_do():
    with pytest.raises(TooFewLabels, match=r"2 groups .* at least 5") as caught:
        interval(log_loss, *rows(20), groups=["a", "b"] * 10)
    assert (caught.value.needed, caught.value.given) == (5, 2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"level": 95}, "`level`"),
        ({"level": 1.0}, "`level`"),
        ({"draws": 0}, "`draws`"),
        ({"method": "basic"}, "'percentile' or 'bca', not 'basic'"),
        ({"groups": ["a"]}, "1 `groups` for 20 rows"),
        ({"strata": ["a"]}, "1 `strata` for 20 rows"),
    ],
)
def test_impossible_settings_are_refused(settings, words):
    with pytest.raises(ConfigError, match=words):
        interval(log_loss, *rows(20), **settings)


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [1.0]], 0.5, None])
def test_what_is_no_list_of_rows_is_refused(rows):
    with pytest.raises(DataError):
        interval(log_loss, rows, [0, 1])
    with pytest.raises(DataError):
        difference(log_loss, rows, rows, [0, 1])


def test_memory_holds_a_few_columns_and_not_all_resamples():
    p, labels = rows(20_000)
    groups = np.arange(20_000) // 4
    for score in (log_loss, auroc, smooth_ece):
        tracemalloc.start()
        interval(score, p, labels, groups=groups, draws=100)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 60 * p.nbytes, score.__name__


def test_models_with_other_numbers_of_rows_are_not_compared():
    with pytest.raises(DataError, match="2 and 1 rows"):
        difference(log_loss, [0.1, 0.2], [0.1], [0, 1])


def test_a_resample_is_a_count_per_row():
    drawn = list(Resampling(12, groups=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], draws=50))
    assert len(drawn) == 50
    for weights in drawn:
        assert weights.sum() == 12
        assert (weights[::2] == weights[1::2]).all()
    assert any(weights.max() > 2 for weights in drawn)
