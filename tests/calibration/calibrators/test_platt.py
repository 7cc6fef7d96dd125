import math

import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options, yes_no
from yesno.calibration.calibrators import Platt
from yesno.errors import ConfigError


class TestPlatt(CalibratorContract):
    calibrator = "platt"
    two = three = (
        Platt(0.5, -1.0),
        Platt(20.0, 15.0),
        Platt(0.02, 3.0),
    )

    def test_it_is_a_line_through_the_log_odds(self):
        z = 0.5 * math.log(0.9 / 0.1) - 1.0
        assert Platt(0.5, -1.0)((0.9, 0.1), directed=True)[0] == pytest.approx(1 / (1 + math.exp(-z)))

    def test_yes_and_no_are_two_sides_of_one_answer(self):
        yes, no = Platt(0.7, 2.0)((0.3, 0.7), directed=True)
        assert yes + no == pytest.approx(1, abs=1e-12)
        assert no == pytest.approx(Platt(0.7, -2.0)((0.7, 0.3), directed=True)[0])

    def test_a_fit_finds_the_line_that_made_the_rows(self):
        fitted = Platt.fitted(as_rows(*yes_no(4000, lambda z: 0.4 * z + 1)))
        assert (fitted.slope, fitted.intercept) == (pytest.approx(0.4, abs=0.05), pytest.approx(1, abs=0.12))

    def test_the_options_of_a_choice_share_one_line(self):
        fitted = Platt.fitted(as_rows(*options(2000, lambda z: [v / 2 for v in z])))
        calibrated = fitted((0.1, 0.2, 0.7), directed=False)
        assert calibrated[::-1] == fitted((0.7, 0.2, 0.1), directed=False)
        assert 0.33 < calibrated[2] < 0.7

    def test_its_slope_is_above_zero(self):
        with pytest.raises(ConfigError, match="`slope`"):
            Platt(0.0, 0.0)
