import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options
from yesno.calibration.calibrators import Temperature, Vector


class TestVector(CalibratorContract):
    calibrator = "vector"
    two = (
        Vector(2.0, (0.5, -0.5)),
        Vector(0.05, (9.0, -9.0)),
    )
    three = (Vector(2.0, (1.0, 0.0, -1.0)),)

    def test_without_biases_it_is_temperature_scaling(self):
        same = Temperature(3.0)((0.1, 0.2, 0.7), directed=False)
        assert Vector(3.0, (0.0, 0.0, 0.0))((0.1, 0.2, 0.7), directed=False) == pytest.approx(same)

    def test_a_fit_finds_the_favourite_that_made_the_rows_wrong(self):
        fitted = Vector.fitted(as_rows(*options(4000, lambda z: [z[0] / 2 + 1, z[1] / 2, z[2] / 2 - 1])))
        assert fitted.temperature == pytest.approx(2, rel=0.1)
        assert fitted.biases == pytest.approx((1, 0, -1), abs=0.15)
        assert sum(fitted.biases) == pytest.approx(0, abs=1e-9)

    def test_a_label_that_no_row_has_keeps_a_probability(self):
        probabilities, labels = options(200, lambda z: [z[0], z[1], z[2] - 50])
        assert 2 not in labels
        assert Vector.fitted(as_rows(probabilities, labels)).biases[2] > -4
