import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options
from yesno.calibration.calibrators import LabelPrior
from yesno.errors import ConfigError
from yesno.reading.outcome import Reading
from yesno.reading.priors import corrected


class TestLabelPrior(CalibratorContract):
    calibrator = "prior"
    two = (
        LabelPrior((0.8, 0.2)),
        LabelPrior((1e-6, 1 - 1e-6)),
    )
    three = (LabelPrior((0.2, 0.3, 0.5)),)

    def test_it_does_what_taking_out_a_prior_does(self):
        shares = (0.5, 0.2, 0.3)
        reading = Reading(shares, shares, shares, shares, (0.0,) * 3, 0.0, 1.0)
        one = LabelPrior((0.2, 0.3, 0.5))
        assert one(shares, directed=False) == pytest.approx(corrected(reading, one.prior).probabilities)

    def test_a_batch_of_inputs_shows_the_favourites_without_labels(self):
        one = LabelPrior.of_batch([(0.9, 0.1), (0.7, 0.3)])
        assert one.shares == pytest.approx((0.8, 0.2))
        assert one((0.8, 0.2), directed=True) == pytest.approx((0.5, 0.5))

    def test_a_fit_does_not_look_at_labels(self):
        probabilities, labels = options(60, lambda z: z)
        turned = [2 - label for label in labels]
        assert LabelPrior.fitted(as_rows(probabilities, labels)) == LabelPrior.fitted(
            as_rows(probabilities, turned)
        )

    @pytest.mark.parametrize("shares", [(0.0, 1.0), (-0.5, 1.5)])
    def test_a_share_of_zero_is_no_prior(self, shares):
        with pytest.raises(ConfigError, match="above 0"):
            LabelPrior(shares)

    def test_no_batch_is_no_prior(self):
        with pytest.raises(ConfigError, match="at least one"):
            LabelPrior.of_batch([])
