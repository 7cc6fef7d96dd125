"""Two thresholds: when to say yes, when no, and when to ask somebody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from yesno.calibration._arrays import ArrayLike, np
from yesno.calibration._sides import Side, Threshold, checked_promise, labelled_rows
from yesno.calibration._walk import GRID
from yesno.errors import DataError

__all__ = ["Bands", "bands_for"]


@dataclass(frozen=True, slots=True)
class Bands:
    """Two thresholds: yes from `high` on, no below `low`, and somebody is asked about what lies between."""

    yes: Threshold
    no: Threshold
    asked: float
    """Share of the rows in between."""

    @property
    def high(self) -> float:
        """Yes from this probability on."""
        return self.yes.threshold

    @property
    def low(self) -> float:
        """No below this probability; at most `high`."""
        return self.no.threshold

    def band(self, probability: float) -> Literal["yes", "ask", "no"]:
        """Return what to do with an answer, by its probability of yes.

        Raises:
            DataError: It is no probability.
        """
        if not 0 <= probability <= 1:
            raise DataError(f"a probability must lie between 0 and 1, not {probability!r}", value=probability)
        return "yes" if probability >= self.high else "no" if probability < self.low else "ask"

    def __str__(self) -> str:
        return f"yes from {self.yes}\nno below {self.no}\nask about {self.asked:.1%}"


def bands_for(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    risk: float = 0.05,
    no_risk: float | None = None,
    delta: float = 0.1,
    groups: Iterable[object] | None = None,
    seed: int = 1,
) -> Bands:
    """Return when to say yes, when no, and when to ask somebody, so that both answers keep their share of errors.

    `delta` is halved, so both promises hold together. With `Guardrails` the bands are
    `Guardrails(checks, threshold=bands.high, review=bands.low)`.

    Args:
        probabilities: Of yes, shape (n,).
        labels: True, False, 1 or 0.
        risk: The largest share of no among the rows that are taken for yes.
        no_risk: The largest share of yes among the rows that are taken for no; None for the same.
        delta: Chance that one of the two is larger all the same.
        groups: As in `threshold_for`.
        seed: As in `threshold_for`.

    Raises:
        TooFewLabels: One of the two cannot be shown with so few labels.
        RiskNotKept: No threshold keeps one of them.
        DataError: A row is not as it should be, or all labels are the same.
        ConfigError: A setting is impossible.
    """
    p, truth = labelled_rows(probabilities, labels, groups, seed)
    checked_promise(risk, delta)
    wrong_no = risk if no_risk is None else no_risk
    checked_promise(wrong_no, delta)
    above = Side("yes", p, truth, risk=risk, delta=delta / 2)
    below = Side("no", p, truth, risk=wrong_no, delta=delta / 2)
    both = (above.allowed > 0) & (below.allowed[::-1] > 0)
    if both.any():
        errors = np.where(both, above.hits + below.hits[::-1], np.inf)
        best = np.flatnonzero(errors == errors.min())
        place = int(best[len(best) // 2])
        return Bands(above.threshold(place), below.threshold(len(GRID) - 1 - place), 0.0)
    yes = above.threshold(above.furthest())
    no = below.threshold(below.furthest(yes.threshold))
    return Bands(yes, no, float(((p < yes.threshold) & (p >= no.threshold)).mean()))
