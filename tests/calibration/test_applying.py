"""A reading with a calibrator applied: point, bounds, and what stays as it was."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from yesno import Scale, YesNo, YesNoAnswer
from yesno.calibration import calibrated
from yesno.calibration.applying import shares_read, unrounded
from yesno.calibration.calibrators import (
    Beta,
    Dirichlet,
    Identity,
    Isotonic,
    LabelPrior,
    Ordinal,
    Platt,
    Temperature,
    Vector,
)
from yesno.reading.answers import make_answer
from yesno.reading.intervals import Tally
from yesno.reading.outcome import Reading, Sampled

ANY_SIZE = [
    Platt(0.4, 1.0),
    Temperature(3.0),
    Temperature(0.3),
    Beta(0.5, 1.5, 0.3),
    Isotonic((-2.0, 2.0), (0.1, 0.8)),
]
THREE = [
    *ANY_SIZE,
    Vector(2.0, (1.0, 0.0, -1.0)),
    LabelPrior((0.2, 0.3, 0.5)),
    Dirichlet(((1.0, 0.5, -0.5), (-2.0, 0.1, 0.0), (0.3, 4.0, -1.0)), (0.5, 0.0, -0.5)),
    Ordinal(2.0, (-1.0, 1.5)),
]


def read(*shares, low=None, high=None, **fields):
    return Reading(shares, low or shares, high or shares, shares, (0.0,) * len(shares), 0.0, 0.9, **fields)


def tallied(seen, unseen, hidden):
    tally = Tally(3)
    tally.seen = list(seen)
    tally.smallest = 0.5
    tally.hide(unseen, unseen, dict.fromkeys(hidden, 0))
    return tally.reading()


def test_the_raw_shares_stay_visible():
    reading = calibrated(read(0.9, 0.1), Platt(0.5, -1.0), directed=True)
    answer = make_answer(YesNo("q?"), reading)
    assert answer.calibrated
    assert answer.raw == 0.9
    assert answer.probability == pytest.approx(0.5246, abs=1e-4)
    assert answer.label_mass == 0.9


def test_raw_is_what_was_read_before_a_prior_too():
    reading = calibrated(read(0.9, 0.1, uncorrected=(0.6, 0.4)), Temperature(2.0), directed=True)
    assert make_answer(YesNo("q?"), reading).raw == 0.6


def test_a_card_that_changes_nothing_calibrates_nothing():
    reading = read(0.9, 0.1)
    assert calibrated(reading, Identity(), directed=True) is reading


@given(p=st.floats(0, 1), down=st.floats(0, 1), up=st.floats(0, 1))
def test_bounds_of_yes_are_the_calibrated_bounds(p, down, up):
    low, high = p * down, p + (1 - p) * up
    reading = read(p, 1 - p, low=(low, 1 - high), high=(high, 1 - low))
    for calibrator in ANY_SIZE:
        changed = calibrated(reading, calibrator, directed=True)
        assert changed.low[0] == pytest.approx(calibrator((low, 1 - low), directed=True)[0], abs=1e-9)
        assert changed.high[0] == pytest.approx(calibrator((high, 1 - high), directed=True)[0], abs=1e-9)
        assert 0 < changed.low[0] <= changed.probabilities[0] <= changed.high[0] < 1


SHARE = st.floats(0.001, 1)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(
    seen=st.tuples(SHARE, SHARE, st.just(0.0) | SHARE),
    unseen=st.floats(0, 0.5),
    where=st.tuples(SHARE, SHARE, SHARE),
)
def test_bounds_hold_for_every_distribution_within_the_old_ones(seen, unseen, where):
    scale = (1 - unseen) / sum(seen)
    reading = tallied([s * scale for s in seen], unseen, (0, 1, 2))
    assume(reading is not None)
    truth = [s * scale + unseen * w / sum(where) for s, w in zip(seen, where, strict=True)]
    inside = all(
        a - 1e-12 <= t <= b + 1e-12 for a, t, b in zip(reading.low, truth, reading.high, strict=True)
    )
    assume(inside)
    for calibrator in THREE:
        changed = calibrated(reading, calibrator, directed=False)
        held = calibrator(truth, directed=False)
        for low, share, high in zip(changed.low, held, changed.high, strict=True):
            assert low - 1e-9 <= share <= high + 1e-9
        answer = make_answer(Scale("q?", ["a", "b", "c"]), changed)
        assert answer.low - 1e-9 <= sum(i * p for i, p in enumerate(held)) <= answer.high + 1e-9


def test_without_anything_unseen_bounds_stay_a_point():
    changed = calibrated(read(0.2, 0.3, 0.5), Temperature(2.0), directed=False)
    assert changed.low == pytest.approx(changed.probabilities)
    assert changed.high == pytest.approx(changed.probabilities)


def test_a_scale_has_the_mean_of_its_calibrated_levels():
    changed = calibrated(read(0.1, 0.1, 0.8), Vector(1.0, (1.0, 0.0, -1.0)), directed=False)
    answer = make_answer(Scale("q?", ["low", "middle", "high"]), changed)
    assert answer.mean == pytest.approx(sum(i * p for i, p in enumerate(answer.probabilities)))
    assert answer.low == pytest.approx(answer.mean)
    assert answer.raw == (0.1, 0.1, 0.8)


def test_the_interval_of_samples_moves_along_and_so_does_its_standard_error():
    bounds = {"low": (0.5, 0.05), "high": (0.95, 0.5)}
    reading = read(0.8, 0.2, sampled=Sampled(5, (0.15, 0.15)), **bounds)
    changed = calibrated(reading, Temperature(4.0), directed=True)
    answer = make_answer(YesNo("q?"), changed)
    assert (answer.method, answer.samples) == ("sampled", 5)
    assert answer.low == pytest.approx(0.5)
    assert answer.high - answer.low < 0.45
    assert answer.standard_error == pytest.approx(0.15 * (answer.high - answer.low) / 0.45)


def test_samples_of_options_keep_their_bounds_when_nothing_is_changed():
    bounds = {"low": (0.3, 0.1, 0.0), "high": (0.8, 0.6, 0.4)}
    reading = read(0.6, 0.3, 0.1, sampled=Sampled(5, (0.1,) * 3), **bounds)
    changed = calibrated(reading, Temperature(1.0), directed=False)
    assert (changed.low, changed.high) == (
        pytest.approx(bounds["low"], abs=1e-9),
        pytest.approx(bounds["high"]),
    )


def test_a_rounded_zero_is_half_a_step_and_others_are_left_alone():
    assert unrounded((1.0, 0.0), ("rounded",)) == pytest.approx((1 / 1.0025, 0.0025 / 1.0025))
    assert unrounded((1.0, 0.0), ()) == (1.0, 0.0)
    many = unrounded((1.0, *[0.0] * 254), ("rounded",))
    assert many[0] > 0.99


def test_an_answer_with_rounded_numbers_is_read_as_a_card_is_fitted_to_it():
    question = YesNo("q?")
    told = YesNoAnswer(1.0, method="native", flags=("rounded",))
    assert shares_read(question, told) == unrounded((1.0, 0.0), ("rounded",))
    assert shares_read(question, YesNoAnswer(1.0)) == (1.0, 0.0)
    assert shares_read(question, None) is None
