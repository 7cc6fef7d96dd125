import numpy as np
import pytest

from yesno.calibration.costs import cheapest_threshold
from yesno.errors import ConfigError, DataError, TooFewLabels

P = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]
LABELS = [1, 1, 0, 1, 0, 0]


def test_the_cheapest_threshold_lies_between_the_rows_that_it_separates():
    assert cheapest_threshold(P, LABELS, false_positive=5).threshold == pytest.approx(0.75)
    assert cheapest_threshold(P, LABELS, false_negative=5).threshold == pytest.approx(0.25)


@pytest.mark.parametrize("cost", [0.25, 1, 4])
def test_for_calibrated_probabilities_it_is_near_the_one_of_theory(cost):
    random = np.random.default_rng(0)
    p = random.random(4000)
    found = cheapest_threshold(p, random.random(4000) < p, false_positive=cost, draws=100)
    assert found.calibrated == pytest.approx(cost / (1 + cost))
    assert found.low <= found.threshold <= found.high
    assert found.threshold == pytest.approx(found.calibrated, abs=0.12)
    assert found.cost <= found.cost_of_calibrated


def test_bent_probabilities_get_a_threshold_that_makes_up_for_it():
    random = np.random.default_rng(1)
    q = random.random(3000)
    found = cheapest_threshold(q**3, random.random(3000) < q, draws=100)
    assert found.threshold == pytest.approx(0.125, abs=0.06)
    assert found.high < 0.5
    assert found.cost < 0.95 * found.cost_of_calibrated


def test_rows_to_come_are_expected_to_cost_more():
    random = np.random.default_rng(2)
    p = random.random(60)
    found = cheapest_threshold(p, random.random(60) < p)
    assert found.expected > found.cost


def test_never_acting_can_be_cheapest_and_always_too():
    p, labels = [0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 1, 0, 0]
    assert cheapest_threshold(p, labels, false_positive=100).threshold == pytest.approx(0.95)
    assert cheapest_threshold(p, labels, false_negative=100).threshold == pytest.approx(0.5)
    assert cheapest_threshold([0.2, 0.4, 0.6, 0.8, 1.0], [1, 1, 1, 1, 0], false_negative=9).threshold == 0.0


def test_groups_are_resampled_together():
    random = np.random.default_rng(3)
    p = random.random(50)
    labels = random.random(50) < p
    once = cheapest_threshold(p, labels)
    again = cheapest_threshold(np.repeat(p, 4), np.repeat(labels, 4), groups=np.repeat(np.arange(50), 4))
    assert (once.low, once.high) == pytest.approx((again.low, again.high))
    assert (again.n, again.groups) == (200, 50)


def test_it_reads_well():
    assert str(cheapest_threshold(P, LABELS, false_positive=5)).startswith("0.750 (")


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="`false_negative` must be a cost above 0, not 0"):
        cheapest_threshold(P, LABELS, false_negative=0)
    with pytest.raises(ConfigError, match="`level`"):
        cheapest_threshold(P, LABELS, level=95)
    with pytest.raises(DataError, match="all 6 labels are yes"):
        cheapest_threshold(P, [1] * 6)
    with pytest.raises(DataError, match="top_label"):
        cheapest_threshold([[0.5, 0.5]], [0])
    with pytest.raises(TooFewLabels, match="at least 5"):
        cheapest_threshold([0.1, 0.9], [0, 1])
