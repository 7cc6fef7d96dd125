from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import binom

from yesno.calibration._walk import GRID, largest_allowed, least_rows, walked
from yesno.calibration.bands import bands_for
from yesno.calibration.options import top_label
from yesno.calibration.thresholds import threshold_for
from yesno.errors import ConfigError, DataError, RiskNotKept, TooFewLabels
from yesno.filters import Guardrails

DRAWS = 2000
MOST_BROKEN = binom.ppf(0.99, DRAWS, 0.1)
"""A procedure that breaks its promise in exactly a tenth of the draws stays below this 99 times in 100."""


def calibrated(random, size):
    p = random.beta(0.4, 0.4, size)
    return p, random.random(size) < p


def overconfident(random, size):
    q = random.beta(0.8, 0.8, size)
    odds = (q / (1 - q)) ** 2.5
    return odds / (1 + odds), random.random(size) < q


def worse_on_top(random, size):
    p = random.random(size)
    return p, random.random(size) < np.where(p > 0.93, 0.93, np.where(p > 0.5, 0.975, 0.4))


def just_too_bad(random, size):
    return random.random(size), random.random(size) < 0.949


WORLDS = [calibrated, overconfident, worse_on_top, just_too_bad]


def on_the_grid(p, wrong):
    """Return wrong rows and rows at or above each threshold, for draws of shape (draws, n)."""
    place = np.searchsorted(-GRID, -p, side="left")  # the first threshold that acts on it
    flat = place + (len(GRID) + 1) * np.arange(len(p))[:, None]
    shape = (len(p), len(GRID) + 1)
    counts = [
        np.bincount(flat[rows], minlength=shape[0] * shape[1]).reshape(shape)[:, :-1]
        for rows in (wrong, np.ones_like(wrong))
    ]
    return [np.cumsum(count, axis=1) for count in counts]


@cache
def true_risks(world):
    p, labels = world(np.random.default_rng(99), 1_000_000)
    every, wrong = np.sort(p), np.sort(p[~labels])
    rows = len(every) - np.searchsorted(every, GRID)
    return (len(wrong) - np.searchsorted(wrong, GRID)) / np.maximum(rows, 1), rows / len(p)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
@pytest.mark.parametrize("n", [150, 600])
def test_the_promised_error_is_broken_no_more_often_than_promised(world, n):
    p, labels = world(np.random.default_rng(n), (DRAWS, n))
    hits, rows = on_the_grid(p, ~labels)
    passed = walked(hits, rows, n, risk=0.05, delta=0.1) > 0
    risks, _ = true_risks(world)
    last = np.where(passed.any(axis=1), len(GRID) - 1 - passed[:, ::-1].argmax(axis=1), -1)
    assert ((last >= 0) & (risks[last] > 0.05)).sum() <= MOST_BROKEN
    # and not at any other threshold that was passed on the way, so a stricter one may be taken
    assert (passed & (risks > 0.05)).any(axis=1).sum() <= MOST_BROKEN


def test_taking_the_best_of_all_thresholds_would_break_the_promise():
    p, labels = just_too_bad(np.random.default_rng(3), (DRAWS, 600))
    hits, rows = on_the_grid(p, ~labels)
    bounds = np.where(rows > hits, betaincinv(hits + 1, np.maximum(rows - hits, 1), 0.9), 1)
    assert (bounds <= 0.05).any(axis=1).sum() > 1.8 * MOST_BROKEN


def test_with_many_labels_nearly_all_is_acted_on_that_may_be():
    random = np.random.default_rng(0)
    risks, coverage = true_risks(calibrated)
    best = coverage[risks <= 0.05].max()
    found = [threshold_for(*calibrated(random, 10_000)).coverage for _ in range(5)]
    assert min(found) > 0.85 * best


def test_thresholds_found_are_those_of_the_walk():
    random = np.random.default_rng(1)
    p, labels = calibrated(random, 1500)
    hits, rows = on_the_grid(p[None], ~labels[None])
    passed = np.flatnonzero(walked(hits, rows, 1500, risk=0.05, delta=0.1)[0])
    chosen = threshold_for(p, labels)
    assert chosen.coverage == pytest.approx((p >= GRID[passed[-1]]).mean())
    assert chosen.n == (p >= chosen.threshold).sum()
    assert chosen.seen == pytest.approx((~labels[p >= chosen.threshold]).mean())
    assert chosen.seen < chosen.bound <= 0.05


@pytest.mark.parametrize("of", ["false_positive", "false_negative"])
def test_the_promised_rate_is_broken_no_more_often_than_promised(of):
    random = np.random.default_rng(7)
    broken = 0
    for _ in range(DRAWS):
        labels = np.arange(120) < 60
        p = random.random(120)  # so the rate of false positives at t is 1 - t, that of false negatives t
        threshold = threshold_for(p, labels, risk=0.1, of=of).threshold
        broken += (1 - threshold if of == "false_positive" else threshold) > 0.1
    assert 0.5 * 0.1 * DRAWS < broken <= MOST_BROKEN


def test_a_rate_acts_as_often_as_it_may_or_as_rarely():
    labels = [0] * 45 + [1] * 45
    p = [number / 100 for number in range(45)] + [0.4 + number / 100 for number in range(45)]
    strict = threshold_for(p, labels, of="false_positive")
    assert (strict.threshold, strict.seen) == (np.nextafter(0.44, 2), 0)
    assert strict.bound == pytest.approx(1 - 0.1 ** (1 / 45))
    wide = threshold_for(p, labels, of="false_negative")
    assert (wide.threshold, wide.seen, wide.n) == (0.4, 0, 45)
    assert threshold_for(p, labels, of="false_positive", risk=0.2).threshold < 0.44
    assert threshold_for(p, labels, of="false_negative", risk=0.2).threshold > 0.4


def test_forty_five_right_rows_are_the_least_for_five_percent():
    assert least_rows(0.05, 0.1) == 45
    chosen = threshold_for([0.99] * 45 + [0.1], [1] * 45 + [0])
    assert (chosen.threshold, chosen.n, chosen.seen) == (0.99, 45, 0)
    assert chosen.bound == pytest.approx(1 - 0.1 ** (1 / 45))
    with pytest.raises(TooFewLabels):
        threshold_for([0.99] * 44 + [0.1] * 20, [1] * 44 + [0] * 20)


@given(st.integers(1, 3000), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_as_many_hits_are_allowed_as_the_binomial_allows(trials, risk, delta):
    allowed = largest_allowed(trials, risk=risk, delta=delta)
    assert allowed == -1 or binom.cdf(allowed, trials, risk) <= delta * (1 + 1e-9)
    assert binom.cdf(allowed + 1, trials, risk) > delta * (1 - 1e-9)


def test_too_few_labels_say_about_how_many_would_do_and_these_usually_do():
    random = np.random.default_rng(6)
    with pytest.raises(TooFewLabels, match=r"150 rows are not enough .* it takes about") as caught:
        threshold_for(*calibrated(random, 150))
    assert caught.value.given == 150
    found = 0
    for _ in range(20):
        try:
            found += threshold_for(*calibrated(random, caught.value.needed)).coverage > 0
        except TooFewLabels:
            continue
    assert found >= 14


def test_five_labels_need_at_least_forty_five():
    with pytest.raises(TooFewLabels, match=r"5 rows are not enough .* at least 45") as caught:
        threshold_for([0.9, 0.8, 0.7, 0.2, 0.1], [1, 1, 1, 0, 0])
    assert (caught.value.needed, caught.value.given) == (45, 5)
    with pytest.raises(
        TooFewLabels, match=r"2 rows labelled no .* at least 45, which are about 120 rows"
    ) as caught:
        threshold_for([0.9, 0.8, 0.7, 0.2, 0.1], [1, 1, 1, 0, 0], of="false_positive")
    assert caught.value.needed == 120


def test_a_risk_that_nothing_keeps_says_so_instead_of_asking_for_labels():
    random = np.random.default_rng(2)
    with pytest.raises(RiskNotKept, match="a better question") as caught:
        threshold_for(random.random(1000), random.random(1000) < 0.5)
    assert 0.3 < caught.value.best < 0.5
    with pytest.raises(RiskNotKept, match="have the probability 1"):
        threshold_for([1.0] * 60 + [0.4] * 60, [1, 0] * 60, of="false_positive")


def test_one_row_of_each_group_is_used():
    p, labels = [0.99] * 45 + [0.1] * 3, [1] * 45 + [0] * 3
    groups = list(range(48))
    once = threshold_for(p, labels, groups=groups)
    again = threshold_for(p * 4, labels * 4, groups=groups * 4)
    assert (once, once.n) == (again, 45)
    with pytest.raises(TooFewLabels):
        threshold_for(p * 4, labels * 4, groups=[group // 2 for group in groups] * 4)


def test_thresholds_go_into_guardrails_as_they_are():
    chosen = threshold_for([0.97] * 60 + [0.3] * 40, [1] * 60 + [0] * 40)
    assert Guardrails(["prompt_injection"], threshold=chosen.threshold).threshold == 0.97
    assert str(chosen) == "0.97: at most 3.8% errors (0.0% seen, n 60), 90% sure; acts on 60.0%"


def test_the_answer_on_top_of_a_choice_has_a_threshold_too():
    random = np.random.default_rng(0)
    shares = random.dirichlet([0.1, 0.1, 0.1], 1000)
    labels = (random.random(1000)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1)
    chosen = threshold_for(*top_label(shares, labels))
    assert 0.5 < chosen.threshold < 1
    assert chosen.coverage > 0.3


def test_both_promises_of_bands_hold_together():
    random = np.random.default_rng(11)
    grid = np.sort(random.beta(0.4, 0.4, 400_000))
    below = np.cumsum(grid)
    broken = 0
    for _ in range(200):
        bands = bands_for(*calibrated(random, 2000), risk=0.1)
        start, end = np.searchsorted(grid, [bands.high, bands.low])
        wrong_yes = 1 - (below[-1] - below[start - 1]) / (len(grid) - start)
        wrong_no = below[end - 1] / end
        broken += wrong_yes > 0.1 or wrong_no > 0.1
        assert 0 < bands.low <= bands.high < 1
    assert broken <= binom.ppf(0.99, 200, 0.1)


def test_bands_cover_everything_once():
    random = np.random.default_rng(4)
    p, labels = calibrated(random, 3000)
    bands = bands_for(p, labels, risk=0.1, no_risk=0.05)
    names = [bands.band(float(one)) for one in p]
    assert names.count("ask") / 3000 == pytest.approx(bands.asked)
    assert names.count("yes") / 3000 == pytest.approx(bands.yes.coverage)
    assert names.count("no") / 3000 == pytest.approx(bands.no.coverage)
    assert (bands.band(bands.high), bands.band(bands.low)) == ("yes", "ask")
    assert bands.no.bound <= 0.05 < bands.yes.bound <= 0.1
    assert Guardrails(["prompt_injection"], threshold=bands.high, review=bands.low).review == bands.low
    assert str(bands).splitlines()[2] == f"ask about {bands.asked:.1%}"


def test_a_model_that_is_sure_and_right_asks_about_nothing():
    random = np.random.default_rng(0)
    labels = random.random(400) < 0.5
    p = np.where(labels, 0.9, 0.1) + random.random(400) / 20
    bands = bands_for(p, labels)
    assert 0.15 < bands.low == bands.high <= 0.9
    assert bands.asked == 0


def test_a_band_that_cannot_be_promised_says_which():
    p, labels = [0.99] * 100 + [0.01] * 5, [1] * 100 + [0] * 5
    with pytest.raises(TooFewLabels, match="taken for no"):
        bands_for(p, labels)
    with pytest.raises(DataError, match=r"1\.5"):
        bands_for([0.99] * 100 + [0.01] * 100, [1] * 100 + [0] * 100).band(1.5)


@pytest.mark.parametrize(
    ("p", "labels", "words"),
    [
        ([0.2, 0.3], [1, 1], "all 2 labels are yes"),
        ([0.2, 0.3], [0, 0], "all 2 labels are no"),
        ([0.2, 0.3], [0.5, 1], r"row 1: .* yes or no, not 0\.5"),
        ([0.2, float("nan")], [0, 1], "row 2: .*NaN"),
        ([0.2, 1.2], [0, 1], r"row 2: .*1\.2"),
        ([0.2], [0, 1], "2 `labels` for 1 rows"),
        ([[0.2, 0.8]], [1], "top_label"),
    ],
)
@pytest.mark.parametrize("find", [threshold_for, bands_for])
def test_rows_that_are_not_as_they_should_be_are_named(find, p, labels, words):
    with pytest.raises(DataError, match=words):
        find(p, labels)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"risk": 5}, "`risk` must be a number between 0 and 1"),
        ({"risk": 1.0}, "`risk`"),
        ({"delta": 0.0}, "`delta`"),
        ({"of": "fpr"}, "'false_negative', not 'fpr'"),
        ({"groups": [1]}, "1 `groups` for 2 rows"),
    ],
)
def test_impossible_settings_are_refused(settings, words):
    with pytest.raises(ConfigError, match=words):
        threshold_for([0.2, 0.3], [0, 1], **settings)
