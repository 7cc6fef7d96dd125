"""Platt scaling: a straight line through the log-odds (Platt 1999)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import ByWeight, checked_number, log_odds, sigmoid

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Platt"]


@dataclass(frozen=True, slots=True)
class Platt(ByWeight):
    """Log-odds times a slope, plus an intercept.

    Yes/no: of yes. Choices and scales: of each label against the rest, one line for all of them, then renormalised.
    """

    name: ClassVar[str] = "platt"
    slope: float
    """Above 0."""
    intercept: float

    def __post_init__(self) -> None:
        checked_number(self.name, "slope", self.slope, above=0)
        checked_number(self.name, "intercept", self.intercept)

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the logarithm of the calibrated probability of a label against the rest."""
        if directed and label == 1:
            return math.log(sigmoid(self.slope * log_odds(probability) - self.intercept))
        return math.log(sigmoid(self.slope * log_odds(probability) + self.intercept))

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the line with the least log loss, drawn to the identity by weak normal priors."""
        import numpy as np

        from yesno.calibration.calibrators._rows import curve_fit

        return cls(*curve_fit(rows, lambda read: [np.log(read) - np.log1p(-read)]))
