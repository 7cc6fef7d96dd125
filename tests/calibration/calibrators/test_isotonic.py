import math

import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options, yes_no
from yesno.calibration.calibrators import Isotonic
from yesno.errors import ConfigError


class TestIsotonic(CalibratorContract):
    calibrator = "isotonic"
    two = three = (
        Isotonic((-2.0, 0.0, 1.0), (0.1, 0.1, 0.8)),
        Isotonic((0.0,), (0.4,)),
    )

    def test_it_is_straight_between_points_and_flat_beyond(self):
        curve = Isotonic((-1.0, 1.0), (0.2, 0.6))
        for z, expected in ((-5, 0.2), (-1, 0.2), (0, 0.4), (0.5, 0.5), (1, 0.6), (9, 0.6)):
            p = 1 / (1 + math.exp(-z))
            assert curve((p, 1 - p), directed=True)[0] == pytest.approx(expected)

    def test_a_fit_follows_a_curve_that_no_line_can(self):
        fitted = Isotonic.fitted(as_rows(*yes_no(5000, lambda z: -1.5 if z < 0 else 1.5)))
        assert fitted((0.2, 0.8), directed=True)[0] == pytest.approx(0.18, abs=0.06)
        assert fitted((0.8, 0.2), directed=True)[0] == pytest.approx(0.82, abs=0.06)

    def test_a_fit_to_perfect_rows_stays_as_far_from_certainty_as_they_are_few(self):
        fitted = Isotonic.fitted(as_rows([0.1, 0.9] * 50, [False, True] * 50))
        assert fitted((0.0, 1.0), directed=True)[0] == pytest.approx(1 / 102)
        assert fitted((1.0, 0.0), directed=True)[0] == pytest.approx(101 / 102)

    def test_the_options_of_a_choice_share_one_curve(self):
        fitted = Isotonic.fitted(as_rows(*options(1500, lambda z: [v / 2 for v in z])))
        assert fitted((0.1, 0.2, 0.7), directed=False)[::-1] == fitted((0.7, 0.2, 0.1), directed=False)

    @pytest.mark.parametrize(
        ("x", "y", "why"),
        [
            ((0.0, 1.0), (0.5,), "length"),
            ((1.0, 1.0), (0.2, 0.5), "rise"),
            ((0.0, 1.0), (0.5, 0.2), "fall"),
            ((0.0, 1.0), (0.0, 0.2), "between 0 and 1"),
            ((0.0, 1.0), (0.2, 1.0), "between 0 and 1"),
        ],
    )
    def test_points_that_make_no_curve_are_refused(self, x, y, why):
        with pytest.raises(ConfigError, match=why):
            Isotonic(x, y)
