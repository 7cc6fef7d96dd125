import math

import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options, yes_no
from yesno.calibration.calibrators import Temperature
from yesno.errors import ConfigError


class TestTemperature(CalibratorContract):
    calibrator = "temperature"
    two = three = (
        Temperature(2.0),
        Temperature(0.02),
        Temperature(50.0),
    )

    def test_it_divides_log_odds(self):
        assert Temperature(2.0)((0.9, 0.1), directed=True) == pytest.approx((0.75, 0.25))
        assert Temperature(0.5)((0.25, 0.75), directed=False) == pytest.approx((0.1, 0.9))

    def test_a_fit_finds_the_temperature_that_made_the_rows(self):
        assert Temperature.fitted(as_rows(*yes_no(3000, lambda z: z / 2))).temperature == pytest.approx(
            2, rel=0.1
        )
        rows = as_rows(*options(3000, lambda z: [v / 3 for v in z]))
        assert Temperature.fitted(rows).temperature == pytest.approx(3, rel=0.1)

    def test_rows_without_a_mistake_do_not_make_it_certain(self):
        perfect = [0.9, 0.8, 0.1, 0.3] * 20
        fitted = Temperature.fitted(as_rows(perfect, [p > 0.5 for p in perfect]))
        assert 0.05 < fitted.temperature < 1

    def test_the_order_of_options_is_kept(self):
        given = (0.2, 0.5, 0.3)
        changed = Temperature(7.0)(given, directed=False)
        assert sorted(range(3), key=given.__getitem__) == sorted(range(3), key=changed.__getitem__)

    @pytest.mark.parametrize("wrong", [0, -1, -math.inf])
    def test_it_is_above_zero(self, wrong):
        with pytest.raises(ConfigError, match="above 0"):
            Temperature(wrong)
