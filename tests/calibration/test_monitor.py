import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from yesno import ChoiceAnswer, Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.calibration._betting import Bet, mean_range
from yesno.calibration._signals import signals_of
from yesno.calibration.monitor import Monitor
from yesno.errors import AnswerError, ConfigError, DataError


def answers(source, n, *, yes=(0.4, 0.4), mass=(40, 2), method="logprobs"):
    return [
        YesNoAnswer(source.betavariate(*yes), label_mass=source.betavariate(*mass), method=method)
        for _ in range(n)
    ]


def labelled(source, outcomes, bend=1.0):
    return [(one, source.random() < one.probability**bend) for one in outcomes]


def seen(monitor, outcomes):
    """Show outcomes until the alarm; return how many it took, None when there was none."""
    for number, outcome in enumerate(outcomes, start=1):
        monitor.watch(outcome)
        if monitor.report.drifted:
            return number
    return None


def test_a_fair_bet_wins_ten_times_its_wealth_at_most_once_in_ten_however_often_one_looks():
    source = random.Random(3)
    lucky = 0
    for _ in range(300):
        bet = Bet(0.3)
        most = 0.0
        for _ in range(400):
            bet.place(float(source.random() < 0.3))
            most = max(most, bet.wealth)
        lucky += most >= 10
    assert lucky <= binom.ppf(0.99, 300, 0.1)


def test_a_bet_wins_when_the_mean_is_above_its_bound_and_after_a_long_time_below_it_too():
    source = random.Random(0)
    early, late = Bet(0.3), Bet(0.3)
    for _ in range(5000):
        late.place(float(source.random() < 0.2))
    for bet in (early, late):
        for _ in range(600):
            bet.place(float(source.random() < 0.5))
    assert min(early.wealth, late.wealth) > 1e4


def test_a_bound_that_cannot_be_passed_is_not_bet_on():
    for bound in (0.0, 1.0):
        bet = Bet(bound)
        bet.place(1.0)
        assert bet.wealth == 1.0


def test_the_interval_of_a_mean_misses_it_no_more_often_than_said():
    source = random.Random(5)
    for rate in (0.5, 0.02):
        missed = 0
        for _ in range(400):
            total = sum(source.random() < rate for _ in range(100))
            found = mean_range(total, total, 100, 0.1)
            missed += not found.low <= rate <= found.high
        assert missed <= binom.ppf(0.99, 400, 0.1)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50), st.floats(0.001, 0.5))
def test_the_interval_holds_the_mean_and_lies_in_range(numbers, delta):
    found = mean_range(sum(numbers), sum(one**2 for one in numbers), len(numbers), delta)
    assert found.low + 1e-9 >= 0
    assert found.low <= found.mean + 1e-9
    assert found.mean <= found.high + 1e-9
    assert found.high <= 1 + 1e-9


def test_without_drift_alarms_are_as_rare_as_promised_whenever_one_looks():
    source = random.Random(11)
    alarms = 0
    for _ in range(60):
        monitor = Monitor(answers(source, 60, mass=(3, 2), method=None), alpha=0.2)
        alarms += seen(monitor, answers(source, 300, mass=(3, 2), method=None)) is not None
    assert alarms <= binom.ppf(0.99, 60, 0.2)


@pytest.mark.parametrize(
    ("change", "signal", "words", "most"),
    [
        ({"yes": (1.2, 0.4)}, "probability", "label some new rows", 800),
        ({"mass": (6, 4)}, "label_mass", "yesno doctor", 300),
        ({"method": "sampled"}, "sampled", "yesno doctor", 100),
    ],
)
def test_a_shift_is_found_and_named(change, signal, words, most):
    source = random.Random(1)
    monitor = Monitor(answers(source, 500))
    assert seen(monitor, answers(source, 500)) is None
    assert seen(monitor, answers(source, 2000, **change)) < most
    report = monitor.report
    assert report.at > 500
    assert signal in {drift.signal for drift in report.drifts}
    assert words in report.advice
    assert str(report).startswith(f"drift, found after {report.at}: ")


def test_more_undecided_and_refused_ones_are_found():
    source = random.Random(2)
    outcomes = [
        Undecided("low_label_mass") if number % 20 == 0 else Refusal() if number % 33 == 0 else one
        for number, one in enumerate(answers(source, 2000))
    ]
    monitor = Monitor(answers(source, 500))
    assert seen(monitor, outcomes) < 300
    assert [drift.signal for drift in monitor.report.drifts] == ["unanswered"]
    assert "share without an answer up: " in str(monitor.report)


def test_labels_show_what_probabilities_alone_do_not():
    source = random.Random(4)
    reference = answers(source, 2000)
    monitor = Monitor(reference, labelled=labelled(source, reference))
    for outcome, label in labelled(source, answers(source, 3000), bend=2.5):
        monitor.watch(outcome)
        monitor.label(outcome, label)
    report = monitor.report
    assert report.drifted
    assert {drift.signal for drift in report.drifts} <= {"bias", "error"}
    assert report.advice == "recalibrate, on labels of late"
    assert "label less probability down: -0." in str(report)
    assert (report.n, report.labels) == (3000, 3000)


def test_without_drift_there_is_nothing_to_do():
    source = random.Random(6)
    monitor = Monitor(answers(source, 200))
    seen(monitor, answers(source, 200))
    assert monitor.report.advice == "nothing has to be done"
    assert str(monitor.report).startswith("no drift in 200 outcomes and 0 labels (e-value ")


def test_memory_does_not_grow():
    source = random.Random(7)
    monitor = Monitor(answers(source, 50))

    def size():
        watched = monitor._watched.values()
        return sum(len(one._more._staked) + len(one._less._staked) + sys.getsizeof(one) for one in watched)

    before = size()
    seen(monitor, answers(source, 500))
    assert size() == before


def test_an_alarm_stays_and_its_evidence_stays_finite():
    source = random.Random(8)
    monitor = Monitor(answers(source, 500))
    outcomes = answers(source, 100, mass=(1, 9)) * 20
    found = seen(monitor, outcomes)
    for outcome in outcomes:
        monitor.watch(outcome)
    assert monitor.report.at == found
    assert 1e10 < monitor.report.evidence < 1e200


def test_what_is_watched_depends_on_the_answer():
    choice = ChoiceAnswer("a", {"a": 0.6, "b": 0.3}, options=("a", "b"), none_probability=0.1, label_mass=0.9)
    assert signals_of(choice) == {"unanswered": 0, "probability": 0.6, "label_mass": 0.9}
    scale = ScaleAnswer(1.5, (0.1, 0.3, 0.6), levels=("low", "mid", "high"), method="native")
    assert signals_of(scale) == {
        "unanswered": 0,
        "probability": 0.75,
        "logprobs": 0,
        "native": 1,
        "sampled": 0,
    }
    assert signals_of(ChoiceAnswer("a", options=("a", "b"))) == {"unanswered": 0}
    assert signals_of(Refusal()) == {"unanswered": 1}


def test_labels_of_choices_and_scales_are_judged():
    source = random.Random(9)
    reference = [
        ChoiceAnswer("a", {"a": p, "b": 1 - p}) for p in (source.uniform(0.5, 1) for _ in range(300))
    ]
    monitor = Monitor(reference, labelled=[(one, "a") for one in reference])
    for one in reference:
        monitor.label(one, "b")
    assert monitor.report.drifted
    levels = ("low", "mid", "high")
    scales = [ScaleAnswer(source.uniform(0.8, 1.2), levels=levels) for _ in range(300)]
    monitor = Monitor(scales, labelled=[(one, "mid") for one in scales])
    for one in scales:
        monitor.label(one, 2)
    assert monitor.report.drifted


@pytest.mark.parametrize(
    ("outcome", "label", "words"),
    [
        (YesNoAnswer(0.4), "yes", "row 1: a label must be True or False, not 'yes'"),
        (ChoiceAnswer("a", {"a": 0.6, "b": 0.4}), "c", "row 1: a label must be one of 2 options, not 'c'"),
        (ScaleAnswer(1.0, levels=("low", "high")), 2, "row 1: a label must be one of 2 levels, not 2"),
    ],
)
def test_a_label_that_does_not_fit_its_answer_is_named(outcome, label, words):
    with pytest.raises(DataError, match=words):
        Monitor([outcome] * 20, labelled=[(outcome, label)] * 20)


def test_what_makes_no_sense_is_refused():
    some = [YesNoAnswer(0.5)] * 20
    with pytest.raises(DataError, match="at least 20 outcomes, not 3"):
        Monitor(some[:3])
    with pytest.raises(DataError, match="at least 20 labels of answers, or none"):
        Monitor(some, labelled=[(some[0], True)] * 5)
    with pytest.raises(ConfigError, match="`alpha`"):
        Monitor(some, alpha=5)
    with pytest.raises(ConfigError, match="no labels to compare with"):
        Monitor(some).label(some[0], True)
    with pytest.raises(AnswerError, match="not float"):
        Monitor(some).watch(0.5)
