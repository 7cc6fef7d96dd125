import subprocess
import sys

from tests.engine.support import both
from yesno import FakeProvider, MonitorListener, Undecided, YesNo, YesNoAnswer
from yesno.calibration.monitor import Monitor

BEFORE = [YesNoAnswer(p, label_mass=0.95, method="logprobs") for p in (0.9, 0.6, 0.3)] * 40


@both
def test_live_answers_that_drift_are_told_of_once(shell, caplog):
    heard = []
    listener = MonitorListener(Monitor(BEFORE), lambda name, report: heard.append((name, report)))
    model = shell(FakeProvider({"Yes": 0.5, "No": 0.1}), listeners=[listener])
    for number in range(200):
        model.decide(f"text {number}", {"spam": YesNo("Is this spam?")})
    [(name, report)] = heard
    assert name == "spam"
    assert report.drifts[0].signal == "label_mass"
    [record] = [one for one in caplog.records if "drift_found" in one.getMessage()]
    assert record.levelname == "WARNING"
    assert "text 1" not in str(vars(record))


@both
def test_each_question_has_its_own_monitor_and_others_are_left_alone(shell):
    monitors = {"spam": Monitor(BEFORE), "angry": Monitor(BEFORE)}
    model = shell(FakeProvider(), listeners=[MonitorListener(monitors)])
    model.decide("x", {"spam": YesNo("Is this spam?"), "other": YesNo("Is it long?")})
    assert [monitors[name].report.n for name in ("spam", "angry")] == [1, 0]


@both
def test_undecided_outcomes_are_watched_too(shell):
    monitor = Monitor(BEFORE)
    model = shell(FakeProvider({"Hm": 1.0}), listeners=[MonitorListener(monitor)])
    for number in range(60):
        assert isinstance(model.decide(f"{number}", {"q": YesNo("q?")}).outcome("q"), Undecided)
    assert [drift.signal for drift in monitor.report.drifts] == ["unanswered"]


def without_numpy(code):
    command = [sys.executable, "-c", f"import sys; sys.modules['numpy'] = None; {code}"]
    return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603


def test_watching_needs_no_numpy_and_scores_say_what_to_install():
    assert (
        without_numpy("from yesno import MonitorListener; import yesno.calibration.monitor").returncode == 0
    )
    assert "ConfigError: scores need numpy and scipy: run `pip install 'yesno[bench]'`" in (
        without_numpy("import yesno.calibration.scores").stderr
    )
