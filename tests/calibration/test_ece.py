import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.calibration.ece import debiased_ece, equal_mass_bins, noise_of, smooth_ece
from yesno.errors import ConfigError, DataError

P = (np.arange(60) * 37 % 60 + 0.5) / 60
LABELS = (np.arange(60) * 17 % 60 + 0.5) / 60 < 0.3 + P * 0.4


def smoothed_by_images(p, residuals, width):
    """Return the integral of the absolute smoothed residuals, by the method of images."""
    grid = (np.arange(2000) + 0.5) / 2000
    total = np.zeros_like(grid)
    for period in range(-4, 5):
        for centres in (2 * period + p, 2 * period - p):
            total += np.exp(-(((grid[:, None] - centres) / width) ** 2) / 2) @ residuals
    return np.abs(total).mean() / (len(p) * width * np.sqrt(2 * np.pi))


def test_the_smooth_error_equals_that_of_the_authors_package():
    # relplot 1.0.3 with reflected Gaussian kernels, which finds the width to 0.001
    assert smooth_ece(P, LABELS) == pytest.approx(0.14379, abs=0.0005)


def test_the_smooth_error_is_the_width_of_the_kernel_that_gives_it():
    width = smooth_ece(P, LABELS)
    assert smoothed_by_images(P, LABELS - P, width) == pytest.approx(width, abs=2e-4)


def test_the_debiased_error_equals_that_of_the_package_of_kumar_and_others():
    # uncertainty-calibration 0.1.4: normal_debiased_ce of 10 equal bins, power 1, 200,000 resamples
    assert debiased_ece(P, LABELS, bins=10) == pytest.approx(0.14110, abs=2e-4)


def test_what_is_worked_out_by_hand():
    # all rows say 0.5 and all are yes: the residual 0.5 is smoothed to an even 0.5
    assert smooth_ece([0.5] * 4, [1] * 4) == pytest.approx(0.5, abs=1e-3)
    assert smooth_ece([0.0, 1.0], [0, 1]) == 0.0
    assert smooth_ece([0.0, 0.0], [1, 1]) == 1.0
    # one bin, share 0.25 against 0.35, spread sqrt(0.25 * 0.75 / 100)
    labels = [1] * 25 + [0] * 75
    assert debiased_ece([0.35] * 100, labels) == pytest.approx(0.1 - 0.00031, abs=1e-5)


def test_noise_adds_less_to_the_debiased_error_than_to_the_binned_one():
    random = np.random.default_rng(0)
    p = random.random((40, 100))
    labels = random.random((40, 100)) < p
    binned = []
    for part, label in zip(p, labels, strict=True):
        places = equal_mass_bins(part, 15)
        gaps = np.bincount(places, label) - np.bincount(places, part)
        binned.append(np.abs(gaps).sum() / 100)
    debiased = [debiased_ece(part, label) for part, label in zip(p, labels, strict=True)]
    assert np.mean(debiased) < 0.65 * np.mean(binned)


def test_errors_of_many_rows_are_near_the_true_one():
    random = np.random.default_rng(0)
    p = random.random(4000)
    labels = random.random(4000) < p
    assert smooth_ece(p, labels) < 0.03
    for score in (smooth_ece, debiased_ece):
        assert score(p**2, labels) == pytest.approx(1 / 2 - 1 / 3, abs=0.02)


def test_the_noise_explains_a_calibrated_model_and_not_a_bent_one():
    random = np.random.default_rng(5)
    p = random.random(500)
    labels = random.random(500) < p
    for score in (smooth_ece, debiased_ece):
        noise = noise_of(score, p, draws=60)
        assert noise.explains(score(p, labels)), score.__name__
        bent = noise_of(score, p**2, draws=60)
        assert not bent.explains(score(p**2, labels)), score.__name__
    assert str(noise_of(smooth_ece, [0.5] * 50, draws=50)).count("up to") == 1


def test_noise_falls_with_the_rows_and_rises_when_labels_go_together():
    random = np.random.default_rng(1)
    p = np.repeat(random.random(100), 10)
    groups = np.repeat(np.arange(100), 10)
    apart = noise_of(smooth_ece, p, draws=40)
    assert apart.mean < noise_of(smooth_ece, p, groups=groups, draws=40).mean
    assert apart.mean < noise_of(smooth_ece, p[:100], draws=40).mean
    assert noise_of(smooth_ece, p, draws=40) == apart
    assert (apart.n, apart.draws) == (1000, 40)


def test_five_percent_of_calibrated_models_lie_above_the_noise():
    random = np.random.default_rng(2)
    p = random.random(200)
    noise = noise_of(smooth_ece, p, draws=300)
    above = sum(not noise.explains(smooth_ece(p, random.random(200) < p)) for _ in range(200))
    assert 1 <= above <= 22


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30), st.randoms())
def test_the_order_of_rows_changes_no_error_and_all_lie_in_range(rows, random):
    p, labels = zip(*rows, strict=True)
    shuffled = random.sample(rows, len(rows))
    for score, least in ((smooth_ece, 0), (debiased_ece, -1)):
        value = score(p, labels)
        assert least <= value <= 1
        p2, labels2 = zip(*shuffled, strict=True)
        assert score(p2, labels2) == pytest.approx(value, abs=1e-6)


def test_equal_probabilities_share_a_bin_and_bins_are_even():
    places = equal_mass_bins(np.asarray([0.1, 0.9, 0.9, 0.9, 0.2, 0.3]), 3)
    assert places[1] == places[2] == places[3]
    assert np.bincount(equal_mass_bins(np.random.default_rng(0).random(100), 10)).tolist() == [10] * 10
    assert equal_mass_bins(np.asarray([0.4] * 5), 10).tolist() == [0] * 5


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError, match="by_option"):
        smooth_ece([[0.5, 0.5]], [0])
    with pytest.raises(DataError, match="by_option"):
        noise_of(smooth_ece, [[0.5, 0.5]])
    with pytest.raises(DataError, match="row 1"):
        smooth_ece([1.5], [0])
    with pytest.raises(ConfigError, match="`bins`"):
        debiased_ece([0.5], [0], bins=0)
    with pytest.raises(ConfigError, match="`level`"):
        noise_of(smooth_ece, [0.5], level=95)
