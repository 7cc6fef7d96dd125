"""Isotonic regression: any curve that never falls (Zadrozny and Elkan 2002).

It overfits small sets (Niculescu-Mizil and Caruana 2005), so it needs 1,000 rows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import ByWeight, checked_numbers, log_odds
from yesno.errors import ConfigError

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Isotonic"]


@dataclass(frozen=True, slots=True)
class Isotonic(ByWeight):
    """Straight pieces between points (log-odds as read, calibrated probability), flat beyond the outermost.

    Yes/no: of yes. Choices and scales: of each label against the rest, one curve for all of them, then renormalised.
    """

    name: ClassVar[str] = "isotonic"
    least_rows: ClassVar[int | None] = 1000
    x: tuple[float, ...]
    """Log-odds as read, rising."""
    y: tuple[float, ...]
    """Calibrated probability (0..1, neither 0 nor 1) at each, never falling."""

    def __post_init__(self) -> None:
        x = checked_numbers(self.name, "x", self.x, least=1)
        y = checked_numbers(self.name, "y", self.y, least=1)
        if len(x) != len(y):
            raise ConfigError(
                f"`x` and `y` of 'isotonic' must have the same length, not {len(x)} and {len(y)}"
            )
        if any(b <= a for a, b in pairwise(x)):
            raise ConfigError("`x` of 'isotonic' must rise from point to point")
        if any(b < a for a, b in pairwise(y)) or not 0 < y[0] <= y[-1] < 1:
            raise ConfigError("`y` of 'isotonic' must never fall, and lie between 0 and 1")

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the logarithm of the calibrated probability of a label against the rest."""
        if directed and label == 1:
            return math.log1p(-self._at(-log_odds(probability)))
        return math.log(self._at(log_odds(probability)))

    def _at(self, z: float) -> float:
        after = bisect_right(self.x, z)
        if after == 0 or after == len(self.x):
            return self.y[0 if after == 0 else -1]
        (x0, x1), (y0, y1) = self.x[after - 1 : after + 1], self.y[after - 1 : after + 1]
        return min(y1, y0 + (y1 - y0) * (z - x0) / (x1 - x0))

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the curve with the least squared error, kept as far from 0 and 1 as so many rows can tell.

        n rows cannot show a probability below 1 / (n + 2) or above one less that (Laplace's rule).
        """
        import numpy as np
        from scipy.optimize import isotonic_regression

        read = rows.read[:, :1] if rows.directed else rows.read
        right = np.arange(read.shape[1]) == rows.label[:, None]
        used = ~np.isnan(read)
        z = np.log(read[used]) - np.log1p(-read[used])
        x, place, counts = np.unique(z, return_inverse=True, return_counts=True)
        shares = np.bincount(place, weights=right[used]) / counts
        edge = 1.0 / (len(rows) + 2)
        y = np.clip(isotonic_regression(shares, weights=counts).x, edge, 1.0 - edge)
        # inside a flat piece no point is needed
        kept = np.concatenate([[True], (np.diff(y)[:-1] != 0) | (np.diff(y)[1:] != 0), [True]])[: len(x)]
        return cls(tuple(map(float, x[kept])), tuple(map(float, y[kept])))
