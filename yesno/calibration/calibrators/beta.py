"""Beta calibration: Platt's line with a slope of its own for each end (Kull, Silva Filho and Flach 2017, AISTATS)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, ByWeight, checked_number, sigmoid

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Beta"]


@dataclass(frozen=True, slots=True)
class Beta(ByWeight):
    """Log-odds `a ln p - b ln(1 - p) + c`; with `a` = `b` it is Platt scaling.

    Yes/no: of yes. Choices and scales: of each label against the rest, one curve for all of them, then renormalised.
    """

    name: ClassVar[str] = "beta"
    least_rows: ClassVar[int | None] = 300
    a: float
    """Above 0."""
    b: float
    """Above 0."""
    c: float

    def __post_init__(self) -> None:
        checked_number(self.name, "a", self.a, above=0)
        checked_number(self.name, "b", self.b, above=0)
        checked_number(self.name, "c", self.c)

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the logarithm of the calibrated probability of a label against the rest."""
        p = min(1.0 - EDGE, max(EDGE, probability))
        here, rest = math.log(p), math.log1p(-p)
        if directed and label == 1:
            return math.log(sigmoid(self.b * here - self.a * rest - self.c))
        return math.log(sigmoid(self.a * here - self.b * rest + self.c))

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the curve with the least log loss, drawn to the identity by weak normal priors."""
        import numpy as np

        from yesno.calibration.calibrators._rows import curve_fit

        return cls(*curve_fit(rows, lambda read: [np.log(read), -np.log1p(-read)]))
