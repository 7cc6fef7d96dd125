"""Labelled rows as arrays, and the minimisers that calibrators are fitted with (extra `bench`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from yesno.calibration.calibrators._base import EDGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

__all__ = ["Rows", "curve_fit", "log_softmax", "rows_of"]

SLOPE_SPREAD = 1.0
"""Standard deviation of the normal prior on the logarithm of a slope: what keeps separable rows from an infinite one."""
SHIFT_SPREAD = 3.0
"""The same for an intercept, in log-odds."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Probabilities that were read, and which label was right."""

    read: Array
    """Row x label; 0..1, kept `EDGE` away from both, and NaN where a row has fewer labels."""
    label: NDArray[np.int64]
    """Number of the right label of each row."""
    directed: bool
    """Whether the labels are yes and no."""

    def __len__(self) -> int:
        return len(self.label)

    def part(self, which: Any) -> Rows:  # noqa: ANN401 - what numpy takes as an index
        """Return some of the rows."""
        return Rows(self.read[which], self.label[which], self.directed)

    def loss_of(self, log_weights: Array) -> Array:
        """Return the log loss (nats) of each row for weights of its labels."""
        import numpy as np

        shares = log_softmax(log_weights)
        loss: Array = -shares[np.arange(len(self)), self.label]
        return loss


def rows_of(probabilities: Sequence[Sequence[float]], labels: Sequence[int], *, directed: bool) -> Rows:
    """Return checked probabilities and labels as arrays."""
    import numpy as np

    width = max(map(len, probabilities))
    read = np.full((len(labels), width), np.nan)
    for i, row in enumerate(probabilities):
        read[i, : len(row)] = row
    return Rows(np.clip(read, EDGE, 1.0 - EDGE), np.asarray(labels, dtype=np.int64), directed)


def log_softmax(log_weights: Array) -> Array:
    """Return the logarithms of weights divided by their sum, row by row; NaN is no label."""
    import numpy as np
    from scipy.special import log_softmax as softmax

    filled: Array = softmax(np.where(np.isnan(log_weights), -np.inf, log_weights), axis=1)
    return filled


def curve_fit(
    rows: Rows,
    odds: Callable[[Any, Array], Array],
    start: Sequence[float],
    bounds: Sequence[tuple[float | None, float | None]],
    penalty: Callable[[Any], float],
) -> list[float]:
    """Return the parameters of a curve of log-odds with the least penalised log loss.

    Args:
        rows: What to fit.
        odds: Parameters and probabilities -> calibrated log-odds of the same shape.
        start: Where to begin.
        bounds: Least and greatest value of each parameter.
        penalty: Parameters -> what is added to the sum of the log losses.
    """
    import numpy as np
    from scipy.optimize import minimize

    def total(parameters: Any) -> float:  # noqa: ANN401 - an array of scipy
        if rows.directed:
            z = odds(parameters, rows.read[:, 0])
            loss = np.logaddexp(0.0, np.where(rows.label == 0, -z, z))
        else:
            loss = rows.loss_of(-np.logaddexp(0.0, -odds(parameters, rows.read)))
        return float(loss.sum() + penalty(parameters))

    found = minimize(total, np.asarray(start, dtype=float), method="L-BFGS-B", bounds=bounds)
    return [float(value) for value in found.x]
