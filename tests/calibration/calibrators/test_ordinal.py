import math
import random

import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, sigmoid, softmax
from yesno.calibration.calibrators import Ordinal
from yesno.errors import ConfigError


def timid(count, slope=3.0, cuts=(-2.0, 2.0), seed=1):
    """Return readings that stay in the middle of three levels, and the levels that hold."""
    rng = random.Random(seed)
    probabilities, labels = [], []
    for _ in range(count):
        lean = rng.gauss(0, 1)
        shares = softmax([-lean, 1.0, lean])
        mean = (shares[1] + 2 * shares[2]) / 2
        place = math.log(mean / (1 - mean))
        low, upto = (sigmoid(cut - slope * place) for cut in cuts)
        probabilities.append(shares)
        labels.append(rng.choices(range(3), [low, upto - low, 1 - upto])[0])
    return probabilities, labels


class TestOrdinal(CalibratorContract):
    calibrator = "ordinal"
    two = (
        Ordinal(1.0, (0.0,)),
        Ordinal(5.0, (-3.0,)),
    )
    three = (
        Ordinal(2.0, (-1.0, 1.5)),
        Ordinal(0.3, (0.0, 0.0)),
        Ordinal(30.0, (-9.0, 9.0)),
    )

    def test_it_is_the_proportional_odds_model(self):
        mean = (0.3 + 2 * 0.5) / 2
        place = math.log(mean / (1 - mean))
        low, upto = sigmoid(-1.0 - 2.0 * place), sigmoid(1.5 - 2.0 * place)
        found = Ordinal(2.0, (-1.0, 1.5))((0.2, 0.3, 0.5), directed=False)
        assert found == pytest.approx((low, upto - low, 1 - upto))

    def test_a_fit_finds_the_slope_and_the_cuts_that_made_the_rows(self):
        fitted = Ordinal.fitted(as_rows(*timid(4000)))
        assert fitted.slope == pytest.approx(3.0, rel=0.1)
        assert fitted.cuts == pytest.approx((-2.0, 2.0), abs=0.2)

    def test_a_higher_mean_makes_no_lower_level_more_probable(self):
        one = Ordinal(2.0, (-1.0, 1.5))
        below = [one((1 - p, 0.0, p), directed=False)[0] for p in (0.0, 0.2, 0.5, 0.8, 1.0)]
        assert below == sorted(below, reverse=True)

    def test_a_level_that_no_row_has_keeps_a_probability(self):
        probabilities, labels = timid(200)
        rows = [(p, label) for p, label in zip(probabilities, labels, strict=True) if label != 1]
        fitted = Ordinal.fitted(as_rows(*map(list, zip(*rows, strict=True))))
        assert fitted((0.3, 0.4, 0.3), directed=False)[1] > 1e-6

    def test_cuts_that_fall_are_refused(self):
        with pytest.raises(ConfigError, match="must rise"):
            Ordinal(1.0, (1.0, -1.0))
