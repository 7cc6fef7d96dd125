import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from yesno.calibration.curves import reliability_points, risk_coverage, risk_coverage_area
from yesno.calibration.intervals import interval
from yesno.errors import ConfigError, DataError


def test_risk_over_coverage_equals_what_is_worked_out_by_hand():
    curve = risk_coverage([0.9, 0.2, 0.7, 0.4], [1, 0, 0, 1])
    assert curve.threshold == pytest.approx([0.9, 0.8, 0.7, 0.6])
    assert curve.coverage == pytest.approx([0.25, 0.5, 0.75, 1])
    assert curve.risk == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert curve.risk_at(0.6) == pytest.approx(1 / 3)
    assert curve.coverage_at(0.1) == 0.5
    assert curve.coverage_at(0.4) == 0.75


def test_rows_without_an_answer_are_never_covered():
    curve = risk_coverage([0.9, 0.2], [1, 0], unanswered=2)
    assert curve.coverage == pytest.approx([0.25, 0.5])
    assert np.isnan(curve.risk_at(0.8))
    assert (curve.n, curve.unanswered) == (2, 2)


def test_a_curve_of_options_acts_on_the_option_on_top():
    curve = risk_coverage([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.0, 0.9]], [1, 1, 2])
    assert curve.threshold == pytest.approx([0.9, 0.7, 0.6])
    assert curve.risk == pytest.approx([0, 0, 1 / 3])


@given(st.lists(st.tuples(st.sampled_from([0.6, 0.7, 0.8, 0.9]), st.booleans()), min_size=1, max_size=12))
def test_equal_probabilities_count_as_the_mean_over_all_orders(rows):
    p, labels = np.asarray([row[0] for row in rows]), np.asarray([row[1] for row in rows])
    random = np.random.default_rng(0)
    areas = []
    for _ in range(150):
        order = random.permutation(len(p))
        order = order[np.argsort(-p[order], kind="stable")]
        areas.append((np.cumsum(~labels[order]) / np.arange(1, len(p) + 1)).mean())
    assert risk_coverage_area(p, labels) == pytest.approx(np.mean(areas), abs=0.09)
    assert 0 <= risk_coverage_area(p, labels) <= 1


def test_weights_are_counts_and_an_interval_can_be_had():
    random = np.random.default_rng(0)
    p = random.random(80).round(1)
    labels, counts = random.random(80) < p, random.integers(0, 4, size=80)
    repeated = risk_coverage_area(np.repeat(p, counts), np.repeat(labels, counts))
    assert risk_coverage_area(p, labels, weights=counts) == pytest.approx(repeated)
    found = interval(risk_coverage_area, p, labels)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(risk_coverage(p, labels).area)


def test_a_curve_can_be_thinned_for_a_plot():
    p = np.linspace(0.5, 1, 1000)
    points = risk_coverage(p, np.ones(1000)).points(50)
    assert len(points) == 50
    assert points[0] == pytest.approx((0.001, 0))
    assert points[-1] == pytest.approx((1, 0))
    assert len(risk_coverage([0.9, 0.8], [1, 1]).points()) == 2


def test_reliability_points_have_exact_binomial_intervals():
    p = [0.2] * 20 + [0.8] * 10
    labels = [1] * 3 + [0] * 17 + [1] * 10
    low, high = reliability_points(p, labels)
    exact = binomtest(3, 20).proportion_ci(0.95, method="exact")
    assert (low.probability, low.share, low.n) == (pytest.approx(0.2), pytest.approx(0.15), 20)
    assert (low.low, low.high) == pytest.approx((exact.low, exact.high))
    assert (high.share, high.high, high.groups) == (1, 1, 10)
    assert high.low == pytest.approx(0.025 ** (1 / 10))


def test_rows_of_one_group_count_once_in_a_reliability_diagram():
    p, labels = [0.3] * 40, ([1] * 4 + [0] * 6) * 4
    groups = [f"text {number % 10}" for number in range(40)]
    (together,), (apart,) = reliability_points(p, labels, groups=groups), reliability_points(p, labels)
    assert (together.n, together.groups, together.share) == (40, 10, pytest.approx(0.4))
    exact = binomtest(4, 10).proportion_ci(0.95, method="exact")
    assert (together.low, together.high) == pytest.approx((exact.low, exact.high))
    assert apart.low > together.low


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError, match="top_label"):
        reliability_points([[0.5, 0.5]], [0])
    with pytest.raises(ConfigError, match="level"):
        reliability_points([0.5], [0], level=0)
    with pytest.raises(DataError, match="unanswered"):
        risk_coverage([0.5], [0], unanswered=-1)
    with pytest.raises(DataError, match="row 2"):
        risk_coverage([0.5, float("nan")], [0, 1])
