import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from yesno.calibration.calibrators import Identity


class TestIdentity(CalibratorContract):
    calibrator = "identity"
    two = three = (Identity(),)

    def test_it_changes_nothing(self):
        assert Identity()((0.1, 0.2, 0.7), directed=False) == pytest.approx((0.1, 0.2, 0.7), abs=1e-15)
