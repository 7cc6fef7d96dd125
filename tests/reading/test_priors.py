"""Taking a model's favourites out of a reading."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno import Choice, Scale, YesNo
from yesno.reading.answers import make_answer
from yesno.reading.intervals import mean_bounds
from yesno.reading.outcome import Reading
from yesno.reading.priors import ModelPrior, Prior, corrected, prior_of

weight = st.floats(0.001, 1.0)


def shares_of(weights):
    total = sum(weights)
    return tuple(w / total for w in weights)


def exact(*weights, missing=()):
    shares = shares_of(weights)
    none = (0.0,) * len(shares)
    return Reading(shares, shares, shares, shares, none, 0.0, 1.0, missing)


@st.composite
def readings(draw):
    """A reading with honest bounds, and a distribution that its bounds allow."""
    n = draw(st.integers(2, 6))
    mass = draw(st.lists(weight, min_size=n, max_size=n))
    unseen = draw(st.floats(0.0, 0.3))
    spare = draw(st.lists(st.floats(0.0, unseen), min_size=n, max_size=n))
    found = draw(st.lists(st.floats(0.0, 1.0), min_size=n, max_size=n))
    extra = [min(s, unseen / n) * f for s, f in zip(spare, found, strict=True)]
    low, high = [], []
    for i in range(n):
        others = min(unseen, sum(spare) - spare[i])
        low.append(mass[i] / (sum(mass) + others))
        high.append((mass[i] + spare[i]) / (sum(mass) + spare[i]))
    reading = Reading(shares_of(mass), tuple(low), tuple(high), tuple(mass), tuple(spare), unseen, 0.9)
    return reading, shares_of([m + e for m, e in zip(mass, extra, strict=True)])


priors = st.lists(weight, min_size=6, max_size=6)


@given(st.lists(weight, min_size=2, max_size=8))
def test_a_reading_that_equals_the_prior_says_nothing(weights):
    assert corrected(exact(*weights), Prior(shares_of(weights))).probabilities == pytest.approx(
        [1 / len(weights)] * len(weights)
    )


@given(readings())
def test_an_even_prior_changes_nothing(case):
    reading, _ = case
    after = corrected(reading, Prior((1.0,) * len(reading.probabilities)))
    for name in ("probabilities", "low", "high"):
        assert getattr(after, name) == pytest.approx(getattr(reading, name), abs=1e-9)
    assert mean_bounds(after) == pytest.approx(mean_bounds(reading), abs=1e-9)


@given(readings(), priors)
def test_the_odds_of_two_labels_are_divided_by_those_of_the_prior(case, weights):
    reading, _ = case
    shares = Prior(tuple(weights[: len(reading.probabilities)])).shares
    after = corrected(reading, Prior(shares))
    assert sum(after.probabilities) == pytest.approx(1.0, abs=1e-9)
    before = reading.probabilities[0] / reading.probabilities[1]
    assert after.probabilities[0] / after.probabilities[1] == pytest.approx(before * shares[1] / shares[0])


@given(readings(), priors)
def test_the_bounds_hold_whatever_the_unseen_probability_was(case, weights):
    reading, truth = case
    prior = Prior(tuple(weights[: len(truth)]))
    after = corrected(reading, prior)
    real = shares_of([p / q for p, q in zip(truth, prior.shares, strict=True)])
    for low, value, point, high in zip(after.low, real, after.probabilities, after.high, strict=True):
        assert low - 1e-9 <= value <= high + 1e-9
        assert 0.0 <= low <= point <= high <= 1.0 + 1e-12
    least, most = mean_bounds(after)
    assert least - 1e-9 <= sum(i * p for i, p in enumerate(real)) <= most + 1e-9


@given(readings(), priors, st.randoms(use_true_random=False))
def test_the_order_of_the_labels_does_not_matter(case, weights, random):
    reading, _ = case
    n = len(reading.probabilities)
    order = random.sample(range(n), n)

    def turned(values):
        return tuple(values[i] for i in order)

    moved = Reading(
        *(turned(getattr(reading, f)) for f in ("probabilities", "low", "high", "mass", "spare")),
        reading.unseen,
        0.9,
    )
    prior = Prior(tuple(weights[:n]))
    after, after_moved = corrected(reading, prior), corrected(moved, Prior(turned(prior.shares)))
    for name in ("probabilities", "low", "high"):
        assert getattr(after_moved, name) == pytest.approx(turned(getattr(after, name)), abs=1e-9)


def test_what_was_read_stays_on_the_answer_as_raw():
    after = corrected(exact(0.6, 0.4), Prior((0.75, 0.25)))
    yes = make_answer(YesNo("q?"), after)
    assert (yes.raw, yes.probability, yes.calibrated) == (pytest.approx(0.6), pytest.approx(1 / 3), False)
    assert "prior" in yes.flags
    choice = make_answer(Choice("q?", ["a", "b"]), after)
    assert (dict(choice.raw), choice.value) == ({"a": pytest.approx(0.6), "b": pytest.approx(0.4)}, "b")
    scale = make_answer(Scale("q?", ["low", "high"]), after)
    assert (scale.raw, scale.mean) == (pytest.approx((0.6, 0.4)), pytest.approx(2 / 3))


def test_several_probes_are_averaged_in_log_space():
    prior = prior_of([exact(0.9, 0.1), exact(0.5, 0.5)])
    assert prior.shares[0] / prior.shares[1] == pytest.approx(math.sqrt(9))


def test_probes_that_left_a_label_out_say_nothing_about_it():
    assert prior_of([exact(0.9, 0.1), exact(0.9, 0.1, missing=(1,))]) is None
    assert prior_of([]) is None


@pytest.mark.parametrize("shares", [(), (0.5, 0.0), (0.5, -0.1), (0.5, math.nan), (math.inf, 0.5)])
def test_a_prior_without_a_share_for_each_label_is_refused(shares):
    with pytest.raises(ValueError, match="share above 0"):
        Prior(shares)


@given(st.lists(weight, min_size=3, max_size=6))
def test_letters_are_used_with_the_template_they_were_measured_with_and_no_further(weights):
    facts = ModelPrior(frozenset(), tuple(weights), "default/choice@1#x")
    assert facts.of_letters(2, "default/choice@1#x").shares == pytest.approx(shares_of(weights[:2]))
    assert facts.of_letters(2, "default/choice@2#y") is None
    assert facts.of_letters(len(weights) + 1, "default/choice@1#x") is None
