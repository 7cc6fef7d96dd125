"""Temperature scaling: one number that makes all answers surer or less sure (Guo et al. 2017, arXiv 1706.04599)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, ByWeight, checked_number

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Temperature"]

HOTTEST = 50.0
"""A fit stays between 1 / this and this."""


@dataclass(frozen=True, slots=True)
class Temperature(ByWeight):
    """Every label's log-probability divided by one temperature, then renormalised. Keeps the order of labels."""

    name: ClassVar[str] = "temperature"
    temperature: float
    """Above 0; more than 1 makes answers less sure."""

    def __post_init__(self) -> None:
        checked_number(self.name, "temperature", self.temperature, above=0)

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the log-probability divided by the temperature."""
        return math.log(max(EDGE, probability)) / self.temperature

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the temperature with the least log loss, drawn to 1 by a weak normal prior on its logarithm."""
        import numpy as np
        from scipy.optimize import minimize_scalar

        from yesno.calibration.calibrators._rows import SLOPE_SPREAD

        log_read = np.log(rows.read)

        def total(heat: Any) -> float:  # noqa: ANN401 - a number of scipy
            loss = rows.loss_of(log_read * math.exp(-heat))
            return float(loss.sum() + 0.5 * (heat / SLOPE_SPREAD) ** 2)

        found = minimize_scalar(total, bounds=(-math.log(HOTTEST), math.log(HOTTEST)), method="bounded")
        return cls(math.exp(float(found.x)))
