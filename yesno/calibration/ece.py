"""Calibration errors: how far probabilities are from the shares of yes among rows that were given them.

They are for yes/no, shape (n,). For a choice take one option at a time, or the answer on top: see `options`.
A calibration error of few rows is never 0, even of a calibrated model: compare it with `noise_of`.
"""

from __future__ import annotations

from yesno.calibration._arrays import ArrayLike, Floats, counted, np, shares, truths
from yesno.calibration._statistics import Statistic, prepared_by, value_of
from yesno.errors import DataError

__all__ = ["smooth_ece"]

CELLS = 4096
"""The unit interval is cut into so many cells, so a smooth calibration error below 0.0003 is not told from 0."""
HALVINGS = 22


def _given(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    p = shares(probabilities)
    if p.ndim != 1:
        raise DataError(
            "a calibration error is of yes/no, shape (n,); for a choice use `by_option` or `top_label` "
            "of yesno.calibration.options"
        )
    return p, truths(labels, p)


def _smooth_ece(probabilities: ArrayLike, labels: ArrayLike) -> Statistic:
    p, truth = _given(probabilities, labels)
    residual = truth - p
    spread = _Cells(p)

    def error(weights: Floats) -> float:
        total = weights.sum()
        return _fixed_point(spread.put(residual * weights) / total) if total > 0 else float("nan")

    return error


@prepared_by(_smooth_ece)
def smooth_ece(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the smooth calibration error (smECE): 0 is calibrated, and there are no bins to choose.

    The residuals are smoothed by a Gaussian kernel that is reflected at 0 and 1, and the width is the one that equals
    the error (Błasiok and Nakkiran 2023, arXiv:2309.12236, definition 3).

    Args:
        probabilities: Of yes, shape (n,).
        labels: True, False, 1 or 0, or shares of raters.
        weights: Of the rows.

    Raises:
        DataError: A row is not as it should be.
    """
    statistic = _smooth_ece(probabilities, labels)
    return value_of(statistic, len(shares(probabilities)), weights)


class _Cells:
    """Puts numbers of rows into cells of the unit interval, each shared between the two nearest centres."""

    def __init__(self, p: Floats) -> None:
        position = p * CELLS - 0.5
        left = np.floor(position)
        self._part = position - left
        self._left = np.clip(left, 0, CELLS - 1).astype(np.intp)
        self._right = np.clip(left + 1, 0, CELLS - 1).astype(np.intp)

    def put(self, values: Floats) -> Floats:
        """Return the sum of the values in each cell."""
        shared = values * self._part
        return counted(self._left, values - shared, CELLS) + counted(self._right, shared, CELLS)


def _fixed_point(residuals: Floats) -> float:
    """Return the width of the kernel that equals the error it gives; the error falls as the width grows.

    A reflected Gaussian is diagonal in the cosine transform, so each width costs one inverse transform.
    """
    from scipy.fft import dct, idct

    waves = dct(residuals)
    exponents = -((np.pi * np.arange(CELLS)) ** 2) / 2
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        width = (low + high) / 2
        if np.abs(idct(waves * np.exp(exponents * width**2))).sum() > width:
            low = width
        else:
            high = width
    return (low + high) / 2 if low > 0 else 0.0
