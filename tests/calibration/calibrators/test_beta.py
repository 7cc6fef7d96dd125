import math

import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, yes_no
from yesno.calibration.calibrators import Beta, Platt


class TestBeta(CalibratorContract):
    calibrator = "beta"
    two = three = (
        Beta(0.5, 1.5, 0.2),
        Beta(20.0, 0.02, -5.0),
        Beta(0.01, 0.01, 9.0),
    )

    def test_with_equal_slopes_it_is_platt_scaling(self):
        for p in (0.01, 0.4, 0.97):
            same = Platt(0.6, -0.3)((p, 1 - p), directed=True)
            assert Beta(0.6, 0.6, -0.3)((p, 1 - p), directed=True) == pytest.approx(same)

    def test_it_is_the_published_curve(self):
        a, b, c, p = 1.4, 0.6, 0.3, 0.2  # Kull et al. 2017, equation 5: 1 / (1 + 1 / (e^c p^a / (1 - p)^b))
        published = 1 / (1 + 1 / (math.exp(c) * p**a / (1 - p) ** b))
        assert Beta(a, b, c)((p, 1 - p), directed=True)[0] == pytest.approx(published)

    def test_a_fit_finds_the_curve_that_made_the_rows(self):
        def bent(z):
            p = 1 / (1 + math.exp(-z))
            return 0.3 * math.log(p) - 1.2 * math.log(1 - p) + 0.5

        fitted = Beta.fitted(as_rows(*yes_no(6000, bent)))
        assert (fitted.a, fitted.b) == (pytest.approx(0.3, abs=0.1), pytest.approx(1.2, abs=0.2))
