"""Watch the live answers of a model for drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from yesno._log import get_logger
from yesno.calibration.monitor import DriftReport, Monitor
from yesno.engine.listeners import Call, Listener
from yesno.response import DecisionResponse

__all__ = ["MonitorListener"]


class MonitorListener(Listener):
    """Show every outcome to a `Monitor`, and tell of an alarm once; may be shared by threads and models.

    Args:
        monitors: Name of a question -> its monitor, or one monitor for the outcomes of all. The name of a question
            that is asked alone is `"answer"`.
        on_drift: Called with the name and the report when an alarm is raised, after it was logged; None to log only.
    """

    def __init__(
        self,
        monitors: Monitor | Mapping[str, Monitor],
        on_drift: Callable[[str, DriftReport], None] | None = None,
    ) -> None:
        self._monitors = monitors
        self._on_drift = on_drift
        self._lock = Lock()

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        """Watch the outcomes of this response."""
        for name, outcome in response.answers.items():
            monitor = self._monitors if isinstance(self._monitors, Monitor) else self._monitors.get(name)
            if monitor is None:
                continue
            with self._lock:
                before = monitor.report.drifted
                monitor.watch(outcome)
                report = monitor.report
            if report.drifted and not before:
                self._tell(name, report)

    def _tell(self, name: str, report: DriftReport) -> None:
        get_logger("engine").warning(
            "drift_found",
            question=name,
            outcomes=report.n,
            signals=[drift.signal for drift in report.drifts],
            advice=report.advice,
        )
        if self._on_drift is not None:
            self._on_drift(name, report)
