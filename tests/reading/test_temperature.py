import math

import pytest

from yesno.evidence import Candidate, Position
from yesno.reading.temperature import temperature_slope


def place(*values):
    listed = tuple(Candidate(word, value) for word, value in zip("abcdefgh", values, strict=False))
    return Position(listed[0], listed)


@pytest.mark.parametrize(
    ("hot", "cold", "slope"),
    [
        (place(-0.1, -3.0, -5.0), place(-0.1, -3.0, -5.0), 1.0),
        (place(-0.2, -3.0, -5.0), place(-0.01, -5.61, -9.61), 2.0),
        (place(-0.2, -3.0, -9999.0, None), place(-0.01, -5.61, -9999.0, 0.0), 2.0),
        (place(-0.2, -3.0, -5.0), place(-0.2, -5.0, -3.0), None),
        (place(-0.69, -0.7), place(-0.69, -0.7), None),
        (place(0.0), place(0.0), None),
        (place(0.0, -math.inf), place(0.0, -math.inf), None),
    ],
    ids=["raw", "scaled", "censored", "unrelated", "level", "alone", "infinite"],
)
def test_a_slope_needs_values_that_fit(hot, cold, slope):
    found = temperature_slope(hot, cold)
    assert found == (None if slope is None else pytest.approx(slope, abs=0.01))
