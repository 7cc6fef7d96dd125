import pytest

from tests.calibration.calibrators.contract import CalibratorContract
from tests.calibration.calibrators.support import as_rows, options
from yesno.calibration.calibrators import Dirichlet, Vector
from yesno.errors import ConfigError


def mean_share(calibrator, probabilities, labels):
    """Return the mean probability that the right labels get."""
    pairs = zip(probabilities, labels, strict=True)
    return sum(calibrator(shares, directed=False)[label] for shares, label in pairs) / len(labels)


def swapped(z):
    """Say the third for the second, and the second for the third."""
    return [z[0], z[2], z[1]]


class TestDirichlet(CalibratorContract):
    calibrator = "dirichlet"
    two = (
        Dirichlet(((1.0, 0.0), (0.0, 1.0)), (0.0, 0.0)),
        Dirichlet(((2.0, -0.3), (0.4, 0.9)), (1.5, -1.5)),
    )
    three = (
        Dirichlet(((1.0, 0.5, -0.5), (-2.0, 0.1, 0.0), (0.3, 4.0, -1.0)), (0.5, 0.0, -0.5)),
        Dirichlet(((9.0, 0.0, 0.0), (0.0, 9.0, 0.0), (0.0, 0.0, 9.0)), (0.0, 0.0, 0.0)),
    )

    def test_with_one_factor_on_the_diagonal_it_is_vector_scaling(self):
        even = Dirichlet(((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5)), (1.0, 0.0, -1.0))
        same = Vector(2.0, (1.0, 0.0, -1.0))((0.1, 0.2, 0.7), directed=False)
        assert even((0.1, 0.2, 0.7), directed=False) == pytest.approx(same)

    def test_labels_that_are_mistaken_for_each_other_get_their_due(self):
        fitted = Dirichlet.fitted(as_rows(*options(300, swapped)))
        others = options(300, swapped, seed=2)
        assert mean_share(fitted, *others) > 2 * mean_share(Vector(1.0, (0.0,) * 3), *others)

    def test_readings_that_are_right_stay_as_they_are(self):
        fitted = Dirichlet.fitted(as_rows(*options(2000, lambda z: z)))
        for shares in ((0.1, 0.2, 0.7), (0.4, 0.3, 0.3), (0.02, 0.9, 0.08)):
            assert fitted(shares, directed=False) == pytest.approx(shares, abs=0.05)

    def test_a_label_that_no_row_has_keeps_a_probability(self):
        probabilities, labels = options(200, lambda z: [z[0], z[1], z[2] - 50])
        assert 2 not in labels
        fitted = Dirichlet.fitted(as_rows(probabilities, labels))
        assert fitted((0.2, 0.2, 0.6), directed=False)[2] > 1e-6

    def test_next_to_nothing_decides_nothing(self):
        one = self.three[0]
        assert one((0.5, 0.5, 0.0), directed=False) == one((0.5, 0.5, 0.001), directed=False)

    @pytest.mark.parametrize(
        "matrix", [((1.0, 0.0),), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0))]
    )
    def test_a_matrix_of_another_size_is_refused(self, matrix):
        with pytest.raises(ConfigError, match="a row for each of 2 biases"):
            Dirichlet(matrix, (0.0, 0.0))
