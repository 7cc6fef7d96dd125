"""Labelled rows as arrays, and the minimisers that calibrators are fitted with (extra `bench`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from yesno.calibration.calibrators._base import EDGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

__all__ = ["SEARCH", "Rows", "curve_fit", "log_softmax", "rows_of"]

SLOPE_SPREAD = 1.0
"""Standard deviation of the normal prior on the logarithm of a slope: what keeps separable rows from an infinite one."""
SHIFT_SPREAD = 3.0
"""The same for an intercept, in log-odds."""
FLATTEST = 0.01
"""Least slope of a fit, so that the order of labels is kept."""
STEEPEST = 50.0
SEARCH = {"maxfun": 1000}
"""Options of the minimiser. TNC does without BLAS, whose threads cost ten times as much as these small fits where other
processes want the processors too."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Probabilities that were read, and which label was right."""

    read: Array
    """Row x label; 0..1, kept `EDGE` away from both, and NaN where a row has fewer labels."""
    label: NDArray[np.int64]
    """Number of the right label of each row."""
    directed: bool
    """Whether the labels are yes and no."""
    group: NDArray[np.int64]
    """Number of what each row belongs to; rows of one group stay on one side of every split."""

    def __len__(self) -> int:
        return len(self.label)

    def part(self, which: Any) -> Rows:  # noqa: ANN401 - what numpy takes as an index
        """Return some of the rows."""
        return Rows(self.read[which], self.label[which], self.directed, self.group[which])

    def loss_and_slope(self, log_shares: Array) -> tuple[float, Array]:
        """Return the sum of the log losses, and its slope in the logarithm of each label's weight."""
        import numpy as np

        places = np.arange(len(self)), self.label
        slope = np.exp(log_shares)
        slope[places] -= 1.0
        return -float(log_shares[places].sum()), slope

    def loss_of(self, log_weights: Array) -> Array:
        """Return the log loss (nats) of each row for weights of its labels."""
        import numpy as np

        shares = log_softmax(log_weights)
        loss: Array = -shares[np.arange(len(self)), self.label]
        return loss


def rows_of(
    probabilities: Sequence[Sequence[float]],
    labels: Sequence[int],
    groups: Sequence[int] | None = None,
    *,
    directed: bool,
) -> Rows:
    """Return checked probabilities, labels and groups as arrays; without groups each row is one of its own."""
    import numpy as np

    width = max(map(len, probabilities))
    read = np.full((len(labels), width), np.nan)
    for i, row in enumerate(probabilities):
        read[i, : len(row)] = row
    group = np.arange(len(labels)) if groups is None else np.asarray(groups, dtype=np.int64)
    return Rows(np.clip(read, EDGE, 1.0 - EDGE), np.asarray(labels, dtype=np.int64), directed, group)


def log_softmax(log_weights: Array) -> Array:
    """Return the logarithms of weights divided by their sum, row by row; NaN is no label."""
    import numpy as np

    if np.isnan(log_weights).any():
        log_weights = np.where(np.isnan(log_weights), -np.inf, log_weights)
    shifted = log_weights - log_weights.max(axis=1, keepdims=True)
    shares: Array = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shares


def curve_fit(rows: Rows, parts: Callable[[Array], Sequence[Array]]) -> list[float]:
    """Return the slopes and the intercept of a curve of log-odds with the least penalised log loss.

    Weak normal priors draw the logarithm of each slope, and the intercept, to 0: to the identity.

    Args:
        rows: What to fit.
        parts: Probabilities -> what each slope is multiplied with, in the same shape; the log-odds are their sum plus
            the intercept.
    """
    import numpy as np
    from scipy.optimize import minimize

    read = rows.read[:, 0] if rows.directed else rows.read
    columns = np.stack([*parts(read), np.ones_like(read)])
    spreads = np.asarray([*[SLOPE_SPREAD] * (len(columns) - 1), SHIFT_SPREAD])

    def total(parameters: Any) -> tuple[float, Any]:  # noqa: ANN401 - arrays of scipy
        factors = np.append(np.exp(parameters[:-1]), parameters[-1])
        loss, slope = _loss_and_slope(rows, np.tensordot(factors, columns, 1))
        gradient = np.nansum(columns * slope, axis=tuple(range(1, columns.ndim)))
        gradient[:-1] *= factors[:-1]
        penalty = 0.5 * float(((parameters / spreads) ** 2).sum())
        return loss + penalty, gradient + parameters / spreads**2

    limits = [*[(math.log(FLATTEST), math.log(STEEPEST))] * (len(columns) - 1), (-20.0, 20.0)]
    found = minimize(total, np.zeros(len(columns)), jac=True, method="TNC", bounds=limits, options=SEARCH)
    return [*np.exp(found.x[:-1]).tolist(), float(found.x[-1])]


def _loss_and_slope(rows: Rows, odds: Array) -> tuple[float, Array]:
    """Return the sum of the log losses for calibrated log-odds, and its slope in each of them."""
    import numpy as np
    from scipy.special import expit, log_expit

    if rows.directed:
        yes = rows.label == 0
        return -float(log_expit(np.where(yes, odds, -odds)).sum()), expit(odds) - yes
    shares = log_softmax(log_expit(odds))
    loss, slope = rows.loss_and_slope(shares)
    return loss, slope * expit(-odds)
