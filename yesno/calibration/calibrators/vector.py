"""Vector scaling: one temperature, and a bias for each label (Guo et al. 2017, arXiv 1706.04599, section 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, ByWeight, checked_number, checked_numbers

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Vector"]

BIAS_SPREAD = 1.0
"""Standard deviation of the normal prior on each bias: a label that few rows have stays near the identity."""


@dataclass(frozen=True, slots=True)
class Vector(ByWeight):
    """Every label's log-probability divided by one temperature, plus the label's bias, then renormalised.

    The slope is shared, unlike the one of each class in the paper. A label's probability grows with what was read for
    it; which of two labels leads may change.
    """

    name: ClassVar[str] = "vector"
    by_label: ClassVar[bool] = True
    for_kinds: ClassVar[frozenset[str]] = frozenset({"choice", "scale"})
    temperature: float
    """Above 0."""
    biases: tuple[float, ...]
    """One for each label, in order; their sum is 0."""

    def __post_init__(self) -> None:
        checked_number(self.name, "temperature", self.temperature, above=0)
        checked_numbers(self.name, "biases", self.biases, least=2)

    @property
    def labels(self) -> int | None:
        """As many as there are biases."""
        return len(self.biases)

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the log-probability divided by the temperature, plus the bias."""
        return math.log(max(EDGE, probability)) / self.temperature + self.biases[label]

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the temperature and biases with the least log loss, drawn to the identity by normal priors."""
        import numpy as np
        from scipy.optimize import minimize

        from yesno.calibration.calibrators._rows import SEARCH, SLOPE_SPREAD, log_softmax

        log_read = np.log(rows.read)

        def total(parameters: Any) -> tuple[float, Any]:  # noqa: ANN401 - arrays of scipy
            steep, biases = parameters[0], parameters[1:]
            loss, error = rows.loss_and_slope(log_softmax(np.exp(steep) * log_read + biases))
            loss += 0.5 * (steep / SLOPE_SPREAD) ** 2 + 0.5 * float((biases**2).sum()) / BIAS_SPREAD**2
            slope = float((error * log_read).sum()) * np.exp(steep) + steep / SLOPE_SPREAD**2
            return loss, np.concatenate([[slope], error.sum(axis=0) + biases / BIAS_SPREAD**2])

        count = rows.read.shape[1]
        limits = [(-4.0, 4.0), *[(-20.0, 20.0)] * count]
        found = minimize(total, np.zeros(1 + count), jac=True, method="TNC", bounds=limits, options=SEARCH)
        biases = found.x[1:] - found.x[1:].mean()
        return cls(math.exp(-float(found.x[0])), tuple(map(float, biases)))
